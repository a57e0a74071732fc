//! Questions about many tasks whose answers are small: nothing that they count is read whole.

use std::collections::{BTreeMap, BTreeSet};

use super::Filter;
use crate::error::Result;
use crate::id::TaskId;
use crate::task::{Priority, Status};

pub(crate) type Counts = BTreeMap<Status, u64>;

pub(crate) trait Overview {
    fn missing(&self, ids: &BTreeSet<TaskId>) -> Result<BTreeSet<TaskId>>;

    /// Counts the tasks below `root`, to any depth, by status; without root, all tasks. A status
    /// that no task has is left out.
    fn counts(&self, root: Option<TaskId>) -> Result<Counts>;

    /// Counts the tasks that pass a filter, by status and priority in the order of these, and those
    /// of them that are open and were due before `now`.
    fn tally(&self, filter: &Filter, now: &str) -> Result<Vec<TaskTally>>;

    /// Reads the tasks of a status below `root`, or of all, the last changed first.
    fn recent(&self, root: Option<TaskId>, status: Status, limit: u32) -> Result<Vec<TaskId>>;

    fn open_epics(&self, limit: u32) -> Result<(Vec<TaskId>, u64)>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskTally {
    pub(crate) status: Status,
    pub(crate) priority: Priority,
    pub(crate) tasks: u64,
    /// How many of them are late.
    pub(crate) overdue: u64,
}

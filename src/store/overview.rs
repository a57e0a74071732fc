//! Questions about many tasks whose answers are small: nothing that they count is read whole.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::Result;
use crate::id::TaskId;
use crate::task::Status;

/// How many tasks stand where.
pub type Counts = BTreeMap<Status, u64>;

/// Looks at many tasks at once.
pub trait Overview {
    /// Finds which of these ids are no tasks.
    fn missing(&self, ids: &BTreeSet<TaskId>) -> Result<BTreeSet<TaskId>>;

    /// Counts the tasks below `root`, to any depth, by status; without root, all tasks. A status
    /// that no task has is left out.
    fn counts(&self, root: Option<TaskId>) -> Result<Counts>;

    /// Reads the tasks of a status below `root`, or of all, the last changed first.
    fn recent(&self, root: Option<TaskId>, status: Status, limit: u32) -> Result<Vec<TaskId>>;

    /// Reads the epics that are neither done nor cancelled, by id, and how many there are.
    fn open_epics(&self, limit: u32) -> Result<(Vec<TaskId>, u64)>;

    /// Reads who holds a task, also when the lease has run out.
    fn holder(&self, task: TaskId) -> Result<Option<Held>>;

    /// Reads the claims whose lease ran out before `now` (RFC 3339 in UTC) and that nobody gave
    /// back, the oldest first.
    fn ran_out(&self, now: &str, limit: u32) -> Result<Vec<Held>>;
}

/// A task in somebody's hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The task.
    pub task: TaskId,
    /// Who holds it.
    pub holder: String,
    /// When the lease runs out, RFC 3339 in UTC.
    pub expires: String,
}

//! Queries about many tasks: the graph, lists and counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::error::Result;
use crate::id::{self, TaskId};
use crate::task::graph::Node;
use crate::task::{Filter, Priority, Status, Task, TaskView};

pub(crate) trait Graph {
    fn node(&self, id: TaskId) -> Result<Option<Node>>;

    /// Reads a node as [`Graph::node`] does, but leaves a damaged one out, which is noted in
    /// [`left_out`](super::left_out).
    fn readable_node(&self, id: TaskId) -> Result<Option<Node>>;

    /// Reads up to `limit` tasks that can start now, below `root` or of all: pending, with all dependencies
    /// done and known, and neither epics nor with open children. Ordered by priority, then by the longest
    /// chain that depends on it, then by id.
    fn ready(&self, root: Option<TaskId>, limit: Option<u32>) -> Result<ReadyPage>;

    /// Reads an active task as a ready one if it could start were it pending, for tasks whose lease may have
    /// expired.
    fn active_ready(&self, id: TaskId) -> Result<Option<ReadyTask>>;

    fn is_ready(&self, id: TaskId) -> Result<bool>;

    /// Reads the tasks that can start once `id` is done, and not before, by id.
    fn list_unblocked_by(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Reads up to `limit` open tasks, below `root` or of all, by id, that depend on an unknown name, a
    /// cancelled task or an epic without open children.
    fn list_hindered(&self, root: Option<TaskId>, limit: u32) -> Result<Vec<TaskId>>;

    /// Reads who can have tasks, or has them; `ids` are sorted.
    fn availability(&self, ids: &[TaskId]) -> Result<HashMap<TaskId, Availability>>;

    /// Reads what is shown of tasks; `ids` are sorted.
    fn outlines(&self, ids: &[TaskId]) -> Result<Outlines>;
}

/// Whether a task can start, and its holder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Availability {
    /// Whether it can start now: it is pending, and waits for nothing.
    pub(crate) ready: bool,
    /// The name under which it is claimed.
    pub(crate) holder: Option<String>,
}

/// A task that can start now.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct ReadyTask {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// How many tasks the longest chain has that depends on it, at most 1,000
    /// ([`BOUND`](crate::task::graph::waves::BOUND)).
    pub(crate) below: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadyPage {
    pub(crate) tasks: Vec<ReadyTask>,
    pub(crate) total: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    pub(crate) title: String,
    pub(crate) files: Vec<String>,
    pub(crate) estimate: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outlines(Vec<(TaskId, Outline)>);

impl Outlines {
    pub(crate) fn get(&self, id: TaskId) -> Option<&Outline> {
        let place = id::place(&self.0, id, |(id, _)| *id)?;
        Some(&self.0[place].1)
    }

    pub(crate) fn files(&self, id: TaskId) -> &[String] {
        let outline = self.get(id);
        outline.map_or(&[], |outline| outline.files.as_slice())
    }
}

impl FromIterator<(TaskId, Outline)> for Outlines {
    fn from_iter<I: IntoIterator<Item = (TaskId, Outline)>>(outlines: I) -> Outlines {
        let mut outlines: Vec<(TaskId, Outline)> = outlines.into_iter().collect();
        outlines.dedup_by_key(|(id, _)| *id);
        Outlines(outlines)
    }
}

/// Tasks and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Page {
    pub(crate) tasks: Vec<Task>,
    /// How many fit, without limit and offset.
    pub(crate) total: u64,
}

pub(crate) type Counts = BTreeMap<Status, u64>;

pub(crate) trait Overview {
    fn missing(&self, ids: &BTreeSet<TaskId>) -> Result<BTreeSet<TaskId>>;

    /// Counts the tasks below `root`, or all, by status. Statuses without tasks are left out.
    fn counts(&self, root: Option<TaskId>) -> Result<Counts>;

    /// Counts the tasks that pass a filter by status and priority, and how many of them are open and overdue
    /// at `now`.
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

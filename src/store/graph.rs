//! What is asked of the graph of tasks, and what a store answers.

use serde::Serialize;

use crate::error::Result;
use crate::id::{self, TaskId};
use crate::task::graph::Node;
use crate::task::{Priority, Status};

/// What is known of the graph of tasks without reading all of it.
pub(crate) trait Graph {
    fn node(&self, id: TaskId) -> Result<Option<Node>>;

    /// Reads the tasks that can start now, at most `limit`: pending, everything that they depend on
    /// done and known, no epic and without open children. By priority, then by the longest chain
    /// that waits, then by id. Of all tasks below `root`, to any depth; without root of all tasks.
    fn ready(&self, root: Option<TaskId>, limit: Option<u32>) -> Result<ReadyPage>;

    /// Reads an active task as one that can start, if it could were it pending: its lease may be
    /// over.
    fn active_ready(&self, id: TaskId) -> Result<Option<ReadyTask>>;

    fn is_ready(&self, id: TaskId) -> Result<bool>;

    /// Reads the tasks that can start once `id` is done, and not before, by id.
    fn unblocked_by(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Reads open tasks that depend on something that does not come by itself, by id, at most
    /// `limit`: a name that nobody knows, a cancelled task, an epic without open children. Of all
    /// tasks below `root`, to any depth; without root of all tasks.
    fn hindered(&self, root: Option<TaskId>, limit: u32) -> Result<Vec<TaskId>>;

    /// Reads what is shown of tasks; `ids` are sorted.
    fn outlines(&self, ids: &[TaskId]) -> Result<Outlines>;
}

/// A task that can start now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ReadyTask {
    /// The task.
    pub(crate) id: TaskId,
    /// Its title.
    pub(crate) title: String,
    /// Where it stands.
    pub(crate) status: Status,
    /// How urgent it is.
    pub(crate) priority: Priority,
    /// How many tasks the longest chain has that waits for it, at most 1,000
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

    /// Returns the files that a task declares; none of one that is not among them.
    pub(crate) fn files(&self, id: TaskId) -> &[String] {
        let outline = self.get(id);
        outline.map_or(&[], |outline| outline.files.as_slice())
    }
}

impl FromIterator<(TaskId, Outline)> for Outlines {
    /// Takes outlines that come by id; one that comes twice counts once.
    fn from_iter<I: IntoIterator<Item = (TaskId, Outline)>>(outlines: I) -> Outlines {
        let mut outlines: Vec<(TaskId, Outline)> = outlines.into_iter().collect();
        outlines.dedup_by_key(|(id, _)| *id);
        Outlines(outlines)
    }
}

//! Queries about many tasks: the graph, lists and counts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{self, TaskId};
use crate::task::{Priority, Status, Task, TaskView};

/// A task that can start now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Page {
    pub(crate) tasks: Vec<Task>,
    /// How many fit, without limit and offset.
    pub(crate) total: u64,
}

pub(crate) type Counts = BTreeMap<Status, u64>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskTally {
    pub(crate) status: Status,
    pub(crate) priority: Priority,
    pub(crate) tasks: u64,
    /// How many of them are late.
    pub(crate) overdue: u64,
}

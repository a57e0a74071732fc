//! Which tasks are listed.

use crate::id::TaskId;
use crate::task::{Priority, Status, Task, TaskType};

/// Which tasks to list. Empty parts let everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    /// One of these statuses.
    pub(crate) statuses: Vec<Status>,
    /// All of these labels, compared after normalization.
    pub(crate) labels: Vec<String>,
    /// One of these types.
    pub(crate) kinds: Vec<TaskType>,
    /// Children of this task.
    pub(crate) parent: Option<TaskId>,
    /// One of these priorities.
    pub(crate) priorities: Vec<Priority>,
    /// In this phase.
    pub(crate) phase: Option<String>,
    /// Assigned to this agent.
    pub(crate) agent: Option<String>,
    /// Assigned to any agent.
    pub(crate) assigned: bool,
    /// Of this feature.
    pub(crate) feature: Option<String>,
    /// Due before this moment, RFC 3339 in UTC.
    pub(crate) due_before: Option<String>,
    /// Due at this moment or later, RFC 3339 in UTC.
    pub(crate) due_after: Option<String>,
    /// Claimed by somebody, also when the lease is over.
    pub(crate) claimed: bool,
    /// Claimed by this holder.
    pub(crate) holder: Option<String>,
    /// Archived or not.
    pub(crate) archived: Archived,
    /// Done or cancelled before this moment, RFC 3339 in UTC.
    pub(crate) closed_before: Option<String>,
    /// At most so many.
    pub(crate) limit: Option<u32>,
    /// Without the first so many.
    pub(crate) offset: u32,
}

/// Whether tasks that are archived pass a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Archived {
    /// They do not.
    #[default]
    Hidden,
    /// Only they do.
    Only,
    /// They pass like all others.
    Shown,
}

/// Tasks, and how many there are without limit and offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Page {
    /// The tasks.
    pub(crate) tasks: Vec<Task>,
    /// How many fit in all.
    pub(crate) total: u64,
}

//! Which tasks are listed.

use crate::id::TaskId;
use crate::task::{Priority, Status, Task, TaskType};

/// Which tasks to list. Empty parts let everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// One of these statuses.
    pub statuses: Vec<Status>,
    /// All of these labels, compared after normalization.
    pub labels: Vec<String>,
    /// One of these types.
    pub kinds: Vec<TaskType>,
    /// Children of this task.
    pub parent: Option<TaskId>,
    /// One of these priorities.
    pub priorities: Vec<Priority>,
    /// In this phase.
    pub phase: Option<String>,
    /// Assigned to this agent.
    pub agent: Option<String>,
    /// Assigned to any agent.
    pub assigned: bool,
    /// Of this feature.
    pub feature: Option<String>,
    /// Due before this moment, RFC 3339 in UTC.
    pub due_before: Option<String>,
    /// Due at this moment or later, RFC 3339 in UTC.
    pub due_after: Option<String>,
    /// Claimed by somebody, also when the lease is over.
    pub claimed: bool,
    /// Claimed by this holder.
    pub holder: Option<String>,
    /// Archived or not.
    pub archived: Archived,
    /// Done or cancelled before this moment, RFC 3339 in UTC.
    pub closed_before: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Without the first so many.
    pub offset: u32,
}

/// Whether tasks that are archived pass a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Archived {
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
pub struct Page {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// How many fit in all.
    pub total: u64,
}

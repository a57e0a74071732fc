//! Which tasks are listed.

use crate::id::TaskId;
use crate::task::{Priority, Status, Task, TaskType};

/// Which tasks to list. Empty parts let everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    pub(crate) statuses: Vec<Status>,
    /// All of these labels, compared after normalization.
    pub(crate) labels: Vec<String>,
    pub(crate) kinds: Vec<TaskType>,
    pub(crate) parent: Option<TaskId>,
    pub(crate) priorities: Vec<Priority>,
    pub(crate) phase: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) assigned: bool,
    pub(crate) feature: Option<String>,
    /// Due before this moment, RFC 3339 in UTC.
    pub(crate) due_before: Option<String>,
    /// Due at this moment or later, RFC 3339 in UTC.
    pub(crate) due_after: Option<String>,
    /// Claimed by somebody, also when the lease is over.
    pub(crate) claimed: bool,
    pub(crate) holder: Option<String>,
    pub(crate) archived: Archived,
    /// Done or cancelled before this moment, RFC 3339 in UTC.
    pub(crate) closed_before: Option<String>,
    pub(crate) limit: Option<u32>,
    pub(crate) offset: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Archived {
    #[default]
    Hidden,
    /// Only they do.
    Only,
    Shown,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Page {
    pub(crate) tasks: Vec<Task>,
    pub(crate) total: u64,
}

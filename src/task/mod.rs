//! Tasks: their fields and words. Requests are in [`fields`], the rules for fields and declared files in [`rules`], the
//! graph of tasks in [`graph`], pictures of it in [`drawing`], the interactive one in [`layout`].

pub(crate) mod agent_task;
pub(crate) mod draft;
pub(crate) mod drawing;
pub(crate) mod fields;
mod filter;
pub(crate) mod graph;
pub(crate) mod layout;
pub(crate) mod overlap;
pub(crate) mod rules;
#[cfg(feature = "schemas")]
pub(crate) mod schema;
mod words;

use serde::{Deserialize, Serialize};

use crate::clock::next_millisecond;
use crate::id::TaskId;

pub(crate) use filter::{Archived, Filter};
pub(crate) use words::{DisplayStatus, Priority, Size, Status, TaskType};

/// A unit of work. Field names in JSON are camelCase; `type` is [`Task::kind`].
// Exported lines have the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    /// Id, never reused.
    pub(crate) id: TaskId,
    /// The same in every copy of the workspace: a ULID.
    pub(crate) uid: String,
    /// Title: one line that begins with a verb.
    pub(crate) title: String,
    /// The kind of work; an open set.
    #[serde(rename = "type")]
    pub(crate) kind: TaskType,
    pub(crate) status: Status,
    pub(crate) priority: Priority,
    pub(crate) parent: Option<TaskId>,
    /// Tasks that must be done first, in the order given.
    pub(crate) depends: Vec<TaskId>,
    /// Free labels, in the order given.
    pub(crate) labels: Vec<String>,
    /// Slug of the phase that it belongs to.
    pub(crate) phase: Option<String>,
    /// Scope of the work; never time.
    pub(crate) size: Option<Size>,
    /// Full text; may be empty.
    pub(crate) description: String,
    pub(crate) acceptance: Vec<String>,
    /// Files that the work touches (paths or globs below the workspace root).
    pub(crate) files: Vec<String>,
    pub(crate) deliverables: Vec<String>,
    /// Notes in order; only ever added to.
    pub(crate) notes: Vec<Note>,
    pub(crate) assigned_agent: Option<String>,
    /// When it is due, RFC 3339 in UTC.
    pub(crate) due: Option<String>,
    /// Estimated hours.
    pub(crate) estimate: Option<f64>,
    pub(crate) feature: Option<String>,
    /// Key by which `add` recognizes a task that it has added before.
    pub(crate) key: Option<String>,
    /// Created, RFC 3339 in UTC, like all times of a task.
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    /// First started.
    pub(crate) started_at: Option<String>,
    pub(crate) completed_at: Option<String>,
    pub(crate) cancelled_at: Option<String>,
    /// Archived: out of lists and of the graph's open work, and still counted by its status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) archived_at: Option<String>,
    /// Fields of other tools that cleo has no field for.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
}

/// A task in a list of others; its title may be cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct TaskView {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) status: Status,
    pub(crate) priority: Priority,
}

/// How far an epic or another task with parts is.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Progress {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// How many of its tasks are done, to any depth.
    pub(crate) done: u64,
    /// How many it has, without cancelled ones.
    pub(crate) total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Note {
    /// When it was written, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Its author (`CLEO_AGENT`, else user and host).
    pub(crate) by: String,
    pub(crate) text: String,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> TaskView {
        TaskView {
            id: task.id,
            title: task.title,
            status: task.status,
            priority: task.priority,
        }
    }
}

impl Task {
    /// Sets the time of a change to `now`, or to just after an earlier change that has a later time, by another clock or
    /// an import: an import keeps the later version.
    pub(crate) fn touch(&mut self, now: &str) {
        self.updated_at = match self.updated_at.as_str() > now {
            true => next_millisecond(&self.updated_at),
            false => now.to_string(),
        };
    }

    /// Moves the task to `status` at `now` and updates its times: a first start, a completion or
    /// a cancellation is recorded, and leaving such a state clears its time. By a clock that was set
    /// back it ends when it began, not before. An open task is not archived.
    pub(crate) fn move_to(&mut self, status: Status, now: &str) {
        self.status = status;
        self.touch(now);
        // Times of one form sort as text.
        let started = self.started_at.as_deref();
        let end = started.map_or(now, |start| start.max(now)).to_string();
        let at = |wanted: Status| (status == wanted).then(|| end.clone());
        if status == Status::Active && self.started_at.is_none() {
            self.started_at = Some(now.to_string());
        }
        self.completed_at = at(Status::Done);
        self.cancelled_at = at(Status::Cancelled);
        if !self.is_closed() {
            self.archived_at = None;
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.status.is_closed()
    }
}

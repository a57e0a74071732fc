//! A task in the words of the multi-agent specification.

use serde::Serialize;

use super::{Priority, Status, Task};
use crate::id::TaskId;

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct AgentTask {
    pub(crate) id: TaskId,
    /// User that it belongs to: the author. All users of the workspace see it.
    pub(crate) user_id: Option<String>,
    /// Author; null if the log no longer has it.
    pub(crate) created_by: Option<String>,
    /// The work, in one line.
    pub(crate) title: String,
    pub(crate) description: String,
    /// todo, doing, review, done, paused or cancelled. A blocked task is paused.
    pub(crate) status: &'static str,
    /// low, medium, high or urgent.
    pub(crate) priority: &'static str,
    /// The agent that it is assigned to.
    pub(crate) assigned_to: Option<String>,
    /// When it is due, RFC 3339 in UTC, like all times.
    pub(crate) due_date: Option<String>,
    pub(crate) estimated_hours: Option<f64>,
    pub(crate) tags: Vec<String>,
    /// Feature that it belongs to.
    pub(crate) feature: Option<String>,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    /// First moved to doing.
    pub(crate) started_at: Option<String>,
    pub(crate) completed_at: Option<String>,
}

impl AgentTask {
    pub(crate) fn status_word(status: Status) -> &'static str {
        match status {
            Status::Pending => "todo",
            Status::Active => "doing",
            Status::Review => "review",
            Status::Done => "done",
            Status::Blocked | Status::Paused => "paused",
            Status::Cancelled => "cancelled",
        }
    }

    pub(crate) fn priority_word(priority: Priority) -> &'static str {
        match priority {
            Priority::Low => "low",
            Priority::Medium => "medium",
            Priority::High => "high",
            Priority::Critical => "urgent",
        }
    }
}

impl From<Task> for AgentTask {
    fn from(task: Task) -> AgentTask {
        AgentTask {
            id: task.id,
            user_id: None,
            created_by: None,
            title: task.title,
            description: task.description,
            status: AgentTask::status_word(task.status),
            priority: AgentTask::priority_word(task.priority),
            assigned_to: task.assigned_agent,
            due_date: task.due,
            estimated_hours: task.estimate,
            tags: task.labels,
            feature: task.feature,
            created_at: task.created_at,
            updated_at: task.updated_at,
            started_at: task.started_at,
            completed_at: task.completed_at,
        }
    }
}

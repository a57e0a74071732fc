//! A task in the words of the multi-agent specification.

use serde::Serialize;

use super::{Priority, Status, Task};
use crate::error::Error;
use crate::id::TaskId;
use crate::words::closed;

closed! {
    /// The status of a task. A blocked task is paused.
    AgentTaskStatus, "status":
    Todo = "todo" | "pending" | "open",
    Doing = "doing" | "active" | "in-progress",
    Review = "review",
    Done = "done" | "completed" | "closed",
    Paused = "paused",
    Cancelled = "cancelled" | "canceled",
}

closed! {
    /// The priority of a task.
    AgentTaskPriority, "priority":
    Low = "low",
    Medium = "medium" | "normal",
    High = "high",
    Urgent = "urgent" | "critical",
}

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
    pub(crate) status: AgentTaskStatus,
    pub(crate) priority: AgentTaskPriority,
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

impl From<Status> for AgentTaskStatus {
    fn from(status: Status) -> AgentTaskStatus {
        match status {
            Status::Pending => AgentTaskStatus::Todo,
            Status::Active => AgentTaskStatus::Doing,
            Status::Review => AgentTaskStatus::Review,
            Status::Done => AgentTaskStatus::Done,
            Status::Blocked | Status::Paused => AgentTaskStatus::Paused,
            Status::Cancelled => AgentTaskStatus::Cancelled,
        }
    }
}

impl From<AgentTaskStatus> for Status {
    fn from(status: AgentTaskStatus) -> Status {
        match status {
            AgentTaskStatus::Todo => Status::Pending,
            AgentTaskStatus::Doing => Status::Active,
            AgentTaskStatus::Review => Status::Review,
            AgentTaskStatus::Done => Status::Done,
            AgentTaskStatus::Paused => Status::Paused,
            AgentTaskStatus::Cancelled => Status::Cancelled,
        }
    }
}

impl From<Priority> for AgentTaskPriority {
    fn from(priority: Priority) -> AgentTaskPriority {
        match priority {
            Priority::Low => AgentTaskPriority::Low,
            Priority::Medium => AgentTaskPriority::Medium,
            Priority::High => AgentTaskPriority::High,
            Priority::Critical => AgentTaskPriority::Urgent,
        }
    }
}

impl From<AgentTaskPriority> for Priority {
    fn from(priority: AgentTaskPriority) -> Priority {
        match priority {
            AgentTaskPriority::Low => Priority::Low,
            AgentTaskPriority::Medium => Priority::Medium,
            AgentTaskPriority::High => Priority::High,
            AgentTaskPriority::Urgent => Priority::Critical,
        }
    }
}

impl AgentTask {
    pub(crate) fn new(task: Task, author: Option<String>) -> AgentTask {
        AgentTask {
            id: task.id,
            user_id: author.clone(),
            created_by: author,
            title: task.title,
            description: task.description,
            status: task.status.into(),
            priority: task.priority.into(),
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

/// Names the field of the specification that an error is about.
pub(crate) fn name_field(error: Error) -> Error {
    let field = match error.field.as_deref() {
        Some("assignedAgent") => "assigned_to",
        Some("due") => "due_date",
        Some("estimate") => "estimated_hours",
        Some("labels") => "tags",
        _ => return error,
    };
    error.in_field(field)
}

//! The words of a task: status, priority, size, type, and the displayed status, which comes from the store, the claim
//! and the runs of the task. Pure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::words::{closed, deserialize_word};

closed! {
    /// The status of a task. Words of other tools are accepted.
    #[derive(Default)]
    Status, "status":
    #[default]
    Pending = "pending" | "todo" | "open",
    Active = "active" | "doing" | "in-progress",
    Review = "review",
    Blocked = "blocked",
    Paused = "paused",
    Done = "done" | "completed" | "closed",
    Cancelled = "cancelled" | "canceled",
}

closed! {
    /// How urgent a task is; the first is the most urgent.
    #[derive(Default)]
    Priority, "priority":
    Critical = "critical" | "urgent",
    High = "high",
    #[default]
    Medium = "medium" | "normal",
    Low = "low",
}

closed! {
    /// Scope of a task; never a time.
    Size, "size":
    Small = "small" | "s",
    Medium = "medium" | "m",
    Large = "large" | "l",
}

impl Status {
    /// Returns whether the work is over, one way or the other.
    pub(crate) fn is_closed(self) -> bool {
        matches!(self, Status::Done | Status::Cancelled)
    }
}

/// The kind of work of a task. An open set: `epic`, `task`, `subtask`, `research`, `testing`, or
/// any other lower-case word with hyphens, at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(extend("pattern" = "^[A-Za-z][A-Za-z0-9-]{0,63}$"))]
#[serde(transparent)]
pub(crate) struct TaskType(String);

impl TaskType {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_epic(&self) -> bool {
        self.0 == "epic"
    }
}

impl Default for TaskType {
    fn default() -> TaskType {
        TaskType("task".to_string())
    }
}

impl fmt::Display for TaskType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for TaskType {
    type Err = String;

    fn from_str(text: &str) -> Result<TaskType, String> {
        let word = text.trim().to_ascii_lowercase();
        let fits = word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if fits && word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() <= 64 {
            return Ok(TaskType(word));
        }
        Err(format!(
            "`{text}` is not a task type; use a lower-case word such as research or testing"
        ))
    }
}

impl<'de> Deserialize<'de> for TaskType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TaskType, D::Error> {
        deserialize_word(deserializer)
    }
}

closed! {
    DisplayStatus, "displayed status of a task":
    /// A dependency is not done.
    Waiting = "waiting",
    /// It can start now.
    Ready = "ready",
    Running = "running",
    /// The agent has ended, and cleo verifies its work.
    Verifying = "verifying",
    Done = "done",
    /// The last attempt failed, and it is open again.
    Failed = "failed",
    /// Blocked: needs a decision from a person.
    NeedsYou = "needsYou",
    /// It is being reviewed.
    Review = "review",
    Paused = "paused",
    /// A run did not begin it.
    Skipped = "skipped",
    Cancelled = "cancelled",
}

impl DisplayStatus {
    pub(crate) fn is_over(self) -> bool {
        matches!(
            self,
            DisplayStatus::Done | DisplayStatus::Skipped | DisplayStatus::Cancelled
        )
    }

    /// Returns whether it needs attention: a fold never hides it.
    pub(crate) fn is_urgent(self) -> bool {
        use DisplayStatus::{Failed, NeedsYou, Review, Running, Verifying};
        matches!(self, Running | Verifying | Failed | NeedsYou | Review)
    }

    pub(crate) fn has_begun(self) -> bool {
        self.is_urgent() || self.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_mean_ours() {
        for (word, expected) in [
            ("todo", Status::Pending),
            ("doing", Status::Active),
            ("in-progress", Status::Active),
            ("in_progress", Status::Active),
            ("completed", Status::Done),
            ("DONE", Status::Done),
        ] {
            assert_eq!(word.parse(), Ok(expected), "{word}");
        }
        assert_eq!("urgent".parse(), Ok(Priority::Critical));
    }

    #[test]
    fn unknown_words_are_refused_with_choices() {
        let message = "asap".parse::<Priority>().unwrap_err();
        assert_eq!(
            message,
            "`asap` is not a valid priority; use one of critical, high, medium, low"
        );
    }

    #[test]
    fn types_are_open_but_not_any_text() {
        for word in ["epic", "research", "bash-library", "spike2"] {
            assert!(word.parse::<TaskType>().is_ok(), "{word}");
        }
        for word in ["", "two words", "-x", "9x", "naïve", &"x".repeat(65)] {
            assert!(word.parse::<TaskType>().is_err(), "{word}");
        }
    }
}

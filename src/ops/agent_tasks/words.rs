//! The words of the multi-agent specification for statuses and priorities.

use crate::error::{Code, Error, Result};
use crate::task::{Priority, Status};

/// The words of the specification for a status.
pub(crate) const STATUSES: [&str; 6] = ["todo", "doing", "review", "done", "paused", "cancelled"];
/// The words of the specification for a priority.
pub(crate) const PRIORITIES: [&str; 4] = ["low", "medium", "high", "urgent"];

/// Returns the word of the specification for a status.
pub(super) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pending => "todo",
        Status::Active => "doing",
        Status::Review => "review",
        Status::Done => "done",
        Status::Blocked | Status::Paused => "paused",
        Status::Cancelled => "cancelled",
    }
}

/// Returns the word of the specification for a priority.
pub(super) fn priority_word(priority: Priority) -> &'static str {
    match priority {
        Priority::Low => "low",
        Priority::Medium => "medium",
        Priority::High => "high",
        Priority::Critical => "urgent",
    }
}

/// Reads a status in the words of the specification, or in others that mean the same.
pub(crate) fn status(word: &str) -> Result<Status> {
    let status = word.parse().ok();
    let status = status.filter(|status| *status != Status::Blocked);
    status.ok_or_else(|| unknown("status", word, &STATUSES))
}

/// Reads a priority in the words of the specification, or in others that mean the same.
pub(crate) fn priority(word: &str) -> Result<Priority> {
    let priority = word.parse().ok();
    priority.ok_or_else(|| unknown("priority", word, &PRIORITIES))
}

fn unknown(what: &str, word: &str, words: &[&'static str]) -> Error {
    let message = format!("`{word}` is no {what}; use one of {}", words.join(", "));
    Error::new(Code::InputInvalid, message)
}

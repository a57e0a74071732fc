//! A run written down for those who were not there: a page for people, a file and words for the
//! machines that build and test. Pure; `ops::runs::written` puts them where they belong.

mod amounts;
pub mod github;
mod graph;
pub mod html;
pub mod junit;
mod results;
mod steps;
mod timeline;

use super::board::{Summary, TaskRun};
use super::{Event, Message, Outcome, Run, Step};
use crate::error::{Code, steers};

pub use amounts::{money, time, tokens};

/// Longest text that is shown of one thing, in characters.
const TEXT_MAX: usize = 20_000;

/// A run with everything that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its tasks, of a run over tasks.
    pub tasks: &'a [TaskRun],
    /// Its steps, of a run of one agent.
    pub steps: &'a [Step],
    /// What was said in it.
    pub messages: &'a [Message],
    /// What happened in it.
    pub events: &'a [Event],
}

impl<'a> Record<'a> {
    /// Returns the tasks that agents work on: all but epics.
    fn work(&self) -> impl Iterator<Item = &'a TaskRun> {
        self.tasks.iter().filter(|task| !task.is_epic)
    }

    /// Counts the tasks by how far they came.
    fn summary(&self) -> Summary {
        Summary::of_tasks(self.tasks)
    }
}

/// The code of a task that failed.
fn code(task: &TaskRun) -> Code {
    match task.outcome {
        Some(Outcome::Timeout) => Code::RunTimeout,
        Some(Outcome::Cancelled) => Code::RunCancelled,
        Some(Outcome::ProtocolViolation) => Code::NotVerified,
        _ => Code::AgentFailed,
    }
}

/// Says in a line why a task is not done.
pub fn why(task: &TaskRun) -> String {
    let reason = task.reason.as_deref().unwrap_or("no reason is known");
    match task.outcome {
        Some(outcome) => format!("{outcome}: {reason}"),
        None => reason.to_string(),
    }
}

/// Returns what a task was missing beside what [`why`] says already.
pub fn lacking(task: &TaskRun) -> impl Iterator<Item = &str> {
    let missing = task.missing.iter().map(String::as_str);
    missing.filter(move |lack| task.reason.as_deref() != Some(*lack))
}

/// Returns text without what cannot be seen and steers what shows it; ends of lines stay.
fn clean(text: &str) -> String {
    let seen = |c: char| {
        if steers(c) && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(seen).collect()
}

/// Returns the begin of a text that may have any length.
fn bounded(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Writes text for an element or an attribute of XML or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // No XML can hold these.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;

//! Tasks that are named by what is no id.

use clap::error::{ContextKind, ContextValue};

use crate::error::quote;
use crate::id::TaskId;

/// Guesses the task that is meant by a number.
pub(super) fn numbered(argument: &str, wrong: &str) -> Option<TaskId> {
    let (_, name) = argument.trim_end_matches(['.', ']', '>']).split_once('<')?;
    let number: u32 = wrong.trim_start_matches('#').parse().ok()?;
    (name == "TASK" && number > 0).then_some(TaskId(number))
}

/// Looks for the task that somebody names by what is no id of ours: an imported task keeps its old
/// id, which `find` knows.
pub(super) fn found(fault: &clap::Error) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let is_word = wrong.chars().any(char::is_alphanumeric) && !wrong.starts_with('-');
    let shown = argument.trim_end_matches(['.', ']', '>']);
    let is_task = shown.rsplit(['<', '[']).next() == Some("TASK");
    // A number that no task can have is one of ours all the same.
    let digits = wrong.strip_prefix(['T', 't']).unwrap_or_default();
    let is_ours = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_task && is_word && !is_ours).then(|| format!("cleo find {}", quote(&wrong)))
}

/// Returns what a fault of the command line names, or the first of it.
pub(super) fn context(fault: &clap::Error, kind: ContextKind) -> Option<String> {
    match fault.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

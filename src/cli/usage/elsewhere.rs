//! Lines that mean another command.

use clap::error::ContextKind;

use super::fix::{context, pasted};
use super::line::{Line, Role};
use super::surplus::is_change;
use crate::error::nearest;
use crate::id::TaskId;
use crate::task::Status;

/// Finds the command that most likely does what was meant.
pub(super) fn meant(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    match line.name().as_str() {
        "undo" => history(fault),
        "update" => end(fault, line),
        _ => None,
    }
}

/// `cleo undo T2` names a task and no operation: which there were, the log tells.
fn history(fault: &clap::Error) -> Option<String> {
    let task: TaskId = context(fault, ContextKind::InvalidValue)?.parse().ok()?;
    Some(format!("cleo log --task {task}"))
}

/// `cleo update T2 --status dnoe` means that T2 is to end, for which there are commands. None where more
/// is changed, which would be lost.
fn end(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let near = nearest(&wrong, Status::ALL.iter().map(|status| status.word()))?;
    let verb = match near.parse() {
        Ok(Status::Done) => "complete",
        Ok(Status::Cancelled) => "cancel",
        _ => return None,
    };
    let mut words = Vec::new();
    for word in line.words.iter().filter(|word| !word.gives(&argument)) {
        match word.role {
            Role::Command => words.push(verb),
            _ if is_change(word) => return None,
            _ => words.push(word.text()?),
        }
    }
    argument
        .starts_with("--status ")
        .then(|| pasted(words.into_iter()))
}

//! Lines that mean another command.

use clap::error::ContextKind;

use super::line::{Line, Role, Word, pasted};
use super::naming::context;
use super::surplus::is_change;
use crate::error::nearest;
use crate::id::TaskId;
use crate::task::Status;

/// Finds the command that most likely does what was meant.
pub(super) fn meant(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    match line.name().as_str() {
        "undo" => history(fault),
        "update" => end(fault, line),
        "why" => of_run(fault, line),
        _ => None,
    }
}

/// `cleo undo T2` names a task and no operation: which there were, the log tells.
fn history(fault: &clap::Error) -> Option<String> {
    let task: TaskId = context(fault, ContextKind::InvalidValue)?.parse().ok()?;
    Some(format!("cleo log --task {task}"))
}

/// `cleo why run_1769418000000_1` names a run in the place of a task.
fn of_run(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let run = context(fault, ContextKind::InvalidValue)?;
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    let place = words.iter().position(|word| *word == run)?;
    words.insert(place, "--run");
    let is_run = ["run_", "exec_"].iter().any(|kind| run.starts_with(kind));
    is_run.then(|| pasted(words.into_iter()))
}

/// `cleo update T2 --status dnoe` means that T2 is to end, for which there are commands. None where more
/// is changed, which would be lost, or where several tasks are named, of which these take one.
fn end(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let near = nearest(&wrong, Status::ALL.iter().map(|status| status.word()))?;
    let verb = match near.parse() {
        Ok(Status::Done) => "complete",
        Ok(Status::Cancelled) => "cancel",
        _ => return None,
    };
    let is_task = |word: &&Word<'_>| word.role == Role::Argument;
    if line.words.iter().filter(is_task).count() > 1 {
        return None;
    }
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

//! An entry that was refused, as it was most likely meant: a command that holds all of it.

use super::options::EntryOptions;
use crate::error::{Code, Error, nearest, quote};
use crate::manifest::Status;
use crate::ops::Context;
use crate::ops::manifest;

/// Gives a refusal the command that appends the entry corrected, where it is sure to be taken.
pub(super) fn corrected(
    error: Error,
    context: &mut Context,
    text: &str,
    epoch: Option<u32>,
    dry_run: bool,
) -> Error {
    if error.code != Code::EntryInvalid {
        return error;
    }
    let Some(entry) = meant(text, context.surroundings.clock.date()) else {
        return error;
    };
    let again = entry.value().map(|value| value.to_string());
    let again = again.and_then(|text| manifest::append(context, &text, epoch, true));
    match command(&entry, epoch, dry_run).filter(|_| again.is_ok()) {
        Some(command) => error.fix(command),
        None => error,
    }
}

/// Reads an entry with what is missing of it; a word that is none gives way to the nearest. None where
/// options cannot say all that it holds.
fn meant(text: &str, today: String) -> Option<EntryOptions> {
    let mut entry: EntryOptions = serde_json::from_str(text).ok()?;
    let status = entry.status.take();
    let status = status.unwrap_or_else(|| Status::Complete.word().to_string());
    let word = nearest(&status, Status::ALL.map(Status::word))?;
    entry.status = Some(word.to_string());
    entry.date.get_or_insert(today);
    let is_cut = |items: &[String]| items.iter().any(|item| item.contains(','));
    (!is_cut(&entry.topics)).then_some(entry)
}

fn command(entry: &EntryOptions, epoch: Option<u32>, dry_run: bool) -> Option<String> {
    let id = entry.id.clone()?;
    let mut command = format!("cleo manifest append{}", option("id", &id));
    for (name, value) in [
        ("file", &entry.file),
        ("title", &entry.title),
        ("date", &entry.date),
        ("status", &entry.status),
        ("skill", &entry.skill),
    ] {
        command.extend(value.iter().map(|value| option(name, value)));
    }
    let tasks: Vec<String> = entry.linked_tasks.iter().map(ToString::to_string).collect();
    for (name, values) in [
        ("topic", &entry.topics),
        ("finding", &entry.key_findings),
        ("followup", &entry.needs_followup),
        ("task", &tasks),
    ] {
        command.extend(values.iter().map(|value| option(name, value)));
    }
    command.extend(epoch.map(|epoch| format!(" --epoch {epoch}")));
    for (name, is_given) in [("actionable", entry.actionable), ("dry-run", dry_run)] {
        command.extend(is_given.then(|| format!(" --{name}")));
    }
    Some(command)
}

/// Writes an option so that its value is not taken for another one.
fn option(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { "=" } else { " " };
    format!(" --{name}{between}{}", quote(value))
}

//! Checking all of the manifest.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::file;
use crate::id::{self, TaskId};
use crate::manifest::Faulty;
use crate::manifest::log::{self, Line};
use crate::ops::Context;

/// Most lines that a command shows.
const LOOKED_AT_MAX: usize = 10;

/// What the manifest holds and what is wrong with it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Validated {
    /// How many entries count.
    pub(crate) entries: usize,
    /// What is wrong, by line.
    pub(crate) faults: Vec<Faulty>,
    /// True when nothing is.
    pub(crate) valid: bool,
    /// The verdict as an error, when something is wrong.
    #[serde(skip)]
    pub(crate) error: Option<Error>,
}

/// Checks every line, also whether the tasks that entries name exist. An empty or missing manifest
/// is valid.
pub(crate) fn validate(context: &mut Context) -> Result<Validated> {
    let path = context.workspace.manifest()?;
    let (mut entries, mut faults, mut named) = (0, Vec::new(), Vec::new());
    log::scan(&path, |line| match line {
        Line::Faulty(faulty) => faults.push(faulty),
        Line::Entry(_, draft) => {
            entries += 1;
            named.extend(draft.tasks().map(|(_, task)| task));
        }
    })?;
    let named: BTreeSet<TaskId> = named.into_iter().collect();
    let missing = context.read(|transaction| transaction.missing(&named))?;
    if !missing.is_empty() {
        faults.extend(unknown_tasks(&path, &missing)?);
        faults.sort_by_key(|fault: &Faulty| fault.line);
    }
    Ok(Validated {
        entries,
        valid: faults.is_empty(),
        error: faults.first().map(|first| invalid(&faults, first, &path)),
        faults,
    })
}

/// Names the entries with tasks that are not there. Few manifests have any, so only those are
/// read once more.
fn unknown_tasks(path: &Path, missing: &BTreeSet<TaskId>) -> Result<Vec<Faulty>> {
    let mut faults = Vec::new();
    log::scan(path, |line| {
        let Line::Entry(number, draft) = line else {
            return;
        };
        let mut unknown: Vec<TaskId> = Vec::new();
        for (_, task) in draft.tasks().filter(|(_, task)| missing.contains(task)) {
            if !unknown.contains(&task) {
                unknown.push(task);
            }
        }
        if !unknown.is_empty() {
            let id = draft.id().unwrap_or_default().to_string();
            let message = match unknown.as_slice() {
                [one] => format!("{id} names {one}, which is no task"),
                all => format!("{id} names {}, which are no tasks", id::list(all)),
            };
            faults.push(Faulty::new(number, Code::TaskNotFound, message, Some(id)));
        }
    })?;
    Ok(faults)
}

/// The error for a manifest with faults. What is no entry can be moved out of it; an entry with faults
/// is its author's to mend, and is looked at.
fn invalid(faults: &[Faulty], first: &Faulty, path: &Path) -> Error {
    let count = match faults.len() {
        1 => "a fault".to_string(),
        n => format!("{n} faults"),
    };
    let message = format!("the manifest has {count}; {first}");
    let error = Error::new(Code::ManifestInvalid, message);
    let is_entry = |fault: &&Faulty| matches!(fault.code, Code::EntryInvalid | Code::TaskNotFound);
    let entries: Vec<usize> = faults
        .iter()
        .filter(is_entry)
        .map(|fault| fault.line)
        .collect();
    let (move_out, is_mixed) = ("cleo manifest compact", entries.len() < faults.len());
    if entries.is_empty() {
        let see = format!("{move_out} --dry-run");
        return error.fix(move_out).or("see what would go", see);
    }
    let shown = &entries[..entries.len().min(LOOKED_AT_MAX)];
    let error = error.fix(file::look(path, shown));
    match is_mixed {
        true => error.or("move what is no entry out of it", move_out),
        false => error,
    }
}

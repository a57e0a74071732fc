//! Checking all of the manifest.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::file;
use crate::id::{self, TaskId};
use crate::manifest::Faulty;
use crate::manifest::log::{self, Line};
use crate::ops::Context;
use crate::ops::operation::Nothing;

/// Most lines that a command shows.
const LOOKED_AT_MAX: usize = 10;

/// What the manifest holds and what is wrong with it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Validated {
    pub(crate) entries: usize,
    /// What is wrong, by line.
    pub(crate) faults: Vec<Faulty>,
    /// True when nothing is.
    pub(crate) valid: bool,
}

/// Checks every line, also whether the tasks that entries name exist. An empty or missing manifest
/// is valid.
pub(crate) fn validate(context: &mut Context, _: Nothing) -> Result<Validated> {
    let path = context.workspace.manifest()?;
    let (mut entries, mut faults, mut naming) = (0, Vec::new(), Vec::new());
    log::scan(&path, |line| match line {
        Line::Faulty(faulty) => faults.push(faulty),
        Line::Entry(number, draft) => {
            entries += 1;
            let tasks: Vec<TaskId> = draft.tasks().map(|(_, task)| task).collect();
            let id = draft.id().filter(|_| !tasks.is_empty());
            naming.extend(id.map(|id| (number, id.to_string(), tasks)));
        }
    })?;
    let named = naming.iter().flat_map(|(_, _, tasks)| tasks).copied();
    let named: BTreeSet<TaskId> = named.collect();
    let missing = context.read(|transaction| transaction.missing(&named))?;
    for (line, id, tasks) in naming {
        let unknown = tasks.into_iter().filter(|task| missing.contains(task));
        faults.extend(report_unknown_tasks(line, id, unknown.collect()));
    }
    faults.sort_by_key(|fault: &Faulty| fault.line);
    let failure = faults.first().map(|first| invalid(&faults, first, &path));
    context.notes.failure = failure;
    Ok(Validated {
        entries,
        valid: faults.is_empty(),
        faults,
    })
}

fn report_unknown_tasks(line: usize, id: String, unknown: IndexSet<TaskId>) -> Option<Faulty> {
    let message = match Vec::from_iter(unknown).as_slice() {
        [] => return None,
        [one] => format!("{id} names {one}, which is no task"),
        all => format!("{id} names {}, which are no tasks", id::list(all)),
    };
    Some(Faulty::new(line, Code::TaskNotFound, message, Some(id)))
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

//! Checks the whole manifest.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::file;
use crate::id::{self, TaskId};
use crate::manifest::log::{self, Line};
use crate::manifest::{Draft, Faulty};
use crate::ops::Context;
use crate::ops::operation::Nothing;

/// Maximum number of lines that a `fix` shows.
const LOOKED_AT_MAX: usize = 10;

/// Number of entries, and all faults.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Validated {
    pub(crate) entries: usize,
    /// Faults, by line.
    pub(crate) faults: Vec<Faulty>,
    /// True without faults.
    pub(crate) valid: bool,
}

/// Checks every line, and that the tasks of entries exist. An empty or missing manifest is valid.
pub(crate) fn validate(context: &mut Context, _: Nothing) -> Result<Validated> {
    let path = context.workspace.manifest()?;
    let (mut entries, mut faults, mut named) = (0, Vec::new(), Vec::new());
    log::scan(&path, |line| match line {
        Line::Faulty(faulty) => faults.push(faulty),
        Line::Entry(_, draft) => {
            entries += 1;
            named.extend(draft.tasks().map(|(_, task)| task));
        }
    })?;
    let named = BTreeSet::from_iter(named);
    let missing = context.read(|transaction| transaction.missing(&named))?;
    if !missing.is_empty() {
        log::scan(&path, |line| {
            if let Line::Entry(number, draft) = line {
                faults.extend(report_unknown_tasks(number, draft, &missing));
            }
        })?;
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

fn report_unknown_tasks(
    line: usize,
    draft: &Draft<'_>,
    missing: &BTreeSet<TaskId>,
) -> Option<Faulty> {
    let named = draft.tasks().map(|(_, task)| task);
    let unknown: IndexSet<TaskId> = named.filter(|task| missing.contains(task)).collect();
    let id = draft.id()?;
    let message = match Vec::from_iter(unknown).as_slice() {
        [] => return None,
        [one] => format!("{id} names {one}, which does not exist"),
        all => format!("{id} names {}, which do not exist", id::list(all)),
    };
    let id = Some(id.to_string());
    Some(Faulty::new(line, Code::TaskNotFound, message, id))
}

/// Returns the error for a manifest with faults. Lines that are not entries can be moved out of it; an invalid entry has
/// to be fixed by its author, so the `fix` shows it.
fn invalid(faults: &[Faulty], first: &Faulty, path: &Path) -> Error {
    let count = match faults.len() {
        1 => "a fault".to_string(),
        n => format!("{n} faults"),
    };
    let error = error!(ManifestInvalid, "the manifest has {count}; {first}");
    let is_entry = |fault: &&Faulty| matches!(fault.code, Code::EntryInvalid | Code::TaskNotFound);
    let entries = faults.iter().filter(is_entry);
    let entries: Vec<usize> = entries.map(|fault| fault.line).collect();
    let (move_out, is_mixed) = ("cleo manifest compact", entries.len() < faults.len());
    if entries.is_empty() {
        let see = format!("{move_out} --dry-run");
        return error.fix(move_out).or("see what would go", see);
    }
    let shown = &entries[..entries.len().min(LOOKED_AT_MAX)];
    let error = error.fix(file::show_lines_command(path, shown));
    match is_mixed {
        true => error.or("move what is not an entry out of it", move_out),
        false => error,
    }
}

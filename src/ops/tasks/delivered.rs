//! Output that came back for the last prompts of tasks, and what is to be done about it.

use std::collections::HashMap;

use serde::Serialize;

use super::merged::find_unmerged;
use crate::clock::is_older;
use crate::error::{Error, Result};
use crate::gate::{Criterion, Freshness, Gates, Record};
use crate::id::TaskId;
use crate::manifest::{Status, log};
use crate::ops::require;
use crate::ops::trust::{Place, Trust, digest_files, judge};
use crate::store::{Operation, Recorded, SpawnRecord, Transaction};
use crate::task::Task;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// A task with the output that came back for its last prompt.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivered {
    pub(crate) id: TaskId,
    pub(crate) output_file: String,
    /// The command that brings it nearer to its end.
    #[serde(skip)]
    pub(crate) command: String,
}

impl Delivered {
    pub(crate) fn describe(&self) -> String {
        let (id, file, command) = (self.id, &self.output_file, &self.command);
        format!("{id} has output in {file}: run `{command}`")
    }
}

/// Returns whether the output file of a prompt was written since.
pub(in crate::ops) fn is_delivered(workspace: &Workspace, record: &SpawnRecord) -> bool {
    let path = workspace.confine(&record.output_file).ok();
    let there = path.and_then(|path| path.metadata().ok());
    there.is_some_and(|there| !is_older(there.modified().ok(), &record.at))
}

/// Digests of declared files: many tasks declare the same.
pub(in crate::ops) type Trees = HashMap<Vec<String>, Tree>;

/// Fields whose change asks for other work.
const WANTED: [&str; 4] = ["title", "description", "files", "deliverables"];

/// Requests since the last prompt of a task or its verification.
#[derive(Default)]
pub(in crate::ops) struct Requests {
    /// Other work.
    pub(in crate::ops) has_changes: bool,
    pub(in crate::ops) is_reopened: bool,
    pub(in crate::ops) has_words: bool,
}

/// Finds what was asked for. A change that was undone asks for nothing.
pub(in crate::ops) fn find_requests(transaction: &dyn Transaction, id: TaskId) -> Result<Requests> {
    let told = transaction.changes(0, Some(id), u32::MAX)?;
    let is_new = |one: &&Recorded| !["verified", "spawned"].contains(&&*one.change.kind);
    let mut found = Requests::default();
    for Recorded {
        change, operation, ..
    } in told.iter().rev().take_while(is_new)
    {
        let has = |field: &str| change.detail.get(field).is_some();
        found.has_words |= has("notes");
        let is_change = WANTED.into_iter().any(has);
        let is_reopening = change.detail["status"]["from"] == "done";
        if is_change || is_reopening {
            let operation = transaction.operation(*operation)?;
            let is_undone = |it: &Operation| it.undoes.is_some() || it.undone_by.is_some();
            if !operation.as_ref().is_some_and(is_undone) {
                found.has_changes |= is_change;
                found.is_reopened |= is_reopening;
            }
        }
    }
    Ok(found)
}

/// Finds output that came back for some tasks, unless its agent calls it partial or blocked, or other work was asked for
/// since: another prompt continues it.
pub(in crate::ops) fn find_delivered(
    trust: &Trust,
    transaction: &dyn Transaction,
    ids: &[TaskId],
) -> Result<Vec<Delivered>> {
    let (workspace, mut spawned) = (&trust.workspace, Vec::new());
    for id in ids {
        let latest = transaction.latest_spawn_to_show(*id)?;
        let Some(record) = latest.filter(|record| is_delivered(workspace, record)) else {
            continue;
        };
        let asked = find_requests(transaction, *id)?;
        let unmerged = find_unmerged(workspace, &record)?;
        if !asked.has_changes && (unmerged.is_none() || !asked.has_words) {
            spawned.push((record, unmerged, asked.is_reopened));
        }
    }
    if spawned.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = spawned.iter();
    let wanted = wanted
        .map(|(record, ..)| record.manifest_id.as_str())
        .collect();
    let found = log::find_all(&workspace.manifest()?, &wanted)?;
    let (mut delivered, mut trees) = (Vec::new(), Trees::new());
    for (record, unmerged, is_reopened) in spawned {
        let entry = found
            .get(&record.manifest_id)
            .and_then(|it| it.entry.as_ref());
        let status = entry.map(|(_, entry)| entry.status);
        if status.is_none_or(|status| status == Status::Complete) {
            let has_entry = status.is_some();
            let id = record.task;
            let gates = transaction.gates_of(&[id])?.remove(&id).unwrap_or_default();
            let task = require(transaction, id)?;
            let subject = (&task, &gates);
            if unmerged.is_none() && has_failed_check(trust, subject, &record.at, &mut trees)? {
                continue;
            }
            let command = match is_reopened {
                true => format!("cleo spawn {id} --again"),
                false => choose_command(trust, subject, unmerged, has_entry, &mut trees)?,
            };
            delivered.push(Delivered {
                id,
                output_file: record.output_file,
                command,
            });
        }
    }
    Ok(delivered)
}

/// Chooses the command for output: to merge it, to see what it lacks, to run what proves it, or to complete its task.
fn choose_command(
    trust: &Trust,
    (task, gates): (&Task, &Gates),
    unmerged: Option<Error>,
    has_entry: bool,
    trees: &mut Trees,
) -> Result<String> {
    let id = task.id;
    let is_unproven = |line: &String| {
        let has_passed = gates.criteria.get(line).is_some_and(|record| record.passed);
        !has_passed && Criterion::read(line).command.is_some()
    };
    let is_unproven = task.acceptance.iter().any(is_unproven);
    let has_open_gates = gates.has_gates() && !gates.open().is_empty();
    if let Some(error) = unmerged {
        // Work that is not proven, or was not where it was merged, is not to be merged as it is.
        let mut looks = error.alternatives.into_iter();
        let look = looks.find(|_| is_unproven || has_open_gates);
        return Ok(look.map(|it| it.command).or(error.fix).unwrap_or_default());
    }
    Ok(match is_unproven {
        _ if !has_entry => format!("cleo verify output {id}"),
        true => format!("cleo verify {id} --run-all"),
        false if has_open_gates => format!("cleo verify {id}"),
        false => match is_stale(trust, task, gates, trees)? {
            true => format!("cleo verify {id} --refresh"),
            false => format!("cleo complete {id}"),
        },
    })
}

/// Returns whether a criterion has failed on the files that are there since the last prompt of a task: an agent has to
/// work.
pub(in crate::ops) fn has_failed_check(
    trust: &Trust,
    (task, gates): (&Task, &Gates),
    spawned_at: &str,
    trees: &mut Trees,
) -> Result<bool> {
    let records = task.acceptance.iter();
    let records = records.filter_map(|line| Some((line, gates.criteria.get(line)?)));
    let is_failure = |it: &Record| !it.passed && *it.at >= *spawned_at;
    let failed: Vec<_> = records.filter(|(_, it)| is_failure(it)).collect();
    if failed.is_empty() {
        return Ok(false);
    }
    let (key, files) = (trust.read_key(), digest_once(trust, task, gates, trees)?);
    let by = (key.as_ref(), &trust.workspace);
    Ok(failed.into_iter().any(|(line, record)| {
        let found = judge(by, files, false, task.id, (Place::Criterion(line), record));
        !matches!(found, Freshness::Stale(_))
    }))
}

fn digest_once<'t>(
    trust: &Trust,
    task: &Task,
    gates: &Gates,
    trees: &'t mut Trees,
) -> Result<Option<&'t Tree>> {
    if !trees.contains_key(&task.files)
        && let Some(tree) = digest_files(&trust.workspace, task, gates)?
    {
        trees.insert(task.files.clone(), tree);
    }
    Ok(trees.get(&task.files))
}

/// Returns whether proof of a task is stale.
fn is_stale(trust: &Trust, task: &Task, gates: &Gates, trees: &mut Trees) -> Result<bool> {
    let (workspace, key) = (&trust.workspace, trust.read_key());
    let files = digest_once(trust, task, gates, trees)?;
    let on_gates = gates.gates.iter().filter(|(gate, _)| gates.needs(**gate));
    let on_gates = on_gates.map(|(gate, record)| (Place::Gate(*gate), record));
    let criteria = task.acceptance.iter();
    let on_criteria =
        criteria.filter_map(|line| Some((Place::Criterion(line), gates.criteria.get(line)?)));
    let by = (key.as_ref(), workspace);
    Ok(on_gates.chain(on_criteria).any(|one| {
        let found = judge(by, files, false, task.id, one);
        one.1.passed && matches!(found, Freshness::Stale(_))
    }))
}

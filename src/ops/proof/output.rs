//! The check of what an agent left: its entry, then its file.

use std::collections::HashSet;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::entries::find_unknown_tasks;
use super::file::check_file;
use super::standing::{list_missing, warn_of_missing};
use super::{Report, Violation, violation};
use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::manifest::{Entry, Status, log};
use crate::ops::tasks::{Caller, check_epoch, find_unmerged};
use crate::ops::trust::{Trust, is_verified};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::workspace::{OUTPUT_DIR, Workspace};

// A doc comment would become the help of the command.
#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

/// The result of checking an agent's output.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputVerdict {
    pub(crate) task_id: TaskId,
    /// The git worktree that was checked; none for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    #[serde(flatten)]
    pub(crate) report: Report,
    /// Id of the entry that is due.
    pub(crate) manifest_id: Option<String>,
    /// The file that is due, relative to the workspace root.
    pub(crate) output_file: Option<String>,
    /// The status in the entry: complete, partial, blocked or archived.
    pub(crate) entry_status: Option<Status>,
    /// Digest of the output file.
    pub(crate) output_digest: Option<String>,
    pub(crate) spawned_at: Option<String>,
    #[serde(skip)]
    pub(crate) entry: Option<Entry>,
}

/// Checks what the agent of a task left, and records the digest of a file that verifies and is complete.
pub(crate) fn output(context: &mut Context, which: Output) -> Result<OutputVerdict> {
    let Output { task: id, epoch } = which;
    let caller = Caller::for_task(context, id, epoch);
    let task = context.read(|transaction| {
        let task = require(transaction, id)?;
        check_epoch(transaction, &task, &caller).map(|()| task)
    })?;
    let missing = list_missing(&context.find_judged_workspace(id)?, &task);
    context.notes.warn(warn_of_missing(id, &missing));
    let (verdict, record) = judge_output(context, id)?;
    let trust = Trust::new(&context.surroundings, &context.workspace);
    let key = trust.read_key();
    let record = record.filter(|record| {
        let is_known =
            is_verified(key.as_ref(), record) && record.output_digest == verdict.output_digest;
        // Work that its agent calls partial or blocked proves nothing.
        verdict.report.has_passed() && verdict.entry_status == Some(Status::Complete) && !is_known
    });
    if let Some(mut record) = record {
        record.verified_at = Some(caller.now.clone());
        record.output_digest.clone_from(&verdict.output_digest);
        context.notes.warn(trust.mark_spawn(&mut record));
        context.write(|transaction| {
            check_epoch(transaction, &require(transaction, id)?, &caller)?;
            // Writing the spawn makes it the latest, which another one may have become meanwhile.
            let latest = transaction.latest_spawn(id)?;
            let is_latest = latest.is_some_and(|latest| latest.manifest_id == record.manifest_id);
            // An agent of a run may look at the work of others.
            match is_latest && caller.refuse_answer(transaction, id).is_ok() {
                true => transaction.put_spawn(&record),
                false => Ok(()),
            }
        })?;
    }
    let error = verdict.report.error(&format!("the output of {id}"));
    let (action, command) = match task.is_closed() {
        true => ("open the task again", format!("cleo reopen {id}")),
        false => (
            "give the prompt to an agent again",
            format!("cleo spawn {id} --format text"),
        ),
    };
    let list = format!("cleo manifest list --task {id}");
    context.notes.failure = error.map(|error| error.fix(list).or(action, command));
    Ok(verdict)
}

/// Checks what the agent of a task left, and records nothing.
pub(crate) fn check_task_output(context: &mut Context, task: TaskId) -> Result<OutputVerdict> {
    Ok(judge_output(context, task)?.0)
}

fn judge_output(
    context: &mut Context,
    task: TaskId,
) -> Result<(OutputVerdict, Option<SpawnRecord>)> {
    let required = context.load_sections()?.to_vec();
    let workspace = context.find_judged_workspace(task)?;
    let (mut verdict, record) = context.read(|transaction| {
        require(transaction, task)?;
        let record = transaction.latest_spawn(task)?;
        let verdict = match &record {
            Some(record) => check_output(&workspace, transaction, record, &required)?,
            None => {
                let mut violations = Vec::new();
                let entry = find_linked_entry(&workspace, transaction, task, &mut violations)?;
                check_left(&workspace, task, None, entry, &required, violations)?
            }
        };
        Ok((verdict, record))
    })?;
    if let Some(record) = &record
        && let Some(error) = find_unmerged(&workspace, record)?
    {
        let unmerged = violation(error.code, "MERGED", error.message);
        verdict.report.add(unmerged);
    }
    Ok((verdict, record))
}

/// Checks what the agent of a spawn left.
pub(in crate::ops) fn check_output(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    record: &SpawnRecord,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut left = check_outputs(workspace, std::slice::from_ref(record), required)?;
    check_named(transaction, left.remove(0)?)
}

/// Reads what agents left for these spawns, in their order, in one pass over the manifest.
pub(super) fn check_outputs(
    workspace: &Workspace,
    records: &[SpawnRecord],
    required: &[String],
) -> Result<Vec<Result<OutputVerdict>>> {
    let ids = records.iter().map(|record| record.manifest_id.as_str());
    let mut missing: HashSet<&str> = ids.collect();
    let mut found = log::find_all(&workspace.manifest()?, &missing)?;
    missing.retain(|id| !found.contains_key(*id));
    if let Some(home) = workspace.home().filter(|_| !missing.is_empty()) {
        // `cleo manifest append` writes to the workspace, wherever its caller works.
        found.extend(log::find_all(&home.manifest()?, &missing)?);
    }
    let look = |record: &SpawnRecord| {
        let mut violations = Vec::new();
        let found = found.remove(&record.manifest_id).unwrap_or_default();
        let entry = check_spawned_entry(record, found, &mut violations);
        check_left(
            workspace,
            record.task,
            Some(record),
            entry,
            required,
            violations,
        )
    };
    Ok(records.iter().map(look).collect())
}

/// Checks that the tasks exist that the entry names.
pub(super) fn check_named(
    transaction: &dyn Transaction,
    mut checked: OutputVerdict,
) -> Result<OutputVerdict> {
    if let Some(entry) = &checked.entry
        && let Some(message) = find_unknown_tasks(transaction, entry)?
    {
        let unknown = violation(Code::EntryMissing, "OUT-002", message);
        checked.report.violations.insert(0, unknown);
        checked.report = Report::new(checked.report.violations);
    }
    Ok(checked)
}

/// Checks the file that is due, after the entry.
fn check_left(
    workspace: &Workspace,
    task_id: TaskId,
    record: Option<&SpawnRecord>,
    entry: Option<Entry>,
    required: &[String],
    mut violations: Vec<Violation>,
) -> Result<OutputVerdict> {
    let (manifest_id, output_file) = match (record, &entry) {
        (Some(record), _) => (Some(&record.manifest_id), Some(record.output_file.clone())),
        (None, Some(entry)) => {
            let file = format!("{OUTPUT_DIR}/{}", simplify_path(&entry.file));
            (Some(&entry.id), Some(file))
        }
        (None, None) => (None, None),
    };
    let output_digest = match &output_file {
        Some(file) => check_file(workspace, file, record, required, &mut violations)?,
        None => None,
    };
    Ok(OutputVerdict {
        task_id,
        worktree: workspace.worktree(),
        report: Report::new(violations),
        manifest_id: manifest_id.cloned(),
        output_file,
        entry_status: entry.as_ref().map(|entry| entry.status),
        entry,
        output_digest,
        spawned_at: record.map(|record| record.at.clone()),
    })
}

fn check_spawned_entry(
    record: &SpawnRecord,
    found: log::Found,
    violations: &mut Vec<Violation>,
) -> Option<Entry> {
    let (id, task) = (&record.manifest_id, record.task);
    let mut missing =
        |message: String| violations.push(violation(Code::EntryMissing, "OUT-002", message));
    let Some((_, entry)) = found.entry else {
        if found.faulty.is_empty() {
            missing(format!("the manifest has no entry {id}"));
        }
        for fault in &found.faulty {
            missing(format!("the entry {id} is faulty: {fault}"));
        }
        return None;
    };
    if entry.status == Status::Archived {
        missing(format!(
            "the entry {id} is archived, which counts as no entry"
        ));
    }
    if !entry.linked_tasks.contains(&task) {
        missing(format!("the entry {id} is not linked to {task}"));
    }
    let due = record.output_file.rsplit('/').next().unwrap_or_default();
    if simplify_path(&entry.file) != due {
        let message = format!("the entry {id} names the file {}, not {due}", entry.file);
        violations.push(violation(Code::OutputMissing, "OUT-001", message));
    }
    Some(entry)
}

/// Returns the shortest spelling of a path: `./a.md` is `a.md`.
fn simplify_path(file: &str) -> String {
    let parts = file.split('/').filter(|part| !matches!(*part, "" | "."));
    Vec::from_iter(parts).join("/")
}

/// Finds the latest entry of a task that was not spawned.
fn find_linked_entry(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    task: TaskId,
    violations: &mut Vec<Violation>,
) -> Result<Option<Entry>> {
    let others = transaction.entries_of_others(task)?;
    let (mut below, whole) = (HashSet::new(), require(transaction, task)?);
    if whole.kind.is_epic() {
        below.extend(transaction.nodes(Some(task))?.iter().map(|node| node.id));
        below.remove(&task);
    }
    // Append adds the epic, so an entry that names a task below is about that task.
    let is_own = |entry: &Entry| {
        let is_of_other = others.contains(&entry.id) || entry.is_older_than(&whole.created_at);
        !is_of_other && !entry.linked_tasks.iter().any(|id| below.contains(id))
    };
    let latest = log::latest_for(&workspace.manifest()?, &[task], is_own)?;
    let entry = latest.entry(task).cloned();
    if entry.is_none() {
        let message = format!("{task} was not spawned, and no entry of its own is linked to it");
        violations.push(violation(Code::EntryMissing, "OUT-002", message));
    }
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_of_a_path_does_not_matter() {
        for (file, expected) in [
            ("a.md", "a.md"),
            ("./a.md", "a.md"),
            ("././/a.md", "a.md"),
            ("sub/./a.md", "sub/a.md"),
            (".a.md", ".a.md"),
        ] {
            assert_eq!(simplify_path(file), expected);
        }
    }
}

//! Checking what an agent left behind: its entry, then its file.

use std::collections::HashSet;

use serde::Serialize;

use super::file::check_file;
use super::merged::Unmerged;
use super::unknown_tasks;
use super::{Output, Verdict, Violation, violation};
use crate::catalogue::Catalogue;
use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::manifest::entry::{Entry, Status};
use crate::manifest::log;
use crate::ops::claims::{Caller, check_epoch};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;
use crate::workspace::{OUTPUT_DIR, Workspace};

/// What a check of an agent's output found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputVerdict {
    pub(crate) task_id: TaskId,
    /// The git worktree that was looked at; none for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// Verdict and violations.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// Id of the entry that is due.
    pub(crate) manifest_id: Option<String>,
    /// The file that is due, relative to the workspace root.
    pub(crate) output_file: Option<String>,
    /// What the entry says of the work: complete, partial, blocked or archived.
    pub(crate) entry_status: Option<Status>,
    /// Digest of the output file.
    pub(crate) output_digest: Option<String>,
    /// When the prompt was prepared.
    pub(crate) spawned_at: Option<String>,
    /// The entry itself.
    #[serde(skip)]
    pub(crate) entry: Option<Entry>,
}

/// Checks what the agent of a task left behind, and records what was found.
pub(crate) fn output(context: &mut Context, which: Output) -> Result<OutputVerdict> {
    let Output { task, epoch } = which;
    let caller = Caller::of(context, task, epoch);
    let (verdict, record) = judge(context, task, |transaction, task| {
        check_epoch(transaction, task, &caller)
    })?;
    if let Some(record) = record {
        remember(context, record, &verdict, &caller)?;
    }
    let error = verdict.verdict.error(&format!("the output of {task}"));
    context.notes.failure = error.map(|error| {
        error.fix(format!("cleo manifest list --task {task}")).or(
            "give the prompt to an agent again",
            format!("cleo spawn {task} --format text"),
        )
    });
    Ok(verdict)
}

/// Checks what the agent of a task left behind, and records nothing.
pub(crate) fn found(context: &mut Context, task: TaskId) -> Result<OutputVerdict> {
    Ok(judge(context, task, |_, _| Ok(()))?.0)
}

fn judge(
    context: &mut Context,
    task: TaskId,
    may: impl Fn(&dyn Transaction, &Task) -> Result<()>,
) -> Result<(OutputVerdict, Option<SpawnRecord>)> {
    let required = required_sections(context)?;
    let workspace = context.judged_in(task)?;
    let (mut verdict, record) = context.read(|transaction| {
        may(transaction, &require(transaction, task)?)?;
        let record = transaction.latest_spawn(task)?;
        let verdict = match &record {
            Some(record) => check_output(&workspace, transaction, record, &required)?,
            None => check_unspawned(&workspace, transaction, task, &required)?,
        };
        Ok((verdict, record))
    })?;
    if let Some(record) = &record {
        check_merged(&workspace, record, &mut verdict)?;
    }
    Ok((verdict, record))
}

fn check_merged(
    workspace: &Workspace,
    record: &SpawnRecord,
    verdict: &mut OutputVerdict,
) -> Result<()> {
    if let Some(unmerged) = Unmerged::of(workspace, record)? {
        let found = std::mem::take(&mut verdict.verdict.violations).into_iter();
        verdict.verdict = Verdict::of(found.chain([unmerged.violation()]).collect());
    }
    Ok(())
}

pub(in crate::ops) fn required_sections(context: &Context) -> Result<Vec<String>> {
    let places = context.surroundings.places(Some(&context.workspace));
    Ok(Catalogue::load_past_base(&places)?.base.sections)
}

/// Records the digest of a file that holds, unless that is known.
fn remember(
    context: &mut Context,
    record: SpawnRecord,
    verdict: &OutputVerdict,
    caller: &Caller,
) -> Result<()> {
    let is_known = record.output_digest == verdict.output_digest && record.verified_at.is_some();
    let record = SpawnRecord {
        verified_at: Some(caller.now.clone()),
        output_digest: verdict.output_digest.clone(),
        ..record
    };
    if is_known || !verdict.verdict.violations.is_empty() {
        return Ok(());
    }
    context.write(|transaction| {
        check_epoch(transaction, &require(transaction, record.task)?, caller)?;
        // Writing the spawn makes it the latest, which another one may have become meanwhile.
        let latest = transaction.latest_spawn(record.task)?;
        match latest.is_some_and(|latest| latest.manifest_id == record.manifest_id) {
            true => transaction.put_spawn(&record),
            false => Ok(()),
        }
    })
}

pub(in crate::ops) fn check_output(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    record: &SpawnRecord,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut found = log::find(&workspace.manifest()?, &record.manifest_id)?;
    let is_missing = found.entry.is_none() && found.faulty.is_empty();
    if let Some(home) = workspace.home().filter(|_| is_missing) {
        // `cleo manifest append` writes to the workspace, wherever its caller works.
        found = log::find(&home.manifest()?, &record.manifest_id)?;
    }
    check_named(
        transaction,
        check_found(workspace, record, found, required)?,
    )
}

/// Adds to a check what it takes a store to see: whether the tasks that the entry names exist.
pub(in crate::ops) fn check_named(
    transaction: &dyn Transaction,
    mut checked: OutputVerdict,
) -> Result<OutputVerdict> {
    let Some(entry) = &checked.entry else {
        return Ok(checked);
    };
    let unknown = unknown_tasks(transaction, entry)?;
    let told = unknown.map(|it| violation(Code::EntryMissing, "OUT-002", it));
    let found = told.into_iter().chain(checked.verdict.violations);
    checked.verdict = Verdict::of(found.collect());
    Ok(checked)
}

pub(in crate::ops) fn check_found(
    workspace: &Workspace,
    record: &SpawnRecord,
    found: log::Found,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut violations = Vec::new();
    let entry = spawned_entry(record, found, &mut violations);
    let file = Some(record.output_file.clone());
    let digest = file_digest(workspace, &file, Some(record), required, &mut violations)?;
    Ok(OutputVerdict {
        task_id: record.task,
        worktree: workspace.worktree(),
        verdict: Verdict::of(violations),
        manifest_id: Some(record.manifest_id.clone()),
        output_file: file,
        entry_status: entry.as_ref().map(|entry| entry.status),
        entry,
        output_digest: digest,
        spawned_at: Some(record.at.clone()),
    })
}

/// Checks entry and file of a task that was not spawned: of the latest entry linked to it.
fn check_unspawned(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    task: TaskId,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut violations = Vec::new();
    let entry = linked_entry(workspace, transaction, task, &mut violations)?;
    let file = entry
        .as_ref()
        .map(|entry| format!("{OUTPUT_DIR}/{}", plain(&entry.file)));
    let digest = file_digest(workspace, &file, None, required, &mut violations)?;
    Ok(OutputVerdict {
        task_id: task,
        worktree: workspace.worktree(),
        verdict: Verdict::of(violations),
        manifest_id: entry.as_ref().map(|entry| entry.id.clone()),
        output_file: file,
        entry_status: entry.as_ref().map(|entry| entry.status),
        entry,
        output_digest: digest,
        spawned_at: None,
    })
}

fn file_digest(
    workspace: &Workspace,
    file: &Option<String>,
    record: Option<&SpawnRecord>,
    required: &[String],
    violations: &mut Vec<Violation>,
) -> Result<Option<String>> {
    match file {
        Some(file) => check_file(workspace, file, record, required, violations),
        None => Ok(None),
    }
}

fn spawned_entry(
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
    if plain(&entry.file) != due {
        let message = format!("the entry {id} names the file {}, not {due}", entry.file);
        violations.push(violation(Code::OutputMissing, "OUT-001", message));
    }
    Some(entry)
}

/// Returns the path of a file as others spell it, too: `./a.md` is `a.md`.
fn plain(file: &str) -> String {
    let parts = file.split('/').filter(|part| !matches!(*part, "" | "."));
    Vec::from_iter(parts).join("/")
}

fn linked_entry(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    task: TaskId,
    violations: &mut Vec<Violation>,
) -> Result<Option<Entry>> {
    let others = transaction.entries_of_others(task)?;
    let below = below_epic(transaction, task)?;
    // Append adds the epic, so an entry that names a task below is about that task.
    let is_own = |_: TaskId, entry: &Entry| {
        !others.contains(&entry.id) && !entry.linked_tasks.iter().any(|id| below.contains(id))
    };
    let latest = log::latest_for(&workspace.manifest()?, &[task], is_own)?;
    let entry = latest.entry(task).cloned();
    if entry.is_none() {
        let message = match latest.archived(task) {
            Some(id) => format!("{task} was not spawned, and its entry {id} is archived"),
            None => format!("{task} was not spawned, and no entry of its own is linked to it"),
        };
        violations.push(violation(Code::EntryMissing, "OUT-002", message));
    }
    Ok(entry)
}

/// Returns the tasks below an epic; none for another task.
fn below_epic(transaction: &dyn Transaction, task: TaskId) -> Result<HashSet<TaskId>> {
    if !require(transaction, task)?.kind.is_epic() {
        return Ok(HashSet::new());
    }
    let nodes = transaction.nodes(Some(task))?;
    let below = nodes.iter().map(|node| node.id);
    Ok(below.filter(|id| *id != task).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_however_its_path_is_spelled() {
        for (file, expected) in [
            ("a.md", "a.md"),
            ("./a.md", "a.md"),
            ("././/a.md", "a.md"),
            ("sub/./a.md", "sub/a.md"),
            (".a.md", ".a.md"),
        ] {
            assert_eq!(plain(file), expected);
        }
    }
}

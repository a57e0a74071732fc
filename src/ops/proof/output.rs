//! Checking what an agent left behind: its entry, then its file.

use std::collections::HashSet;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::entries::find_unknown_tasks;
use super::file::check_file;
use super::merged::find_unmerged;
use super::{Report, Violation, violation};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::log;
use crate::manifest::{Entry, Status};
use crate::ops::tasks::{Caller, check_epoch};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::workspace::{OUTPUT_DIR, Workspace};

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

/// What a check of an agent's output found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputVerdict {
    pub(crate) task_id: TaskId,
    /// The git worktree that was looked at; none for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    #[serde(flatten)]
    pub(crate) report: Report,
    /// Id of the entry that is due.
    pub(crate) manifest_id: Option<String>,
    /// The file that is due, relative to the workspace root.
    pub(crate) output_file: Option<String>,
    /// What the entry says of the work: complete, partial, blocked or archived.
    pub(crate) entry_status: Option<Status>,
    /// Digest of the output file.
    pub(crate) output_digest: Option<String>,
    pub(crate) spawned_at: Option<String>,
    #[serde(skip)]
    pub(crate) entry: Option<Entry>,
}

/// Checks what the agent of a task left behind, and records what was found.
pub(crate) fn output(context: &mut Context, which: Output) -> Result<OutputVerdict> {
    let Output { task: id, epoch } = which;
    let caller = Caller::for_task(context, id, epoch);
    context.read(|transaction| check_epoch(transaction, &require(transaction, id)?, &caller))?;
    let (verdict, record) = judge(context, id)?;
    if let Some(record) = record {
        remember(context, record, &verdict, &caller)?;
    }
    let error = verdict.report.error(&format!("the output of {id}"));
    context.notes.failure = error.map(|error| {
        error.fix(format!("cleo manifest list --task {id}")).or(
            "give the prompt to an agent again",
            format!("cleo spawn {id} --format text"),
        )
    });
    Ok(verdict)
}

/// Checks what the agent of a task left behind, and records nothing.
pub(crate) fn look_at_output(context: &mut Context, task: TaskId) -> Result<OutputVerdict> {
    Ok(judge(context, task)?.0)
}

fn judge(context: &mut Context, task: TaskId) -> Result<(OutputVerdict, Option<SpawnRecord>)> {
    let required = context.load_sections()?.to_vec();
    let workspace = context.find_judged_workspace(task)?;
    let (mut verdict, record) = context.read(|transaction| {
        require(transaction, task)?;
        let record = transaction.latest_spawn(task)?;
        let verdict = match &record {
            Some(record) => check_output(&workspace, transaction, record, &required)?,
            None => check_unspawned(&workspace, transaction, task, &required)?,
        };
        Ok((verdict, record))
    })?;
    if let Some(record) = &record
        && let Some(error) = find_unmerged(&workspace, record)?
    {
        verdict
            .report
            .add(violation(error.code, "MERGED", error.message));
    }
    Ok((verdict, record))
}

/// Records the digest of a file that holds, unless that is known.
fn remember(
    context: &mut Context,
    record: SpawnRecord,
    verdict: &OutputVerdict,
    caller: &Caller,
) -> Result<()> {
    let is_known = record.output_digest == verdict.output_digest && record.verified_at.is_some();
    if is_known || !verdict.report.has_passed() {
        return Ok(());
    }
    let record = SpawnRecord {
        verified_at: Some(caller.now.clone()),
        output_digest: verdict.output_digest.clone(),
        ..record
    };
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

/// Checks what the agent of a spawn left behind.
pub(in crate::ops) fn check_output(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    record: &SpawnRecord,
    required: &[String],
) -> Result<OutputVerdict> {
    let left = look_at_outputs(workspace, std::slice::from_ref(record), required)?;
    let verdict = left.into_iter().next().unwrap_or_else(|| {
        let message = format!("nothing was looked at for {}", record.task);
        Err(Error::new(Code::Internal, message))
    })?;
    check_named(transaction, verdict)
}

/// Looks at what agents left for these spawns, in their order. The manifest is read once for all of them.
pub(super) fn look_at_outputs(
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
        verdict(
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

/// Adds to a check what it takes a store to see: whether the tasks that the entry names exist.
pub(super) fn check_named(
    transaction: &dyn Transaction,
    mut checked: OutputVerdict,
) -> Result<OutputVerdict> {
    if let Some(entry) = &checked.entry
        && let Some(message) = find_unknown_tasks(transaction, entry)?
    {
        let unknown = violation(Code::EntryMissing, "OUT-002", message);
        let others = checked.report.violations;
        checked.report = Report::new([unknown].into_iter().chain(others).collect());
    }
    Ok(checked)
}

/// Checks entry and file of a task that was not spawned: of the latest entry linked to it.
fn check_unspawned(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    task: TaskId,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut violations = Vec::new();
    let entry = find_linked_entry(workspace, transaction, task, &mut violations)?;
    verdict(workspace, task, None, entry, required, violations)
}

/// Checks the file that is due, after the entry.
fn verdict(
    workspace: &Workspace,
    task_id: TaskId,
    record: Option<&SpawnRecord>,
    entry: Option<Entry>,
    required: &[String],
    mut violations: Vec<Violation>,
) -> Result<OutputVerdict> {
    let named = entry.as_ref().map(|entry| {
        let file = format!("{OUTPUT_DIR}/{}", plain(&entry.file));
        (entry.id.clone(), file)
    });
    let due = record.map(|record| (record.manifest_id.clone(), record.output_file.clone()));
    let (manifest_id, output_file) = due.or(named).unzip();
    let output_digest = match &output_file {
        Some(file) => check_file(workspace, file, record, required, &mut violations)?,
        None => None,
    };
    Ok(OutputVerdict {
        task_id,
        worktree: workspace.worktree(),
        report: Report::new(violations),
        manifest_id,
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

fn find_linked_entry(
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
        let message = match latest.latest_archived(task) {
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

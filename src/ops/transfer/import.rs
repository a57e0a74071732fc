//! Imports tasks: all of them or none.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::plan::Plan;
use super::source;
use super::versions::differing;
use crate::clock::next_millisecond;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::manifest::{Entry, log};
use crate::ops::Context;
use crate::ops::tasks::{Caller, claim, refuse_other};
use crate::ops::trust::{self, warn_of};
use crate::phase::{Phase, PhaseStatus};
use crate::store::{Change, Link, Transaction};
use crate::task::Task;
use crate::transfer::report::{Difference, Report};
use crate::transfer::{Format, Reading};

/// Maximum number of warnings of one kind.
const WARNED_MAX: usize = 20;

#[derive(Clone, Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Request {
    /// The text of the file
    #[arg(skip)]
    pub(crate) text: String,

    /// Format of the file [default: detect it]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,

    /// Report what would be imported, and write nothing
    #[arg(long)]
    #[serde(default)]
    pub(crate) dry_run: bool,

    /// Skip done and cancelled tasks
    #[arg(long)]
    #[serde(default)]
    pub(crate) open_only: bool,

    /// Include the archive of a Backlog.md folder
    #[arg(long)]
    #[serde(skip)]
    pub(crate) archive: bool,

    /// Skip and report lines and references that cannot be imported
    #[arg(long)]
    #[serde(default)]
    pub(crate) drop_faults: bool,
}

/// Imports the tasks of a file or folder. Nothing is written if there is a fault, unless faults are to be dropped; the
/// report names them either way.
pub(crate) fn import(context: &mut Context, path: &Path, request: &Request) -> Result<Report> {
    let place = match path.as_os_str() == "-" {
        true => path.to_path_buf(),
        false => context.surroundings.directory.join(path),
    };
    let reading = source::read(&place, request, &context.now())?;
    take_over(context, reading, path, request)
}

/// Imports the tasks of a text that was sent; no file is read.
pub(crate) fn import_text(context: &mut Context, mut request: Request) -> Result<Report> {
    let path = Path::new("-");
    let bytes = std::mem::take(&mut request.text).into_bytes();
    let reading = source::read_text(path, bytes, &request, &context.now())?;
    take_over(context, reading, path, &request)
}

fn take_over(
    context: &mut Context,
    mut reading: Reading,
    path: &Path,
    request: &Request,
) -> Result<Report> {
    let caller = Caller::without_task(context);
    let phases = std::mem::take(&mut reading.phases);
    let mut plan = Plan::new(reading, request.open_only);
    plan.report.dry_run = request.dry_run;
    let manifest = context.workspace.manifest()?;
    let mut unproven = Vec::new();
    let (error, commands) = context.write_if(|transaction| {
        plan.decide_all(transaction, &caller.now)?;
        unproven = find_lost_proof(&plan, transaction, &manifest)?;
        let error = refuse(&plan.report, path).filter(|_| !request.drop_faults);
        if error.is_some() {
            return Ok(((error, Vec::new()), false));
        }
        for phase in phases {
            add_phase(transaction, phase, &mut plan.report)?;
        }
        let commands = write(&mut plan, transaction, &caller)?;
        for (task, entry, _) in &unproven {
            let (entry, at) = (entry.clone(), caller.now.clone());
            let task = *task;
            transaction.link(&Link { task, entry, at })?;
        }
        Ok(((None, commands), !request.dry_run))
    })?;
    let warnings = warn_of(&context.surroundings, &context.workspace, &commands);
    context.notes.warn(warnings);
    let told = unproven.into_iter().map(|(.., message)| message);
    context.notes.warn(told.take(WARNED_MAX));
    context.notes.failure = error;
    Ok(plan.report)
}

/// A task that was given another id, the entry of its output, and what the entry means for it.
type Renamed = (TaskId, String, String);

/// Finds new tasks with another id than in the file whose output is there: its entry names the old id, so it does not
/// prove the task here, and is linked to it.
fn find_lost_proof(plan: &Plan, tasks: &dyn Transaction, manifest: &Path) -> Result<Vec<Renamed>> {
    let new = plan.entries.iter().filter(|entry| entry.before.is_none());
    let renamed = new.filter_map(|entry| {
        let (from, task) = (entry.record.id.parse().ok()?, &entry.record.task);
        (from != task.id && plan.is_own()).then_some((from, task))
    });
    let renamed: BTreeMap<TaskId, &Task> = renamed.collect();
    let own = tasks.entries_of_others(TaskId(0))?;
    let ids: Vec<TaskId> = renamed.keys().copied().collect();
    let is_work_on = |entry: &Entry, from: &TaskId| {
        let task = renamed.get(from);
        task.is_some_and(|task| !entry.is_older_than(&task.created_at))
    };
    let found = log::latest_for(manifest, &ids, |entry| {
        !own.contains(&entry.id)
            && entry
                .linked_tasks
                .iter()
                .any(|from| is_work_on(entry, from))
    })?;
    let renamed = renamed.iter().filter_map(|(from, task)| {
        let (to, Entry { id, file, .. }) = (task.id, found.entry(*from)?);
        let message = format!(
            "{to} is {from} in the file: the entry {id} ({file}) is linked to it, but names {from} and does not prove \
             {to}; if it is the work of {to}, append an entry for {file} that names {to}"
        );
        Some((to, id.clone(), message))
    });
    Ok(renamed.collect())
}

/// Writes the changed tasks. Returns the commands of imported criteria.
fn write(
    plan: &mut Plan,
    tasks: &mut dyn Transaction,
    caller: &Caller,
) -> Result<Vec<trust::Item>> {
    let mut commands = Vec::new();
    let is_own = plan.report.format == Format::Cleo;
    for at in 0..plan.entries.len() {
        let entry = &mut plan.entries[at];
        let (task, before) = (&mut entry.record.task, entry.before.take());
        if entry.is_partial && is_own {
            task.updated_at = next_millisecond(&task.updated_at);
        }
        let other = match &task.key {
            Some(key) => tasks.task_by_key(key)?.filter(|id| *id != task.id),
            None => None,
        };
        if other.is_some() {
            task.key = before.as_ref().and_then(|before| before.key.clone());
            plan.report_kept(at, vec!["key".to_string()], "another task has the key");
        }
        let task = &plan.entries[at].record.task;
        let Some(before) = before else {
            caller.refuse_done(task)?;
            (task.parent).map_or(Ok(()), |parent| refuse_other(tasks, parent, caller))?;
            plan.report.added += 1;
            tasks.insert(task)?;
            commands.extend(trust::Item::criteria(task.id, &task.acceptance));
            continue;
        };
        // Notes are merged, and the time of a change is not content.
        let mut fields = differing(&before, task);
        let is_same = match is_own {
            true => fields.is_empty(),
            false => fields.iter().all(|field| field == "updatedAt"),
        };
        if is_same {
            plan.report.unchanged += usize::from(!plan.entries[at].is_newer_here);
            continue;
        }
        fields.retain(|field| !["notes", "updatedAt"].contains(&field.as_str()));
        plan.report.updated += 1;
        if !fields.is_empty() {
            plan.report.replaced.add(|| Difference {
                id: task.id,
                fields,
                reason: None,
            });
        }
        caller.refuse_change(tasks, &before, task)?;
        if task.is_closed() && !before.is_closed() {
            // A closed task has no holder; else it could not be reopened.
            claim::end(tasks, task.id, caller)?;
        }
        tasks.put(task)?;
        commands.extend(trust::Item::criteria(task.id, &task.acceptance));
    }
    Ok(commands)
}

/// Adds a phase at its position, or the next free one. A known phase stays unchanged, and so does the active one.
fn add_phase(
    transaction: &mut dyn Transaction,
    mut phase: Phase,
    report: &mut Report,
) -> Result<()> {
    let here = transaction.phases()?;
    if here.iter().any(|other| other.slug == phase.slug) {
        report.phases.unchanged.push(phase.slug);
        return Ok(());
    }
    let is_taken = |place: u32| here.iter().any(|other| other.position == place);
    let free = (phase.position..u32::MAX).find(|place| !is_taken(*place));
    phase.position = free.unwrap_or(phase.position);
    let is_in_another = here.iter().any(|other| other.status == PhaseStatus::Active);
    if phase.status == PhaseStatus::Active && is_in_another {
        phase.status = PhaseStatus::Pending;
        report.phases.not_begun.push(phase.slug.clone());
    }
    transaction.put_phase(&phase)?;
    transaction.record(&Change {
        kind: "phase-added".to_string(),
        task: None,
        detail: json!({"phase": phase.slug}),
    })?;
    report.phases.added.push(phase.slug);
    Ok(())
}

/// Returns the error for tasks that cannot be imported.
fn refuse(report: &Report, path: &Path) -> Option<Error> {
    let (code, what) = match (report.faults.shown.first(), report.cycles.shown.first()) {
        (Some(fault), _) => {
            let count = match report.faults.total {
                1 => "1 fault".to_string(),
                total => format!("{total} faults"),
            };
            (Code::ImportInvalid, format!("{count}; {fault}"))
        }
        (None, Some(circle)) => {
            let members = circle.members.join(", ");
            (Code::Cycle, format!("{members} wait for each other"))
        }
        (None, None) => return None,
    };
    let (path, format) = (quote(&path.to_string_lossy()), report.format.word());
    let go_on = format!("cleo import {path} --from {format} --drop-faults");
    let look = format!("{go_on} --dry-run");
    let error = Error::new(code, format!("nothing was imported: {what}")).fix(look);
    Some(error.or("import everything else and report what was dropped", go_on))
}

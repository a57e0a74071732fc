//! Appends an entry.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::{Draft, Entry, Fault, log};
use crate::ops::tasks::{Caller, above, check_epoch, check_holder, refuse_replaced};
use crate::ops::{Context, require};
use crate::store::{Tasks, Transaction};
use crate::workspace::OUTPUT_DIR;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Appended {
    /// The entry in the manifest.
    pub(crate) entry: Entry,
    /// True when nothing was written.
    pub(crate) dry_run: bool,
}

/// Appends an entry, a JSON object. A fault is an error that lists all of them. The epic of each linked task is linked
/// too. Under the epoch of a claim, given or from the environment, nothing is written once that claim is lost.
pub(crate) fn append(
    context: &mut Context,
    text: &str,
    epoch: Option<u32>,
    dry_run: bool,
) -> Result<Appended> {
    context.surroundings.assignment.refuse_verifier()?;
    let draft = Draft::read(text).map_err(|cause| refuse_faults(&[Fault::syntax(text, &cause)]))?;
    let (faults, epics) = context.read(|tasks| check_draft(tasks, &draft))?;
    if !faults.is_empty() {
        return Err(refuse_faults(&faults));
    }
    let mut entry = draft.entry().map_err(|faults| refuse_faults(&faults))?;
    let linked = entry.linked_tasks.clone();
    refuse_answer_for_other(context, &entry, epoch)?;
    complete(&mut entry, epics, context);
    entry.line().map_err(|fault| refuse_faults(&[fault]))?;
    let path = context.workspace.manifest()?;
    let write = || match dry_run {
        true => log::refuse_duplicate(&path, &entry.id),
        false => log::append(&path, &entry),
    };
    let warnings = match find_claimed_task(context, &linked, epoch)? {
        None => write()?,
        Some(id) => {
            let caller = Caller::for_task(context, id, epoch);
            // No other process can take over the claim between the check and the line.
            context.write(|transaction| {
                check_epoch(transaction, &require(transaction, id)?, &caller)?;
                write()
            })?
        }
    };
    context.notes.warn(warnings);
    Ok(Appended { entry, dry_run })
}

/// Refuses the entry for the prompt of a task that another agent holds or works on or that it is not linked to, and the
/// entry for a prompt that another one replaced.
fn refuse_answer_for_other(context: &mut Context, entry: &Entry, epoch: Option<u32>) -> Result<()> {
    let callers = entry.linked_tasks.iter();
    let callers: Vec<Caller> = callers
        .map(|id| Caller::for_task(context, *id, epoch))
        .collect();
    context.read(|transaction| {
        for (id, caller) in entry.linked_tasks.iter().zip(&callers) {
            refuse_replaced(transaction, *id, &entry.id)?;
            let mut spawned = transaction.spawns(*id)?.into_iter();
            if spawned.any(|spawned| spawned.manifest_id == entry.id) {
                caller.refuse_answer(transaction, *id)?;
                check_holder(transaction, &require(transaction, *id)?, caller, false)?;
            }
        }
        match find_prompted(transaction, &entry.id)? {
            Some(task) if !entry.linked_tasks.contains(&task) => {
                let message = format!(
                    "the entry {} is that of {task}, to which it is not linked",
                    entry.id
                );
                Err(Error::new(Code::EntryInvalid, message).fix(format!("cleo show {task}")))
            }
            _ => Ok(()),
        }
    })
}

/// Finds the task whose prompt asks for an entry, by the output file that has the same name: `a-2026-01-26-2` is an
/// entry for `2026-01-26_a.md`.
fn find_prompted(transaction: &dyn Transaction, id: &str) -> Result<Option<TaskId>> {
    let bases = [Some(id), id.rsplit_once('-').map(|(base, _)| base)];
    for base in bases.into_iter().flatten() {
        let at = base.len().saturating_sub("-2026-01-26".len());
        let (slug, date) = base.split_at_checked(at).unwrap_or_default();
        let file = format!("{OUTPUT_DIR}/{}_{slug}.md", date.trim_start_matches('-'));
        if let Some(task) = transaction.owner_of_output(&file)?
            && (transaction.spawns(task)?.iter()).any(|spawned| spawned.manifest_id == id)
        {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// Finds the task under whose claim an entry is appended: that of the environment, else the only one that the entry is
/// linked to, without epics.
fn find_claimed_task(
    context: &mut Context,
    linked: &[TaskId],
    epoch: Option<u32>,
) -> Result<Option<TaskId>> {
    let assigned = &context.surroundings.assignment;
    match assigned.task {
        _ if epoch.or(assigned.epoch).is_none() => return Ok(None),
        Some(task) if linked.contains(&task) => return Ok(Some(task)),
        Some(_) if epoch.is_none() => return Ok(None),
        _ => {}
    }
    let mut work = Vec::new();
    context.read(|transaction| {
        for id in linked {
            if !require(transaction, *id)?.kind.is_epic() && !work.contains(id) {
                work.push(*id);
            }
        }
        Ok(())
    })?;
    match (work.as_slice(), linked) {
        ([one], _) | ([], [one]) => Ok(Some(*one)),
        _ => {
            let n = linked.len();
            let message = format!(
                "the entry is linked to {n} tasks; set CLEO_TASK_ID to the one that the epoch is of"
            );
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

/// Finds all faults, and the epics of the linked tasks.
fn check_draft(tasks: &dyn Tasks, draft: &Draft<'_>) -> Result<(Vec<Fault>, Vec<TaskId>)> {
    let (mut faults, mut epics) = (draft.faults(), Vec::new());
    for (field, id) in draft.tasks() {
        if tasks.status(id)?.is_none() {
            faults.push(Fault::new(
                field,
                format!("holds {id}, which does not exist"),
            ));
        } else if field == "linked_tasks" {
            epics.extend(epic_of(tasks, id)?);
        }
    }
    Ok((faults, epics))
}

/// Finds the nearest epic that a task is a part of; an epic itself needs no other.
fn epic_of(tasks: &dyn Tasks, id: TaskId) -> Result<Option<TaskId>> {
    for id in [vec![id], above(tasks, id)?].concat() {
        if tasks.task(id)?.is_some_and(|task| task.kind.is_epic()) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Adds epics (first, as in the specification), time and author.
fn complete(entry: &mut Entry, epics: Vec<TaskId>, context: &Context) {
    let given = std::mem::take(&mut entry.linked_tasks);
    let missing = epics.into_iter().filter(|epic| !given.contains(epic));
    for id in missing.chain(given.iter().copied()) {
        if !entry.linked_tasks.contains(&id) {
            entry.linked_tasks.push(id);
        }
    }
    entry.created_at.get_or_insert_with(|| context.now());
    let actor = || context.surroundings.actor.clone();
    entry.created_by.get_or_insert_with(actor);
}

fn refuse_faults(faults: &[Fault]) -> Error {
    let count = match faults.len() {
        1 => "a fault".to_string(),
        n => format!("{n} faults"),
    };
    let list = faults.iter().map(Fault::to_string).collect::<Vec<_>>();
    let message = format!(
        "the entry has {count} and was not written: {}",
        list.join("; ")
    );
    Error::new(Code::EntryInvalid, message)
}

//! What becomes of a phase when the operation that added it is taken back, or the undo of that.

use serde_json::{Value, json};

use super::SHOWN;
use super::by_hand::told;
use super::conflict::{Later, conflict, refused};
use super::inverse::unreadable;
use crate::error::{Code, Error, Result};
use crate::phase::{Phase, PhaseStatus};
use crate::store::log::{ADDED, CHANGED, RESTORED};
use crate::store::{Change, Filter, Operation, Recorded, Transaction};

/// What is told of a phase that somebody added, and of one that is there again.
const HERE: &str = "phase-added";
/// What is told of one that went with the undo.
const GONE: &str = "phase-removed";

/// Says whether a change added or removed a phase.
pub(super) fn is_one(change: &Change) -> bool {
    [HERE, GONE].contains(&change.kind.as_str())
}

/// Takes phases away that an operation added, and brings those back that it removed. One that is in
/// the way stays when the operation did something else too, and is an error when not.
pub(super) fn restore(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    undo: u64,
    changes: &[Recorded],
    warnings: &mut Vec<String>,
) -> Result<()> {
    let is_all = changes.iter().all(|each| is_one(&each.change));
    let own = changes.iter().rev().filter(|each| is_one(&each.change));
    for recorded in own {
        let done = match recorded.change.kind == HERE {
            true => remove(transaction, operation, undo, recorded),
            false => bring_back(transaction, operation, &recorded.change),
        };
        match done {
            Err(error) if error.code == Code::UndoConflict && !is_all => {
                let what = told(&recorded.change);
                let warning = format!("this cannot be taken back and stays: {what}");
                warnings.extend((warnings.len() < SHOWN).then_some(warning));
            }
            done => done?,
        }
    }
    Ok(())
}

fn remove(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    undo: u64,
    recorded: &Recorded,
) -> Result<()> {
    let detail = &recorded.change.detail;
    let slug = detail["phase"].as_str().unwrap_or_default();
    let mut phases = transaction.phases()?.into_iter();
    let Some(phase) = phases.find(|phase| phase.slug == slug) else {
        return Ok(());
    };
    if phase.status != PhaseStatus::Pending || phase.started_at.is_some() {
        return Err(in_the_way(operation, slug, "was begun by now"));
    }
    let later = Later::than(transaction, operation.number, Some(undo));
    if let Some(newer) = last_to_join(later, slug, recorded.cursor)? {
        let task = newer.change.task.map(|id| id.to_string());
        let what = format!("put {} into phase {slug}", task.unwrap_or_default());
        return Err(conflict(operation, &newer, &what));
    }
    transaction.remove_phase(slug)?;
    tell(transaction, GONE, json!({"phase": slug, "removed": phase}))
}

/// Finds the last later change that put a task into a phase in which it is still. Those that were in
/// it before it was added stay in it.
fn last_to_join(mut later: Later<'_>, slug: &str, cursor: u64) -> Result<Option<Recorded>> {
    let filter = Filter {
        phase: Some(slug.to_string()),
        ..Filter::default()
    };
    let mut last: Option<Recorded> = None;
    for task in later.transaction.list(&filter)?.tasks {
        let changes = later.changes(task.id, cursor)?;
        let newer = changes.into_iter().rfind(|each| joins(&each.change));
        last = last.into_iter().chain(newer).max_by_key(|each| each.cursor);
    }
    Ok(last)
}

fn joins(change: &Change) -> bool {
    match change.kind.as_str() {
        ADDED | RESTORED => true,
        CHANGED => change.detail.get("phase").is_some(),
        _ => false,
    }
}

fn bring_back(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    change: &Change,
) -> Result<()> {
    let phase: Phase = serde_json::from_value(change.detail["removed"].clone())
        .map_err(|cause| unreadable("a phase", cause))?;
    let mut phases = transaction.phases()?.into_iter();
    if phases.any(|other| other.slug == phase.slug) {
        return Err(in_the_way(operation, &phase.slug, "is there again by now"));
    }
    transaction.put_phase(&phase)?;
    tell(transaction, HERE, json!({"phase": phase.slug}))
}

fn in_the_way(operation: &Operation, slug: &str, what: &str) -> Error {
    refused(operation, &format!("phase {slug} {what}")).fix("cleo phase list")
}

fn tell(transaction: &mut dyn Transaction, kind: &str, detail: Value) -> Result<()> {
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail,
    })
}

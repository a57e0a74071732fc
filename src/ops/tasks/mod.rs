//! Tasks: add, change, move, read, delete.

pub(crate) mod add;
pub(crate) mod archive;
mod batch;
pub(crate) mod change;
pub(crate) mod claim;
mod claim_group;
mod claim_next;
pub(crate) mod delete;
pub(crate) mod delivered;
mod fence;
pub(crate) mod graph;
mod merged;
pub(crate) mod moves;
pub(crate) mod read;
pub(crate) mod request;
mod run_agents;
mod waits;

pub(crate) use add::{Added, add_batch, add_one};
pub(crate) use archive::{Archival, Selection, Unarchive, archive, unarchive};
pub(crate) use batch::{read_batch, with_look};
pub(crate) use change::{Updated, update};
pub(super) use change::{change, check_graph};
pub(super) use claim::take_or_renew;
pub(crate) use claim::{
    Claiming, Heartbeat, Release, claim_one_or_next, extend_claim, release_task,
};
pub(crate) use claim_group::ClaimGroups;
pub(crate) use delete::{Delete, Deleted, delete};
pub(crate) use fence::explain_claim;
pub(super) use fence::{
    Caller, check_clock, check_epoch, check_holder, refuse_at_work, refuse_replaced,
};
pub(crate) use graph::{
    Analysis, Apart, Next, Part, Ready, Waves, analyze, describe_conflict, drawing, find_ready,
    find_waves, next, ready, select_independent, warn_of_stuck, waves,
};
pub(super) use graph::{choose, find_expired, is_assigned};
pub(super) use merged::{find_unmerged, has_branch};
pub(crate) use moves::{Cancel, Moved, Start, cancel, find_reviewing_run, reopen, start};
pub(super) use moves::{finish, move_task, refuse_cancelled, refuse_open_parts};
pub(in crate::ops) use read::warn_of_problems;
pub(crate) use read::{
    Dependencies, HeldClaim, Links, Listed, ListedTask, TreeRow, add_availability, deps, find,
    list, list_or_find, tree,
};
pub(crate) use request::{Below, Extract, NextRequest, One};
pub(super) use run_agents::refuse_other;
pub(super) use waits::{is_split, not_ready, open_parts, waiting_for};

pub(crate) use crate::task::fields::{Draft, Patch};

use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::Tasks;

/// Maximum depth of nesting: epic, sub-epic, task, subtask, and some more.
pub(crate) const DEPTH_MAX: usize = 8;

/// Counts the levels from the top down to `id`, itself included. `parent_of` may know more than
/// the store.
pub(super) fn depth(
    id: TaskId,
    parent_of: impl Fn(TaskId) -> Result<Option<TaskId>>,
) -> Result<usize> {
    let mut levels = 1;
    let mut above = parent_of(id)?;
    while let Some(parent) = above {
        levels += 1;
        if levels > DEPTH_MAX {
            break;
        }
        above = parent_of(parent)?;
    }
    Ok(levels)
}

fn too_deep(id: &str) -> Error {
    let message = format!("{id} would be nested deeper than {DEPTH_MAX} levels");
    let error = Error::new(Code::TooDeep, message).in_field("parent");
    error.fix("cleo list --tree")
}

/// Returns the dependencies and parts of a task, which must not wait for it.
pub(super) fn waits_for(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    let mut waits = tasks.depends(id)?;
    waits.extend(tasks.children(id)?);
    Ok(waits)
}

/// Makes the error for a circle; `way` is a path from a task back to itself.
fn cycle(way: &[String]) -> Error {
    let message = format!(
        "tasks would wait for each other in a circle: {}",
        way.join(" → ")
    );
    Error::new(Code::Cycle, message).in_field("depends")
}

/// Makes the error for an unknown parent or dependency, with the nearest id that has one digit less or another one.
fn not_found(tasks: &dyn Tasks, code: Code, name: &str) -> Error {
    let (field, role) = match code {
        Code::ParentNotFound => ("parent", "be the parent"),
        _ => ("depends", "depend on"),
    };
    let message = format!("there is no task {name} to {role}");
    let error = Error::new(code, message).in_field(field).fix("cleo list");
    let Ok(TaskId(wrong)) = name.parse() else {
        return error;
    };
    let (digits, mut similar) = (wrong.to_string(), Vec::new());
    for at in 0..digits.len() {
        let (head, tail) = (&digits[..at], &digits[at + 1..]);
        let others = ["", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let others = others.map(|other| format!("{head}{other}{tail}"));
        similar.extend(others.iter().filter_map(|other| other.parse::<u32>().ok()));
    }
    similar.sort_by_key(|number| number.abs_diff(wrong));
    let mut similar = similar.into_iter().map(TaskId);
    match similar.find(|id| exists(tasks, *id).unwrap_or(false)) {
        Some(id) => error.or(format!("did you mean {id}?"), format!("cleo show {id}")),
        None => error,
    }
}

pub(super) fn is_within(tasks: &dyn Tasks, id: TaskId, root: TaskId) -> Result<bool> {
    Ok(id == root || above(tasks, id)?.contains(&root))
}

/// Returns the tasks that a task is a part of, the nearest first.
pub(in crate::ops) fn above(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    let mut above = Vec::new();
    // In a damaged store, parents may go round in a circle.
    while above.len() < DEPTH_MAX {
        let Some(parent) = tasks.parent(*above.last().unwrap_or(&id))? else {
            break;
        };
        above.push(parent);
    }
    Ok(above)
}

/// Returns whether a task is within a scope; everything is within none.
pub(super) fn is_in_scope(tasks: &dyn Tasks, id: TaskId, scope: Option<TaskId>) -> Result<bool> {
    scope.map_or(Ok(true), |scope| is_within(tasks, id, scope))
}

fn exists(tasks: &dyn Tasks, id: TaskId) -> Result<bool> {
    Ok(tasks.status(id)?.is_some())
}

//! Giving a task another id, because two copies gave one id to two tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::WAS;
use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::require;
use crate::session::Session;
use crate::store::{Transaction, Verification};
use crate::task::Task;

/// Refuses to give another id to a task that somebody holds: whoever works on it knows it by the
/// old one, which will be that of another task.
pub(super) fn refuse_claimed(
    transaction: &dyn Transaction,
    from: TaskId,
    to: TaskId,
    now: &str,
) -> Result<()> {
    let claim = transaction.claim(from)?;
    let Some(holder) = claim.as_ref().and_then(|claim| claim.live_holder(now)) else {
        return Ok(());
    };
    let message = format!(
        "{from} would have to be {to}, because another copy knows another task as {from}, and \
         {holder} holds {from} here: whoever works on it would find that other task"
    );
    Err(Error::new(Code::Claimed, message)
        .fix(format!("cleo show {from}"))
        .or(
            "take it from them, then merge again",
            format!("cleo release {from} --force"),
        ))
}

/// Moves tasks to other ids, all at once: an id may be that of another one that moves.
pub(super) fn permute(
    transaction: &mut dyn Transaction,
    moves: &BTreeMap<TaskId, TaskId>,
) -> Result<()> {
    let mut left = moves.clone();
    while let Some((first, last)) = left.first_key_value().map(|(from, to)| (*from, *to)) {
        let free = left.iter().filter(|(_, to)| !left.contains_key(*to));
        let mut step: BTreeMap<TaskId, TaskId> = free.map(|(from, to)| (*from, *to)).collect();
        if step.is_empty() {
            // They go round in a circle, so one of them makes room.
            let aside = transaction.next_id()?;
            left.insert(aside, last);
            step.insert(first, aside);
        }
        left.retain(|from, _| !step.contains_key(from));
        for (from, to) in &step {
            relocate(transaction, *from, *to)?;
        }
        follow(transaction, &step)?;
    }
    Ok(())
}

/// Moves a task to an id that is free, with everything that is kept about it.
fn relocate(transaction: &mut dyn Transaction, from: TaskId, to: TaskId) -> Result<()> {
    let mut task = require(transaction, from)?;
    let (spawns, links) = (transaction.spawns(from)?, transaction.links(from)?);
    let gates = transaction.gates(from)?;
    give_up_names(transaction, &task)?;
    task.id = to;
    task.extra.entry(WAS).or_insert(from.to_string().into());
    transaction.reserve_id(to)?;
    transaction.put(&task)?;
    for mut spawn in spawns {
        spawn.task = to;
        transaction.put_spawn(&spawn)?;
    }
    for mut link in links {
        link.task = to;
        transaction.link(&link)?;
    }
    transaction.put_gates(to, &gates)?;
    work(transaction, from, to)
}

/// Takes from a task what finds one task only: its key, and the id that it had with another tool.
fn give_up_names(transaction: &mut dyn Transaction, task: &Task) -> Result<()> {
    let mut nameless = task.clone();
    nameless.key = None;
    nameless.extra.remove("origin");
    match nameless == *task {
        true => Ok(()),
        false => transaction.put(&nameless),
    }
}

/// Moves who worked on a task and what was found of it: its last claim, of which the epoch must only
/// grow, the sessions about it and the checks of its output.
fn work(transaction: &mut dyn Transaction, from: TaskId, to: TaskId) -> Result<()> {
    if let Some(claim) = transaction.claim(from)? {
        transaction.put_claim(&Claim { task: to, ..claim })?;
    }
    for session in transaction.sessions(None)? {
        let moved = |task: Option<TaskId>| task.map(|task| if task == from { to } else { task });
        let after = Session {
            scope: moved(session.scope),
            focus: moved(session.focus),
            ..session.clone()
        };
        if after != session {
            transaction.put_session(&after)?;
        }
    }
    for check in transaction.verifications_of(from)? {
        transaction.put_verification(&Verification { task: to, ..check })?;
    }
    Ok(())
}

/// Lets references follow tasks that have moved, and takes away the old ones.
fn follow(transaction: &mut dyn Transaction, moves: &BTreeMap<TaskId, TaskId>) -> Result<()> {
    let mut referring = BTreeSet::new();
    for from in moves.keys() {
        referring.extend(transaction.dependents(*from)?);
        referring.extend(transaction.children(*from)?);
    }
    for id in referring {
        let mut task = require(transaction, id)?;
        refer(&mut task, |id| moves.get(&id).copied());
        transaction.put(&task)?;
    }
    for from in moves.keys() {
        transaction.delete(*from)?;
    }
    Ok(())
}

/// Has a task refer to others by the ids that they have now; one without a new id has its old one.
pub(super) fn refer(task: &mut Task, moved: impl Fn(TaskId) -> Option<TaskId>) {
    let now = |id: TaskId| moved(id).unwrap_or(id);
    task.parent = task.parent.map(now);
    for need in &mut task.depends {
        *need = now(*need);
    }
}

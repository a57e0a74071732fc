//! Giving a task another id, because two copies gave one id to two tasks.

use std::collections::BTreeMap;

use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::require;
use crate::ops::transfer::export::each;
use crate::session::Session;
use crate::store::{Transaction, Verification};

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
        "another copy has given {from} the id {to}, and {holder} holds {from} here: whoever works \
         on it would find another task under that id"
    );
    Err(Error::new(Code::Claimed, message)
        .fix(format!("cleo show {from}"))
        .or(
            "take it from them, then merge again",
            format!("cleo release {from} --force"),
        ))
}

/// Moves a task to another id, with everything that is kept about it.
pub(super) fn relocate(transaction: &mut dyn Transaction, from: TaskId, to: TaskId) -> Result<()> {
    let mut task = require(transaction, from)?;
    task.id = to;
    task.extra
        .insert("was".to_string(), from.to_string().into());
    let (spawns, links) = (transaction.spawns(from)?, transaction.links(from)?);
    let gates = transaction.gates(from)?;
    let key = task.key.take();
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
    work(transaction, from, to)?;
    if key.is_some() {
        let mut old = require(transaction, from)?;
        old.key = None;
        transaction.put(&old)?;
        task.key = key;
        transaction.put(&task)?;
    }
    Ok(())
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
pub(super) fn follow(
    transaction: &mut dyn Transaction,
    moves: &BTreeMap<TaskId, TaskId>,
) -> Result<()> {
    let moved = |id: TaskId| moves.get(&id).copied().unwrap_or(id);
    let mut changed = Vec::new();
    each(transaction, |task| {
        let mut after = task.clone();
        after.parent = task.parent.map(moved);
        after.depends = task.depends.iter().map(|id| moved(*id)).collect();
        if after != task {
            changed.push(after);
        }
        Ok(())
    })?;
    for task in changed {
        transaction.put(&task)?;
    }
    for from in moves.keys() {
        transaction.delete(*from)?;
    }
    Ok(())
}

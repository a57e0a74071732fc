//! The next task: the most urgent one that is ready and free, and touches no files of a task in progress. `next` shows
//! it and `claim --next` claims it.

use std::cmp::Reverse;

use super::apart::{Apart, list_in_progress, select_independent_of};
use crate::claim::Claim;
use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::ops::tasks::is_in_scope;
use crate::store::{ReadyTask, Transaction};
use crate::task::graph::Conflict;

/// Factor by which more candidates are read while all of them conflict.
const STEP: u32 = 8;

/// The next task to claim.
#[derive(Debug, Default)]
pub(in crate::ops) struct Choice {
    /// The task; none when nothing is ready, or only what touches files of others.
    pub(in crate::ops) task: Option<ReadyTask>,
    /// The last holder, whose lease expired.
    pub(in crate::ops) lapsed: Option<String>,
    pub(in crate::ops) passed: Vec<Conflict>,
    /// The first task that is ready and free, but assigned to another agent.
    pub(in crate::ops) reserved: Option<TaskId>,
    /// How many tasks are ready.
    pub(in crate::ops) total: u64,
}

/// Chooses the next task below `scope`, or of all; for an agent, without those that are assigned to others. A task
/// whose lease expired at `now` (RFC 3339 in UTC) can be claimed again.
pub(in crate::ops) fn choose(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    agent: Option<&str>,
    now: &str,
) -> Result<Choice> {
    let over = Lapsed::read(transaction, scope, now)?;
    let mut limit = 1;
    loop {
        let (candidates, total) = over.with_ready(transaction, scope, limit)?;
        let (free, reserved) = list_free(transaction, &candidates, agent, now)?;
        let apart = choose_without_conflict(transaction, &free, &over, now)?;
        let chosen = apart.tasks.first();
        if chosen.is_some() || total <= u64::from(limit) {
            let task = candidates
                .into_iter()
                .find(|ready| Some(&ready.task.id) == chosen);
            return Ok(Choice {
                lapsed: task.as_ref().and_then(|ready| over.holder(ready.task.id)),
                task,
                passed: apart.conflicts,
                reserved,
                total,
            });
        }
        limit = limit.saturating_mul(STEP);
    }
}

/// Returns the candidates that are not claimed and not damaged, and the first one that another agent than `agent` is
/// assigned to.
fn list_free(
    transaction: &dyn Transaction,
    candidates: &[ReadyTask],
    agent: Option<&str>,
    now: &str,
) -> Result<(Vec<TaskId>, Option<TaskId>)> {
    let (mut free, mut reserved) = (Vec::new(), None);
    let is_other = |name: &str| agent.is_some_and(|agent| !is_assigned(agent, name));
    for ReadyTask { task, .. } in candidates {
        let claim = transaction.claim(task.id)?;
        if claim.is_some_and(|claim| claim.live_holder(now).is_some()) {
            continue;
        }
        let read = transaction.task(task.id);
        match read.and_then(|read| transaction.node(task.id).map(|_| read)) {
            Err(error) if error.code == Code::RowDamaged => {}
            read => match read?.and_then(|task| task.assigned_agent) {
                Some(other) if is_other(&other) => {
                    reserved.get_or_insert(task.id);
                }
                _ => free.push(task.id),
            },
        }
    }
    Ok((free, reserved))
}

/// Returns whether an agent has the name that a task is assigned to: under another caller its own name is the last.
pub(in crate::ops) fn is_assigned(agent: &str, name: &str) -> bool {
    agent == name || agent.rsplit('/').next() == Some(name)
}

/// Finds the first task that touches no files of one in progress. Most declare none, and need no comparison.
fn choose_without_conflict(
    transaction: &dyn Transaction,
    free: &[TaskId],
    over: &Lapsed,
    now: &str,
) -> Result<Apart> {
    let Some(first) = free.first() else {
        return Ok(Apart::default());
    };
    if transaction.outlines(&[*first])?.files(*first).is_empty() {
        return Ok(Apart {
            tasks: vec![*first],
            ..Apart::default()
        });
    }
    let mut working = list_in_progress(transaction, now)?;
    working.retain(|id| over.holder(*id).is_none());
    select_independent_of(transaction, &working, free, 1)
}

/// Reads the claims in a scope whose lease expired at `now`.
pub(in crate::ops) fn find_expired(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    now: &str,
) -> Result<Vec<Claim>> {
    let mut expired = Vec::new();
    for claim in transaction.expired_claims(now)? {
        let is_in_scope = is_in_scope(transaction, claim.task, scope)?;
        expired.extend(is_in_scope.then_some(claim));
    }
    Ok(expired)
}

/// Claims whose lease expired.
struct Lapsed {
    holders: Vec<(TaskId, String)>,
    /// Active tasks among them, which can be claimed again.
    tasks: Vec<ReadyTask>,
}

impl Lapsed {
    fn read(transaction: &dyn Transaction, scope: Option<TaskId>, now: &str) -> Result<Lapsed> {
        let (mut holders, mut tasks) = (Vec::new(), Vec::new());
        for claim in find_expired(transaction, scope, now)? {
            if let Some(holder) = claim.holder {
                tasks.extend(transaction.active_ready(claim.task)?);
                holders.push((claim.task, holder));
            }
        }
        Ok(Lapsed { holders, tasks })
    }

    fn holder(&self, id: TaskId) -> Option<String> {
        let found = self.holders.iter().find(|(task, _)| *task == id);
        found.map(|(_, holder)| holder.clone())
    }

    /// Reads the first tasks that are ready or can be claimed again, and their total.
    fn with_ready(
        &self,
        transaction: &dyn Transaction,
        scope: Option<TaskId>,
        limit: u32,
    ) -> Result<(Vec<ReadyTask>, u64)> {
        let page = transaction.ready(scope, Some(limit))?;
        let total = page.total + self.tasks.len() as u64;
        let rank = |one: &ReadyTask| (one.task.priority, Reverse(one.below), one.task.id);
        let mut all = page.tasks;
        for task in &self.tasks {
            let place = all.partition_point(|other| rank(other) < rank(task));
            all.insert(place, task.clone());
        }
        all.truncate(limit as usize);
        Ok((all, total))
    }
}

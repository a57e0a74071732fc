//! Claims of the next task that wait at the same moment in one server are made in one transaction: each of them alone
//! would take a turn among the writers of the database.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::claim::put_claim;
use super::fence::Caller;
use super::{Moved, is_assigned};
use crate::claim::{Claim, Lease};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::store::{Stamp, Store, Transaction};
use crate::task::{Status, Task};

/// Maximum number of claims in one transaction.
const GROUP_MAX: usize = 64;
/// How many more tasks are looked at: some are assigned to others.
const MORE: usize = 16;

/// A task that a member of a group has got, and the number of its operation; none for what has to be claimed alone.
type Claimed = Option<(Moved, u64)>;
type Outcome = Result<Claimed>;

struct Member {
    stamp: Stamp,
    caller: Caller,
    lease: Lease,
    answer: Sender<Message>,
}

enum Message {
    /// Make the claims of those who wait.
    Lead,
    Done(Box<Outcome>),
}

/// Claims that wait. One of those who wait makes the claims of all, while more come.
#[derive(Default)]
pub(crate) struct ClaimGroups(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    members: Vec<Member>,
    is_led: bool,
    /// Whether the last group left tasks: most of the time there are more then.
    has_more: bool,
}

impl ClaimGroups {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a member, and returns the lead if no other member has it.
    fn join(&self, member: Member) -> Option<Lead<'_>> {
        let mut waiting = self.lock();
        waiting.members.push(member);
        let is_led = std::mem::replace(&mut waiting.is_led, true);
        (!is_led).then(|| Lead(self))
    }
}

/// The right to make the claims of a group. It passes to the next one who waits, also after a panic.
struct Lead<'a>(&'a ClaimGroups);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        let mut members = waiting.members.iter();
        waiting.is_led = members.any(|member| member.answer.send(Message::Lead).is_ok());
    }
}

/// Claims the next task together with other callers of the server; none where it has to be claimed alone: nothing is
/// ready, leases have expired, or files and earlier prompts have to be looked at.
pub(super) fn claim_in_group(context: &mut Context, lease: Lease) -> Result<Option<Moved>> {
    let cache = Arc::clone(&context.cache);
    let caller = Caller::without_task(context);
    let is_plain = caller.run.is_none() && !caller.name.contains('/');
    let is_checked = context.only_checks || context.expected.is_some();
    let Some(groups) = cache.claims.as_ref().filter(|_| is_plain && !is_checked) else {
        return Ok(None);
    };
    let (answer, answers) = channel();
    let mut lead = groups.join(Member {
        stamp: context.surroundings.stamp(),
        caller,
        lease,
        answer,
    });
    loop {
        if let Some(lead) = lead.take() {
            lead_group(context, groups);
            drop(lead);
        }
        match answers.recv() {
            Ok(Message::Lead) => lead = Some(Lead(groups)),
            Ok(Message::Done(done)) => {
                let claimed = (*done)?;
                return Ok(claimed.map(|(moved, operation)| {
                    context.notes.operation = Some(operation);
                    moved
                }));
            }
            // The one who had the lead is gone.
            Err(_) => return Ok(None),
        }
    }
}

fn lead_group(context: &mut Context, groups: &ClaimGroups) {
    let mut waiting = groups.lock();
    let n_members = waiting.members.len().min(GROUP_MAX);
    let group: Vec<Member> = waiting.members.drain(..n_members).collect();
    let mut has_more = std::mem::take(&mut waiting.has_more);
    drop(waiting);
    // It touches no rows of single users.
    let user = context.store.act_for(Some("".into()));
    let outcomes = claim_for_each(context, &group, &mut has_more);
    context.store.act_for(user);
    groups.lock().has_more = has_more;
    let mut outcomes = outcomes.into_iter();
    for member in group {
        let outcome = outcomes.next().unwrap_or(Ok(None));
        // A member that waits no more leaves a lease that expires.
        let _ = member.answer.send(Message::Done(Box::new(outcome)));
    }
}

/// Claims a task for each member. Where that fails, each tries it alone; after a commit that failed, none does, because
/// it is unknown whether it was done.
fn claim_for_each(context: &mut Context, group: &[Member], has_more: &mut bool) -> Vec<Outcome> {
    // Where nothing is ready, a turn to write is not waited for.
    let has_more_tasks = std::mem::take(has_more);
    let is_something_ready = |context: &mut Context| {
        let free = context.read(|transaction| list_candidates(transaction, group));
        free.is_ok_and(|free| !free.is_empty())
    };
    let (Some(first), true) = (group.first(), has_more_tasks || is_something_ready(context)) else {
        return Vec::new();
    };
    let fail = |error: Error| group.iter().map(|_| Err(error.clone())).collect();
    let mut transaction = match context.store.write(&first.stamp) {
        Ok(transaction) => transaction,
        Err(error) => return fail(error),
    };
    let Ok((claimed, n_left)) = put_claims(&mut *transaction, group) else {
        return Vec::new();
    };
    match transaction.commit() {
        Ok(_) => {
            *has_more = n_left > 0;
            claimed.into_iter().map(Ok).collect()
        }
        Err(error) => fail(error),
    }
}

/// Claims a task for each member, and returns how many candidates are left.
fn put_claims(
    transaction: &mut dyn Transaction,
    group: &[Member],
) -> Result<(Vec<Claimed>, usize)> {
    let mut free = list_candidates(transaction, group)?;
    let mut claimed = Vec::with_capacity(group.len());
    for Member {
        stamp,
        caller,
        lease,
        ..
    } in group
    {
        let can_have = |(task, ..): &Candidate| {
            let assigned = task.assigned_agent.as_deref();
            assigned.is_none_or(|name| is_assigned(&caller.name, name))
        };
        let found = free.iter().position(can_have);
        let Some((before, last, _)) = found
            .filter(|place| free[*place].2)
            .map(|place| free.remove(place))
        else {
            claimed.push(None);
            continue;
        };
        let operation = transaction.begin_operation(stamp)?;
        let claim = put_claim(transaction, before.id, last.as_ref(), caller, *lease, false)?;
        let mut task = before.clone();
        task.move_to(Status::Active, &caller.now);
        transaction.put_over(Some(&before), &task)?;
        let mut moved = Moved::new(task, true);
        moved.claim = Some(claim);
        claimed.push(Some((moved, operation)));
    }
    Ok((claimed, free.len()))
}

/// A task that is ready and not claimed, its last claim, and whether nothing else of it has to be looked at.
type Candidate = (Task, Option<Claim>, bool);

/// Reads the most urgent tasks; none where leases have expired.
fn list_candidates(transaction: &dyn Transaction, group: &[Member]) -> Result<Vec<Candidate>> {
    let now = group.iter().map(|member| &*member.caller.now).max();
    let now = now.unwrap_or_default();
    if !transaction.expired_claims(now)?.is_empty() {
        return Ok(Vec::new());
    }
    let limit = u32::try_from(group.len() + MORE).ok();
    let ready = transaction.ready(None, limit)?.tasks;
    let order: Vec<_> = ready.iter().map(|one| one.task.id).collect();
    let mut ids = order.clone();
    ids.sort_unstable();
    let mut claims = transaction.last_claims(&ids)?;
    let spawned = transaction.spawn_verdicts(&ids)?;
    let tasks = transaction.tasks_to_change(&ids)?.into_iter();
    let candidates = tasks.map(|task| {
        let is_plain = task.files.is_empty() && !spawned.contains_key(&task.id);
        let last = claims.remove(&task.id);
        (task, last, is_plain)
    });
    let is_free = |last: &Option<Claim>| {
        let holder = last.as_ref().and_then(|last| last.live_holder(now));
        holder.is_none()
    };
    let mut free: Vec<Candidate> = candidates.filter(|(_, last, _)| is_free(last)).collect();
    free.sort_by_key(|(task, ..)| order.iter().position(|id| *id == task.id));
    Ok(free)
}

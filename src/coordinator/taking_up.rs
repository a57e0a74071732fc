//! Recovers the steps of a dead process: each is done, lacks something or is run again, and counts as it
//! would have in that process.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::engine::Engine;
use super::judging::is_left;
use super::machine::Fact;
use crate::claim::Claim;
use crate::error::{Code, Result};
use crate::file::read_start;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::complete::Lacking;
use crate::ops::tasks::Moved;
use crate::run::log::LOG_MAX;
use crate::run::told::{Told, kind};
use crate::run::track::{TaskRun, TaskState, Track};
use crate::run::{Event, Outcome, Spent};
use crate::runner::agent;
use crate::store::{Recorded, Transaction};
use crate::task::Status;

impl Engine<'_> {
    /// Takes a step up as it stands: what is done is noted, what was left is verified or given back.
    pub(super) fn take_up(&mut self, step: usize, task: &TaskRun) -> Result<()> {
        let id = task.task_id;
        if task.is_done() {
            self.machine.done_before(step);
            return Ok(());
        }
        if task.state == TaskState::Failed {
            for later in self.machine.failed_before(step) {
                let told = Told {
                    because: Some(id),
                    reason: Some("it waits for what failed".to_string()),
                    ..Told::of(self.tasks[later])
                };
                self.tell(kind::TASK_SKIPPED, told);
            }
            return Ok(());
        }
        if self.is_done_by_now(step, task)? {
            self.machine.done_before(step);
        }
        Ok(())
    }

    /// Returns true, and emits the event, if a task was completed before the process ended or its work
    /// verifies. Any other task is released.
    fn is_done_by_now(&mut self, step: usize, task: &TaskRun) -> Result<bool> {
        let id = task.task_id;
        let (status, claim) = match self
            .context
            .read(|transaction| Ok((transaction.status(id)?, transaction.claim(id)?)))
        {
            // It is refused when it is claimed.
            Err(error) if error.code == Code::RowDamaged => return Ok(false),
            read => read?,
        };
        let epoch = claim.as_ref().map(|claim| claim.epoch);
        if status == Some(Status::Done) {
            if is_completed_within(&mut self.context, id, &self.run.id)? {
                self.tell_merged_before(step);
                self.tell(kind::TASK_COMPLETED, self.event_for(step));
                return Ok(true);
            }
            if task.is_held && epoch == task.epoch {
                // Somebody completed it while its agent worked.
                self.slots[step].epoch = epoch;
                self.fix_criteria(id, task.acceptance.clone());
                let Err(lacking) = self.judge_again(step)? else {
                    self.tell(kind::TASK_COMPLETED, self.event_for(step));
                    return Ok(true);
                };
                let fact = self.found_lacking(step, lacking)?;
                self.facts.push(fact);
                return Ok(false);
            }
            self.tell_done_elsewhere(step)?;
            return Ok(true);
        }
        let is_own = |claim: &Claim| claim.holder.as_ref() == Some(&self.run.id);
        let Some(claim) = claim.filter(is_own) else {
            return Ok(false);
        };
        self.slots[step].epoch = Some(claim.epoch);
        // A claim under which no agent was to be started has nothing to show, and a task that was never
        // given to an agent would pass for one that needs no proof.
        if Some(claim.epoch) == task.epoch {
            self.fix_criteria(task.task_id, task.acceptance.clone());
            if self.misspoken(step).is_none() {
                match self.judge_again(step)? {
                    Ok(_) => {
                        self.tell(kind::TASK_COMPLETED, self.event_for(step));
                        return Ok(true);
                    }
                    Err(lacking) if is_left(&lacking) => {
                        self.facts.push(Fact::Left(step));
                        return Ok(false);
                    }
                    Err(_) => {}
                }
            }
        }
        self.give_back(step)?;
        Ok(false)
    }

    /// Judges the work of a step as it was left, in its worktree if there is one.
    fn judge_again(&mut self, step: usize) -> Result<std::result::Result<Moved, Lacking>> {
        let id = self.tasks[step].to_string();
        let trees = self.trees.as_ref();
        self.slots[step].tree = trees.and_then(|trees| trees.left(&id));
        let done = match self.trees.is_some() && self.slots[step].tree.is_none() {
            // A worktree is removed before its task is done only when its work is discarded.
            true => Err(self.lacks(step)?),
            false => self.completed_from_before(step)?.1,
        };
        // What is left of it is swept with the others.
        self.slots[step].tree = None;
        Ok(done)
    }
}

/// Returns whether a run completed a task itself.
pub(super) fn is_completed_within(context: &mut Context, id: TaskId, run: &str) -> Result<bool> {
    let (last, gates) =
        context.read(|tasks| Ok((last_completion(tasks, id)?, tasks.gates(id)?)))?;
    let is_own = |last: Recorded| last.by == run && is_by_run(&last);
    Ok(last.is_some_and(is_own) && gates.forced.is_none())
}

fn last_completion(transaction: &dyn Transaction, id: TaskId) -> Result<Option<Recorded>> {
    let changes = transaction.changes(0, Some(id), u32::MAX)?.into_iter();
    let mut changes = changes.rev();
    Ok(changes.find(|one| one.change.detail["status"]["to"] == "done"))
}

/// Returns whether a run did something itself: its agents have its name, but call other commands.
fn is_by_run(done: &Recorded) -> bool {
    matches!(done.command.as_str(), "run" | "runs.resume")
}

pub(super) fn cut_off(folder: &Path, track: &mut Track, at: &str) -> Vec<(&'static str, Told)> {
    let told = track.tasks().iter().filter_map(|task| ended(folder, task));
    let told: Vec<_> = told.map(|told| (kind::AGENT_ENDED, told)).collect();
    for (kind, told) in &told {
        track.apply(kind, at, told);
    }
    told
}

fn ended(folder: &Path, task: &TaskRun) -> Option<Told> {
    // The group is known from when an agent begins until its end was told.
    task.group.as_ref()?;
    let spent = used(folder, task);
    let is_told = spent.usage.is_some() || spent.cost.is_some();
    is_told.then(|| Told {
        attempt: Some(task.attempts),
        outcome: Some(Outcome::Cancelled),
        usage: spent.usage,
        cost: spent.cost,
        ..Told::of(task.task_id)
    })
}

fn used(folder: &Path, task: &TaskRun) -> Spent {
    let name = format!("{}-{}.log", task.task_id, task.attempts);
    let log = read_start(&folder.join(name), LOG_MAX).unwrap_or_default();
    let runner = task.runner.as_deref().unwrap_or_default();
    agent::used(runner, &log, task.conversed)
}

/// A worktree that is kept.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptTree {
    /// The task that was worked on in it.
    pub(crate) task_id: TaskId,
    /// Where it is.
    pub(crate) worktree: String,
    /// Its branch, which lacks something of what was done in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// Why it is kept.
    pub(crate) reason: String,
}

impl KeptTree {
    fn of(told: Told) -> Option<KeptTree> {
        Some(KeptTree {
            task_id: told.task_id?,
            worktree: told.worktree?,
            branch: told.branch,
            reason: told.reason.unwrap_or_default(),
        })
    }

    pub(super) fn is_on(&self, branch: &str) -> bool {
        self.branch.as_deref() == Some(branch)
    }
}

pub(super) fn kept(events: &[Event]) -> Vec<KeptTree> {
    let told = events.iter().filter(|event| event.kind == kind::TASK_KEPT);
    let trees = told.filter_map(|event| KeptTree::of(Told::read(&event.detail)));
    let trees = trees.map(|tree| (tree.worktree.clone(), tree));
    let last: BTreeMap<String, KeptTree> = crate::build_map(trees);
    let mut kept: Vec<KeptTree> = last
        .into_values()
        .filter(|tree| Path::new(&tree.worktree).is_dir())
        .collect();
    kept.sort_unstable_by_key(|tree| tree.task_id);
    kept
}

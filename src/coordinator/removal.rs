//! Removes the worktrees of steps that are over, and keeps those that hold more than a branch can.

use std::collections::HashSet;

use super::engine::Engine;
use super::prompt;
use super::trees::{Tree, Trees, task_of};
use crate::error::{Code, Error, Result};
use crate::ops::Context;
use crate::run::{Event, RunEvent, RunProjection, TaskEvent};

impl Engine<'_> {
    /// Removes the worktree of a step, with its reports however the attempt ended, unless another worker holds the task.
    pub(super) fn remove_worktree(&mut self, step: usize) -> Result<()> {
        let (Some(tree), Some(trees)) = (self.slots[step].tree.take(), &self.trees) else {
            return Ok(());
        };
        let (task, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let claim = self.context.read(|transaction| transaction.claim(task))?;
        let is_held = claim.is_some_and(|it| self.is_own(&it) && Some(it.epoch) == epoch);
        let gone = (!tree.is_there()).then(|| trees.explain_removal(&tree));
        let mut aside = Vec::from_iter(gone);
        let message = format!("{task}: not finished");
        let left = match trees.remove(&tree, &message, is_held, &mut aside) {
            Ok(branch) => branch.map(|branch| report_branch(trees, branch)),
            Err(error) => Some(retain(trees, &tree, &error)),
        };
        self.push_conflict_event(step, &aside);
        left.into_iter()
            .for_each(|left| self.push_step_event(step, left));
        Ok(())
    }

    pub(super) fn push_conflict_event(&mut self, step: usize, aside: &[Error]) {
        for error in aside {
            self.push_step_event(step, put_aside(error));
        }
    }

    pub(super) fn retain_worktree(&mut self, step: usize, error: &Error) {
        if let (Some(tree), Some(trees)) = (self.slots[step].tree.take(), &self.trees) {
            let retained = retain(trees, &tree, error);
            self.push_step_event(step, retained);
        }
    }
}

/// Keeps a worktree, and says why.
fn retain(trees: &Trees, tree: &Tree, error: &Error) -> TaskEvent {
    let reason = match error.code {
        Code::Interrupted | Code::Terminated => format!(
            "cleo was asked to end before it was in the workspace (`cleo runs resume {}`)",
            trees.run
        ),
        _ => prompt::describe(error),
    };
    report_retained(reason, trees.lock_worktree(tree), Some(tree.display_path()))
}

fn report_branch(trees: &Trees, branch: String) -> TaskEvent {
    let merge = trees.format_merge_command(&branch);
    let reason = format!("what was done is kept on a branch that is not merged (`{merge}`)");
    report_retained(reason, Some(branch), None)
}

fn put_aside(error: &Error) -> TaskEvent {
    report_retained(prompt::describe(error), None, None)
}

fn report_retained(reason: String, branch: Option<String>, worktree: Option<String>) -> TaskEvent {
    TaskEvent::Retained {
        reason: Some(reason),
        branch,
        worktree,
    }
}

/// Removes the worktrees of a dead process. Reports of tasks without a holder are copied to the workspace;
/// everything else stays on branches. Returns events about changed outputs, kept worktrees and unreported
/// branches.
pub(super) fn sweep_trees(
    context: &mut Context,
    trees: &Trees,
    track: &RunProjection,
    events: &[Event],
) -> Result<Vec<RunEvent>> {
    let (mut told, mut retained, mut kept) = (Vec::new(), Vec::new(), HashSet::new());
    for tree in trees.list_trees() {
        let Some(task) = tree.task() else { continue };
        let claim = context.read(|transaction| transaction.claim(task))?;
        let is_free = claim.is_none_or(|claim| claim.holder.is_none());
        let mut aside = Vec::new();
        let removed = match tree.is_half_made() {
            true => trees.remove_worktree(&tree),
            false => {
                let message = format!("{}: left behind", tree.name());
                trees.remove(&tree, &message, is_free, &mut aside)
            }
        };
        told.extend(aside.iter().map(|error| put_aside(error).for_task(task)));
        if let Err(error) = removed {
            retained.push(retain(trees, &tree, &error).for_task(task));
            kept.insert(tree.branch);
        }
    }
    told.append(&mut retained);
    // Events of worktrees, which are gone now, do not count.
    let branch_before = |event: &Event| match RunEvent::read(event)? {
        RunEvent::Task(
            _,
            _,
            TaskEvent::Retained {
                branch, worktree, ..
            },
        ) if worktree.is_none() => branch,
        _ => None,
    };
    let named: HashSet<String> = events.iter().filter_map(branch_before).collect();
    // Also those of worktrees that were gone before they could be told of.
    let mut branches = trees.prune(&kept)?;
    branches.retain(|branch| !named.contains(branch));
    told.extend(branches.into_iter().filter_map(|branch| {
        let task = track.task(task_of(&branch)?)?;
        Some(report_branch(trees, branch).for_task(task.planned.task_id))
    }));
    Ok(told)
}

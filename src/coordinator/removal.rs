//! Removes the worktrees of steps that are over, and keeps those that hold more than a branch can.

use std::collections::HashSet;

use super::engine::Engine;
use super::prompt;
use super::trees::{Tree, Trees, task_of};
use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::ops::Context;
use crate::run::RunProjection;
use crate::run::{Event, RunEvent, TaskEvent};

impl Engine<'_> {
    /// Removes the worktree of a step. Its reports are copied to the workspace however the attempt ended,
    /// unless another worker holds the task; unmerged work stays on its branch. A worktree with more than
    /// that is kept.
    pub(super) fn remove_worktree(&mut self, step: usize) -> Result<()> {
        let Some(tree) = self.slots[step].tree.clone() else {
            return Ok(());
        };
        let (task, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let claim = self.context.read(|transaction| transaction.claim(task))?;
        let is_own = |claim: &Claim| claim.holder.as_ref() == Some(&self.recorder.run.id);
        let is_held = claim.is_some_and(|claim| is_own(&claim) && Some(claim.epoch) == epoch);
        let Some(trees) = &self.trees else {
            return Ok(());
        };
        if !tree.is_there() {
            let ended = trees.end(&tree);
            let gone = trees.explain_removal(&tree);
            self.tell_conflicting_files(step, &[gone]);
            match ended {
                Ok(left) => self.tell_removed(step, left),
                // Its agent may have moved it.
                Err(error) => self.retain_worktree(step, &error),
            }
            return Ok(());
        }
        let mut aside = Vec::new();
        let message = format!("{task}: not finished");
        let settled = trees.settle(&tree, &message, &mut |tree| match is_held {
            true => trees.report(tree, &mut aside),
            false => Ok(()),
        });
        let left = settled.and_then(|()| trees.end(&tree));
        self.tell_conflicting_files(step, &aside);
        match left {
            Ok(branch) => self.tell_removed(step, branch),
            Err(error) => self.retain_worktree(step, &error),
        }
        Ok(())
    }

    fn tell_removed(&mut self, step: usize, branch: Option<String>) {
        self.slots[step].tree = None;
        if let (Some(branch), Some(trees)) = (branch, &self.trees) {
            let retained = report_branch(trees, branch);
            self.tell_step(step, retained);
        }
    }

    pub(super) fn tell_conflicting_files(&mut self, step: usize, aside: &[Error]) {
        for error in aside {
            self.tell_step(step, put_aside(error));
        }
    }

    pub(super) fn retain_worktree(&mut self, step: usize, error: &Error) {
        let Some(tree) = self.slots[step].tree.take() else {
            return;
        };
        let reason = match error.code {
            Code::Interrupted | Code::Terminated => format!(
                "cleo was asked to end before it was in the workspace (`cleo runs resume {}`)",
                self.recorder.run.id
            ),
            _ => prompt::describe(error),
        };
        let retained = TaskEvent::Retained {
            reason: Some(reason),
            branch: self.trees.as_ref().and_then(|trees| trees.keep(&tree)),
            worktree: Some(tree.place()),
        };
        self.tell_step(step, retained);
    }
}

fn report_branch(trees: &Trees, branch: String) -> TaskEvent {
    let merge = trees.format_merge_command(&branch);
    TaskEvent::Retained {
        reason: Some(format!(
            "what was done is kept on a branch that is not merged (`{merge}`)"
        )),
        branch: Some(branch),
        worktree: None,
    }
}

fn put_aside(error: &Error) -> TaskEvent {
    TaskEvent::Retained {
        reason: Some(prompt::describe(error)),
        branch: None,
        worktree: None,
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
    let mut retained = Vec::new();
    let swept = trees.sweep(&mut |tree| {
        let mut aside = Vec::new();
        let reported = report_if_free(context, trees, tree, &mut aside);
        let events = aside.iter().map(put_aside);
        retained.extend(events.filter_map(|event| Some(event.for_task(tree.task()?))));
        reported
    })?;
    retained.extend(swept.kept.into_iter().filter_map(|(tree, error)| {
        let kept = TaskEvent::Retained {
            reason: Some(prompt::describe(&error)),
            branch: trees.branch(&tree).ok().flatten(),
            worktree: Some(tree.place()),
        };
        Some(kept.for_task(tree.task()?))
    }));
    // Events of worktrees, which are gone now, do not count.
    let branch_before = |event: &Event| match RunEvent::read(event)? {
        RunEvent::Task {
            event:
                TaskEvent::Retained {
                    branch,
                    worktree: None,
                    ..
                },
            ..
        } => branch,
        _ => None,
    };
    let named: HashSet<String> = events.iter().filter_map(branch_before).collect();
    let branches = swept.branches.into_iter();
    let branches = branches.filter(|branch| !named.contains(branch));
    retained.extend(branches.filter_map(|branch| {
        let task = track.task(task_of(&branch)?)?;
        Some(report_branch(trees, branch).for_task(task.planned.task_id))
    }));
    Ok(retained)
}

/// Copies the reports of a worktree to the workspace if its task has no holder, and adds errors about files
/// that were put aside.
fn report_if_free(
    context: &mut Context,
    trees: &Trees,
    tree: &Tree,
    aside: &mut Vec<Error>,
) -> Result<()> {
    let claim = match tree.task() {
        Some(task) => context.read(|transaction| transaction.claim(task))?,
        None => None,
    };
    match claim.is_none_or(|claim| claim.holder.is_none()) {
        true => trees.report(tree, aside),
        false => Ok(()),
    }
}

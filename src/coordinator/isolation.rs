//! Tasks in git worktrees: where each is worked on, and how verified work is merged.

use std::path::PathBuf;

use super::engine::Engine;
use super::scheduler::Event;
use super::slot::Prompt;
use super::trees::{Tree, Trees};
use super::{parts, prompt};
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::ops::proof::{self, Verdict, check};
use crate::ops::require;
use crate::run::{Outcome, TaskEvent};
use crate::runner::signals;

/// The result of bringing the work of a step to the workspace.
pub(super) enum Delivery {
    Done,
    Lacking(Verdict),
    /// It cannot be brought over: the branch that holds it, if one does, and why.
    Stuck(Option<String>, String),
}

impl Engine<'_> {
    /// Returns the folder of a step: the workspace, or a worktree, which later attempts reuse unless the
    /// agent has removed it.
    pub(super) fn prepare_folder(&mut self, step: usize) -> Result<PathBuf> {
        if let Some(tree) = self.slots[step].tree.clone() {
            if tree.is_there() {
                // Where its agent has broken it, that is told when its work is committed.
                let _ = self.trees.as_ref().map(|trees| trees.unlock(&tree));
                return Ok(tree.root);
            }
            // Events say that this attempt continues in the worktree, which is gone since.
            let slot = &self.slots[step];
            if let Some(trees) = &self.trees
                && slot.prompt.as_ref().is_some_and(Prompt::continues)
            {
                return Err(trees.explain_removal(&tree));
            }
            self.remove_worktree(step)?;
        }
        let id = self.slots[step].task;
        if self.trees.is_some() {
            self.release_parts(id)?;
        }
        let Some(trees) = &self.trees else {
            return Ok(self.context.workspace.root.clone());
        };
        let task = self.context.read(|transaction| require(transaction, id))?;
        let tree = trees.create_worktree(&task, self.slots[step].attempt)?;
        let root = tree.root.clone();
        self.slots[step].tree = Some(tree);
        Ok(root)
    }

    pub(super) fn complete_step(&mut self, step: usize) -> Result<()> {
        if !self.objections(step).is_empty() {
            return self.reject_for_objections(step);
        }
        match self.merge_and_complete_step(step)? {
            Delivery::Done => {
                self.remove_worktree(step)?;
                self.end_step(step);
            }
            Delivery::Lacking(lacking) => self.reject_step(step, lacking)?,
            Delivery::Stuck(branch, why) => self.fail_unmergeable(step, branch, why),
        }
        Ok(())
    }

    /// Brings the work of a step to the workspace and completes it there, also where a killed process had begun to.
    pub(super) fn merge_and_complete_step(&mut self, step: usize) -> Result<Delivery> {
        let brought = match self.slots[step].tree.clone() {
            Some(tree) => self.merge_and_complete(step, &tree),
            None => return self.complete_in_workspace(step, None),
        };
        match brought {
            Err(error) if error.is_cut_short() => Ok(Delivery::Lacking(error.into())),
            brought => brought,
        }
    }

    fn merge_and_complete(&mut self, step: usize, tree: &Tree) -> Result<Delivery> {
        let (id, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let mut lacking = self.check_in_tree(tree, id, epoch)?;
        if !lacking.faults.is_empty() {
            return Ok(Delivery::Lacking(lacking));
        }
        let task = self.recorder.track.task(id);
        let title = task.map(|task| task.planned.title.as_str());
        let message = format!("{id}: {}", title.unwrap_or_default());
        let Some(trees) = &self.trees else {
            return Ok(Delivery::Lacking(lacking));
        };
        // Its agent is asked to finish it.
        if let Err(error) = trees.require_finished(tree)
            && error.code == Code::NotVerified
        {
            return Ok(Delivery::Lacking(error.into()));
        }
        let saved = trees.commit(tree, &message);
        let saved = saved.and_then(|()| trees.require_reportable(tree));
        let found = saved.and_then(|()| {
            if !trees.has_commits(tree)? {
                lacking.faults = trees.list_left_elsewhere(tree)?;
            }
            trees.find_ignored(tree)
        });
        let ignored = match allow_blocked(found)? {
            Ok(_) if !lacking.faults.is_empty() => return Ok(Delivery::Lacking(lacking)),
            Ok(ignored) => ignored,
            Err(why) => return Ok(Delivery::Stuck(None, why)),
        };
        let commit = match allow_blocked(trees.merge(tree, &message))?.flatten() {
            Ok(commit) => commit,
            Err(why) => {
                let (branch, merge) = (
                    tree.branch.clone(),
                    trees.format_merge_command(&tree.branch),
                );
                let why =
                    format!("the branch {branch} cannot be merged: {why}; to merge it: `{merge}`");
                return Ok(Delivery::Stuck(Some(branch), why));
            }
        };
        let merge = match commit {
            Some(_) => commit.clone(),
            None => trees.find_merge(id, &self.recorder.run.started_at)?,
        };
        if commit.is_none()
            && let Some(merge) = &merge
            && trees.has_commits(tree)?
            && let Some(why) = trees.explain_revert(merge)?
        {
            return Ok(Delivery::Stuck(None, why));
        }
        let mut aside = Vec::new();
        let reported = trees.report(tree, &mut aside);
        self.push_conflict_event(step, &aside);
        if let Err(error) = reported {
            return self.roll_back_delivery(commit.as_deref(), error);
        }
        let mut lacking = match self.complete_in_workspace(step, Some(merge.clone())) {
            Ok(Delivery::Lacking(lacking)) => lacking,
            Err(error) => {
                // Unproven work is not left merged. Where this fails, the next turn takes it back.
                let _ = self.roll_back(None);
                return Err(error);
            }
            done => {
                self.trees
                    .iter()
                    .try_for_each(|it| it.note_needed(tree, ""))?;
                return done;
            }
        };
        if let (Some(name), Some(trees), false) = (&ignored, &self.trees, lacking.is_cut_short()) {
            trees.note_needed(tree, name)?;
            lacking.faults.push(refuse_ignored(name));
        }
        // It verified alone and does not beside what was merged before.
        let left = match &commit {
            Some(_) => self.roll_back(commit.as_deref())?,
            None => merge,
        };
        // It is told first, because the branch holds work that nothing has proven.
        let left = left.as_deref().map(report_unreverted);
        lacking.faults.splice(0..0, left);
        Ok(Delivery::Lacking(lacking))
    }

    /// Takes the merge back that was made last and is not proven in the workspace. Returns its commit where it stays.
    fn roll_back(&self, commit: Option<&str>) -> Result<Option<String>> {
        match self.trees.as_ref().map(Trees::roll_back).transpose() {
            Err(error) if !is_of_cleo(&error) => Ok(commit.map(String::from)),
            left => Ok(left?.flatten()),
        }
    }

    /// Rolls back the merge of a worktree whose outputs cannot be copied: verified work is merged whole or
    /// not at all.
    fn roll_back_delivery(&self, commit: Option<&str>, error: Error) -> Result<Delivery> {
        let mut why = prompt::describe(&error);
        if let Some(commit) = self.roll_back(commit)? {
            why += &format!("; {}", prompt::describe(&report_unreverted(&commit)));
        }
        if is_of_cleo(&error) {
            return Err(error);
        }
        Ok(Delivery::Stuck(None, why))
    }

    pub(super) fn check_in_tree(
        &mut self,
        tree: &Tree,
        id: TaskId,
        epoch: Option<u32>,
    ) -> Result<Verdict> {
        let spawn = self
            .context
            .read(|transaction| transaction.latest_spawn(id))?;
        if let (Some(trees), Some(spawn)) = (&self.trees, spawn)
            && let Err(error) = trees.show(tree, &spawn.output_file, &spawn.manifest_id)
        {
            return report_worktree_error(error);
        }
        let lacking = self.with_worktree(Some(tree), |engine| {
            check(&mut engine.context, id, epoch, false)
        });
        lacking.or_else(report_worktree_error)
    }

    fn with_worktree<T>(&mut self, tree: Option<&Tree>, work: impl FnOnce(&mut Self) -> T) -> T {
        let home = self.context.workspace.root.clone();
        if let Some(tree) = tree {
            self.context.workspace.root.clone_from(&tree.root);
        }
        let done = work(self);
        self.context.workspace.root = home;
        done
    }

    /// Completes a step in the workspace. In a run with worktrees all its commands must pass there: git may have held
    /// less than its worktree did. `merged` is the commit of one that was merged, as far as something was.
    fn complete_in_workspace(
        &mut self,
        step: usize,
        merged: Option<Option<String>>,
    ) -> Result<Delivery> {
        let (id, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let (mut parts, is_merged) = (Vec::new(), merged.is_some());
        if self.trees.is_some() {
            parts = self.parts_under_review(id)?;
            if let Some(lacking) = self.prove_parts(&parts)? {
                return Ok(Delivery::Lacking(lacking));
            }
            let lacking = self.prove_in_workspace(id, epoch, is_merged)?;
            if !lacking.faults.is_empty() {
                return Ok(Delivery::Lacking(lacking));
            }
        }
        let parts = parts.iter().map(|part| (part.task, Some(part.epoch)));
        let tasks = Vec::from_iter(parts.chain([(id, epoch)]));
        // A kill in between leaves proven work merged, and no completed work unmerged.
        let noted = self.trees.as_ref().and_then(Trees::read_move);
        self.trees.as_ref().map_or(Ok(()), Trees::forget_move)?;
        let commit = merged.clone().flatten();
        let (context, slot) = (&mut self.context, &self.slots[step]);
        let recorded = self.recorder.complete(context, slot, &tasks, merged);
        let is_done = matches!(recorded, Ok(Ok(())));
        if let (Some(trees), Some(noted), false) = (&self.trees, &noted, is_done) {
            trees.note_move(noted)?;
        }
        if let Err((task, mut lacking)) = recorded? {
            for fault in lacking.faults.iter_mut().filter(|_| task != id) {
                *fault = parts::part_fault(task, fault);
            }
            return Ok(Delivery::Lacking(lacking));
        }
        if let (Some(trees), Some(commit)) = (&mut self.trees, commit) {
            trees.base.commit = commit;
        }
        Ok(Delivery::Done)
    }

    /// Looks at what a task lacks in the workspace, after its commands have run there. `counts_words` is that of
    /// `proof::complete_with_parts`.
    pub(super) fn prove_in_workspace(
        &mut self,
        id: TaskId,
        epoch: Option<u32>,
        counts_words: bool,
    ) -> Result<Verdict> {
        let check = |engine: &mut Self| -> Verdict {
            let found = check(&mut engine.context, id, epoch, counts_words);
            found.unwrap_or_else(Verdict::from)
        };
        let lacking = check(self);
        if !lacking.lacks_only_proof() {
            return Ok(lacking);
        }
        match self.prove_again(id, epoch, None)? {
            Some(lacking) => Ok(lacking),
            None => Ok(check(self)),
        }
    }

    /// Runs all commands of a step again, in a worktree or at home. Returns what kept them from being run.
    pub(super) fn prove_again(
        &mut self,
        id: TaskId,
        epoch: Option<u32>,
        tree: Option<&Tree>,
    ) -> Result<Option<Verdict>> {
        let renewal = self.renewal(id, epoch);
        let is_stopped = self.watch_for_stop();
        let renewed = self.with_worktree(tree, |engine| {
            let renew = || proof::renew(&mut engine.context, &renewal, &mut |_| {});
            signals::run_until(is_stopped, renew)
        });
        let Err(error) = renewed else {
            return Ok(None);
        };
        self.check_stop()?;
        match is_of_cleo(&error) && !error.is_cut_short() {
            true => Err(error),
            false => Ok(Some(error.into())),
        }
    }

    /// Fails a step whose work cannot be merged, unless cleo was asked to end: it is tried again when the run resumes.
    pub(super) fn fail_unmergeable(&mut self, step: usize, branch: Option<String>, why: String) {
        if signals::pending_signal().is_some() {
            return self.inbox.push(Event::Left(step));
        }
        let failed = TaskEvent::VerificationFailed {
            outcome: Some(Outcome::Blocked),
            violations: vec![why.clone()],
            branch,
        };
        self.push_step_event(step, failed);
        self.inbox.push(Event::Lacking(step, Outcome::Blocked, why));
    }
}

fn report_worktree_error(error: Error) -> Result<Verdict> {
    match error.code {
        Code::FileUnreadable | Code::FileUnwritable | Code::PathOutside => Ok(error.into()),
        _ => Err(error),
    }
}

/// Returns why work cannot be brought over; an error of cleo itself stays one.
fn allow_blocked<T>(done: Result<T>) -> Result<std::result::Result<T, String>> {
    match done {
        Err(error) if !is_of_cleo(&error) => Ok(Err(prompt::describe(&error))),
        done => done.map(Ok),
    }
}

/// Whether an error is of cleo itself, which ends the run, and not of the repository.
fn is_of_cleo(error: &Error) -> bool {
    matches!(
        error.code,
        Code::Interrupted | Code::Terminated | Code::Internal | Code::ProgramMissing
    )
}

fn refuse_ignored(name: &str) -> Error {
    let message = format!(
        "its commands passed in the worktree, where git ignores {name}: what git ignores is not merged"
    );
    Error::new(Code::NotVerified, message).fix(format!("git check-ignore -v {}", quote(name)))
}

fn report_unreverted(commit: &str) -> Error {
    let message = format!(
        "the merge {commit} stays and is not proven, because files or commits changed since; \
         `git revert -m 1 {commit}` takes it back"
    );
    Error::new(Code::FileUnwritable, message).fix(format!("git show --stat {commit}"))
}

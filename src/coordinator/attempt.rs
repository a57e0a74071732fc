//! Attempts of a run: executes the actions of the scheduler; their results are new events.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::prompt;
use super::scheduler::{Action, Event};
use super::selection::Worker;
use super::slot::{Prompt, Slot};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::proof::RenewalRequest;
use crate::ops::runs::journal;
use crate::ops::tasks::claim;
use crate::ops::{require, spawn};
use crate::run::event::{AttemptStart, Setup};
use crate::run::{Outcome, RunEvent, TaskEvent};
use crate::runner::agent::{Job, Limits, Runner};
use crate::spawn::format_notes;
use crate::task::Note;
use crate::tree;

/// Returns true if the error means that another worker now owns the task.
pub(super) fn is_loss(error: &Error) -> bool {
    use Code::{ClaimLost, Claimed, StatusRefused, TaskNotFound};
    [ClaimLost, Claimed, TaskNotFound, StatusRefused].contains(&error.code)
}

impl Engine<'_> {
    pub(super) fn perform(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Claim(steps) => self.claim(&steps),
            Action::Start(step) => self.start(step),
            Action::Check(step) => self.start_checks(step),
            Action::Complete(step) => self.complete_step(step),
            Action::Repair(step) => self.prepare_repair(step),
            Action::End(step) => {
                self.slots[step].request_stop();
                Ok(())
            }
            Action::Fail(step, ..) => {
                self.remove_worktree(step)?;
                self.release_task(step)
            }
            Action::Halt => {
                self.slots.iter().for_each(Slot::request_stop);
                Ok(())
            }
            Action::Wait(..) | Action::Skip(..) => Ok(()),
        }
    }

    pub(super) fn announce(&mut self, action: &Action) {
        let (step, event) = match action {
            Action::Start(step) => return self.announce_start(*step),
            Action::Wait(step, wait) => {
                let wait_ms = u64::try_from(wait.as_millis()).ok();
                let reason = None;
                (step, TaskEvent::Waiting { reason, wait_ms })
            }
            Action::Fail(step, outcome, why) => {
                let (outcome, reason) = (Some(*outcome), Some(why.clone()));
                (step, TaskEvent::Failed { outcome, reason })
            }
            Action::Skip(step, because, why) => {
                let caused_by = because.map(|step| self.slots[step].task);
                let reason = Some(why.clone());
                (step, TaskEvent::Skipped { reason, caused_by })
            }
            Action::Halt => {
                let reason = self.scheduler.explain_stop();
                return self.recorder.push(RunEvent::Stopping { reason });
            }
            _ => return,
        };
        self.push_step_event(*step, event);
    }

    pub(super) fn push_step_event(&mut self, step: usize, event: TaskEvent) {
        self.recorder.push(self.slots[step].event(event));
    }

    pub(super) fn push_waiting_event(&mut self, step: usize, reason: &str) {
        let waiting = TaskEvent::Waiting {
            reason: Some(reason.to_string()),
            wait_ms: None,
        };
        self.push_step_event(step, waiting);
    }

    fn announce_start(&mut self, step: usize) {
        let slot = &mut self.slots[step];
        slot.attempt += 1;
        let Some(prompt) = &mut slot.prompt else {
            return;
        };
        // The conversation was about a folder that its agent has removed.
        if slot.tree.as_ref().is_some_and(|tree| !tree.is_there()) {
            (prompt.conversation, prompt.text) = (None, None);
        }
        let (worker, spawned) = (slot.worker.as_ref(), &prompt.spawned);
        let fixed = &self.context.surroundings.assignment.criteria;
        let setup = Setup {
            skill: Some(spawned.skill.clone()),
            runner: worker.map(|worker| worker.runner.name().to_string()),
            epoch: slot.epoch,
            manifest_id: Some(spawned.manifest_id.clone()),
            output_file: Some(spawned.output_file.clone()),
        };
        let start = AttemptStart {
            setup,
            resumes: prompt.conversation.is_some(),
            acceptance: fixed.get(&slot.task).cloned().unwrap_or_default(),
            commit: match slot.tree {
                Some(_) => None,
                None => tree::head(&self.context.workspace.root).ok().flatten(),
            },
        };
        self.push_step_event(step, TaskEvent::Started(start));
    }

    /// Starts the agent of an attempt whose start event is committed. A failure fails only this step, not the
    /// run.
    fn start(&mut self, step: usize) -> Result<()> {
        match self.make_job(step) {
            Ok((runner, job)) => {
                let attempt = self.slots[step].attempt;
                self.slots[step].stop = Some(self.threads.start(step, attempt, runner, job)?);
            }
            Err(error) => self.refuse_start(step, &error),
        }
        Ok(())
    }

    /// Fails a step whose agent cannot be started. Without a worktree the step is blocked instead, because no
    /// agent made an error.
    pub(super) fn refuse_start(&mut self, step: usize, error: &Error) {
        self.inbox.push(match self.trees {
            Some(_) => Event::Lacking(step, Outcome::Blocked, prompt::describe(error)),
            None => Event::Refused(step, error.message.clone()),
        });
    }

    fn make_job(&mut self, step: usize) -> Result<(Arc<dyn Runner>, Job)> {
        let name = format!("{}-{}", self.slots[step].task, self.slots[step].attempt);
        let raw = self.recorder.journal.folder().join(name);
        let root = self.prepare_folder(step)?;
        // An agent may have put a link in its place since.
        journal::run_folder(&self.context.workspace, &self.recorder.run.id)?;
        let slot = &mut self.slots[step];
        let (Some(prompt), Some(worker)) = (&mut slot.prompt, slot.worker.clone()) else {
            return Err(error!(Internal, "{} has no prompt", slot.task));
        };
        let (text, resume) = (prompt.text.take(), prompt.conversation.take());
        let text = text.unwrap_or_else(|| prompt.spawned.prepared.prompt.clone());
        let output_file = root.join(&prompt.spawned.output_file);
        let manifest_id = prompt.spawned.manifest_id.clone();
        let track = self.recorder.track.task(self.slots[step].task);
        let before = track.filter(|_| resume.is_some());
        let before = before.map(|task| task.conversed).unwrap_or_default();
        let runners = &self.ambience.runners;
        let passed = self.options.passed.iter().chain(&runners.passed);
        let job = Job {
            prompt: text,
            environment: self.environment(step, manifest_id, &output_file),
            output_file,
            folder: root,
            passed: passed.cloned().collect(),
            model: worker.model.clone(),
            resume,
            before,
            tools: self.options.tools.clone(),
            program: runners.program(worker.runner.name()).map(String::from),
            limits: Limits {
                cost: self.scheduler.remaining_cost(),
                budget: self.options.budget(),
                ..self.options.limits()
            },
            raw,
        };
        Ok((Arc::clone(&worker.runner), job))
    }

    fn environment(
        &self,
        step: usize,
        manifest_id: String,
        output: &Path,
    ) -> Vec<(String, String)> {
        let slot = &self.slots[step];
        let above = self.ambience.trace.as_deref();
        let (run, task) = (&self.recorder.run.id, self.slots[step].task);
        let worktree = slot.tree.as_ref().map(|tree| tree.root.to_string_lossy());
        let traceparent = prompt::traceparent(above, run, task, slot.attempt);
        let workspace = self.context.workspace.root.to_string_lossy();
        let own = [
            ("CLEO_ROOT", workspace.into_owned()),
            // An empty one is none: that of an agent above is not this one's.
            ("CLEO_WORKTREE", worktree.unwrap_or_default().into_owned()),
            ("CLEO_TASK_ID", task.to_string()),
            ("CLEO_RUN_ID", run.clone()),
            ("CLEO_EPOCH", slot.epoch.unwrap_or_default().to_string()),
            ("CLEO_MANIFEST_ID", manifest_id),
            ("CLEO_OUTPUT_FILE", output.to_string_lossy().into_owned()),
            ("CLEO_DEPTH", (self.ambience.depth + 1).to_string()),
            ("CLEO_AGENT", self.context.surroundings.actor.clone()),
            ("TRACEPARENT", traceparent),
        ];
        let own = own
            .into_iter()
            .map(|(name, value)| (name.to_string(), value));
        // Agents get the fixed clock too.
        let clock = self.context.surroundings.clock;
        let fixed = matches!(clock, Clock::Fixed(_));
        let now = fixed.then(|| ("CLEO_NOW".to_string(), clock.timestamp()));
        own.chain(now).collect()
    }

    /// Runs all commands of a step, also those that its agent has run. An epic of an isolated run waits for its turn.
    fn start_checks(&mut self, step: usize) -> Result<()> {
        if self.trees.is_some() && self.slots[step].tree.is_none() {
            self.inbox.push(Event::Checked(step));
            return Ok(());
        }
        let (slot, surroundings) = (&self.slots[step], self.context.surroundings.clone());
        let tree = slot.tree.as_ref().map(|tree| tree.root.clone());
        let renewal = self.renewal(slot.task, slot.epoch);
        let check = self
            .threads
            .check(step, slot.attempt, surroundings, tree, renewal)?;
        self.slots[step].stop = Some(check);
        Ok(())
    }

    /// Asks for all commands of a task.
    pub(super) fn renewal(&self, task: TaskId, epoch: Option<u32>) -> RenewalRequest {
        RenewalRequest {
            task,
            all: true,
            limit: Some(Duration::from_secs(self.options.gate_time_limit)),
            epoch,
            ..RenewalRequest::default()
        }
    }

    /// Prepares the prompt of the next attempt, which lists what is missing. An attempt that lacks only its
    /// last message keeps its entry and output file.
    fn prepare_repair(&mut self, step: usize) -> Result<()> {
        let task = self.slots[step].task;
        let is_of_message = |fault: &Error| fault.code == Code::ReturnMessage;
        let is_whole = self.slots[step].has_words
            || self.check_last_words(step).is_some()
                && self.check_step(step)?.faults.iter().all(is_of_message);
        let options = spawn::Options {
            task,
            again: true,
            date: self.first_date(task),
            worktree: self.slots[step].tree.as_ref().map(|tree| tree.root.clone()),
            ..spawn::Options::default()
        };
        let given = self.slots[step].prompt.take().filter(|_| is_whole);
        let spawned = match given {
            // Files of skills may be gone by now; the agent can still have the prompt as it was.
            Some(given) => {
                spawn::prepare_again(&mut self.context, &given.spawned).or(Ok(*given.spawned))
            }
            None => spawn::spawn(&mut self.context, options),
        };
        match spawned {
            Ok(spawned) => self.set_prompt(step, spawned),
            Err(error) => {
                self.inbox.push(Event::Refused(step, error.message));
                Ok(())
            }
        }
    }

    /// Sets the prompt of the next attempt and, after a failed one, what is missing. It resumes the
    /// conversation of that attempt where there is one, with the notes since; a whole prompt has all of them.
    pub(super) fn set_prompt(&mut self, step: usize, spawned: spawn::Spawned) -> Result<()> {
        let (mut text, mut conversation) = (None, None);
        let id = self.slots[step].task;
        let task = self.context.read(|transaction| require(transaction, id))?;
        let last = self.recorder.track.attempts(id).last();
        let is_new = |note: &&Note| last.is_none_or(|last| note.at > last.started_at);
        let notes = format_notes(task.notes.iter().filter(is_new));
        let has_words = std::mem::take(&mut self.slots[step].has_words);
        if self.slots[step].attempt > 0 {
            let last = last.map(|last| last.violations.clone());
            let mut faults = last.unwrap_or_default();
            if faults.is_empty() && !has_words {
                let lacks = self.check_step(step)?.faults;
                faults = lacks.iter().map(prompt::describe).collect();
            }
            let resumes = |worker: &Arc<Worker>| worker.runner.has_conversations();
            let resumes = self.slots[step].worker.as_ref().is_some_and(resumes);
            let before = self.recorder.track.task(id).filter(|_| resumes);
            conversation = before.and_then(|before| before.conversation.clone());
            text = match conversation {
                Some(_) if has_words => Some(prompt::format_interruption(&spawned)),
                None if has_words => None,
                Some(_) => Some(prompt::format_missing(&spawned, &faults)),
                None => Some(prompt::format_retry_prompt(&spawned, &faults)),
            };
        }
        if let (Some(text), Some(notes), Some(_)) = (&mut text, notes, &conversation) {
            *text += &format!("\n{notes}");
        }
        self.slots[step].prompt = Some(Prompt {
            spawned: Box::new(spawned),
            text,
            conversation,
        });
        self.inbox.push(Event::Prepared(step));
        Ok(())
    }

    pub(super) fn release_task(&mut self, step: usize) -> Result<()> {
        let slot = &mut self.slots[step];
        slot.prompt = None;
        slot.request_stop();
        slot.stop = None;
        let Some(epoch) = slot.epoch.take() else {
            return Ok(());
        };
        let released = claim::release(&mut self.context, self.slots[step].task, Some(epoch), false);
        match released {
            Err(error) if matches!(error.code, Code::ClaimLost | Code::TaskNotFound) => Ok(()),
            released => released.map(drop),
        }
    }
}

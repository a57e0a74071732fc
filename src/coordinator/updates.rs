//! Handles reports of the threads of a run: events to commit and input of the scheduler; and polls the
//! store while agents work.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::attempt::is_loss;
use super::engine::Engine;
use super::scheduler::{self, Event, Stop};
use super::threads::Update;
use crate::error::{Result, shorten};
use crate::id::TaskId;
use crate::ops::runs::journal::has_cancel;
use crate::ops::tasks::claim;
use crate::run::event::AgentEnd;
use crate::run::{self, Outcome, RunEvent, TaskEvent};
use crate::runner::signals;

/// Shortest time between two events that tell what an agent does.
const DOING_PAUSE: Duration = Duration::from_secs(1);
/// Most characters of an agent's message that an event keeps.
const SAID_MAX: usize = 2_000;
/// Most lines of stderr_tail that an event keeps.
const STDERR_TAIL_MAX: usize = 5;

impl Engine<'_> {
    /// Handles what threads report within a time.
    pub(super) fn handle_updates(&mut self, patience: Duration) {
        for (step, attempt, update) in self.threads.receive(patience) {
            // A cancelled agent may still report something.
            let is_current = self.slots[step].attempt == attempt;
            match update {
                Update::Agent(event) if is_current => self.note_progress(step, event),
                Update::Ended(ended) if is_current => self.end_attempt(step, *ended),
                Update::Checked(ran) if is_current => self.end_check(step, ran),
                _ => {}
            }
        }
    }

    fn note_progress(&mut self, step: usize, event: TaskEvent) {
        if matches!(event, TaskEvent::AgentProgress { .. }) {
            let last = &mut self.slots[step].progress_at;
            if last.is_some_and(|last| last.elapsed() < DOING_PAUSE) {
                return;
            }
            *last = Some(Instant::now());
        }
        self.push_step_event(step, event);
    }

    fn end_attempt(&mut self, step: usize, ended: Result<AgentEnd>) {
        let mut end = ended.unwrap_or_else(|error| AgentEnd {
            outcome: Some(Outcome::AgentError),
            reason: Some(error.message),
            ..AgentEnd::default()
        });
        if end.outcome == Some(Outcome::Cancelled) && self.scheduler.stop() == Some(Stop::TimeLimit)
        {
            // The time limit of the run stopped it; it was not cancelled.
            end.outcome = Some(Outcome::Timeout);
            end.reason = Some(self.scheduler.explain_stop());
        }
        if self.slots[step].has_words {
            end.reason = Some("its agent was sent words".to_string());
        }
        let first = end.stderr_tail.len().saturating_sub(STDERR_TAIL_MAX);
        end.stderr_tail.drain(..first);
        let texts = [&mut end.reason, &mut end.message, &mut end.conversation];
        let lines = end.denied_tools.iter_mut().chain(&mut end.stderr_tail);
        for text in texts.into_iter().flatten().chain(lines) {
            *text = shorten_said(std::mem::take(text));
        }
        self.inbox.push(Event::Ended(
            step,
            scheduler::Ended {
                outcome: end.outcome,
                cost: end.cost,
                has_words: self.slots[step].has_words,
                retry_after: end.retry_after_ms.map(Duration::from_millis),
            },
        ));
        self.push_step_event(step, TaskEvent::AgentEnded(end.clone()));
        self.slots[step].stop = None;
        self.slots[step].said = Some(end);
        // The run does not rely on commands that the agent ran.
        let has_checks = self.scheduler.has_checks(step);
        let task = self.slots[step].task;
        self.slots[step].unproven = has_checks.then(|| {
            error!(
                CriterionOpen,
                "the commands of {task} were not run after its agent ended"
            )
            .fix(format!("cleo verify {task}"))
        });
    }

    fn end_check(&mut self, step: usize, ran: Result<Vec<String>>) {
        let (ran, unproven) = match ran {
            Ok(ran) => (ran, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let reason = unproven
            .as_ref()
            .map(|error| shorten_said(error.message.clone()));
        let checked = TaskEvent::Checked {
            reason,
            results: ran.into_iter().map(shorten_said).collect(),
        };
        (self.slots[step].stop, self.slots[step].unproven) = (None, unproven);
        self.push_step_event(step, checked);
        self.inbox.push(Event::Checked(step));
    }
}

fn shorten_said(text: String) -> String {
    shorten(&text, SAID_MAX).into_owned()
}

/// Longest sleep of the loop, and so how late it notices a signal.
const PULSE: Duration = Duration::from_millis(100);
/// How often to check for stop requests of other processes and for released tasks.
const LOOK: Duration = Duration::from_millis(500);

impl Engine<'_> {
    /// Handles what has happened. Sleeps while idle until an event comes or is due.
    pub(super) fn wait(&mut self, is_idle: bool) -> Result<()> {
        let now = self.begun.elapsed();
        let due = self.scheduler.next_due(now);
        let due = due.map(|at| at.saturating_sub(now));
        let patience = match is_idle {
            true => due.unwrap_or(PULSE).min(PULSE),
            false => Duration::ZERO,
        };
        self.handle_updates(patience);
        self.check_stop()
    }

    /// Returns whether the run is to stop, for work that keeps the loop waiting.
    pub(super) fn watch_for_stop(&self) -> impl FnMut() -> bool + 'static {
        let limit = self.options.time_limit();
        let begun = self.begun;
        let is_stop = |event: &Event| matches!(event, Event::Stop(_));
        let is_stopping = self.scheduler.stop().is_some() || self.inbox.iter().any(is_stop);
        let mut is_cancelled = self
            .recorder
            .journal
            .watch_for_cancel(&self.context.workspace);
        move || is_stopping || limit.is_some_and(|limit| begun.elapsed() >= limit) || is_cancelled()
    }

    /// Ends the attempt in progress when words were sent to its agent since it began, or it was stopped.
    fn handle_request(&mut self, request: &run::Event) {
        let Some(RunEvent::Task(task, _, event)) = RunEvent::read(request) else {
            return;
        };
        let track = &self.recorder.track;
        let began = track.attempts(task).last();
        let is_new = began.is_some_and(|attempt| request.at > attempt.started_at);
        let Some(step) = track.position(task) else {
            return;
        };
        match event {
            // Also when the next attempt has begun meanwhile: it is the task that a person stops.
            TaskEvent::StopRequested { by } if self.scheduler.can_stop(step) => {
                let why = format!("{by} stopped its agent");
                self.inbox.push(Event::Lost(step, why));
            }
            TaskEvent::WordsSent { .. } if is_new && self.scheduler.is_working(step) => {
                self.slots[step].has_words = true;
                self.slots[step].request_stop();
            }
            _ => {}
        }
    }

    pub(super) fn check_stop(&mut self) -> Result<()> {
        if let Some(code) = signals::pending_signal() {
            self.inbox.push(Event::Stop(Stop::Interrupted(code)));
        }
        let limit = self.options.time_limit();
        if limit.is_some_and(|limit| self.begun.elapsed() >= limit) {
            self.inbox.push(Event::Stop(Stop::TimeLimit));
        }
        if self.recorder.looked.elapsed() >= LOOK {
            self.recorder.looked = Instant::now();
            self.scheduler.mark_changed();
            self.poll_store()?;
        }
        Ok(())
    }

    fn poll_store(&mut self) -> Result<()> {
        let journal = &mut self.recorder.journal;
        let requests = journal.read_requests(&mut self.context.store)?;
        if has_cancel(&requests) {
            self.inbox.push(Event::Stop(Stop::Cancelled));
        }
        for request in &requests {
            self.handle_request(request);
        }
        let own = self.recorder.run.id.clone();
        let claims = self
            .context
            .read(|transaction| transaction.claims_of(&own))?;
        let claims = claims.iter().map(|claim| (claim.task, claim.epoch));
        let held: HashMap<TaskId, u32> = crate::build_map(claims);
        for step in self.scheduler.list_claimed() {
            let (task, epoch) = (self.slots[step].task, self.slots[step].epoch);
            if held.get(&task).copied() == epoch {
                continue;
            }
            // A lost claim ends the attempt. An agent that has completed its task itself may exit by itself.
            match claim::heartbeat(&mut self.context, task, self.options.lease(), epoch, false) {
                Err(error) if !is_loss(&error) => return Err(error),
                Err(error) if !self.is_done(task)? => {
                    self.inbox.push(Event::Lost(step, error.message));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

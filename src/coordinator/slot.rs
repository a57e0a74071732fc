//! The state of a step between its attempts that no event holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::selection::Worker;
use super::trees::Tree;
use crate::error::Error;
use crate::id::TaskId;
use crate::ops::spawn::Spawned;
use crate::run::event::AgentEnd;
use crate::run::{RunEvent, TaskEvent};

/// The part of a step that its events do not tell.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) task: TaskId,
    /// None of an epic where no task of the run has an agent.
    pub(super) worker: Option<Arc<Worker>>,
    /// Whether there was output for its last prompt when this process began.
    pub(super) has_earlier_work: bool,
    pub(super) prompt: Option<Prompt>,
    pub(super) epoch: Option<u32>,
    pub(super) attempt: u32,
    /// Ends the attempt in progress.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// Whether the attempt in progress is ended for words that its agent is to get.
    pub(super) has_words: bool,
    pub(super) tree: Option<Tree>,
    /// The result of an attempt, until it is judged.
    pub(super) said: Option<AgentEnd>,
    /// Why its commands have not been run to their end since its agent ended.
    pub(super) unproven: Option<Error>,
    /// Whether an event told that another run in progress holds its task.
    pub(super) is_waiting: bool,
    /// When an event told last what its agent does.
    pub(super) progress_at: Option<Instant>,
}

/// The prompt of the next attempt, or of the last one.
pub(super) struct Prompt {
    pub(super) spawned: Box<Spawned>,
    /// The text that the next attempt gets instead.
    pub(super) text: Option<String>,
    /// The conversation that the next attempt resumes.
    pub(super) conversation: Option<String>,
}

impl Prompt {
    /// Returns whether the next attempt was announced to continue an earlier one.
    pub(super) fn continues(&self) -> bool {
        self.text.is_some() || self.conversation.is_some()
    }
}

impl Slot {
    /// Asks the attempt in progress to end.
    pub(super) fn request_stop(&self) {
        if let Some(stop) = &self.stop {
            stop.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn event(&self, event: TaskEvent) -> RunEvent {
        let attempt = Some(self.attempt).filter(|attempt| *attempt > 0);
        RunEvent::Task(self.task, attempt, event)
    }
}

//! Queues actions that touch the files of the repository until it is this run's turn, because other processes
//! have runs in it too; the rest of the run goes on.

use std::time::Duration;

use super::engine::Engine;
use super::machine::{Deed, Ended, Fact};
use super::prompt;
use super::trees::{Asked, PATIENCE, Turn};
use crate::error::{Error, Result};
use crate::run::Outcome;

const PATIENCE_AT_END: Duration = Duration::from_secs(5);
const OTHER_RUN: &str = "another run is changing the files of this repository";

#[derive(Default)]
pub(super) struct Turns {
    due: Vec<Deed>,
    asked: Option<Asked>,
}

impl Engine<'_> {
    /// Performs an action, or queues it for the turn of this run if it touches the files of the repository.
    pub(super) fn perform_in_turn(&mut self, deed: Deed) -> Result<()> {
        match &deed {
            Deed::End(step) => self.call_off(Some(*step)),
            Deed::Halt(_) => self.call_off(None),
            _ => {}
        }
        let Some(step) = self.touches(&deed) else {
            return self.perform(deed);
        };
        if self.turns.asked.is_some() {
            self.tell_waiting(step, OTHER_RUN);
        }
        self.turns.due.push(deed);
        Ok(())
    }

    fn touches(&self, deed: &Deed) -> Option<usize> {
        self.trees.as_ref()?;
        let tree = |step: usize| self.slots[step].tree.as_ref();
        match deed {
            // An agent may have removed the one that it had.
            Deed::Start(step) => {
                Some(*step).filter(|step| tree(*step).is_none_or(|tree| !tree.is_there()))
            }
            Deed::Fail(step, ..) => Some(*step).filter(|step| tree(*step).is_some()),
            Deed::Complete(step) => Some(*step),
            // They may wait for the files of a task that is given back first.
            Deed::Claim(steps) => {
                let is_failed = |deed: &Deed| matches!(deed, Deed::Fail(..));
                let waits = self.turns.due.iter().any(is_failed);
                steps.first().copied().filter(|_| waits)
            }
            _ => None,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        !self.turns.due.is_empty()
    }

    pub(super) fn take_turn(&mut self) -> Result<()> {
        if !self.is_due() {
            return Ok(());
        }
        let turn = self.turn().transpose();
        if turn.is_some() {
            self.turns.asked = None;
        }
        match turn {
            None => Ok(()),
            Some(Ok(_turn)) => {
                let due = std::mem::take(&mut self.turns.due);
                due.into_iter().try_for_each(|deed| self.perform(deed))
            }
            Some(Err(error)) => self.give_up(&error),
        }
    }

    /// Returns the turn of this run if it has come. Emits one event when it has to wait.
    fn turn(&mut self) -> Result<Option<Turn>> {
        let Some(trees) = &self.trees else {
            return Ok(None);
        };
        let patience = match self.machine.stop() {
            Some(_) => PATIENCE_AT_END,
            None => PATIENCE,
        };
        if let Some(asked) = &self.turns.asked {
            return trees.come(asked, patience);
        }
        if let Some(turn) = trees.turn_now()? {
            return Ok(Some(turn));
        }
        self.turns.asked = Some(trees.ask()?);
        for deed in self.turns.due.clone() {
            if let Some(step) = self.touches(&deed) {
                self.tell_waiting(step, OTHER_RUN);
            }
        }
        Ok(None)
    }

    fn call_off(&mut self, only: Option<usize>) {
        let is_off = |deed: &Deed| match deed {
            Deed::Start(step) => only.is_none_or(|only| only == *step),
            _ => false,
        };
        let due = std::mem::take(&mut self.turns.due);
        let (off, due): (Vec<Deed>, Vec<Deed>) = due.into_iter().partition(is_off);
        self.turns.due = due;
        for deed in off {
            if let Deed::Start(step) = deed {
                let ended = Ended {
                    outcome: Some(Outcome::Cancelled),
                    ..Ended::default()
                };
                self.facts.push(Fact::Ended(step, ended));
            }
        }
    }

    fn give_up(&mut self, error: &Error) -> Result<()> {
        for deed in std::mem::take(&mut self.turns.due) {
            match deed {
                Deed::Start(step) => self.refuse_start(step, error),
                Deed::Complete(step) => self.stuck(step, None, prompt::told(error)),
                Deed::Fail(step, ..) => {
                    self.keep_tree(step, error);
                    self.give_back(step)?;
                }
                Deed::Claim(steps) => self.claim(&steps)?,
                _ => {}
            }
        }
        Ok(())
    }
}

//! What a run looks at while its agents work: what they say, whether it is to end, and whether it still
//! holds its tasks.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Engine;
use crate::coordinator::deeds::is_loss;
use crate::coordinator::machine::{Fact, Stop};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims;

/// Longest sleep of the loop, and so how late it notices a signal.
const PULSE: Duration = Duration::from_millis(100);
/// How often it looks whether somebody asks for the end of the run, and whether others got out of the
/// way.
const LOOK: Duration = Duration::from_millis(500);

impl Engine<'_> {
    /// Takes in what has happened. Who is idle waits until something happens or something is due.
    pub(super) fn wait(&mut self, is_idle: bool) -> Result<()> {
        let now = self.begun.elapsed();
        let due = self.machine.wakes().map(|at| at.saturating_sub(now));
        let patience = match is_idle {
            true => due.unwrap_or(PULSE).min(PULSE),
            false => Duration::ZERO,
        };
        for (step, attempt, heard) in self.crew.hear(patience) {
            self.hear(step, attempt, heard);
        }
        self.listener.show(&self.board);
        self.heed()?;
        self.renew()
    }

    /// Looks whether the run is to end.
    fn heed(&mut self) -> Result<()> {
        if self
            .guard
            .as_ref()
            .is_some_and(|guard| guard.caught().is_some())
        {
            self.facts.push(Fact::Stop(Stop::Interrupted));
        }
        let limit = self.options.time_limit.map(Duration::from_secs);
        if limit.is_some_and(|limit| self.begun.elapsed() >= limit) {
            self.facts.push(Fact::Stop(Stop::TimeLimit));
        }
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            self.machine.stir();
            self.look()?;
        }
        Ok(())
    }

    fn look(&mut self) -> Result<()> {
        if self.journal.is_cancelled(&mut self.agency)? {
            self.facts.push(Fact::Stop(Stop::Cancelled));
        }
        let own = self.run.id.clone();
        let claims = self
            .context
            .read(|transaction| transaction.claims_of(&own))?;
        let held: HashMap<TaskId, u32> = claims
            .iter()
            .map(|claim| (claim.task, claim.epoch))
            .collect();
        let is_lost =
            |step: &usize| held.get(&self.tasks[*step]).copied() != self.slots[*step].epoch;
        let lost: Vec<usize> = self.machine.held().into_iter().filter(is_lost).collect();
        lost.into_iter().try_for_each(|step| self.beat(step))
    }

    /// Renews the leases of the tasks under way, well before they are over.
    fn renew(&mut self) -> Result<()> {
        if self.renewed.elapsed() < Duration::from_secs(self.options.lease) / 3 {
            return Ok(());
        }
        self.renewed = Instant::now();
        let held = self.machine.held();
        held.into_iter().try_for_each(|step| self.beat(step))
    }

    /// Renews the lease of a task. A refusal is taken for what it is: the loss of a claim ends the try, and
    /// anything else the run. An agent that has completed its task by itself may come to its end.
    fn beat(&mut self, step: usize) -> Result<()> {
        let (task, epoch) = (self.tasks[step], self.slots[step].epoch);
        let beat = claims::heartbeat(&mut self.context, task, self.options.lease(), epoch, false);
        match beat {
            Ok(_) => {}
            Err(error) if !is_loss(&error) => return Err(error),
            Err(_) if self.is_done(task)? => {}
            Err(error) => self.facts.push(Fact::Lost(step, error.message)),
        }
        Ok(())
    }
}

//! What a run tells of itself: what the machine decided, kept before it is done.

use super::Engine;
use crate::coordinator::machine::{Deed, Stop};
use crate::error::Result;
use crate::ops::runs::journal::Journal;
use crate::run::told::{Told, kind};
use crate::store::agency::AgencyTransaction;

impl Engine<'_> {
    /// Tells what the machine decided, before it is done.
    pub(super) fn announce(&mut self, deed: &Deed) {
        match deed {
            Deed::Start(step) => self.announce_start(*step),
            Deed::Wait(step, wait) => {
                let told = Told {
                    wait_ms: u64::try_from(wait.as_millis()).ok(),
                    ..self.of(*step)
                };
                self.tell(kind::TASK_WAITING, told);
            }
            Deed::Fail(step, outcome, why) => {
                let told = Told {
                    outcome: Some(*outcome),
                    reason: Some(why.clone()),
                    ..self.of(*step)
                };
                self.tell(kind::TASK_FAILED, told);
            }
            Deed::Skip(step, because, why) => {
                let told = Told {
                    because: because.map(|step| self.tasks[step]),
                    reason: Some(why.clone()),
                    ..Told::of(self.tasks[*step])
                };
                self.tell(kind::TASK_SKIPPED, told);
            }
            Deed::Halt(stop) => {
                let told = Told {
                    reason: Some(why(*stop).to_string()),
                    ..Told::default()
                };
                self.tell(kind::RUN_STOPPING, told);
            }
            Deed::Claim(_)
            | Deed::Check(_)
            | Deed::Complete(_)
            | Deed::Repair(_)
            | Deed::End(_) => {}
        }
    }

    /// Begins an event of a step and its attempt.
    pub(in crate::coordinator) fn of(&self, step: usize) -> Told {
        Told {
            attempt: Some(self.slots[step].attempt).filter(|attempt| *attempt > 0),
            ..Told::of(self.tasks[step])
        }
    }

    pub(in crate::coordinator) fn tell(&mut self, kind: &'static str, told: Told) {
        self.told.push((kind, told));
    }

    pub(in crate::coordinator) fn keep(&mut self) -> Result<()> {
        match self.told.is_empty() {
            true => Ok(()),
            false => self.keep_with(|_| Ok(())),
        }
    }

    pub(in crate::coordinator) fn keep_run(&mut self) -> Result<()> {
        let run = self.run.clone();
        self.keep_with(|transaction| transaction.put_run(&run))
    }

    fn keep_with(
        &mut self,
        more: impl FnOnce(&mut dyn AgencyTransaction) -> Result<()>,
    ) -> Result<()> {
        let told = std::mem::take(&mut self.told);
        let record = |journal: &mut Journal, transaction: &mut dyn AgencyTransaction| {
            more(transaction)?;
            let mut all = told.iter();
            all.try_for_each(|(kind, told)| journal.tell(transaction, kind, told.detail()))
        };
        let events = self.journal.record(&mut self.agency, record)?;
        for (event, (kind, told)) in events.iter().zip(&told) {
            self.board.take(kind, &event.at, told);
        }
        self.listener.tell(&events, &self.board);
        Ok(())
    }
}

fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Cancelled => "it was given up",
        Stop::Interrupted => "cleo was asked to end",
        Stop::TimeLimit => "it took too long",
    }
}

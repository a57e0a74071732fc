//! Starts and resumes steps within the limits of the run, and skips those that can no longer start.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Action, Lane, Scheduler, Stage, Step};
use crate::run::Outcome;

/// Why nothing more begins once the money is spent.
pub(super) const SPENT: &str = "the run has spent what it may cost";

impl Scheduler {
    /// Has a step repaired as soon as there is a place and money for it.
    pub(super) fn resume_waiting(&mut self, step: usize, actions: &mut Vec<Action>) {
        match self.stages.get(&step) {
            Some(Stage::Waiting(_, outcome, why)) if self.is_spent() => {
                self.fail(step, *outcome, why.clone(), actions);
            }
            _ if self.has_room() && self.is_free(self.steps[step].runner) => {
                self.stages.insert(step, Stage::Repairing);
                actions.push(Action::Repair(step));
            }
            _ => {}
        }
    }

    pub(super) fn waiting(&self, now: Duration) -> Vec<usize> {
        let is_due = |stage: &Stage| matches!(stage, Stage::Waiting(until, ..) if *until <= now);
        let due = self.stages.iter().filter(|(_, stage)| is_due(stage));
        due.map(|(step, _)| *step).collect()
    }

    pub(super) fn claim_ready_steps(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.stirred) {
            let parked = std::mem::take(&mut self.parked);
            parked.keys().for_each(|step| self.schedule.requeue(*step));
        }
        if !self.takes_more() {
            return;
        }
        let (mut claimed, mut passed) = (Vec::new(), Vec::new());
        let mut full = BTreeSet::new();
        while self.busy() < self.rules.jobs && full.len() < self.runners.len() {
            let Some(step) = self.schedule.pop_ready() else {
                break;
            };
            let Step {
                runner, is_epic, ..
            } = self.steps[step];
            if is_epic {
                self.check_or_complete(step, actions);
            } else if !self.is_free(runner)
                || self.lane(runner).paused.is_some()
                || !self.has_room()
            {
                full.insert(runner);
                passed.push(step);
            } else {
                self.stages.insert(step, Stage::Claiming);
                claimed.push(step);
            }
        }
        for step in passed {
            self.schedule.requeue(step);
        }
        if !claimed.is_empty() {
            actions.push(Action::Claim(claimed));
        }
    }

    /// Has the commands of a step run, if it has any, and then completes it.
    pub(super) fn check_or_complete(&mut self, step: usize, actions: &mut Vec<Action>) {
        match self.steps[step].has_checks {
            true => {
                self.stages.insert(step, Stage::Checking);
                actions.push(Action::Check(step));
            }
            false => self.complete(step, actions),
        }
    }

    fn takes_more(&self) -> bool {
        let is_enough = self.rules.fail_fast && self.failures > 0;
        !is_enough && !self.is_spent()
    }

    pub(in crate::coordinator) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    fn has_room(&self) -> bool {
        self.budget.has_room(self.count_paid())
    }

    pub(super) fn count_paid(&self) -> u32 {
        let paid = self.stages.values().filter(|stage| stage.is_paid());
        u32::try_from(paid.count()).unwrap_or(u32::MAX)
    }

    fn busy(&self) -> usize {
        self.stages.values().filter(|stage| stage.is_busy()).count()
    }

    fn is_free(&self, runner: usize) -> bool {
        let of_runner = |(step, stage): &(&usize, &Stage)| {
            let step = &self.steps[**step];
            step.runner == runner && !step.is_epic && stage.is_busy()
        };
        let busy = self.stages.iter().filter(of_runner).count();
        let most = self.lane(runner).jobs;
        self.busy() < self.rules.jobs && most.is_none_or(|most| busy < most)
    }

    fn lane(&self, runner: usize) -> Lane {
        self.runners.get(&runner).copied().unwrap_or_default()
    }

    pub(super) fn skip_unreachable(&mut self, actions: &mut Vec<Action>) {
        let awaits = self.parked.values().any(|(_, is_awaited)| *is_awaited);
        let may_come = (self.stirred || awaits) && self.stop.is_none() && self.takes_more();
        if !self.stages.is_empty() || may_come {
            return;
        }
        for (step, (why, _)) in std::mem::take(&mut self.parked) {
            self.skip_all(step, why, actions);
        }
        let why = match (self.stop, self.is_spent()) {
            (Some(_), _) => self.explain_stop(),
            (None, true) => SPENT.to_string(),
            (None, false) => "another task failed".to_string(),
        };
        if self.stop.is_some() || !self.takes_more() {
            while let Some(step) = self.schedule.pop_ready() {
                let why = why.clone();
                // A step that failed before the run was resumed stays failed as it was, unless the run is
                // stopped: then it comes up again.
                match (self.tries[step].before, self.stop) {
                    (None, _) => self.skip_all(step, why, actions),
                    (Some(outcome), None) => self.fail(step, outcome, why, actions),
                    (Some(_), Some(_)) => self.fail(step, Outcome::Cancelled, why, actions),
                }
            }
        }
        if self.stop.is_none() && !self.schedule.has_ready() {
            let waits = |step: &usize| self.schedule.is_waiting(*step);
            for step in Vec::from_iter((0..self.steps.len()).filter(waits)) {
                self.schedule.fail(step);
                let why = "it waits for tasks that wait for it".to_string();
                actions.push(Action::Skip(step, None, why));
            }
        }
    }

    pub(super) fn skip_all(&mut self, step: usize, why: String, actions: &mut Vec<Action>) {
        actions.push(Action::Skip(step, None, why));
        for later in self.schedule.fail(step) {
            let why = "it waits for what was not begun".to_string();
            actions.push(Action::Skip(later, Some(step), why));
        }
    }
}

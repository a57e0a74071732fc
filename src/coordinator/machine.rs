//! The scheduler's state machine: takes events, returns actions. Pure: the clock is a parameter, and slow
//! work runs elsewhere and reports back as an event.

mod admission;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::budget::Budget;
use super::options::{Rules, pause};
use crate::run::Outcome;
use crate::run::StepState;
use crate::run::schedule::Schedule;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Claiming,
    Working,
    Checking,
    Completing,
    Repairing,
    /// Its claim is lost, and what works on it is being ended: until that is gone it takes its place.
    Leaving,
    Waiting(Duration),
}

impl Stage {
    fn is_busy(self) -> bool {
        !matches!(self, Stage::Waiting(_))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    repairs: u32,
    refusals: u32,
    /// How it ended that was tried before the run went on.
    before: Option<Outcome>,
    asked: Option<Duration>,
}

pub(super) struct Machine {
    rules: Rules,
    /// Most steps of a runner that are under way at a time, by its place.
    runner_jobs: BTreeMap<usize, usize>,
    steps: Vec<Step>,
    schedule: Schedule,
    stages: BTreeMap<usize, Stage>,
    tries: Vec<Tries>,
    /// Steps that somebody else's work holds up, each with why.
    parked: BTreeMap<usize, String>,
    /// True when what holds one of them up is sure to end.
    awaits: bool,
    /// True when what holds them up may have ended.
    stirred: bool,
    lost: BTreeMap<usize, String>,
    /// Runners that take no more work until then.
    paused: BTreeMap<usize, Duration>,
    runners: usize,
    failures: usize,
    budget: Budget,
    stop: Option<Stop>,
}

impl Machine {
    pub(super) fn new(
        steps: Vec<Step>,
        rules: Rules,
        runner_jobs: BTreeMap<usize, usize>,
    ) -> Machine {
        let runners: BTreeSet<usize> = steps.iter().map(|step| step.runner).collect();
        let needs: Vec<Vec<usize>> = steps.iter().map(|step| step.needs.clone()).collect();
        Machine {
            schedule: Schedule::new(&needs),
            stages: BTreeMap::new(),
            tries: vec![Tries::default(); steps.len()],
            steps,
            budget: Budget::new(&rules),
            rules,
            runner_jobs,
            parked: BTreeMap::new(),
            awaits: false,
            stirred: false,
            lost: BTreeMap::new(),
            paused: BTreeMap::new(),
            runners: runners.len(),
            failures: 0,
            stop: None,
        }
    }

    pub(super) fn done_before(&mut self, step: usize) {
        self.schedule.finish(step);
    }

    pub(super) fn failed_before(&mut self, step: usize) -> Vec<usize> {
        self.failures += 1;
        self.schedule.fail(step)
    }

    pub(super) fn tried_before(&mut self, step: usize, outcome: Outcome) {
        self.tries[step].before = Some(outcome);
    }

    /// Continues with the money that the run had spent before it was resumed.
    pub(super) fn resume_budget(&mut self, before: Budget) {
        self.budget = before.under(&self.rules);
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    pub(super) fn has_checks(&self, step: usize) -> bool {
        self.steps[step].has_checks
    }

    pub(super) fn stir(&mut self) {
        self.stirred = true;
    }

    /// Returns what the run may still cost in US dollars, or `None` without a limit.
    pub(super) fn remaining_cost(&self) -> Option<f64> {
        self.budget.remaining()
    }

    pub(super) fn held(&self) -> Vec<usize> {
        let holds = |(step, stage): &(&usize, &Stage)| {
            !matches!(stage, Stage::Claiming | Stage::Leaving) && !self.steps[**step].is_epic
        };
        let held = self.stages.iter().filter(holds);
        held.map(|(step, _)| *step).collect()
    }

    /// Nothing is under way and nothing can begin any more.
    pub(super) fn is_over(&self) -> bool {
        self.stages.is_empty() && self.parked.is_empty() && self.schedule.is_over()
    }

    pub(super) fn wakes(&self) -> Option<Duration> {
        let waiting = self.stages.values().filter_map(|stage| match stage {
            Stage::Waiting(until) => Some(*until),
            _ => None,
        });
        waiting.chain(self.paused.values().copied()).min()
    }

    /// Takes what happened, and says what to do. `now` is the time since the run began.
    pub(super) fn turn(&mut self, now: Duration, events: Vec<Event>) -> Vec<Action> {
        let mut actions = Vec::new();
        for event in events {
            self.take(now, event, &mut actions);
        }
        self.paused.retain(|_, until| *until > now);
        if self.stop.is_none() {
            self.go_on(now, &mut actions);
            self.begin(&mut actions);
        }
        self.leave(&mut actions);
        actions
    }

    fn take(&mut self, now: Duration, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Prepared(step) if self.stop.is_some() => {
                self.fail(step, self.cut_short(), self.why_stopped(), actions);
            }
            Event::Prepared(step) => {
                self.stages.insert(step, Stage::Working);
                actions.push(Action::Start(step));
            }
            Event::Held(step, why, is_awaited) => {
                self.stages.remove(&step);
                self.parked.insert(step, why);
                self.awaits |= is_awaited;
            }
            Event::DoneAlready(step) | Event::Completed(step) => self.done(step),
            Event::Refused(step, why) => self.fail(step, Outcome::AgentError, why, actions),
            Event::Dropped(step, why) => {
                self.stages.remove(&step);
                self.stirred = true;
                self.skip_all(step, why, actions);
            }
            Event::Ended(step, ended) => self.ended(step, ended, actions),
            Event::Checked(step) if self.stages.get(&step) == Some(&Stage::Leaving) => {
                self.left_off(step, actions);
            }
            Event::Checked(step) => self.complete(step, actions),
            Event::Lacking(step, Outcome::RateLimited, why) => {
                self.hold_back(now, step, why, actions);
            }
            Event::Lacking(step, outcome, why) => self.lacking(step, outcome, why, actions),
            Event::Overruled(step, why) => {
                self.fail(step, Outcome::ProtocolViolation, why, actions)
            }
            Event::Lost(step, why) => self.lost(step, why, actions),
            Event::Left(step) => {
                self.stages.remove(&step);
                self.skip_later(step, "it waits for what is not proven yet", actions);
            }
            Event::Stop(stop) if self.stop.is_none() => {
                self.stop = Some(stop);
                actions.push(Action::Halt(stop));
                for step in self.waiting(Duration::MAX) {
                    self.fail(step, self.cut_short(), self.why_stopped(), actions);
                }
            }
            Event::Stop(_) => {}
        }
    }

    /// Handles the exit of an agent. Its work is checked however it exited; commands of criteria run only if
    /// it may be finished.
    fn ended(&mut self, step: usize, ended: Ended, actions: &mut Vec<Action>) {
        self.budget.count(ended.cost);
        self.tries[step].asked = ended.retry_after;
        match self.stages.get(&step) {
            Some(Stage::Working) => {}
            Some(Stage::Leaving) => return self.left_off(step, actions),
            _ => return,
        }
        let is_cut = ended.outcome == Some(Outcome::RateLimited) || self.stop.is_some();
        match is_cut {
            true => self.complete(step, actions),
            false => self.prove(step, actions),
        }
    }

    fn lost(&mut self, step: usize, why: String, actions: &mut Vec<Action>) {
        match self.stages.get(&step) {
            None | Some(Stage::Leaving) => {}
            Some(Stage::Working | Stage::Checking) => {
                self.stages.insert(step, Stage::Leaving);
                self.lost.insert(step, why);
                actions.push(Action::End(step));
            }
            Some(_) => self.fail(step, Outcome::Cancelled, why, actions),
        }
    }

    fn left_off(&mut self, step: usize, actions: &mut Vec<Action>) {
        let why = self.lost.remove(&step).unwrap_or_default();
        self.fail(step, Outcome::Cancelled, why, actions);
    }

    fn complete(&mut self, step: usize, actions: &mut Vec<Action>) {
        self.stages.insert(step, Stage::Completing);
        actions.push(Action::Complete(step));
    }

    /// Has a step wait after too many requests, and with it whatever its runner would begin.
    fn hold_back(&mut self, now: Duration, step: usize, why: String, actions: &mut Vec<Action>) {
        let Tries {
            refusals, asked, ..
        } = self.tries[step];
        if self.stop.is_some() {
            return self.fail(step, self.cut_short(), why, actions);
        }
        let Some(wait) = pause(refusals, asked, step) else {
            return self.fail(step, Outcome::RateLimited, why, actions);
        };
        self.tries[step].refusals += 1;
        self.stages.insert(step, Stage::Waiting(now + wait));
        let until = self.paused.entry(self.steps[step].runner).or_default();
        *until = (*until).max(now + wait);
        actions.push(Action::Wait(step, wait));
    }

    fn lacking(&mut self, step: usize, outcome: Outcome, why: String, actions: &mut Vec<Action>) {
        let can_be_mended = matches!(
            outcome,
            Outcome::ProtocolViolation
                | Outcome::AgentError
                | Outcome::Timeout
                | Outcome::Partial
                // It may find a way that it is allowed.
                | Outcome::Permission
        );
        // An epic has no agent that could repair it.
        let left = !self.steps[step].is_epic && self.rules.repairs > self.tries[step].repairs;
        if !can_be_mended || !left || self.stop.is_some() || self.is_spent() {
            let outcome = match self.stop {
                Some(_) => self.cut_short(),
                None => outcome,
            };
            return self.fail(step, outcome, why, actions);
        }
        self.tries[step].repairs += 1;
        self.stages.insert(step, Stage::Repairing);
        actions.push(Action::Repair(step));
    }

    fn done(&mut self, step: usize) {
        self.stages.remove(&step);
        self.stirred = true;
        self.schedule.finish(step);
    }

    fn fail(&mut self, step: usize, outcome: Outcome, why: String, actions: &mut Vec<Action>) {
        self.stages.remove(&step);
        self.stirred = true;
        self.failures += usize::from(!self.steps[step].is_epic);
        actions.push(Action::Fail(step, outcome, why));
        self.skip_later(step, "it waits for what failed", actions);
    }

    fn skip_later(&mut self, step: usize, why: &str, actions: &mut Vec<Action>) {
        let later = self.schedule.fail(step).into_iter();
        actions.extend(later.map(|later| Action::Skip(later, Some(step), why.to_string())));
    }

    fn cut_short(&self) -> Outcome {
        match self.stop {
            Some(Stop::TimeLimit) => Outcome::Timeout,
            _ => Outcome::Cancelled,
        }
    }

    pub(super) fn why_stopped(&self) -> String {
        let why = match self.stop {
            Some(Stop::Cancelled) => "the run was cancelled",
            Some(Stop::TimeLimit) => "the run took too long",
            _ => "cleo was asked to end",
        };
        why.to_string()
    }

    pub(super) fn stuck(&self) -> BTreeSet<usize> {
        let waits = |step: &usize| self.schedule.state(*step) == StepState::Waiting;
        (0..self.steps.len()).filter(waits).collect()
    }
}

#[cfg(test)]
mod tests;

/// A step: a task for an agent, or an epic that is done once its parts are.
#[derive(Clone, Debug, Default)]
pub(in crate::coordinator) struct Step {
    /// The steps that come before it.
    pub(in crate::coordinator) needs: Vec<usize>,
    pub(in crate::coordinator) runner: usize,
    /// True for an epic: nobody has to work on it.
    pub(in crate::coordinator) is_epic: bool,
    /// True where commands have to show that it is done.
    pub(in crate::coordinator) has_checks: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::coordinator) enum Event {
    /// A step is claimed and its prompt is ready.
    Prepared(usize),
    /// A step cannot be begun now, and perhaps later; why, and whether that is worth waiting for when nothing
    /// else goes on.
    Held(usize, String, bool),
    /// A step was done by somebody else.
    DoneAlready(usize),
    Refused(usize, String),
    Dropped(usize, String),
    /// An agent has ended.
    Ended(usize, Ended),
    Checked(usize),
    Completed(usize),
    /// A step does not verify: how its agent's try counts, and why.
    Lacking(usize, Outcome, String),
    /// A step does not verify, and somebody has completed it by force anyway; why.
    Overruled(usize, String),
    /// A step was being proven when cleo was asked to end: it is completed when the run resumes.
    Left(usize),
    /// The claim of a step is somebody else's now.
    Lost(usize, String),
    Stop(Stop),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::coordinator) struct Ended {
    /// The word of its program; none when it did not come to its end.
    pub(in crate::coordinator) outcome: Option<Outcome>,
    /// Its cost in US dollars; none where that is unknown.
    pub(in crate::coordinator) cost: Option<f64>,
    /// When it may be tried again after too many requests.
    pub(in crate::coordinator) retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::coordinator) enum Stop {
    Cancelled,
    Interrupted,
    TimeLimit,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::coordinator) enum Action {
    /// Claim these steps, as far as that can be done, and make their prompts.
    Claim(Vec<usize>),
    Start(usize),
    Check(usize),
    Complete(usize),
    Repair(usize),
    /// A step waits so long before it is tried again.
    Wait(usize, Duration),
    /// The claim of a step is lost: end what works on it.
    End(usize),
    /// A step failed: give its task back.
    Fail(usize, Outcome, String),
    /// A step is not begun, because another one failed, or for a reason.
    Skip(usize, Option<usize>, String),
    Halt(Stop),
}

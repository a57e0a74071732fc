//! The scheduler of a run: takes events, returns actions. Pure: the clock is a parameter, and slow
//! work runs elsewhere and reports back as an event.

mod admission;
mod event;

use std::collections::BTreeMap;
use std::time::Duration;

use super::budget::Budget;
use super::options::{Rules, compute_pause};
use crate::run::Outcome;
use crate::run::schedule::Schedule;
use admission::SPENT;
pub(super) use event::{Action, Ended, Event, Step, Stop};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Claiming,
    Working,
    Checking,
    Completing,
    Repairing,
    /// Its claim is lost for a reason, and its agent is being ended: until then it occupies a place.
    Leaving(String),
    /// It is repaired from then on, or fails so once the money is spent.
    Waiting(Duration, Outcome, String),
}

impl Stage {
    fn is_busy(&self) -> bool {
        !matches!(self, Stage::Waiting(..))
    }

    /// Returns whether an agent works on it or is about to.
    fn is_paid(&self) -> bool {
        use Stage::{Claiming, Leaving, Repairing, Working};
        matches!(self, Claiming | Working | Repairing | Leaving(_))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    repairs: u32,
    refusals: u32,
    /// The outcome of its last attempt before the run was resumed.
    before: Option<Outcome>,
    asked: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Maximum number of its steps in progress at a time.
    jobs: Option<usize>,
    /// When it takes work again after too many requests.
    paused: Option<Duration>,
}

pub(super) struct Scheduler {
    rules: Rules,
    steps: Vec<Step>,
    /// The runners of the steps, by place.
    runners: BTreeMap<usize, Lane>,
    schedule: Schedule,
    stages: BTreeMap<usize, Stage>,
    tries: Vec<Tries>,
    /// Steps that other work blocks: why, and whether that is sure to end.
    parked: BTreeMap<usize, (String, bool)>,
    /// True when some of that work may have ended.
    stirred: bool,
    failures: usize,
    budget: Budget,
    stop: Option<Stop>,
}

impl Scheduler {
    pub(super) fn new(
        steps: Vec<Step>,
        rules: Rules,
        runner_jobs: BTreeMap<usize, usize>,
    ) -> Scheduler {
        let lane = |step: &Step| Lane {
            jobs: runner_jobs.get(&step.runner).copied(),
            paused: None,
        };
        let needs: Vec<Vec<usize>> = steps.iter().map(|step| step.needs.clone()).collect();
        Scheduler {
            schedule: Schedule::new(&needs),
            stages: BTreeMap::new(),
            tries: vec![Tries::default(); steps.len()],
            runners: steps.iter().map(|step| (step.runner, lane(step))).collect(),
            steps,
            budget: Budget::new(&rules),
            rules,
            parked: BTreeMap::new(),
            stirred: false,
            failures: 0,
            stop: None,
        }
    }

    pub(super) fn note_done(&mut self, step: usize) {
        self.schedule.finish(step);
    }

    pub(super) fn note_failed(&mut self, step: usize) -> Vec<usize> {
        self.failures += 1;
        self.schedule.fail(step)
    }

    pub(super) fn note_tried(&mut self, step: usize, outcome: Outcome) {
        self.tries[step].before = Some(outcome);
    }

    /// Continues with the money that the run had spent before it was resumed.
    pub(super) fn resume_budget(&mut self, before: Budget) {
        self.budget = before.with_rules(&self.rules);
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Has a step checked after its agent, because it got a criterion with a command after the run began.
    pub(super) fn require_checks(&mut self, step: usize) {
        self.steps[step].has_checks = true;
    }

    pub(super) fn has_checks(&self, step: usize) -> bool {
        self.steps[step].has_checks
    }

    pub(super) fn is_working(&self, step: usize) -> bool {
        matches!(self.stages.get(&step), Some(Stage::Working))
    }

    /// Returns whether an agent works on it, or its work is checked.
    pub(super) fn can_stop(&self, step: usize) -> bool {
        let stage = self.stages.get(&step);
        matches!(stage, Some(Stage::Working | Stage::Checking))
    }

    pub(super) fn mark_changed(&mut self) {
        self.stirred = true;
    }

    /// Returns what an attempt that begins may cost in US dollars, or `None` without a limit.
    pub(super) fn remaining_cost(&self) -> Option<f64> {
        self.budget.remaining(self.count_paid().saturating_sub(1))
    }

    pub(super) fn list_claimed(&self) -> Vec<usize> {
        let holds = |(step, stage): &(&usize, &Stage)| {
            !matches!(stage, Stage::Claiming | Stage::Leaving(_)) && !self.steps[**step].is_epic
        };
        let held = self.stages.iter().filter(holds);
        held.map(|(step, _)| *step).collect()
    }

    /// Returns whether nothing is in progress and nothing can begin any more.
    pub(super) fn is_over(&self) -> bool {
        self.stages.is_empty() && self.parked.is_empty() && !self.schedule.has_ready()
    }

    /// Returns when something is due by itself, after `now`: what is overdue waits for others to end.
    pub(super) fn next_due(&self, now: Duration) -> Option<Duration> {
        let waiting = self.stages.values().filter_map(|stage| match stage {
            Stage::Waiting(until, ..) => Some(*until),
            _ => None,
        });
        let paused = self.runners.values().filter_map(|lane| lane.paused);
        waiting.chain(paused).filter(|due| *due > now).min()
    }

    /// Takes what happened, and says what to do. `now` is the time since the run began.
    pub(super) fn handle_events(&mut self, now: Duration, events: Vec<Event>) -> Vec<Action> {
        let mut actions = Vec::new();
        for event in events {
            self.handle_event(now, event, &mut actions);
        }
        for lane in self.runners.values_mut() {
            lane.paused = lane.paused.filter(|until| *until > now);
        }
        if self.stop.is_none() {
            for step in self.waiting(now) {
                self.resume_waiting(step, &mut actions);
            }
            self.claim_ready_steps(&mut actions);
        }
        self.skip_unreachable(&mut actions);
        actions
    }

    fn handle_event(&mut self, now: Duration, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Prepared(step) if self.stop.is_some() => {
                self.fail(step, self.cut_short(), self.explain_stop(), actions);
            }
            Event::Prepared(step) => {
                self.stages.insert(step, Stage::Working);
                actions.push(Action::Start(step));
            }
            Event::Held(step, why, is_awaited) => {
                self.stages.remove(&step);
                self.parked.insert(step, (why, is_awaited));
            }
            Event::Completed(step) => self.finish(step),
            Event::Refused(step, why) => self.fail(step, Outcome::AgentError, why, actions),
            Event::Dropped(step, why) => {
                self.stages.remove(&step);
                self.stirred = true;
                self.skip_all(step, why, actions);
            }
            Event::Ended(step, ended) => self.end_attempt(now, step, ended, actions),
            Event::Checked(step) if matches!(self.stages.get(&step), Some(Stage::Leaving(_))) => {
                self.fail_lost(step, actions);
            }
            Event::Checked(step) => self.complete(step, actions),
            Event::Lacking(step, Outcome::RateLimited, why) => {
                self.back_off(now, step, why, actions);
            }
            Event::Lacking(step, outcome, why) => {
                self.handle_failed_check(now, step, outcome, why, actions)
            }
            Event::Overruled(step, why) => {
                self.fail(step, Outcome::ProtocolViolation, why, actions)
            }
            Event::Lost(step, why) => self.lose_claim(step, why, actions),
            Event::Left(step) => {
                self.stages.remove(&step);
                self.skip_later(step, "it waits for what is not proven yet", actions);
            }
            Event::Stop(stop) if self.stop.is_none() => {
                self.stop = Some(stop);
                actions.push(Action::Halt);
                for step in self.waiting(Duration::MAX) {
                    self.fail(step, self.cut_short(), self.explain_stop(), actions);
                }
            }
            Event::Stop(_) => {}
        }
    }

    /// Handles the exit of an agent. Its work is checked however it exited; commands of criteria run only if
    /// it may be finished.
    fn end_attempt(&mut self, now: Duration, step: usize, ended: Ended, actions: &mut Vec<Action>) {
        self.budget.count(ended.cost);
        self.tries[step].asked = ended.retry_after;
        match self.stages.get(&step) {
            Some(Stage::Working) if ended.has_words && self.stop.is_none() => {
                let again = Stage::Waiting(now, Outcome::Budget, SPENT.to_string());
                self.stages.insert(step, again);
                return self.resume_waiting(step, actions);
            }
            Some(Stage::Working) => {}
            Some(Stage::Leaving(_)) => return self.fail_lost(step, actions),
            _ => return,
        }
        let is_cut = ended.outcome == Some(Outcome::RateLimited) || self.stop.is_some();
        match is_cut {
            true => self.complete(step, actions),
            false => self.check_or_complete(step, actions),
        }
    }

    fn lose_claim(&mut self, step: usize, why: String, actions: &mut Vec<Action>) {
        match self.stages.get(&step) {
            None | Some(Stage::Leaving(_)) => {}
            Some(Stage::Working | Stage::Checking) => {
                self.stages.insert(step, Stage::Leaving(why));
                actions.push(Action::End(step));
            }
            Some(_) => self.fail(step, Outcome::Cancelled, why, actions),
        }
    }

    fn fail_lost(&mut self, step: usize, actions: &mut Vec<Action>) {
        let Some(Stage::Leaving(why)) = self.stages.remove(&step) else {
            return;
        };
        self.fail(step, Outcome::Cancelled, why, actions);
    }

    fn complete(&mut self, step: usize, actions: &mut Vec<Action>) {
        self.stages.insert(step, Stage::Completing);
        actions.push(Action::Complete(step));
    }

    /// Has a step wait after too many requests, and with it whatever its runner would begin.
    fn back_off(&mut self, now: Duration, step: usize, why: String, actions: &mut Vec<Action>) {
        let (refusals, asked) = (self.tries[step].refusals, self.tries[step].asked);
        if self.stop.is_some() {
            return self.fail(step, self.cut_short(), why, actions);
        }
        let Some(wait) = compute_pause(refusals, asked, step) else {
            return self.fail(step, Outcome::RateLimited, why, actions);
        };
        self.tries[step].refusals += 1;
        let waiting = Stage::Waiting(now + wait, Outcome::Budget, SPENT.to_string());
        self.stages.insert(step, waiting);
        let lane = self.runners.entry(self.steps[step].runner).or_default();
        lane.paused = lane.paused.max(Some(now + wait));
        actions.push(Action::Wait(step, wait));
    }

    fn handle_failed_check(
        &mut self,
        now: Duration,
        step: usize,
        outcome: Outcome,
        why: String,
        actions: &mut Vec<Action>,
    ) {
        let can_be_mended = matches!(
            outcome,
            Outcome::CheckFailed
                | Outcome::ProtocolViolation
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
        self.stages.insert(step, Stage::Waiting(now, outcome, why));
        self.resume_waiting(step, actions);
    }

    fn finish(&mut self, step: usize) {
        self.stages.remove(&step);
        self.stirred = true;
        self.schedule.finish(step);
    }

    fn fail(&mut self, step: usize, outcome: Outcome, reason: String, actions: &mut Vec<Action>) {
        self.stages.remove(&step);
        self.stirred = true;
        let is_failure = !self.steps[step].is_epic && outcome != Outcome::Cancelled;
        self.failures += usize::from(is_failure);
        actions.push(Action::Fail(step, outcome, reason));
        let why = match outcome {
            Outcome::Cancelled => "it waits for what was cancelled",
            _ => "it waits for what failed",
        };
        self.skip_later(step, why, actions);
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

    pub(super) fn explain_stop(&self) -> String {
        let why = match self.stop {
            Some(Stop::Cancelled) => "the run was cancelled",
            Some(Stop::TimeLimit) => "the run took too long",
            _ => "cleo was asked to end",
        };
        why.to_string()
    }
}

#[cfg(test)]
mod tests;

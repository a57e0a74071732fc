//! What the coordinator does next: facts in, deeds out. Pure: the time comes in as a value, and
//! whatever takes time is somebody else's deed, which ends in a new fact.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::rules::{Rules, pause};
use crate::run::Outcome;
use crate::run::schedule::{Schedule, Stand};

/// A step: a task for an agent, or an epic that is done once its parts are.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The steps that come before it.
    pub(super) needs: Vec<usize>,
    /// Which of the runners works on it.
    pub(super) runner: usize,
    /// True for an epic: nobody has to work on it.
    pub(super) is_epic: bool,
    /// True when it has commands that are to show that it is done.
    pub(super) has_checks: bool,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    /// A step is claimed and its prompt is ready.
    Prepared(usize),
    /// A step cannot be begun now, and perhaps later.
    Held(usize, String),
    /// A step was done by somebody else.
    DoneAlready(usize),
    /// A step cannot be prepared at all.
    Refused(usize, String),
    /// An agent has ended.
    Ended(usize, Ended),
    /// The commands of a step were run.
    Checked(usize),
    /// A step verified and is done.
    Completed(usize),
    /// A step does not verify: how its agent's try counts, and why.
    Lacking(usize, Outcome, String),
    /// The claim of a step is somebody else's now.
    Lost(usize, String),
    /// The run is to end.
    Stop(Stop),
}

/// How a try of an agent ended, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ended {
    /// What its program says; none when it did not come to its end.
    pub(super) outcome: Option<Outcome>,
    /// What it cost in US dollars.
    pub(super) cost: f64,
    /// When it may be tried again after too many requests.
    pub(super) retry_after: Option<Duration>,
}

/// Why a run ends before all is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Somebody gave it up.
    Cancelled,
    /// cleo is asked to end.
    Interrupted,
    /// It took too long.
    TimeLimit,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Deed {
    /// Claim these steps, as far as that can be done, and make their prompts.
    Claim(Vec<usize>),
    /// Start an agent on a step.
    Start(usize),
    /// Run the commands of a step.
    Check(usize),
    /// Verify a step and complete it.
    Complete(usize),
    /// Say what is missing, and make the prompt for another try.
    Repair(usize),
    /// A step waits so long before it is tried again.
    Wait(usize, Duration),
    /// A step failed: give its task back.
    Fail(usize, Outcome, String),
    /// A step is not begun, because another one failed, or for a reason.
    Skip(usize, Option<usize>, String),
    /// End all agents.
    Halt(Stop),
}

/// Where a step that is under way stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Claiming,
    Working,
    Checking,
    Completing,
    Repairing,
    /// It holds its claim and goes on at this moment.
    Waiting(Duration),
}

impl Stage {
    /// Says whether a step that stands there takes a place.
    fn is_busy(self) -> bool {
        !matches!(self, Stage::Waiting(_))
    }
}

/// How often a step was tried again.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    repairs: u32,
    refusals: u32,
}

/// The state of a run.
pub(super) struct Machine {
    rules: Rules,
    steps: Vec<Step>,
    schedule: Schedule,
    /// The steps that are under way.
    stages: BTreeMap<usize, Stage>,
    tries: Vec<Tries>,
    /// Steps that somebody else's work holds up, each with why.
    parked: BTreeMap<usize, String>,
    /// True when what holds them up may have ended.
    stirred: bool,
    /// Runners that take no more work until then.
    paused: BTreeMap<usize, Duration>,
    /// How many runners there are.
    runners: usize,
    failures: usize,
    spent: f64,
    stop: Option<Stop>,
}

impl Machine {
    pub(super) fn new(steps: Vec<Step>, rules: Rules) -> Machine {
        let runners: BTreeSet<usize> = steps.iter().map(|step| step.runner).collect();
        let needs: Vec<Vec<usize>> = steps.iter().map(|step| step.needs.clone()).collect();
        Machine {
            schedule: Schedule::new(&needs),
            stages: BTreeMap::new(),
            tries: vec![Tries::default(); steps.len()],
            steps,
            rules,
            parked: BTreeMap::new(),
            stirred: false,
            paused: BTreeMap::new(),
            runners: runners.len(),
            failures: 0,
            spent: 0.0,
            stop: None,
        }
    }

    /// Notes what was done before the run went on.
    pub(super) fn done_before(&mut self, step: usize) {
        self.schedule.done(step);
    }

    /// Notes a step that failed before the run went on, and returns those that never begin now.
    pub(super) fn failed_before(&mut self, step: usize) -> Vec<usize> {
        self.failures += 1;
        self.schedule.failed(step)
    }

    /// Notes what was spent before the run went on.
    pub(super) fn spent_before(&mut self, cost: f64) {
        self.spent += cost;
    }

    /// Returns why the run ends before all is done.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Says that what holds steps up may have ended.
    pub(super) fn stir(&mut self) {
        self.stirred = true;
    }

    /// Says whether an agent works on a step.
    pub(super) fn is_working(&self, step: usize) -> bool {
        self.stages.get(&step) == Some(&Stage::Working)
    }

    /// Returns the steps whose claims are held.
    pub(super) fn held(&self) -> Vec<usize> {
        let holds = |(step, stage): &(&usize, &Stage)| {
            **stage != Stage::Claiming && !self.steps[**step].is_epic
        };
        let held = self.stages.iter().filter(holds);
        held.map(|(step, _)| *step).collect()
    }

    /// Says whether nothing is under way and nothing can begin any more.
    pub(super) fn is_over(&self) -> bool {
        self.stages.is_empty() && self.parked.is_empty() && self.schedule.is_over()
    }

    /// Returns the moment at which something is to be looked at again, if nothing happens before.
    pub(super) fn wakes(&self) -> Option<Duration> {
        let waiting = self.stages.values().filter_map(|stage| match stage {
            Stage::Waiting(until) => Some(*until),
            _ => None,
        });
        waiting.chain(self.paused.values().copied()).min()
    }

    /// Takes what happened, and says what to do. `now` is the time since the run began.
    pub(super) fn turn(&mut self, now: Duration, facts: Vec<Fact>) -> Vec<Deed> {
        let mut deeds = Vec::new();
        for fact in facts {
            self.take(now, fact, &mut deeds);
        }
        self.paused.retain(|_, until| *until > now);
        if self.stop.is_none() {
            self.go_on(now, &mut deeds);
            self.begin(&mut deeds);
        }
        self.leave(&mut deeds);
        deeds
    }

    fn take(&mut self, now: Duration, fact: Fact, deeds: &mut Vec<Deed>) {
        match fact {
            Fact::Prepared(step) => self.prepared(step, deeds),
            Fact::Held(step, why) => {
                self.stages.remove(&step);
                self.parked.insert(step, why);
            }
            Fact::DoneAlready(step) | Fact::Completed(step) => self.done(step),
            Fact::Refused(step, why) => self.fail(step, Outcome::AgentError, why, deeds),
            Fact::Ended(step, ended) => self.ended(now, step, ended, deeds),
            Fact::Checked(step) => self.complete(step, deeds),
            Fact::Lacking(step, outcome, why) => self.lacking(step, outcome, why, deeds),
            Fact::Lost(step, why) => {
                if self.stages.contains_key(&step) {
                    self.fail(step, Outcome::Cancelled, why, deeds);
                }
            }
            Fact::Stop(stop) if self.stop.is_none() => {
                self.stop = Some(stop);
                deeds.push(Deed::Halt(stop));
                self.give_up_waiting(deeds);
            }
            Fact::Stop(_) => {}
        }
    }

    fn prepared(&mut self, step: usize, deeds: &mut Vec<Deed>) {
        if self.stop.is_some() {
            return self.fail(step, Outcome::Cancelled, self.why_stopped(), deeds);
        }
        self.stages.insert(step, Stage::Working);
        deeds.push(Deed::Start(step));
    }

    fn ended(&mut self, now: Duration, step: usize, ended: Ended, deeds: &mut Vec<Deed>) {
        if !self.is_working(step) {
            // Its claim was lost meanwhile, so it is over already.
            return;
        }
        self.spent += ended.cost;
        if ended.outcome == Some(Outcome::RateLimited) {
            return self.hold_back(now, step, ended.retry_after, deeds);
        }
        match self.steps[step].has_checks && self.stop.is_none() {
            true => {
                self.stages.insert(step, Stage::Checking);
                deeds.push(Deed::Check(step));
            }
            false => self.complete(step, deeds),
        }
    }

    fn complete(&mut self, step: usize, deeds: &mut Vec<Deed>) {
        self.stages.insert(step, Stage::Completing);
        deeds.push(Deed::Complete(step));
    }

    /// Has a step wait after too many requests, and everything else that its runner would begin.
    fn hold_back(
        &mut self,
        now: Duration,
        step: usize,
        asked: Option<Duration>,
        deeds: &mut Vec<Deed>,
    ) {
        let number = self.tries[step].refusals;
        let Some(wait) = pause(number, asked, step).filter(|_| self.stop.is_none()) else {
            let why = "its model refused for too many requests".to_string();
            return self.fail(step, Outcome::RateLimited, why, deeds);
        };
        self.tries[step].refusals += 1;
        self.stages.insert(step, Stage::Waiting(now + wait));
        let until = self.paused.entry(self.steps[step].runner).or_default();
        *until = (*until).max(now + wait);
        deeds.push(Deed::Wait(step, wait));
    }

    fn lacking(&mut self, step: usize, outcome: Outcome, why: String, deeds: &mut Vec<Deed>) {
        let can_be_mended = matches!(
            outcome,
            Outcome::ProtocolViolation | Outcome::AgentError | Outcome::Timeout | Outcome::Partial
        );
        let left = self.rules.repairs > self.tries[step].repairs;
        if self.steps[step].is_epic {
            // Nobody works on it, so nobody can mend it: it stays open for who looks after it.
            return self.fail(step, Outcome::ProtocolViolation, why, deeds);
        }
        if !can_be_mended || !left || self.stop.is_some() || self.is_spent() {
            let outcome = match self.stop {
                Some(_) => Outcome::Cancelled,
                None => outcome,
            };
            return self.fail(step, outcome, why, deeds);
        }
        self.tries[step].repairs += 1;
        self.stages.insert(step, Stage::Repairing);
        deeds.push(Deed::Repair(step));
    }

    fn done(&mut self, step: usize) {
        self.stages.remove(&step);
        self.stirred = true;
        self.schedule.done(step);
    }

    fn fail(&mut self, step: usize, outcome: Outcome, why: String, deeds: &mut Vec<Deed>) {
        self.stages.remove(&step);
        self.stirred = true;
        self.failures += usize::from(!self.steps[step].is_epic);
        deeds.push(Deed::Fail(step, outcome, why));
        for later in self.schedule.failed(step) {
            deeds.push(Deed::Skip(
                later,
                Some(step),
                "it waits for what failed".into(),
            ));
        }
    }

    /// Gives up the steps that only wait.
    fn give_up_waiting(&mut self, deeds: &mut Vec<Deed>) {
        for step in self.waiting(Duration::MAX) {
            self.fail(step, Outcome::Cancelled, self.why_stopped(), deeds);
        }
    }

    fn why_stopped(&self) -> String {
        let why = match self.stop {
            Some(Stop::Cancelled) => "the run was given up",
            Some(Stop::TimeLimit) => "the run took too long",
            _ => "cleo was asked to end",
        };
        why.to_string()
    }

    /// Lets steps go on that have waited long enough.
    fn go_on(&mut self, now: Duration, deeds: &mut Vec<Deed>) {
        for step in self.waiting(now) {
            if self.is_free(self.steps[step].runner) {
                self.stages.insert(step, Stage::Repairing);
                deeds.push(Deed::Repair(step));
            }
        }
    }

    /// Returns the steps that wait until this moment at most.
    fn waiting(&self, now: Duration) -> Vec<usize> {
        let is_due = |stage: &Stage| matches!(stage, Stage::Waiting(until) if *until <= now);
        let due = self.stages.iter().filter(|(_, stage)| is_due(stage));
        due.map(|(step, _)| *step).collect()
    }

    /// Begins what can begin, as many as there is room for.
    fn begin(&mut self, deeds: &mut Vec<Deed>) {
        if std::mem::take(&mut self.stirred) {
            let parked = std::mem::take(&mut self.parked);
            parked.keys().for_each(|step| self.schedule.put_back(*step));
        }
        if !self.takes_more() {
            return;
        }
        let (mut claimed, mut passed) = (Vec::new(), Vec::new());
        let mut full = BTreeSet::new();
        while self.busy() < self.rules.jobs && full.len() < self.runners {
            let Some(step) = self.schedule.begin() else {
                break;
            };
            let Step {
                runner, is_epic, ..
            } = self.steps[step];
            if is_epic {
                self.complete(step, deeds);
            } else if self.paused.contains_key(&runner) || !self.is_free(runner) {
                full.insert(runner);
                passed.push(step);
            } else {
                self.stages.insert(step, Stage::Claiming);
                claimed.push(step);
            }
        }
        for step in passed {
            self.schedule.put_back(step);
        }
        if !claimed.is_empty() {
            deeds.push(Deed::Claim(claimed));
        }
    }

    /// Says whether anything more may begin.
    fn takes_more(&self) -> bool {
        let is_enough = self.rules.fail_fast && self.failures > 0;
        !is_enough && !self.is_spent()
    }

    fn is_spent(&self) -> bool {
        self.rules.max_cost.is_some_and(|most| self.spent >= most)
    }

    /// Counts the steps that take a place: those that only wait do not.
    fn busy(&self) -> usize {
        self.stages.values().filter(|stage| stage.is_busy()).count()
    }

    /// Says whether a runner may take one more, and there is a place.
    fn is_free(&self, runner: usize) -> bool {
        let of_runner = |(step, stage): &(&usize, &Stage)| {
            let step = &self.steps[**step];
            step.runner == runner && !step.is_epic && stage.is_busy()
        };
        let busy = self.stages.iter().filter(of_runner).count();
        let most = self.rules.runner_jobs.get(&runner);
        self.busy() < self.rules.jobs && most.is_none_or(|most| busy < *most)
    }

    /// Leaves what cannot be begun any more, once nothing else goes on.
    fn leave(&mut self, deeds: &mut Vec<Deed>) {
        if !self.stages.is_empty() || self.stirred && self.stop.is_none() && self.takes_more() {
            return;
        }
        for (step, why) in std::mem::take(&mut self.parked) {
            self.skip_all(step, why, deeds);
        }
        let why = match (self.stop, self.is_spent()) {
            (Some(_), _) => self.why_stopped(),
            (None, true) => "the run has spent what it may cost".to_string(),
            (None, false) => "another task failed".to_string(),
        };
        if self.stop.is_some() || !self.takes_more() {
            while let Some(step) = self.schedule.begin() {
                self.skip_all(step, why.clone(), deeds);
            }
        }
    }

    /// Leaves a step, and those that wait for it.
    fn skip_all(&mut self, step: usize, why: String, deeds: &mut Vec<Deed>) {
        deeds.push(Deed::Skip(step, None, why));
        for later in self.schedule.failed(step) {
            let why = "it waits for what was not begun".to_string();
            deeds.push(Deed::Skip(later, Some(step), why));
        }
    }

    /// Returns the steps that were never begun and never will be: they wait for each other.
    pub(super) fn stuck(&self) -> BTreeSet<usize> {
        let waits = |step: &usize| self.schedule.stand(*step) == Stand::Waiting;
        (0..self.steps.len()).filter(waits).collect()
    }
}

#[cfg(test)]
mod tests;

//! Steps of a run, the events that its scheduler takes, and the actions that it returns.

use std::time::Duration;

use crate::error::Code;
use crate::run::Outcome;

/// A step: a task for an agent, or an epic that is done once its parts are.
#[derive(Clone, Debug, Default)]
pub(in crate::coordinator) struct Step {
    /// The steps that come before it.
    pub(in crate::coordinator) needs: Vec<usize>,
    pub(in crate::coordinator) runner: usize,
    /// True for an epic, which needs no agent.
    pub(in crate::coordinator) is_epic: bool,
    /// True where commands have to show that it is done.
    pub(in crate::coordinator) has_checks: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::coordinator) enum Event {
    /// A step is claimed and its prompt is ready.
    Prepared(usize),
    /// A step cannot be begun now, and perhaps later; why, and whether that is worth waiting for when nothing
    /// else is in progress.
    Held(usize, String, bool),
    Refused(usize, String),
    Dropped(usize, String),
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
    /// Whether it was ended to get words: it begins again at once.
    pub(in crate::coordinator) has_words: bool,
    /// When it may be tried again after too many requests.
    pub(in crate::coordinator) retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::coordinator) enum Stop {
    Cancelled,
    /// By the signal of this code.
    Interrupted(Code),
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
    Halt,
}

//! Where a task stands in the words that people see: from what the store says of it, who works on it
//! and what became of it in runs. Pure.

use super::Status;
use crate::words::closed;

closed! {
    /// Where a task stands.
    State, "state of a task":
    /// Something that comes before it is not done.
    Waiting = "waiting",
    /// It can start now.
    Ready = "ready",
    /// Somebody works on it.
    Running = "running",
    /// An agent has ended, and cleo looks at what it left.
    Verifying = "verifying",
    /// It is done.
    Done = "done",
    /// The last try was refused, and it is open again.
    Failed = "failed",
    /// It goes on when somebody decides something.
    NeedsYou = "needsYou",
    /// Somebody looks at it.
    Review = "review",
    /// It was laid aside.
    Paused = "paused",
    /// A run did not begin it.
    Skipped = "skipped",
    /// It was given up.
    Cancelled = "cancelled",
}

impl State {
    /// Says whether it is over, done or not.
    pub fn is_over(self) -> bool {
        matches!(self, State::Done | State::Skipped | State::Cancelled)
    }

    /// Says whether people look for it: a fold never hides it.
    pub fn is_urgent(self) -> bool {
        use State::{Failed, NeedsYou, Review, Running, Verifying};
        matches!(self, Running | Verifying | Failed | NeedsYou | Review)
    }

    /// Says whether work on it has begun.
    pub fn has_begun(self) -> bool {
        self.is_urgent() || self.is_over()
    }
}

/// What a run has made of a task that is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InRun {
    /// An agent works on it.
    Working,
    /// Its agent has ended, and cleo looks at what it left.
    Checking,
    /// It failed, and nothing has changed since.
    Failed,
}

/// Says where a task stands. `is_ready` is what the graph says of one that is pending;
/// `gate_failed`, whether one of its gates failed.
pub fn state(status: Status, is_ready: bool, in_run: Option<InRun>, gate_failed: bool) -> State {
    match (status, in_run) {
        (Status::Done, _) => State::Done,
        (Status::Cancelled, _) => State::Cancelled,
        (_, Some(InRun::Checking)) => State::Verifying,
        (_, Some(InRun::Working)) | (Status::Active, _) => State::Running,
        (Status::Review, _) => State::Review,
        (Status::Blocked, _) => State::NeedsYou,
        (Status::Paused, _) => State::Paused,
        (Status::Pending, Some(InRun::Failed)) => State::Failed,
        (Status::Pending, None) if gate_failed => State::Failed,
        (Status::Pending, None) if is_ready => State::Ready,
        (Status::Pending, None) => State::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_has_the_last_word_on_what_is_over() {
        for in_run in [None, Some(InRun::Working), Some(InRun::Failed)] {
            assert_eq!(state(Status::Done, true, in_run, true), State::Done);
            let cancelled = state(Status::Cancelled, true, in_run, true);
            assert_eq!(cancelled, State::Cancelled);
        }
    }

    #[test]
    fn what_goes_on_counts_before_what_went_wrong() {
        let rows = [
            (Status::Active, None, false, State::Running),
            (
                Status::Active,
                Some(InRun::Checking),
                true,
                State::Verifying,
            ),
            (Status::Active, Some(InRun::Failed), true, State::Running),
            (Status::Pending, Some(InRun::Failed), false, State::Failed),
            (Status::Pending, None, true, State::Failed),
            (Status::Blocked, Some(InRun::Failed), true, State::NeedsYou),
            (Status::Paused, None, false, State::Paused),
            (Status::Review, None, false, State::Review),
        ];
        for (status, in_run, gate_failed, expected) in rows {
            assert_eq!(state(status, true, in_run, gate_failed), expected);
        }
        assert_eq!(state(Status::Pending, true, None, false), State::Ready);
        assert_eq!(state(Status::Pending, false, None, false), State::Waiting);
    }
}

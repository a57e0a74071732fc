//! Times that no clock can have told yet. A merge believes times, so one that lies far ahead would
//! win for ever; it counts as now.

use std::collections::BTreeSet;

use chrono::TimeDelta;

use crate::clock::{Clock, timestamp};
use crate::id::TaskId;
use crate::task::Task;

/// How far the clocks of two machines may be apart.
const SLACK: TimeDelta = TimeDelta::minutes(5);

/// How late a change can be.
pub(super) struct Horizon {
    /// The time of the merge, RFC 3339 in UTC.
    pub(super) now: String,
    latest: String,
    /// Tasks that said to have been changed later than that.
    pub(super) ahead: BTreeSet<TaskId>,
}

impl Horizon {
    pub(super) fn of(clock: Clock) -> Horizon {
        let now = clock.now();
        // Only where a date has no later minute is there nothing to compare.
        let latest = now.checked_add_signed(SLACK).unwrap_or(now);
        Horizon {
            now: timestamp(now),
            latest: timestamp(latest),
            ahead: BTreeSet::new(),
        }
    }

    /// Takes a task that says to have been changed later as changed now, and notes it.
    pub(super) fn cap(&mut self, task: &mut Task) {
        if task.updated_at > self.latest {
            task.updated_at.clone_from(&self.now);
            self.ahead.insert(task.id);
        }
    }
}

//! The money limit of a run, and the cost that counts against it. Pure.

use super::options::Rules;
use crate::run::spent::round_dollars;
use crate::run::{Outcome, TaskRun};

/// The money of a run. An attempt in progress or of unknown cost is never free: it counts as the dearest that is known,
/// and while none is, as an equal share of the limit for each task. The first one runs alone, so that others are not
/// begun while the cost of one is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// The limit of all in US dollars.
    limit: Option<f64>,
    share: f64,
    known: f64,
    dearest: f64,
    unknown: u32,
}

impl Budget {
    pub(super) fn new(rules: &Rules) -> Budget {
        Budget::default().with_rules(rules)
    }

    /// Reads what the attempts of a run came to, also one that was cut off with its run.
    pub(super) fn read(rules: &Rules, tasks: &[TaskRun]) -> Budget {
        let mut budget = Budget::new(rules);
        for task in tasks {
            let paid = task.history.iter().filter(|attempt| {
                // An attempt that ended with the process of its run has no end of its agent.
                attempt.agent_ended_at.is_some() || attempt.outcome == Some(Outcome::Cancelled)
            });
            paid.for_each(|attempt| budget.count(attempt.cost));
            if task.group.is_some() {
                budget.count(None);
            }
        }
        // Of very many attempts, the history has the last ones only.
        let costs = tasks.iter().filter_map(|task| task.spent.cost);
        budget.known = costs.fold(0.0, |all, cost| round_dollars(all + cost.max(0.0)));
        budget
    }

    /// Counts an attempt. A negative cost counts as none: a program may report anything.
    pub(super) fn count(&mut self, cost: Option<f64>) {
        match cost.map(|cost| cost.max(0.0)) {
            Some(cost) => {
                self.known = round_dollars(self.known + cost);
                self.dearest = self.dearest.max(cost);
            }
            None => self.unknown += 1,
        }
    }

    /// Returns the money of a run that is resumed under these rules.
    pub(super) fn with_rules(self, rules: &Rules) -> Budget {
        Budget {
            limit: rules.max_cost,
            share: rules.share.unwrap_or(0.0),
            ..self
        }
    }

    pub(super) fn total(&self) -> f64 {
        self.total_with(0)
    }

    fn total_with(&self, running: u32) -> f64 {
        let presumed = match self.dearest > 0.0 {
            true => self.dearest,
            false => self.share,
        };
        round_dollars(self.known + presumed * f64::from(self.unknown + running))
    }

    /// Returns what an attempt may cost beside so many others in progress, or `None` without a limit.
    pub(super) fn remaining(&self, others: u32) -> Option<f64> {
        self.limit
            .map(|limit| round_dollars((limit - self.total_with(others)).max(0.0)))
    }

    /// Returns whether an attempt may begin beside so many others.
    pub(super) fn has_room(&self, others: u32) -> bool {
        let is_first = self.dearest == 0.0 && self.unknown == 0;
        let may_begin = |limit| self.total_with(others) < limit && (others == 0 || !is_first);
        self.limit.is_none_or(may_begin)
    }

    pub(super) fn is_spent(&self) -> bool {
        !self.has_room(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(max_cost: Option<f64>) -> Rules {
        Rules {
            jobs: 1,
            repairs: 1,
            max_cost,
            share: max_cost.map(|most| most / 4.0),
            fail_fast: false,
        }
    }

    #[test]
    fn attempt_of_unknown_cost_is_never_free() {
        for (costs, spent) in [
            (&[None][..], 0.25),
            (&[None, None, None, None], 1.0),
            (&[None, Some(0.5)], 1.0),
            (&[Some(0.1), Some(0.3), None], 0.7),
            (&[Some(0.0), None], 0.25),
            (&[Some(-1.0), Some(f64::NAN), Some(0.2)], 0.2),
        ] {
            let mut budget = Budget::new(&rules(Some(1.0)));
            costs.iter().for_each(|cost| budget.count(*cost));
            assert_eq!(budget.total(), spent, "{costs:?}");
            assert_eq!(budget.is_spent(), spent >= 1.0, "{costs:?}");
        }
        let mut unlimited = Budget::new(&rules(None));
        unlimited.count(None);
        assert_eq!(
            (unlimited.remaining(9), unlimited.has_room(9)),
            (None, true)
        );
    }
}

//! Tokens and cost, the increase over a running total, and how long a process worked on a run. Pure.

use serde::Serialize;

use super::told::kind;
use super::{Event, PLAN_RESUMED, RUN_FINISHED, Usage};
use crate::clock::between_ms;

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spent {
    /// Tokens that agents used, as far as they say.
    pub(crate) usage: Option<Usage>,
    /// What they cost in US dollars, as far as they say.
    pub(crate) cost: Option<f64>,
}

impl Spent {
    pub(crate) fn plus(self, more: Spent) -> Spent {
        let usages = [self.usage, more.usage].into_iter().flatten();
        let costs = [self.cost, more.cost].into_iter().flatten();
        Spent {
            usage: usages.reduce(Usage::plus),
            cost: costs.reduce(|a, b| dollars(a + b)),
        }
    }

    pub(crate) fn new_usage(self, total: Usage) -> Usage {
        self.usage.map_or(total, |before| since(before, total))
    }

    /// Returns what of a total in US dollars is not in this already, by the same rule.
    pub(crate) fn new_cost(self, total: f64) -> f64 {
        let before = self.cost.filter(|before| *before <= total);
        dollars(total - before.unwrap_or(0.0))
    }
}

fn since(before: Usage, total: Usage) -> Usage {
    let is_less = total.input_tokens < before.input_tokens
        || total.output_tokens < before.output_tokens
        || total.total_tokens < before.total_tokens;
    if is_less {
        return total;
    }
    let new = |total: Option<u64>, before: Option<u64>| Some(total? - before.unwrap_or(0));
    Usage {
        input_tokens: new(total.input_tokens, before.input_tokens),
        output_tokens: new(total.output_tokens, before.output_tokens),
        total_tokens: new(total.total_tokens, before.total_tokens),
    }
}

/// Rounds an amount to billionths: sums of binary fractions end in noise, and nobody counts finer.
pub(crate) fn dollars(amount: f64) -> f64 {
    let billionths = (amount * 1e9).round();
    match billionths.is_finite() {
        true => billionths / 1e9,
        false => amount,
    }
}

/// Returns how long the last process of a run over tasks or of a plan worked on it, in milliseconds, from its
/// start or resumption to its last event. `None` if that was counted before.
pub(crate) fn until_left(events: &[Event]) -> Option<u64> {
    let is_begin = |event: &Event| {
        let kind = event.kind.as_str();
        matches!(kind, kind::RUN_STARTED | kind::RUN_RESUMED | PLAN_RESUMED)
    };
    // No event of its own says that a plan began: its first one is what was asked for.
    let own = events.get(events.iter().rposition(is_begin).unwrap_or(0)..)?;
    let is_counted = |event: &Event| match event.kind.as_str() {
        // Steps of plans tell errors of their own.
        kind::RUN_LEFT => !event.detail.contains_key("stepId"),
        other => other == RUN_FINISHED,
    };
    if own.iter().any(is_counted) {
        return None;
    }
    // Others ask for the end, perhaps long after the process was gone.
    let last = own.iter().rfind(|event| event.kind != kind::RUN_CANCEL)?;
    between_ms(&own.first()?.at, &last.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Detail;

    fn used(total: u64) -> Usage {
        Usage {
            input_tokens: Some(total - 1),
            output_tokens: Some(1),
            total_tokens: Some(total),
        }
    }

    #[test]
    fn sums_and_differences_of_amounts_have_no_noise() {
        let spent = |cost| Spent {
            usage: None,
            cost: Some(cost),
        };
        assert_eq!(spent(0.1).plus(spent(0.2)), spent(0.3));
        assert_eq!(spent(0.0016).new_cost(0.0024), 0.0008);
        assert_eq!(dollars(f64::MAX), f64::MAX);
    }

    #[test]
    fn a_total_that_is_less_than_before_counts_from_nothing() {
        let before = Spent {
            usage: Some(used(100)),
            cost: Some(0.5),
        };
        assert_eq!(before.new_usage(used(99)), used(99));
        assert_eq!(before.new_cost(0.25), 0.25);
        let new = before.new_usage(used(130));
        assert_eq!((new.input_tokens, new.total_tokens), (Some(30), Some(30)));
        assert_eq!(Spent::default().new_usage(used(7)), used(7));
        assert_eq!(Spent::default().new_cost(0.25), 0.25);
    }

    fn event(second: u8, kind: &str) -> Event {
        Event {
            cursor: second.into(),
            run: "run_1".into(),
            at: format!("2026-01-26T10:00:{second:02}.000Z"),
            kind: kind.into(),
            detail: Detail::new(),
        }
    }

    #[test]
    fn each_process_counts_once_until_it_told_something_last() {
        let mut events = Vec::new();
        for (second, kind, counted) in [
            (1, kind::RUN_STARTED, Some(0)),
            (4, kind::AGENT_DOING, Some(3_000)),
            (20, kind::RUN_CANCEL, Some(3_000)),
            (30, kind::RUN_LEFT, None),
            (31, kind::AGENT_ENDED, None),
            (40, kind::RUN_RESUMED, Some(0)),
            (42, kind::AGENT_STARTED, Some(2_000)),
            (43, RUN_FINISHED, None),
        ] {
            events.push(event(second, kind));
            assert_eq!(until_left(&events), counted, "{kind}");
        }
        assert_eq!(until_left(&[]), None);
    }

    #[test]
    fn a_plan_counts_from_its_first_event_and_errors_of_its_steps_end_nothing() {
        let mut events = Vec::new();
        for (second, kind, step, counted) in [
            (1, "chat", None, Some(0)),
            (2, "plan", None, Some(1_000)),
            (4, "error", Some("a"), Some(3_000)),
            (5, "plan", None, Some(4_000)),
            (9, kind::RUN_CANCEL, None, Some(4_000)),
            (10, kind::RUN_LEFT, None, None),
            (20, PLAN_RESUMED, None, Some(0)),
            (23, "stepCompleted", Some("a"), Some(3_000)),
            (24, RUN_FINISHED, None, None),
            (30, kind::RUN_CANCEL, None, None),
        ] {
            let mut told = event(second, kind);
            let step = step.map(|step: &str| ("stepId".to_string(), step.into()));
            told.detail.extend(step);
            events.push(told);
            assert_eq!(until_left(&events), counted, "{second} {kind}");
        }
    }
}

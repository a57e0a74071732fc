//! Tokens and cost, and the increase over a running total. Pure.

use serde::Serialize;

use super::Usage;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Spent {
    /// Tokens that agents used, as far as they report them.
    pub(crate) usage: Option<Usage>,
    /// Their cost in US dollars, as far as they report it.
    pub(crate) cost: Option<f64>,
}

impl Spent {
    pub(crate) fn plus(self, more: Spent) -> Spent {
        let usages = [self.usage, more.usage].into_iter().flatten();
        let costs = [self.cost, more.cost].into_iter().flatten();
        Spent {
            usage: usages.reduce(Usage::plus),
            cost: costs.reduce(|a, b| round_dollars(a + b)),
        }
    }

    pub(crate) fn new_usage(self, total: Usage) -> Usage {
        self.usage
            .map_or(total, |before| usage_since(before, total))
    }

    /// Returns what of a total in US dollars is not in this already, by the same rule.
    pub(crate) fn new_cost(self, total: f64) -> f64 {
        let before = self.cost.filter(|before| *before <= total);
        round_dollars(total - before.unwrap_or(0.0))
    }
}

fn usage_since(before: Usage, total: Usage) -> Usage {
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

/// Rounds an amount to billionths: sums of binary fractions end in noise, and no price is finer.
pub(crate) fn round_dollars(amount: f64) -> f64 {
    let billionths = (amount * 1e9).round();
    match billionths.is_finite() {
        true => billionths / 1e9,
        false => amount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn with_total(total: u64) -> Usage {
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
        assert_eq!(round_dollars(f64::MAX), f64::MAX);
    }

    #[test]
    fn total_that_is_less_than_before_counts_from_nothing() {
        let before = Spent {
            usage: Some(with_total(100)),
            cost: Some(0.5),
        };
        assert_eq!(before.new_usage(with_total(99)), with_total(99));
        assert_eq!(before.new_cost(0.25), 0.25);
        let new = before.new_usage(with_total(130));
        assert_eq!((new.input_tokens, new.total_tokens), (Some(30), Some(30)));
        assert_eq!(Spent::default().new_usage(with_total(7)), with_total(7));
        assert_eq!(Spent::default().new_cost(0.25), 0.25);
    }
}

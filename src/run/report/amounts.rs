//! Times, tokens and money, written for people.

use crate::run::Usage;

/// Writes a time for people: `340 ms`, `4.2 s`, `3m 05s`, `2h 10m`.
pub fn time(ms: u64) -> String {
    match (ms, ms / 1_000) {
        (0..1_000, _) => format!("{ms} ms"),
        (_, 0..60) => format!("{}.{} s", ms / 1_000, ms / 100 % 10),
        (_, seconds @ 60..3_600) => format!("{}m {:02}s", seconds / 60, seconds % 60),
        (_, seconds) => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Writes how many tokens were used; none where nobody counted.
pub fn tokens(usage: Usage) -> Option<String> {
    let sum = || Some(usage.input_tokens.unwrap_or(0) + usage.output_tokens?);
    let total = usage.total_tokens.or_else(sum)?;
    Some(match total {
        0..10_000 => total.to_string(),
        10_000..1_000_000 => format!("{}k", total / 1_000),
        _ => format!("{}.{}M", total / 1_000_000, total / 100_000 % 10),
    })
}

/// Writes an amount of US dollars: `$1.25`; of less than a cent the first two digits that count.
pub fn money(dollars: f64) -> String {
    if dollars <= 0.0 || dollars >= 0.01 {
        return format!("${dollars:.2}");
    }
    // Nobody counts finer than billionths.
    let digits = (1.0 - dollars.log10().floor()).clamp(2.0, 9.0) as usize;
    format!("${dollars:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_tokens_are_written_for_people() {
        let times = [340, 4_230, 185_000, 7_800_000].map(time);
        assert_eq!(times, ["340 ms", "4.2 s", "3m 05s", "2h 10m"]);
        let used = |total| {
            tokens(Usage {
                input_tokens: None,
                output_tokens: None,
                total_tokens: Some(total),
            })
        };
        let used = [9_999, 12_345, 1_250_000].map(|total| used(total).unwrap());
        assert_eq!(used, ["9999", "12k", "1.2M"]);
    }

    #[test]
    fn what_costs_less_than_a_cent_does_not_seem_to_cost_nothing() {
        let costs = [0.0, 1.254, 0.01, 0.0042, 0.000_123_4, 0.000_000_001].map(money);
        let shown = [
            "$0.00",
            "$1.25",
            "$0.01",
            "$0.0042",
            "$0.00012",
            "$0.000000001",
        ];
        assert_eq!(costs, shown);
    }
}

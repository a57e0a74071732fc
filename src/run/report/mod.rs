//! Reports of a run: an HTML page, JUnit XML, and the output of GitHub Actions. Pure; `ops::work::runs::export` writes them.

pub(crate) mod github;
pub(crate) mod html;
pub(crate) mod junit;
#[cfg(test)]
mod tests;

use super::{Outcome, TaskRun};
use crate::error::{Code, is_control_character};
use crate::markdown::escape_html;
use crate::run::{Run, Usage};

fn error_code(task: &TaskRun) -> Code {
    match task.outcome {
        Some(Outcome::Timeout) => Code::RunTimeout,
        Some(Outcome::Cancelled) => Code::RunCancelled,
        Some(Outcome::ProtocolViolation) => Code::NotVerified,
        Some(Outcome::CheckFailed) => Code::CriterionFailed,
        _ => Code::AgentFailed,
    }
}

pub(crate) fn explain_failure(task: &TaskRun) -> String {
    let reason = task.reason.as_deref().unwrap_or("no reason is known");
    match task.outcome {
        Some(Outcome::Ok) => "not proven and merged yet".to_string(),
        Some(outcome) => format!("{outcome}: {reason}"),
        None => reason.to_string(),
    }
}

pub(crate) fn violations(task: &TaskRun) -> impl Iterator<Item = &str> {
    let violations = task.violations.iter().map(String::as_str);
    violations.filter(move |one| task.reason.as_deref() != Some(*one))
}

/// Returns text without what cannot be seen and steers what shows it; ends of lines stay.
fn replace_control_characters(text: &str) -> String {
    let seen = |c: char| {
        if is_control_character(c) && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(seen).collect()
}

fn escape_xml(text: &str) -> String {
    escape_html(&replace_control_characters(text))
}

/// Writes a time for people: `340 ms`, `4.2 s`, `3m 05s`, `2h 10m`.
pub(crate) fn time(ms: u64) -> String {
    match (ms, ms / 1_000) {
        (0..1_000, _) => format!("{ms} ms"),
        (_, 0..60) => format!("{}.{} s", ms / 1_000, ms / 100 % 10),
        (_, seconds @ 60..3_600) => format!("{}m {:02}s", seconds / 60, seconds % 60),
        (_, seconds) => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

pub(crate) fn tokens(usage: Usage) -> Option<String> {
    let sum = || Some(usage.input_tokens.unwrap_or(0) + usage.output_tokens?);
    let total = usage.total_tokens.or_else(sum)?;
    Some(match total {
        0..10_000 => total.to_string(),
        10_000..1_000_000 => format!("{}k", total / 1_000),
        _ => format!("{}.{}M", total / 1_000_000, total / 100_000 % 10),
    })
}

/// Writes the time, tokens and cost of a run, as far as they are known.
pub(crate) fn describe_spent(run: &Run) -> Vec<String> {
    let parts = [
        run.execution_time_ms.map(time),
        run.usage
            .and_then(tokens)
            .map(|tokens| format!("{tokens} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect()
}

/// Writes an amount of US dollars: `$1.25`; of less than a cent the first two digits that count.
pub(crate) fn money(dollars: f64) -> String {
    if dollars <= 0.0 || dollars >= 0.01 {
        return format!("${dollars:.2}");
    }
    // Billionths are the finest amounts.
    let digits = (1.0 - dollars.log10().floor()).clamp(2.0, 9.0) as usize;
    format!("${dollars:.digits$}")
}

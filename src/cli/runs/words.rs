//! What is said of runs on a screen.

use crate::cli::run::{money, time, tokens};
use crate::cli::screen::Tone;
use crate::run::{Run, RunStatus};

/// Returns the tone in which a status is shown.
pub(in crate::cli) fn status_tone(status: RunStatus) -> Tone {
    match status {
        RunStatus::Completed => Tone::Good,
        RunStatus::Failed => Tone::Bad,
        RunStatus::Running => Tone::Accent,
        RunStatus::Pending => Tone::Plain,
        RunStatus::Interrupted => Tone::Warn,
        RunStatus::Cancelled => Tone::Dim,
    }
}

/// Says what a run over tasks took, as far as it is known.
pub(super) fn spent(run: &Run) -> String {
    let used = run.usage.and_then(tokens);
    let parts = [
        run.execution_time_ms.map(time),
        used.map(|used| format!("{used} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Says what answered, and what that took, as far as it is known.
pub(in crate::cli) fn how(run: &Run) -> String {
    let time = run.execution_time_ms.map(|time| format!("{time} ms"));
    let tokens = run.usage.and_then(|usage| usage.total_tokens);
    let parts = [
        run.answered_by.map(|by| by.to_string()),
        run.model.clone(),
        time,
        tokens.map(|tokens| format!("{tokens} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

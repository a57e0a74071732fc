//! How the waves of the demo look.

use super::begin;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::ops::demo::{Attempt, Played, Step};
use crate::task::Status;

/// Shows what happened to each task, one row a try.
pub(super) fn show(screen: &mut Screen, steps: &[Step]) {
    begin(
        screen,
        "4  Wave by wave: prompt, agent, proof",
        "cleo spawn, cleo verify output, cleo complete",
    );
    let mut rows = Vec::new();
    for step in steps {
        if let Step::Wave { number, tasks } = step {
            for played in tasks {
                let attempts = played.attempts.iter();
                rows.extend(attempts.map(|attempt| work_row(*number, played, attempt)));
            }
        }
    }
    let head = [
        "   WAVE",
        "TASK",
        "PROMPT",
        "AGENT SAYS",
        "CLEO FINDS",
        "TASK IS",
    ];
    screen.table(&head, rows);
}

fn work_row(wave: usize, played: &Played, attempt: &Attempt) -> Vec<Cell> {
    let prompt = &played.prompt;
    let said = attempt.message.split(". ").next().unwrap_or_default();
    let (tone, found) = match attempt.exit_code {
        0 => (Tone::Good, "output and entry".to_string()),
        code => (Tone::Bad, format!("nothing, exit {code}")),
    };
    let status = match attempt.status {
        Status::Done => Tone::Good,
        _ => Tone::Warn,
    };
    vec![
        (Tone::Dim, format!("   {wave}")),
        (Tone::Plain, played.task_id.to_string()),
        (Tone::Plain, format!("{} tokens, checked", prompt.tokens)),
        (Tone::Plain, said.to_string()),
        (tone, found),
        (status, attempt.status.to_string()),
    ]
}

/// Shows how each try that left nothing was caught.
pub(super) fn show_lies(screen: &mut Screen, steps: &[Step]) {
    for step in steps {
        let Step::Wave { tasks, .. } = step else {
            continue;
        };
        for played in tasks {
            for attempt in played
                .attempts
                .iter()
                .filter(|attempt| attempt.exit_code != 0)
            {
                show_lie(screen, played, attempt);
            }
        }
    }
}

fn show_lie(screen: &mut Screen, played: &Played, attempt: &Attempt) {
    let id = played.task_id;
    begin(
        screen,
        &format!("5  The first agent for {id} lied"),
        &format!("cleo verify output {id}"),
    );
    screen
        .say(Tone::Dim, "   it said  ")
        .line(Tone::Plain, &attempt.message);
    for found in &attempt.violations {
        screen
            .say(Tone::Bad, format!("   {}  ", found.rule))
            .line(Tone::Plain, &found.message);
    }
    if attempt.refused.is_some() {
        screen
            .say(Tone::Dim, "   so       ")
            .say(Tone::Accent, format!("cleo complete {id}"))
            .line(
                Tone::Plain,
                format!(
                    " was refused and {id} stayed {}, until a second try left both",
                    attempt.status
                ),
            );
    }
}

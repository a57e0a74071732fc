//! What happens in a run, a line each, where no terminal shows more.

use super::time;
use crate::cli::output::Notes;
use crate::cli::screen::Tone;
use crate::coordinator::Listener;
use crate::run::board::Board;
use crate::run::told::{Told, kind};
use crate::run::{Event, Outcome};

/// Writes a line for each event that people want to know of.
pub(super) struct Lines {
    notes: Notes,
}

impl Lines {
    pub(super) fn new(notes: Notes) -> Lines {
        Lines { notes }
    }
}

impl Listener for Lines {
    fn tell(&mut self, events: &[Event], board: &Board) {
        for event in events {
            if let Some((tone, line)) = told(event, board) {
                self.notes.line(tone, &line);
            }
        }
    }
}

/// Says what happened; none of what only programs want to know.
pub(super) fn told(event: &Event, board: &Board) -> Option<(Tone, String)> {
    let told = Told::read(&event.detail);
    let task = told.task_id.map(|id| id.to_string()).unwrap_or_default();
    let reason = told.reason.clone().unwrap_or_default();
    Some(match event.kind.as_str() {
        kind::RUN_STARTED => {
            let tasks = told.tasks.iter().filter(|task| !task.is_epic).count();
            (Tone::Dim, format!("{}: {tasks} to do", event.run))
        }
        kind::RUN_RESUMED => (Tone::Dim, format!("{} goes on", event.run)),
        kind::RUN_STOPPING => (Tone::Warn, format!("the run ends: {reason}")),
        kind::TASK_STARTED => {
            let how = [told.skill.as_deref(), told.runner.as_deref()];
            let how: Vec<&str> = how.into_iter().flatten().collect();
            let again = match told.attempt {
                Some(attempt) if attempt > 1 => format!(", try {attempt}"),
                _ => String::new(),
            };
            (
                Tone::Dim,
                format!("{task} begins ({}{again})", how.join(", ")),
            )
        }
        kind::TASK_WAITING => {
            let why = match told.wait_ms {
                Some(wait) => format!("{task} waits {}: too many requests", time(wait)),
                None => format!("{task} waits: {reason}"),
            };
            (Tone::Warn, why)
        }
        kind::TASK_LACKING => {
            let outcome = told.outcome.map_or("", Outcome::word);
            (
                Tone::Warn,
                format!(
                    "{task} does not verify ({outcome}): {}",
                    told.missing.join("; ")
                ),
            )
        }
        kind::TASK_KEPT => {
            let line = match told.worktree {
                Some(place) => format!("the worktree of {task} is kept in {place}: {reason}"),
                None => format!("{task}: {reason}"),
            };
            (Tone::Warn, line)
        }
        kind::TASK_COMPLETED => {
            let took = told.task_id.and_then(|id| board.task(id));
            let took = took.filter(|task| task.attempts > 0);
            let took = took.map(|task| format!(" ({})", time(task.duration_ms)));
            (
                Tone::Good,
                format!("{task} is done{}", took.unwrap_or_default()),
            )
        }
        kind::TASK_FAILED => (Tone::Bad, format!("{task} failed: {reason}")),
        kind::TASK_SKIPPED => {
            let because = told
                .because
                .map(|id| format!(" ({id})"))
                .unwrap_or_default();
            (
                Tone::Warn,
                format!("{task} is not begun: {reason}{because}"),
            )
        }
        _ => return None,
    })
}

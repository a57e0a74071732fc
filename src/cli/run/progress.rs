//! The progress of a run: one line per event.

use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::live::Live;
use crate::cli::output::Notes;
use crate::cli::screen::Tone;
use crate::coordinator::Listener;
use crate::id::TaskId;
use crate::run::report::time;
use crate::run::{Event, Line, Outcome, RunEvent, RunProjection, TaskEvent};

pub(in crate::cli) struct Progress<'a> {
    pub(in crate::cli) live: Live<'a>,
    notes: Notes,
    /// Whether JSON lines have all events.
    is_silent: bool,
}

impl<'a> Progress<'a> {
    pub(in crate::cli) fn new(face: &'a Face<'a>) -> Progress<'a> {
        Progress {
            live: Live::new(face),
            notes: face.output.notes(),
            is_silent: face.output.format() == Format::Ndjson,
        }
    }
}

impl Listener for Progress<'_> {
    fn on_events(&mut self, events: &[Event], track: &RunProjection) {
        for event in events {
            self.live.show_row(&Line::from(event));
            let read = RunEvent::read(event).filter(|_| !self.is_silent);
            let told = read.and_then(|read| describe(&event.run, &read, track));
            if let Some((tone, line)) = told {
                self.notes.line(tone, &line);
            }
        }
    }
}

/// Describes an event for people; `None` if only programs need it.
fn describe(run: &str, event: &RunEvent, track: &RunProjection) -> Option<(Tone, String)> {
    Some(match event {
        RunEvent::Started { tasks, .. } => {
            let n_tasks = tasks.iter().filter(|task| !task.is_epic).count();
            (Tone::Dim, format!("{run}: {n_tasks} to do"))
        }
        RunEvent::Resumed { .. } => (Tone::Dim, format!("{run} is resumed")),
        RunEvent::Stopping { reason } => (Tone::Warn, format!("stopping: {reason}")),
        RunEvent::Task(task, attempt, event) => {
            return describe_task(*task, *attempt, event, track);
        }
        _ => return None,
    })
}

fn describe_task(
    task: TaskId,
    attempt: Option<u32>,
    event: &TaskEvent,
    track: &RunProjection,
) -> Option<(Tone, String)> {
    let why = |reason: &Option<String>| reason.clone().unwrap_or_default();
    Some(match event {
        TaskEvent::Started(start) => {
            let again = attempt.filter(|attempt| *attempt > 1);
            let again = again.map(|attempt| format!(", attempt {attempt}"));
            let how = [&start.setup.skill, &start.setup.runner]
                .into_iter()
                .flatten();
            let how: Vec<&str> = how.map(String::as_str).collect();
            let how = how.join(", ") + &again.unwrap_or_default();
            (Tone::Dim, format!("{task} begins ({how})"))
        }
        TaskEvent::Waiting { reason, wait_ms } => {
            let line = match wait_ms {
                Some(wait) => format!("{task} waits {}: too many requests", time(*wait)),
                None => format!("{task} waits: {}", why(reason)),
            };
            (Tone::Warn, line)
        }
        TaskEvent::VerificationFailed {
            outcome,
            violations,
            ..
        } => {
            let outcome = outcome.map_or("", Outcome::word);
            let violations = violations.join("; ");
            let line = format!("{task} does not verify ({outcome}): {violations}");
            (Tone::Warn, line)
        }
        TaskEvent::Retained {
            reason, worktree, ..
        } => {
            let reason = why(reason);
            let line = match worktree {
                Some(place) => format!("the worktree of {task} is kept in {place}: {reason}"),
                None => format!("{task}: {reason}"),
            };
            (Tone::Warn, line)
        }
        TaskEvent::Completed { .. } => {
            let run = track.task(task).filter(|task| task.attempts > 0);
            let took = run.map(|task| format!(" ({})", time(task.duration_ms)));
            let took = took.unwrap_or_default();
            (Tone::Good, format!("{task} is done{took}"))
        }
        TaskEvent::Failed { reason, .. } => (Tone::Bad, format!("{task} failed: {}", why(reason))),
        TaskEvent::Skipped { reason, caused_by } => {
            let because = caused_by.map(|id| format!(" ({id})")).unwrap_or_default();
            let line = format!("{task} is not begun: {}{because}", why(reason));
            (Tone::Warn, line)
        }
        _ => return None,
    })
}

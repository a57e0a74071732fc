//! The progress of a run: one line per event, or on a terminal a line for each task in progress and
//! a bar for all of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::live::Live;
use crate::cli::output::Notes;
use crate::cli::screen::{Cell, Tone};
use crate::coordinator::Listener;
use crate::id::TaskId;
use crate::run::report::{money, time, tokens};
use crate::run::{Event, Line, Outcome, RUN_FINISHED, RunEvent, RunProjection, TaskEvent, TaskRun};

/// Minimum time between two drawings.
const PACE: Duration = Duration::from_millis(200);
/// Maximum number of tasks with a line.
const ROWS: usize = 20;
/// Width of the bar, in characters.
const BAR: usize = 24;

pub(in crate::cli) struct Progress<'a> {
    pub(in crate::cli) live: Live<'a>,
    notes: Notes,
    /// Whether JSON lines have all events.
    is_silent: bool,
    draws: bool,
    drawn: Instant,
    begun: Instant,
    /// When each task in progress was started.
    since: BTreeMap<TaskId, Instant>,
}

impl<'a> Progress<'a> {
    pub(in crate::cli) fn new(face: &'a Face<'a>) -> Progress<'a> {
        let is_silent = face.output.format() == Format::Ndjson;
        Progress {
            live: Live::new(face),
            notes: face.output.notes(),
            is_silent,
            draws: !is_silent && face.output.can_draw(),
            drawn: Instant::now(),
            begun: Instant::now(),
            since: BTreeMap::new(),
        }
    }

    fn note(&mut self, event: &Event, track: &RunProjection) {
        let Some(read) = RunEvent::read(event) else {
            return;
        };
        let mut is_shown = true;
        if let RunEvent::Task { task_id, event, .. } = &read {
            match event {
                TaskEvent::Started(_) => {
                    self.since.insert(*task_id, Instant::now());
                    // The view shows started tasks.
                    is_shown = !self.draws;
                }
                TaskEvent::Completed { .. } | TaskEvent::Failed { .. } => {
                    self.since.remove(task_id);
                }
                _ => {}
            }
        }
        if let Some((tone, line)) = describe(&event.run, &read, track).filter(|_| is_shown) {
            self.notes.erase();
            self.notes.line(tone, &line);
        }
    }

    fn row(&self, task: &TaskRun, since: &Instant) -> Vec<Cell> {
        let used = match (task.spent.usage, task.using) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => now.or(before),
        };
        let used = used.and_then(tokens).unwrap_or_default();
        let skill = task.setup.skill.as_deref().unwrap_or_default();
        let skill = skill.trim_start_matches("ct-");
        let runner = task.setup.runner.as_deref().unwrap_or_default();
        let doing = task.doing.as_ref().unwrap_or(&task.planned.title);
        vec![
            (
                Tone::Strong,
                format!("{:<6} ", task.planned.task_id.to_string()),
            ),
            (Tone::Accent, format!("{skill:<20} ")),
            (Tone::Plain, format!("{runner:<9} ")),
            (
                Tone::Dim,
                format!("{:>8} {used:>6}  ", format_elapsed(since)),
            ),
            (Tone::Plain, doing.clone()),
        ]
    }

    fn total_row(&self, track: &RunProjection) -> Vec<Cell> {
        let summary = track.counts();
        let filled = (summary.total - summary.open) * BAR / summary.total.max(1);
        let bar = format!("{}{} ", "█".repeat(filled), "░".repeat(BAR - filled));
        let costs = track.tasks().iter().filter_map(|task| task.spent.cost);
        let parts = [
            Some(format!("{}/{} done", summary.done, summary.total)),
            (summary.failed > 0).then(|| format!("{} failed", summary.failed)),
            Some(format!("{} running", self.since.len())),
            first_open_wave(track),
            Some(format_elapsed(&self.begun)),
            costs.reduce(|a, b| a + b).map(money),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        vec![(Tone::Accent, bar), (Tone::Plain, parts.join("  "))]
    }
}

/// Returns the first wave with open tasks, from 0, if there are several.
fn first_open_wave(track: &RunProjection) -> Option<String> {
    let waves = || track.tasks().iter().filter(|task| !task.planned.is_epic);
    let open = waves().filter(|task| task.state.is_open());
    let first = open.filter_map(|task| task.wave).min()?;
    let last = waves().filter_map(|task| task.wave).max()?;
    (last > 0).then(|| format!("wave {first} of 0 to {last}"))
}

impl Listener for Progress<'_> {
    fn on_events(&mut self, events: &[Event], track: &RunProjection) {
        for event in events {
            self.live.show_row(&Line::from(event));
            if !self.is_silent {
                self.note(event, track);
            }
        }
        if events.iter().any(|event| event.kind == RUN_FINISHED) {
            self.notes.erase();
        }
    }

    fn show(&mut self, track: &RunProjection) {
        if !self.draws || self.drawn.elapsed() < PACE {
            return;
        }
        self.drawn = Instant::now();
        let tasks = track.tasks().iter();
        let running = tasks.filter_map(|task| Some((task, self.since.get(&task.planned.task_id)?)));
        let rows = running
            .take(ROWS)
            .map(|(task, since)| self.row(task, since));
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        if self.since.len() > ROWS {
            let more = format!("… and {} more", self.since.len() - ROWS);
            rows.push(vec![(Tone::Dim, more)]);
        }
        rows.push(self.total_row(track));
        self.notes.draw(&rows);
    }
}

fn format_elapsed(since: &Instant) -> String {
    time(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// Describes an event for people; `None` if only programs need it.
fn describe(run: &str, event: &RunEvent, track: &RunProjection) -> Option<(Tone, String)> {
    Some(match event {
        RunEvent::Started { tasks, .. } => {
            let n_tasks = tasks.iter().filter(|task| !task.is_epic).count();
            (Tone::Dim, format!("{run}: {n_tasks} to do"))
        }
        RunEvent::Resumed { .. } => (Tone::Dim, format!("{run} is resumed")),
        RunEvent::Stopping { reason } => (Tone::Warn, format!("the run ends: {reason}")),
        RunEvent::Task {
            task_id,
            attempt,
            event,
        } => return describe_task(*task_id, *attempt, event, track),
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

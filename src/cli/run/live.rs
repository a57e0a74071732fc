//! A run on a terminal: a line for each task that is under way, and a bar for all of them, drawn anew as
//! things go on. What is over is told above it and stays.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::lines::told;
use super::{money, time, tokens};
use crate::cli::output::Notes;
use crate::cli::screen::{Cell, Tone};
use crate::coordinator::Listener;
use crate::id::TaskId;
use crate::run::board::{Board, Summary, TaskRun, TaskState};
use crate::run::told::{Planned, kind, waves};
use crate::run::{Event, RUN_FINISHED};

/// Shortest time between two drawings.
const PACE: Duration = Duration::from_millis(200);
/// Most tasks that have a line.
const ROWS: usize = 20;
/// How many letters the bar has.
const BAR: usize = 24;

/// The view of a run on a terminal.
pub(super) struct Live {
    notes: Notes,
    drawn: Instant,
    begun: Instant,
    /// When each task that is under way was begun.
    since: BTreeMap<TaskId, Instant>,
    /// In which wave each task is, from 0.
    waves: BTreeMap<TaskId, usize>,
}

impl Live {
    pub(super) fn new(notes: Notes) -> Live {
        Live {
            notes,
            drawn: Instant::now(),
            begun: Instant::now(),
            since: BTreeMap::new(),
            waves: BTreeMap::new(),
        }
    }

    fn note(&mut self, event: &Event, board: &Board) {
        match event.kind.as_str() {
            kind::RUN_STARTED | kind::RUN_RESUMED => self.waves = waves(&planned(board)),
            kind::TASK_STARTED => self
                .since
                .extend(about(event).map(|id| (id, Instant::now()))),
            kind::TASK_COMPLETED | kind::TASK_FAILED => {
                about(event).map(|id| self.since.remove(&id));
            }
            _ => {}
        }
        // A line that tells of a beginning is spared: the view shows it.
        let is_shown = event.kind != kind::TASK_STARTED;
        if let Some((tone, line)) = told(event, board).filter(|_| is_shown) {
            self.notes.erase();
            self.notes.line(tone, &line);
        }
    }

    fn draw(&mut self, board: &Board) {
        self.drawn = Instant::now();
        let running = board
            .tasks()
            .iter()
            .filter(|task| self.since.contains_key(&task.task_id));
        let running: Vec<&TaskRun> = running.collect();
        let mut rows: Vec<Vec<Cell>> = running
            .iter()
            .take(ROWS)
            .map(|task| self.row(task))
            .collect();
        if running.len() > ROWS {
            let more = format!("… and {} more", running.len() - ROWS);
            rows.push(vec![(Tone::Dim, more)]);
        }
        rows.push(self.sum(board, running.len()));
        self.notes.draw(&rows);
    }

    fn row(&self, task: &TaskRun) -> Vec<Cell> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let since = self
            .since
            .get(&task.task_id)
            .map(Instant::elapsed)
            .unwrap_or_default();
        let used = match (task.usage, task.using) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => now.or(before),
        };
        let used = used.and_then(tokens).unwrap_or_default();
        let skill = text(&task.skill);
        let doing = task.doing.as_deref().unwrap_or(&task.title).to_string();
        vec![
            (Tone::Strong, format!("{:<6} ", task.task_id.to_string())),
            (
                Tone::Accent,
                format!("{:<20} ", skill.trim_start_matches("ct-")),
            ),
            (Tone::Plain, format!("{:<9} ", text(&task.runner))),
            (Tone::Dim, format!("{:>8} {used:>6}  ", time(millis(since)))),
            (Tone::Plain, doing),
        ]
    }

    fn sum(&self, board: &Board, running: usize) -> Vec<Cell> {
        let summary = Summary::of(board);
        let over = summary.total - summary.open;
        let filled = over * BAR / summary.total.max(1);
        let bar = format!("{}{} ", "█".repeat(filled), "░".repeat(BAR - filled));
        let costs = board.tasks().iter().filter_map(|task| task.cost);
        let cost = costs.reduce(|a, b| a + b);
        let parts = [
            Some(format!("{}/{} done", summary.done, summary.total)),
            (summary.failed > 0).then(|| format!("{} failed", summary.failed)),
            Some(format!("{running} running")),
            self.wave(board),
            Some(time(millis(self.begun.elapsed()))),
            cost.map(money),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        vec![(Tone::Accent, bar), (Tone::Plain, parts.join("  "))]
    }

    /// Says which wave is the first that is not over.
    fn wave(&self, board: &Board) -> Option<String> {
        let open = |task: &&TaskRun| matches!(task.state, TaskState::Waiting | TaskState::Running);
        let open = board.tasks().iter().filter(open);
        let first = open
            .filter_map(|task| self.waves.get(&task.task_id))
            .min()?;
        let last = self.waves.values().max()?;
        (*last > 0).then(|| format!("wave {first} of 0 to {last}"))
    }
}

impl Listener for Live {
    fn tell(&mut self, events: &[Event], board: &Board) {
        for event in events {
            self.note(event, board);
        }
        if events.iter().any(|event| event.kind == RUN_FINISHED) {
            self.notes.erase();
        }
    }

    fn show(&mut self, board: &Board) {
        if self.drawn.elapsed() >= PACE {
            self.draw(board);
        }
    }
}

fn about(event: &Event) -> Option<TaskId> {
    event.detail.get("taskId")?.as_str()?.parse().ok()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn planned(board: &Board) -> Vec<Planned> {
    let planned = board.tasks().iter().map(|task| Planned {
        task_id: task.task_id,
        title: String::new(),
        needs: task.needs.clone(),
        is_epic: task.is_epic,
    });
    planned.collect()
}

//! When agents worked on which task or step of a plan, a bar for each try; and the graph of both, with their
//! states in the run, which are others than the statuses of tasks.

use std::fmt::Write;

use chrono::DateTime;

use super::steps::{Steps, Try};
use super::{escaped, time};
use crate::error::shortened;
use crate::run::attempt::{Attempt, Stage};
use crate::run::track::{TaskRun, TaskState};
use crate::run::view::RunView;
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Look, Shape, svg_with};

const LABEL: i64 = 90;
const WIDTH: i64 = 860;
const ROW: i64 = 22;
const BARS_MAX: usize = 2_000;
const NAME_MAX: usize = 11;

struct Bar {
    name: String,
    attempt: u32,
    from: i64,
    to: i64,
    is_good: bool,
}

/// Draws the tries of all steps of a plan; one that is still under way ends with what was told last.
pub(super) fn draw_step_timeline(steps: &Steps<'_>) -> String {
    let bar = |one: &Try<'_>| {
        let from = moment(one.from)?;
        let to = moment(one.to.unwrap_or(steps.told_at))?;
        Some(Bar {
            name: one.step.to_string(),
            attempt: one.attempt,
            from,
            to: to.max(from),
            is_good: one.is_good(),
        })
    };
    let bars = steps.tries.iter().filter_map(bar).take(BARS_MAX);
    draw_timeline(&bars.collect::<Vec<_>>())
}

fn draw_timeline(bars: &[Bar]) -> String {
    let (Some(begin), Some(end)) = (
        bars.iter().map(|bar| bar.from).min(),
        bars.iter().map(|bar| bar.to).max(),
    ) else {
        return String::new();
    };
    let span = (end - begin).max(1);
    let height = (i64::try_from(bars.len()).unwrap_or(0) + 1) * ROW + 8;
    let mut text = format!(
        "<svg class=\"timeline\" viewBox=\"0 0 {} {height}\" width=\"{}\" height=\"{height}\" \
         role=\"img\" aria-label=\"timeline\">\n",
        LABEL + WIDTH + 10,
        LABEL + WIDTH + 10
    );
    for (row, bar) in (0_i64..).zip(bars) {
        let (x, y) = (LABEL + (bar.from - begin) * WIDTH / span, row * ROW + 4);
        let width = ((bar.to - bar.from) * WIDTH / span).max(3);
        let took = time(u64::try_from(bar.to - bar.from).unwrap_or(0));
        let (name, attempt) = (&bar.name, bar.attempt);
        let class = if bar.is_good { "good" } else { "bad" };
        let _ = writeln!(
            text,
            "<text x=\"0\" y=\"{}\">{} ·{attempt}</text><rect class=\"bar {class}\" x=\"{x}\" \
             y=\"{y}\" width=\"{width}\" height=\"14\" rx=\"3\"><title>{}</title></rect>",
            y + 12,
            escaped(&shortened(name, NAME_MAX)),
            escaped(&format!("{name}, try {attempt}: {took}"))
        );
    }
    let whole = time(u64::try_from(span).unwrap_or(0));
    let _ = writeln!(
        text,
        "<text x=\"{LABEL}\" y=\"{}\">0</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{whole}</text>",
        height - 6,
        LABEL + WIDTH,
        height - 6
    );
    text + "</svg>\n"
}

fn moment(at: &str) -> Option<i64> {
    let at = DateTime::parse_from_rfc3339(at).ok();
    at.map(|at| at.timestamp_millis())
}

/// Draws the attempts of all tasks; one that is still under way ends with the last event.
pub(super) fn draw_task_timeline(view: &RunView) -> String {
    let last = view.events().last().and_then(|event| moment(&event.at));
    let bar = |task: &TaskRun, one: &Attempt| {
        let from = moment(&one.started_at)?;
        let ended = one.agent_ended_at.as_ref().or(one.ended_at.as_ref());
        let to = ended.map_or(last, |at| moment(at));
        Some(Bar {
            name: task.task_id.to_string(),
            attempt: one.attempt,
            from,
            to: to.unwrap_or(from).max(from),
            is_good: one.state == Stage::Done,
        })
    };
    let tasks = view.tasks.iter();
    let attempts = tasks.flat_map(|task| task.history.iter().map(move |one| (task, one)));
    let bars = attempts.filter_map(|(task, one)| bar(task, one));
    let mut bars: Vec<Bar> = bars.take(BARS_MAX).collect();
    bars.sort_by_key(|bar| bar.from);
    draw_timeline(&bars)
}

const STEP_STATES: &[TaskState] = &[
    TaskState::Waiting,
    TaskState::Running,
    TaskState::Done,
    TaskState::Failed,
];

pub(super) fn draw_task_graph(view: &RunView) -> String {
    let shapes: Vec<Shape> = view.tasks.iter().take(DRAWN_MAX).map(shape).collect();
    let note = match view.tasks.len() - shapes.len() {
        0 => String::new(),
        left => format!("<p class=\"dim\">{left} more tasks are not drawn.</p>\n"),
    };
    draw_graph(&shapes, TaskState::ALL) + &note
}

pub(super) fn draw_step_graph(steps: &Steps<'_>) -> String {
    let shapes = steps.plan.shapes().into_iter().map(|shape| Shape {
        state: look(steps.state(&shape.name)),
        ..shape
    });
    draw_graph(&shapes.collect::<Vec<_>>(), STEP_STATES)
}

fn draw_graph(shapes: &[Shape], states: &[TaskState]) -> String {
    let key: Vec<Look> = states.iter().copied().map(look).collect();
    format!("<div class=\"scroll\">{}</div>\n", svg_with(shapes, &key))
}

fn shape(task: &TaskRun) -> Shape {
    Shape {
        id: task.task_id,
        name: task.task_id.to_string(),
        title: task.title.clone(),
        state: look(task.state),
        is_epic: task.is_epic,
        depends: task.needs.clone(),
        parent: None,
    }
}

/// Returns how a state looks: like the status that is nearest to it, under its own name.
fn look(state: TaskState) -> Look {
    let nearest = match state {
        TaskState::Waiting => Status::Pending,
        TaskState::Running | TaskState::Verifying => Status::Active,
        TaskState::Done => Status::Done,
        TaskState::Failed => Status::Blocked,
        TaskState::Skipped | TaskState::Cancelled => Status::Cancelled,
    };
    Look::from(nearest).named(state.word())
}

//! The tasks of a run, or the steps of its plan, as a picture: drawn like a graph of tasks, with their states in
//! the run, which are others than the statuses of tasks.

use super::Record;
use super::steps::Steps;
use crate::run::board::{TaskRun, TaskState};
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Look, Shape, svg_with};

/// Where a step of a plan can stand.
const STEP_STATES: &[TaskState] = &[
    TaskState::Waiting,
    TaskState::Running,
    TaskState::Done,
    TaskState::Failed,
];

/// Draws the tasks in layers, each below what it waits for.
pub(super) fn of_tasks(record: &Record<'_>) -> String {
    let shapes: Vec<Shape> = record.tasks.iter().take(DRAWN_MAX).map(shape).collect();
    let note = match record.tasks.len() - shapes.len() {
        0 => String::new(),
        left => format!("<p class=\"dim\">{left} more tasks are not drawn.</p>\n"),
    };
    drawn(&shapes, TaskState::ALL) + &note
}

/// Draws the steps of a plan in the same way. No plan has more than can be drawn.
pub(super) fn of_steps(steps: &Steps<'_>) -> String {
    let shapes = steps.plan.shapes().into_iter().map(|shape| Shape {
        state: look(steps.state(&shape.name)),
        ..shape
    });
    drawn(&shapes.collect::<Vec<_>>(), STEP_STATES)
}

fn drawn(shapes: &[Shape], states: &[TaskState]) -> String {
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
        TaskState::Running => Status::Active,
        TaskState::Done => Status::Done,
        TaskState::Failed => Status::Blocked,
        TaskState::Skipped => Status::Cancelled,
    };
    Look::from(nearest).named(state.word())
}

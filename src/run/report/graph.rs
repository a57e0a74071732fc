//! The tasks of a run as a picture: drawn like a graph of tasks, with their states in the run, which are others
//! than the statuses of tasks.

use super::Record;
use crate::run::board::{TaskRun, TaskState};
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Look, Shape, svg_with};

/// Draws the tasks in layers, each below what it waits for.
pub(super) fn graph(record: &Record<'_>) -> String {
    let shapes: Vec<Shape> = record.tasks.iter().take(DRAWN_MAX).map(shape).collect();
    let note = match record.tasks.len() - shapes.len() {
        0 => String::new(),
        left => format!("<p class=\"dim\">{left} more tasks are not drawn.</p>\n"),
    };
    let key: Vec<Look> = TaskState::ALL.iter().copied().map(look).collect();
    let picture = svg_with(&shapes, &key);
    format!("<div class=\"scroll\">{picture}</div>\n{note}")
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

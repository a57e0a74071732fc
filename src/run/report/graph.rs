//! The tasks of a run as a picture: drawn like a graph of tasks, with their states in the run in the place of
//! a status of a task, which is another thing.

use super::Record;
use crate::run::board::{TaskRun, TaskState};
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Shape, svg};

/// Draws the tasks in layers, each below what it waits for.
pub(super) fn graph(record: &Record<'_>) -> String {
    let shapes: Vec<Shape> = record.tasks.iter().take(DRAWN_MAX).map(shape).collect();
    let note = match record.tasks.len() - shapes.len() {
        0 => String::new(),
        left => format!("<p class=\"dim\">{left} more tasks are not drawn.</p>\n"),
    };
    let picture: String = svg(&shapes).lines().filter_map(with_state).collect();
    let key = key();
    format!("<div class=\"scroll\">{picture}</div>\n{key}{note}")
}

fn shape(task: &TaskRun) -> Shape {
    Shape {
        id: task.task_id,
        name: task.task_id.to_string(),
        title: task.title.clone(),
        status: stand_in(task.state),
        is_epic: task.is_epic,
        depends: task.needs.clone(),
        parent: None,
    }
}

/// Returns the status with whose colors a state is drawn.
fn stand_in(state: TaskState) -> Status {
    match state {
        TaskState::Waiting => Status::Pending,
        TaskState::Running => Status::Active,
        TaskState::Done => Status::Done,
        TaskState::Failed => Status::Blocked,
        TaskState::Skipped => Status::Cancelled,
    }
}

/// Writes a line of a picture with the state of its task; none for a line of the key to its colors, which
/// names every status. What somebody wrote has no `<` and no `"` in it.
fn with_state(line: &str) -> Option<String> {
    if line.starts_with("<rect x=") {
        return None;
    }
    let task = line.strip_prefix("<g class=\"task ");
    let is_it = |state: &TaskState| {
        let class = format!("{}\"", stand_in(*state));
        task.is_some_and(|task| task.starts_with(&class))
    };
    let state = TaskState::ALL.iter().copied().find(is_it);
    let line = state.map_or_else(|| line.to_string(), |state| renamed(line, state));
    Some(line + "\n")
}

/// Names the state of a task where its status stands: in its class, and at the end of its title.
fn renamed(line: &str, state: TaskState) -> String {
    let status = stand_in(state);
    let class = |word: &str| format!("<g class=\"task {word}\"");
    let end = |word: &str| format!(": {word}</title>");
    line.replacen(&class(status.word()), &class(state.word()), 1)
        .replacen(&end(status.word()), &end(state.word()), 1)
}

/// Tells which color is which state.
fn key() -> String {
    let states = TaskState::ALL.iter();
    let states = states.map(|state| format!("<span class=\"{state}\">{state}</span>"));
    format!("<p class=\"key\">{}</p>\n", states.collect::<String>())
}

//! Tasks as a page for people: an epic is a heading, a task a line with a box.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::id::{self, TaskId};
use crate::markdown::escape;
use crate::task::{Priority, Status, Task};

/// Writes the page.
pub(crate) fn page(items: &[Task]) -> String {
    let here: HashMap<TaskId, &Task> = items.iter().map(|item| (item.id, item)).collect();
    let mut below: HashMap<Option<TaskId>, Vec<&Task>> = HashMap::new();
    for item in items {
        // An epic stands on its own, wherever it belongs.
        let parent = item
            .parent
            .filter(|id| here.contains_key(id) && !item.kind.is_epic());
        below.entry(parent).or_default().push(item);
    }
    let done = items
        .iter()
        .filter(|item| item.status == Status::Done)
        .count();
    let mut page = format!("# Tasks\n\n{done} of {} done.\n", items.len());
    let top = below.remove(&None).unwrap_or_default();
    let (epics, single): (Vec<&Task>, Vec<&Task>) =
        top.into_iter().partition(|item| item.kind.is_epic());
    for epic in epics {
        let parts = below.remove(&Some(epic.id)).unwrap_or_default();
        let _ = write!(page, "\n## {} {}\n\n", epic.id, escape(&epic.title));
        let _ = writeln!(page, "{}", state(epic, &parts));
        section(&mut page, parts, &mut below);
    }
    if !single.is_empty() {
        page.push_str("\n## Without an epic\n");
        section(&mut page, single, &mut below);
    }
    page
}

fn state(epic: &Task, parts: &[&Task]) -> String {
    let done = parts
        .iter()
        .filter(|item| item.status == Status::Done)
        .count();
    let mut state = format!("{}, {}", epic.status, epic.priority);
    if !parts.is_empty() {
        let _ = write!(state, ", {done} of {} done", parts.len());
    }
    if !epic.depends.is_empty() {
        let _ = write!(state, ", needs {}", id::list(&epic.depends));
    }
    state
}

/// Writes tasks with what is below them, without recursion.
fn section<'a>(
    page: &mut String,
    top: Vec<&'a Task>,
    below: &mut HashMap<Option<TaskId>, Vec<&'a Task>>,
) {
    if !top.is_empty() {
        page.push('\n');
    }
    let mut stack: Vec<(usize, &Task)> = top.into_iter().rev().map(|item| (0, item)).collect();
    while let Some((depth, item)) = stack.pop() {
        line(page, depth, item);
        let parts = below.remove(&Some(item.id)).unwrap_or_default();
        stack.extend(parts.into_iter().rev().map(|part| (depth + 1, part)));
    }
}

fn line(page: &mut String, depth: usize, item: &Task) {
    let indent = "  ".repeat(depth);
    let is_over = matches!(item.status, Status::Done | Status::Cancelled);
    let mark = if is_over { 'x' } else { ' ' };
    let title = match item.status {
        Status::Cancelled => format!("~~{}~~", escape(&item.title)),
        _ => escape(&item.title),
    };
    let _ = write!(page, "{indent}- [{mark}] **{}** {title}", item.id);
    let mut facts = Vec::new();
    if !matches!(item.status, Status::Pending | Status::Done) {
        facts.push(item.status.to_string());
    }
    if item.priority != Priority::Medium {
        facts.push(item.priority.to_string());
    }
    if !item.depends.is_empty() {
        facts.push(format!("needs {}", id::list(&item.depends)));
    }
    if !item.labels.is_empty() {
        let labels: Vec<String> = item.labels.iter().map(|label| escape(label)).collect();
        facts.push(labels.join(", "));
    }
    if !facts.is_empty() {
        let _ = write!(page, " ({})", facts.join("; "));
    }
    page.push('\n');
}

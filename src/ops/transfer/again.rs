//! A task that is imported again: what the file says of it now, and what it is here.

use crate::store::{CIRCULAR, DANGLING};
use crate::task::{Note, Task};
use crate::transfer::Format;
use crate::transfer::silent::{Part, Silent};

/// Labels that a file tells by fields of their own; a task has one of each kind.
const HEADS: [&str; 3] = ["project:", "tag:", "milestone:"];

/// Joins what a task is here with what the file says now. What the file says nothing of stays, and so
/// does every note; parent and dependencies were settled before, with those of all others.
pub(super) fn joined(before: &Task, mut task: Task, format: Format, silent: Silent) -> Task {
    task.notes = notes(&before.notes, task.notes);
    if format == Format::Cleo {
        return task;
    }
    task.uid.clone_from(&before.uid);
    task.created_at.clone_from(&before.created_at);
    task.key.clone_from(&before.key);
    task.feature.clone_from(&before.feature);
    keep_values(before, &mut task);
    keep_times(before, &mut task);
    keep_parts(before, &mut task, silent);
    for (name, value) in &before.extra {
        // What waits for something that is not there is for a user to clear, not for a file.
        let is_missing = [DANGLING, CIRCULAR].contains(&name.as_str());
        if !is_missing && name != "relations" && name != format.word() {
            task.extra.entry(name).or_insert_with(|| value.clone());
        }
    }
    task
}

/// Fills a value that the file lacks.
fn or<T: Clone>(value: &mut Option<T>, before: &Option<T>) {
    if value.is_none() {
        value.clone_from(before);
    }
}

fn keep_values(before: &Task, task: &mut Task) {
    or(&mut task.estimate, &before.estimate);
    or(&mut task.phase, &before.phase);
    or(&mut task.size, &before.size);
    or(&mut task.assigned_agent, &before.assigned_agent);
    or(&mut task.due, &before.due);
}

/// Keeps times that the file lacks, but for those of an end that is none any more.
fn keep_times(before: &Task, task: &mut Task) {
    or(&mut task.started_at, &before.started_at);
    if task.status == before.status {
        or(&mut task.completed_at, &before.completed_at);
        or(&mut task.cancelled_at, &before.cancelled_at);
    }
    if task.is_closed() {
        or(&mut task.archived_at, &before.archived_at);
    }
}

fn keep_parts(before: &Task, task: &mut Task, silent: Silent) {
    if silent.on(Part::Description) {
        task.description.clone_from(&before.description);
    }
    if silent.on(Part::Kind) {
        task.kind.clone_from(&before.kind);
    }
    if silent.on(Part::Priority) {
        task.priority = before.priority;
    }
    if silent.on(Part::Labels) {
        task.labels = labels(&before.labels, std::mem::take(&mut task.labels));
    }
    for (part, list, own) in [
        (Part::Files, &mut task.files, &before.files),
        (Part::Acceptance, &mut task.acceptance, &before.acceptance),
        (
            Part::Deliverables,
            &mut task.deliverables,
            &before.deliverables,
        ),
    ] {
        if silent.on(part) {
            list.clone_from(own);
        }
    }
}

/// Joins labels with those that a file without labels tells by other fields.
fn labels(before: &[String], told: Vec<String>) -> Vec<String> {
    let head = |label: &str| HEADS.into_iter().find(|head| label.starts_with(head));
    let is_replaced = |label: &String| {
        let own = head(label);
        own.is_some() && told.iter().any(|other| head(other) == own) && !told.contains(label)
    };
    let kept = before.iter().filter(|label| !is_replaced(label));
    let mut labels: Vec<String> = kept.cloned().collect();
    labels.extend(told.into_iter().filter(|label| !before.contains(label)));
    labels
}

fn notes(before: &[Note], after: Vec<Note>) -> Vec<Note> {
    let mut notes = before.to_vec();
    for note in after {
        if !notes
            .iter()
            .any(|other| (&other.by, &other.text) == (&note.by, &note.text))
        {
            notes.push(note);
        }
    }
    notes
}

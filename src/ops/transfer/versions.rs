//! Two versions of a task: the one here, and the one of a file.

use std::collections::{BTreeSet, HashMap};
use std::mem;

use serde_json::{Map, Value, json};

use super::plan::Plan;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::proof::needs_proof;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::{Note, Status, Task};
use crate::transfer::Record;
use crate::transfer::formats::ORIGINAL;
use crate::transfer::formats::cleo::merge_notes;

impl Plan {
    /// Updates a known task from the file of another tool.
    pub(super) fn update(&mut self, at: usize, before: &Task, now: &str) -> Result<()> {
        let record = &mut self.entries[at].record;
        // Without a time in the file, what was changed here since the import stays.
        if record.task.updated_at.is_empty() {
            record.task.updated_at.clone_from(&before.created_at);
        }
        date(&mut record.task, now);
        if before.updated_at > record.task.updated_at {
            self.stay(at, before);
            return Ok(());
        }
        let joined = join(before, record, self.report.format.word()).map_err(|cause| {
            Error::new(Code::Internal, "two versions of a task cannot be joined").because(cause)
        })?;
        record.task = joined;
        Ok(())
    }

    /// Merges a known task with its version in an export. Of two versions the later one counts; of the same time
    /// the one that is here.
    pub(super) fn merge(
        &mut self,
        at: usize,
        before: &Task,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let task = &mut self.entries[at].record.task;
        if task.created_at.is_empty() {
            task.created_at.clone_from(&before.created_at);
        }
        // A key is given once: where two copies gave the same one to different tasks, each keeps its own.
        let file_key = task.key.take();
        task.key = match (&before.key, file_key) {
            (None, Some(key)) if tasks.task_by_key(&key)?.is_none() => Some(key),
            (key, _) => key.clone(),
        };
        let mut notes = merge_notes(&before.notes, mem::take(&mut task.notes));
        if notes == merge_notes(&before.notes, Vec::new()) {
            notes.clone_from(&before.notes);
        }
        if task.updated_at <= before.updated_at {
            let same = Task {
                notes: Vec::new(),
                updated_at: task.updated_at.clone(),
                ..before.clone()
            };
            let fields = differing(&same, task);
            if !fields.is_empty() {
                self.report_kept(at, fields, "changed here later");
                self.stay(at, before);
            }
            self.entries[at].record.task = before.clone();
        }
        self.entries[at].record.task.notes = notes;
        Ok(())
    }

    /// Leaves a task as it is, which was changed here later than in the file.
    fn stay(&mut self, at: usize, before: &Task) {
        self.entries[at].record.task = before.clone();
        self.entries[at].is_newer_here = true;
        self.report.newer_here.add(|| before.id.to_string());
    }

    /// Keeps what an import cannot decide: that a task is done, the status of one that is claimed, that
    /// one which must be proven here is open, and what work here is measured by. Only the first is dated
    /// anew, for the other copy to take over: claims and proof are of this copy alone.
    pub(super) fn protect(&mut self, at: usize, tasks: &dyn Transaction, now: &str) -> Result<()> {
        let entry = &mut self.entries[at];
        let task = &mut entry.record.task;
        // What is open is not archived.
        if !task.is_closed() {
            task.archived_at = None;
        }
        let is_changed = |before: &Task| {
            task.status != before.status
                || (&task.acceptance, &task.files) != (&before.acceptance, &before.files)
        };
        let Some(before) = entry.before.clone().filter(is_changed) else {
            return Ok(());
        };
        let is_later = task.updated_at > before.updated_at;
        if before.status == Status::Done {
            let is_kept = self.keep(at, &["status"], "done here");
            self.entries[at].is_partial |= is_kept && is_later;
            return Ok(());
        }
        let claim = tasks.claim(before.id)?;
        if claim.is_some_and(|claim| claim.live_holder(now).is_some()) {
            self.keep(at, &["status"], "claimed here");
            self.keep(at, &["acceptance", "files"], "claimed here");
            return Ok(());
        }
        let is_unproven = task.status == Status::Done
            && (needs_proof(tasks, &before)? || needs_proof(tasks, task)?);
        if is_unproven {
            self.keep(at, &["status"], "not verified here");
        }
        if tasks.latest_spawn(before.id)?.is_some() {
            self.keep(at, &["acceptance", "files"], "spawned here");
        }
        Ok(())
    }

    /// Keeps tasks open that have open parts here, which `complete` would refuse. New tasks and new parts stay as
    /// the file has them, so that an export can be restored.
    pub(super) fn keep_wholes_open(&mut self, tasks: &dyn Transaction) -> Result<()> {
        let mut parts: HashMap<TaskId, Vec<usize>> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Some(whole) = entry.record.task.parent.filter(|_| entry.before.is_some()) {
                parts.entry(whole).or_default().push(at);
            }
        }
        let mut unchecked: Vec<usize> = (0..self.entries.len()).collect();
        while let Some(at) = unchecked.pop() {
            let entry = &self.entries[at];
            let is_open = entry.before.as_ref().is_some_and(|it| !it.is_closed());
            let (id, whole) = (entry.record.task.id, entry.record.task.parent);
            if !is_open || entry.record.task.status != Status::Done {
                continue;
            }
            let mut within = parts.get(&id).into_iter().flatten();
            let mut has_open = within.any(|part| !self.entries[*part].record.task.is_closed());
            for part in tasks.children(id)? {
                let status = tasks.status(part)?;
                let is_closed = matches!(status, Some(Status::Done | Status::Cancelled));
                has_open |= !is_closed && !self.places.contains_key(&part);
            }
            if has_open {
                self.keep(at, &["status"], "it has open parts");
                unchecked.extend(whole.and_then(|whole| self.places.get(&whole)));
            }
        }
        Ok(())
    }

    /// Leaves fields of a known task as they are here, and reports those that the file would have changed;
    /// returns whether there are any.
    pub(super) fn keep(&mut self, at: usize, names: &[&str], reason: &'static str) -> bool {
        let entry = &mut self.entries[at];
        let Some(before) = &entry.before else {
            return false;
        };
        let task = &mut entry.record.task;
        let mut fields = Vec::new();
        for name in names {
            let is_changed = match *name {
                "parent" => mem::replace(&mut task.parent, before.parent) != before.parent,
                "depends" => restore(&mut task.depends, &before.depends),
                "acceptance" => restore(&mut task.acceptance, &before.acceptance),
                "files" => restore(&mut task.files, &before.files),
                _ if task.status == before.status => false,
                _ => {
                    task.status = before.status;
                    task.started_at.clone_from(&before.started_at);
                    task.completed_at.clone_from(&before.completed_at);
                    task.cancelled_at.clone_from(&before.cancelled_at);
                    task.archived_at.clone_from(&before.archived_at);
                    true
                }
            };
            fields.extend(is_changed.then(|| name.to_string()));
        }
        let has_changed = !fields.is_empty();
        if has_changed {
            self.report_kept(at, fields, reason);
        }
        has_changed
    }
}

/// Replaces a list by the one that is here; returns whether it differed.
fn restore<T: Clone + PartialEq>(list: &mut Vec<T>, here: &[T]) -> bool {
    mem::replace(list, here.to_vec()) != here
}

/// Fills in the times that a task lacks: it was made now, and nothing became of it since.
pub(super) fn date(task: &mut Task, now: &str) {
    if task.created_at.is_empty() {
        task.created_at = now.to_string();
    }
    if task.updated_at.is_empty() {
        task.updated_at.clone_from(&task.created_at);
    }
    let is_undated = |note: &&mut Note| note.at.is_empty();
    for note in task.notes.iter_mut().filter(is_undated) {
        note.at.clone_from(&task.updated_at);
    }
}

/// Joins what a task is here with what the file of another tool says now. What the file leaves empty stays, and so
/// does every note. Parent and dependencies were settled before.
fn join(before: &Task, record: &Record, format: &str) -> serde_json::Result<Task> {
    let task = &record.task;
    let mut joined = json!(before);
    for (name, value) in json!(task).as_object().into_iter().flatten() {
        let is_said = match name.as_str() {
            "uid" | "key" | "createdAt" | "labels" | "notes" | "extra" => false,
            "parent" | "depends" => true,
            "priority" => record.has_priority,
            "type" => value != "task",
            "completedAt" | "cancelledAt" if task.status != before.status => true,
            _ => !matches!(value, Value::Null) && *value != json!("") && *value != json!([]),
        };
        if is_said {
            joined[name] = value.clone();
        }
    }
    let mut joined: Task = serde_json::from_value(joined)?;
    joined.labels = match record.has_labels {
        true => task.labels.clone(),
        false => join_labels(&before.labels, &task.labels),
    };
    for note in &task.notes {
        let is_same = |other: &Note| (&other.by, &other.text) == (&note.by, &note.text);
        if !joined.notes.iter().any(is_same) {
            joined.notes.push(note.clone());
        }
    }
    // What waits for something that is not there is for a user to clear, not for a file.
    let replaced = [DANGLING, CIRCULAR, "relations", ORIGINAL, format];
    joined
        .extra
        .retain(|name, _| !replaced.contains(&name.as_str()));
    joined.extra.extend(task.extra.clone());
    Ok(joined)
}

/// Joins labels with those that a file without labels tells by fields of their own, such as `project:a`: a task has
/// one of each kind.
fn join_labels(before: &[String], told: &[String]) -> Vec<String> {
    let kind = |label: &String| label.split_once(':').map(|(kind, _)| kind.to_string());
    let kinds: Vec<Option<String>> = told.iter().map(kind).collect();
    let is_kept = |label: &&String| {
        let kind = kind(label);
        told.contains(label) || kind.is_none() || !kinds.contains(&kind)
    };
    let mut labels: Vec<String> = before.iter().filter(is_kept).cloned().collect();
    labels.extend(told.iter().filter(|label| !before.contains(label)).cloned());
    labels
}

/// Returns the names of the fields in which two versions differ.
pub(super) fn differing(one: &Task, other: &Task) -> Vec<String> {
    if one == other {
        return Vec::new();
    }
    let (one, other) = (json!(one), json!(other));
    let fields = one.as_object().into_iter().chain(other.as_object());
    let names = fields.flat_map(Map::keys);
    let names: BTreeSet<&String> = names
        .filter(|name| one.get(*name) != other.get(*name))
        .collect();
    names.into_iter().cloned().collect()
}

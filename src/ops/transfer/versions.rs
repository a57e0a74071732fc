//! Merges two versions of a task: the one here, and the one of a file.

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
use crate::transfer::formats::cleo::merge_notes;

impl Plan {
    /// Updates a known task from the file of another tool.
    pub(super) fn update(&mut self, at: usize, before: &Task, now: &str) -> Result<()> {
        let record = &mut self.entries[at].record;
        // Without a time in the file, changes that were made here since the import stay.
        if record.task.updated_at.is_empty() {
            record.task.updated_at.clone_from(&before.created_at);
        }
        fill_times(&mut record.task, now);
        if before.updated_at > record.task.updated_at {
            self.keep_newer(at, before);
            return Ok(());
        }
        let joined =
            merge_tool_version(before, record, self.report.format.word()).map_err(|cause| {
                Error::new(Code::Internal, "two versions of a task cannot be joined").because(cause)
            })?;
        record.task = joined;
        Ok(())
    }

    /// Merges a known task with its version in an export. The later version wins; of the same time the one here.
    pub(super) fn merge_export_version(
        &mut self,
        at: usize,
        before: &Task,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let task = &mut self.entries[at].record.task;
        if task.created_at.is_empty() {
            task.created_at.clone_from(&before.created_at);
        }
        // If two copies gave the same key to different tasks, each keeps its own.
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
                self.keep_newer(at, before);
            }
            self.entries[at].record.task = before.clone();
        }
        self.entries[at].record.task.notes = notes;
        Ok(())
    }

    /// Leaves a task unchanged that was changed here later than in the file.
    fn keep_newer(&mut self, at: usize, before: &Task) {
        self.entries[at].record.task = before.clone();
        self.entries[at].is_newer_here = true;
        self.report.newer_here.add(|| before.id.to_string());
    }

    /// Keeps what an import cannot change: status `done`, the status of a claimed task or one that has to be verified
    /// here, and the criteria of work in progress. Only the first is dated anew, so that the other copy imports it:
    /// claims and proof belong to this copy alone.
    pub(super) fn protect_fields(
        &mut self,
        at: usize,
        tasks: &dyn Transaction,
        now: &str,
    ) -> Result<()> {
        let entry = &mut self.entries[at];
        let task = &mut entry.record.task;
        // An open task is not archived.
        if !task.is_closed() {
            task.archived_at = None;
        }
        let is_changed = |before: &Task| {
            task.status != before.status
                || (&task.acceptance, &task.files) != (&before.acceptance, &before.files)
        };
        let before = entry.before.as_deref().filter(|before| is_changed(before));
        let Some(before) = before.cloned() else {
            return Ok(());
        };
        let is_later = task.updated_at > before.updated_at;
        if before.status == Status::Done {
            let n_kept = self.keep_fields(at, &["status"], "done here");
            self.entries[at].is_partial |= n_kept > 0 && is_later;
            return Ok(());
        }
        let claim = tasks.claim(before.id)?;
        if claim.is_some_and(|claim| claim.live_holder(now).is_some()) {
            self.keep_fields(at, &["status"], "claimed here");
            self.keep_fields(at, &["acceptance", "files"], "claimed here");
            return Ok(());
        }
        let is_unproven = task.status == Status::Done
            && (needs_proof(tasks, &before)? || needs_proof(tasks, task)?);
        if is_unproven {
            self.keep_fields(at, &["status"], "not verified here");
        }
        if tasks.latest_spawn(before.id)?.is_some() {
            self.keep_fields(at, &["acceptance", "files"], "spawned here");
        }
        Ok(())
    }

    /// Keeps tasks open that have open parts here, which `complete` would refuse. New tasks and new parts are imported
    /// unchanged, so that an export can be restored.
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
                self.keep_fields(at, &["status"], "it has open parts");
                unchecked.extend(whole.and_then(|whole| self.places.get(&whole)));
            }
        }
        Ok(())
    }

    /// Keeps fields of a known task. Reports and counts those that the file would have changed.
    pub(super) fn keep_fields(&mut self, at: usize, names: &[&str], reason: &'static str) -> usize {
        let entry = &mut self.entries[at];
        let Some(before) = &entry.before else {
            return 0;
        };
        let task = &mut entry.record.task;
        let mut fields = Vec::new();
        for name in names {
            let is_changed = match *name {
                "acceptance" => {
                    mem::replace(&mut task.acceptance, before.acceptance.clone())
                        != before.acceptance
                }
                "files" => mem::replace(&mut task.files, before.files.clone()) != before.files,
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
        let n_kept = fields.len();
        if n_kept > 0 {
            self.report_kept(at, fields, reason);
        }
        n_kept
    }
}

/// Fills in missing times: the task was created now, and did not change since.
pub(super) fn fill_times(task: &mut Task, now: &str) {
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

/// Merges a task with its version in the file of another tool. Fields that are empty there stay, and so do all notes.
/// Parent and dependencies are already resolved.
fn merge_tool_version(before: &Task, record: &Record, format: &str) -> serde_json::Result<Task> {
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
        false => merge_labels(&before.labels, &task.labels),
    };
    for note in &task.notes {
        let is_same = |other: &Note| (&other.by, &other.text) == (&note.by, &note.text);
        if !joined.notes.iter().any(is_same) {
            joined.notes.push(note.clone());
        }
    }
    // Lists of an earlier import are replaced by those of this one.
    let replaced = [DANGLING, CIRCULAR, "relations", format];
    joined
        .extra
        .retain(|name, _| !replaced.contains(&name.as_str()));
    joined.extra.extend(task.extra.clone());
    Ok(joined)
}

/// Merges labels with those that a file without labels has as fields, such as `project:a`: a task has one of each
/// kind.
fn merge_labels(before: &[String], told: &[String]) -> Vec<String> {
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

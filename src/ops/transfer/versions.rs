//! Two versions of a task: the one here, and the one of a file.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::mem;

use serde_json::{Value, json};

use super::plan::Plan;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::complete::needs_proof;
use crate::ops::require;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::{Note, Status, Task};
use crate::transfer::formats::ORIGINAL;
use crate::transfer::formats::cleo::merge_notes;

/// Labels that a file tells by fields of their own; a task has one of each kind.
const HEADS: [&str; 3] = ["project:", "tag:", "milestone:"];

impl Plan {
    /// Updates a known task from the file of another tool.
    pub(super) fn update(&mut self, at: usize, before: &Task, now: &str) {
        let entry = &mut self.entries[at];
        let mut task = entry.record.task.clone();
        // Without a time in the file, what was changed here since the import stays.
        if task.updated_at.is_empty() {
            task.updated_at.clone_from(&before.created_at);
        }
        date(&mut task, now);
        if before.updated_at > task.updated_at {
            entry.record.task = before.clone();
            entry.is_newer_here = true;
            return self.report.newer_here.add(|| before.id.to_string());
        }
        let format = self.report.format.word();
        entry.record.task = join(before, task, format, &entry.record.told);
    }

    /// Merges a known task with its version in an export.
    pub(super) fn merge(
        &mut self,
        at: usize,
        before: &Task,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let mut task = self.entries[at].record.task.clone();
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
        let same = Task {
            notes: Vec::new(),
            updated_at: task.updated_at.clone(),
            ..before.clone()
        };
        let is_later = match task.updated_at.cmp(&before.updated_at) {
            Ordering::Equal if same != task => {
                let is_done = |task: &Task| task.status == Status::Done;
                let here = (is_done(&same), self.canonical(&same, tasks)?);
                (is_done(&task), self.canonical(&task, tasks)?) > here
            }
            order => order.is_gt(),
        };
        if !is_later {
            if same != task {
                self.keep(at, differing(&same, &task), "changed here later");
                self.entries[at].is_newer_here = true;
                self.report.newer_here.add(|| before.id.to_string());
            }
            task = before.clone();
        }
        task.notes = notes;
        self.entries[at].record.task = task;
        Ok(())
    }

    /// Writes a task so that every copy of it gives the same text, wherever its ids lead.
    fn canonical(&self, task: &Task, tasks: &dyn Transaction) -> Result<String> {
        let uid = |id: &TaskId| -> Result<Value> {
            let uid = match self.places.get(id) {
                Some(at) => self.entries[*at].record.task.uid.clone(),
                None => require(tasks, *id)?.uid,
            };
            Ok(uid.into())
        };
        let mut value = json!(task);
        value["id"] = Value::Null;
        value["parent"] = task.parent.as_ref().map(uid).transpose()?.into();
        value["depends"] = Value::Array(task.depends.iter().map(uid).collect::<Result<_>>()?);
        Ok(value.to_string())
    }

    /// Keeps what an import cannot decide: that a task is done, the status of one that is claimed, that
    /// one which must be proven here is open, and what work here is measured by. Only the first is dated
    /// anew, for the other copy to take over: claims and proof are of this copy alone.
    pub(super) fn protect(&mut self, at: usize, tasks: &dyn Transaction, now: &str) -> Result<()> {
        let task = &mut self.entries[at].record.task;
        // What is open is not archived.
        if !task.is_closed() {
            task.archived_at = None;
        }
        let task = &self.entries[at].record.task;
        let is_changed = |before: &&Task| {
            task.status != before.status
                || (&task.acceptance, &task.files) != (&before.acceptance, &before.files)
        };
        let before = self.entries[at].before.as_ref().filter(is_changed);
        let Some(before) = before.cloned() else {
            return Ok(());
        };
        let claim = tasks.claim(before.id)?;
        let is_claimed = claim.is_some_and(|claim| claim.live_holder(now).is_some());
        let is_spawned = tasks.latest_spawn(before.id)?.is_some();
        let is_done = before.status == Status::Done;
        let reason = match task.status {
            status if status == before.status => None,
            _ if is_done => Some("done here"),
            _ if is_claimed => Some("claimed here"),
            Status::Done if needs_proof(tasks, &before)? || needs_proof(tasks, task)? => {
                Some("not verified here")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let entry = &mut self.entries[at];
            entry.is_partial |= is_done && entry.record.task.updated_at > before.updated_at;
            self.keep_status(at, &before, reason);
        }
        let reason = match (is_done, is_claimed, is_spawned) {
            (false, true, _) => "claimed here",
            (false, false, true) => "spawned here",
            _ => return Ok(()),
        };
        let task = &mut self.entries[at].record.task;
        let mut fields = Vec::new();
        for (name, value, own) in [
            ("acceptance", &mut task.acceptance, &before.acceptance),
            ("files", &mut task.files, &before.files),
        ] {
            if value != own {
                value.clone_from(own);
                fields.push(name.to_string());
            }
        }
        if !fields.is_empty() {
            self.keep(at, fields, reason);
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
            let Some(before) = entry.before.clone().filter(|it| !it.is_closed()) else {
                continue;
            };
            if entry.record.task.status != Status::Done {
                continue;
            }
            let whole = entry.record.task.parent;
            let mut within = parts.get(&before.id).into_iter().flatten();
            let mut is_open = within.any(|part| !self.entries[*part].record.task.is_closed());
            for part in tasks.children(before.id)? {
                let is_closed =
                    matches!(tasks.status(part)?, Some(Status::Done | Status::Cancelled));
                is_open |= !is_closed && !self.places.contains_key(&part);
            }
            if is_open {
                self.keep_status(at, &before, "it has open parts");
                unchecked.extend(whole.and_then(|whole| self.places.get(&whole)));
            }
        }
        Ok(())
    }

    fn keep_status(&mut self, at: usize, before: &Task, reason: &'static str) {
        let task = &mut self.entries[at].record.task;
        task.status = before.status;
        task.started_at.clone_from(&before.started_at);
        task.completed_at.clone_from(&before.completed_at);
        task.cancelled_at.clone_from(&before.cancelled_at);
        task.archived_at.clone_from(&before.archived_at);
        self.keep(at, vec!["status".to_string()], reason);
    }
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

/// Joins what a task is here with what the file says now. `told` names the fields that the file says
/// something of; others stay, and so does every note. Parent and dependencies were settled before.
fn join(before: &Task, mut task: Task, format: &str, told: &[&str]) -> Task {
    let is_told = |name: &str| told.contains(&name);
    task.notes = join_notes(&before.notes, task.notes);
    task.uid.clone_from(&before.uid);
    task.created_at.clone_from(&before.created_at);
    task.key.clone_from(&before.key);
    task.feature.clone_from(&before.feature);
    task.estimate = task.estimate.or(before.estimate);
    task.size = task.size.or(before.size);
    fill(&mut task.phase, &before.phase);
    fill(&mut task.assigned_agent, &before.assigned_agent);
    fill(&mut task.due, &before.due);
    fill(&mut task.started_at, &before.started_at);
    if task.status == before.status {
        fill(&mut task.completed_at, &before.completed_at);
        fill(&mut task.cancelled_at, &before.cancelled_at);
    }
    if task.is_closed() {
        fill(&mut task.archived_at, &before.archived_at);
    }
    if !is_told("description") {
        task.description.clone_from(&before.description);
    }
    if !is_told("type") {
        task.kind.clone_from(&before.kind);
    }
    if !is_told("priority") {
        task.priority = before.priority;
    }
    if !is_told("labels") {
        task.labels = join_labels(&before.labels, mem::take(&mut task.labels));
    }
    for (name, list, own) in [
        ("files", &mut task.files, &before.files),
        ("acceptance", &mut task.acceptance, &before.acceptance),
        ("deliverables", &mut task.deliverables, &before.deliverables),
    ] {
        if !is_told(name) {
            list.clone_from(own);
        }
    }
    for (name, value) in &before.extra {
        // What waits for something that is not there is for a user to clear, not for a file.
        let is_replaced =
            [DANGLING, CIRCULAR, "relations", ORIGINAL, format].contains(&name.as_str());
        if !is_replaced {
            task.extra.entry(name).or_insert_with(|| value.clone());
        }
    }
    task
}

/// Fills a value that the file lacks.
fn fill(value: &mut Option<String>, before: &Option<String>) {
    if value.is_none() {
        value.clone_from(before);
    }
}

/// Joins labels with those that a file without labels tells by other fields.
fn join_labels(before: &[String], told: Vec<String>) -> Vec<String> {
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

fn join_notes(before: &[Note], after: Vec<Note>) -> Vec<Note> {
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

/// Returns the names of the fields in which two versions differ.
pub(super) fn differing(one: &Task, other: &Task) -> Vec<String> {
    if one == other {
        return Vec::new();
    }
    let (one, other) = (json!(one), json!(other));
    let fields = one.as_object().into_iter().chain(other.as_object());
    let names = fields.flat_map(|fields| fields.keys());
    let differ = |name: &&String| one.get(*name) != other.get(*name);
    let names: std::collections::BTreeSet<&String> = names.filter(differ).collect();
    names.into_iter().cloned().collect()
}

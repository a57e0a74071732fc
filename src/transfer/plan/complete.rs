//! The second reading: the tasks themselves.

use std::mem;

use serde_json::{Value, json};

use super::{Entry, Names};
use crate::error::{Code, Error, Result};
use crate::id::derive_uid;
use crate::task::Task;
use crate::transfer::report::Report;
use crate::transfer::silent::Silent;
use crate::transfer::{Format, Record};

/// What becomes of each record, in the order of the file.
pub(crate) struct Plan {
    pub(super) format: Format,
    pub(super) names: Names,
    pub(super) entries: Vec<Entry>,
    pub(super) next: usize,
    pub(super) open_only: bool,
    /// What was noticed.
    pub(crate) report: Report,
}

/// A task that is to be written.
#[derive(Debug)]
pub(crate) struct Planned<'a> {
    /// The task.
    pub(crate) task: &'a mut Task,
    /// What the file says nothing of.
    pub(crate) silent: Silent,
    /// Whether it is here already.
    pub(crate) is_known: bool,
}

impl Plan {
    /// Completes the task of the next record of the second reading; none when another line counts.
    pub(crate) fn complete<'a>(
        &mut self,
        record: &'a mut Record,
        now: &str,
    ) -> Result<Option<Planned<'a>>> {
        if self.open_only && record.task.is_closed() {
            return Ok(None);
        }
        let at = self.next;
        self.next += 1;
        let entry = self
            .entries
            .get_mut(at)
            .filter(|entry| self.names.name(entry.key) == record.key);
        let Some(entry) = entry else {
            let message = "the file was changed while it was read";
            return Err(Error::new(Code::FileChanged, message));
        };
        if entry.dropped {
            return Ok(None);
        }
        let task = &mut record.task;
        let origin = self.names.name(entry.origin);
        task.uid = derive_uid(&task.created_at, &[self.format.word(), origin]);
        task.id = entry.target;
        task.parent = entry.parent;
        task.depends = mem::take(&mut entry.needs);
        let is_known = entry.is_known;
        self.extend(task, &self.entries[at]);
        date(task, now);
        Ok(Some(Planned {
            task,
            silent: record.silent,
            is_known,
        }))
    }

    /// Says whether a second reading found every record of the first.
    pub(crate) fn is_whole(&self) -> bool {
        self.next == self.entries.len()
    }

    fn extend(&self, task: &mut Task, entry: &Entry) {
        let origin = self.names.name(entry.origin);
        let is_own = self.format == Format::Cleo && origin.parse() == Ok(entry.target);
        let is_copy = entry.came_from.is_some();
        if !is_own && !is_copy {
            let origin = json!({"format": self.format.word(), "id": origin});
            task.extra.insert("origin".to_string(), origin);
        }
        let named = |names: &[u32]| -> Vec<Value> {
            let names = names.iter().map(|name| self.names.name(*name).into());
            names.collect()
        };
        add_to_list(task, "danglingDepends", named(&entry.dangling));
        add_to_list(task, "circularDepends", named(&entry.circular));
        let relation =
            |(kind, name): &(&str, u32)| json!({"type": kind, "id": self.names.name(*name)});
        add_to_list(
            task,
            "relations",
            entry.related.iter().map(relation).collect(),
        );
    }
}

/// Fills in the times that a task lacks: it was made now, and nothing became of it since.
pub(crate) fn date(task: &mut Task, now: &str) {
    if task.created_at.is_empty() {
        task.created_at = now.to_string();
    }
    if task.updated_at.is_empty() {
        task.updated_at.clone_from(&task.created_at);
    }
    for note in task.notes.iter_mut().filter(|note| note.at.is_empty()) {
        note.at.clone_from(&task.updated_at);
    }
}

/// Adds values to a list in `extra` that lacks them.
pub(crate) fn add_to_list(task: &mut Task, name: &str, values: Vec<Value>) {
    if values.is_empty() {
        return;
    }
    let list = task
        .extra
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    if let Value::Array(list) = list {
        for value in values {
            if !list.contains(&value) {
                list.push(value);
            }
        }
    }
}

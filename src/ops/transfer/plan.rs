//! Decides about each task of a file. Tasks of an export of cleo are matched by uid: the later of two versions wins, and
//! the notes of both are kept. Tasks of other tools are matched by their ids there; fields that the file does not have
//! stay unchanged. Nothing is ever deleted.
//!
//! Claims, proof, status `done`, and the status and criteria of a task that is claimed or has to be verified stay
//! unchanged. If a version of an export is merged in part for another reason, it is dated one millisecond later than
//! both, so that the other copy imports it and all copies become equal.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::json;

use super::versions::fill_times;
use crate::clock::between_ms;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::require;
use crate::store::Transaction;
use crate::task::{Status, Task};
use crate::transfer::formats::cleo::merge_notes;
use crate::transfer::report::{Difference, Renamed, Report};
use crate::transfer::{Fault, Format, Reading, Record};

/// Maximum number that a task may keep: one near the end of the range would use up all ids.
const NUMBER_MAX: u32 = 99_999_999;
/// Maximum distance of a change in the future, in milliseconds: ten years, because clocks are sometimes wrong.
const FUTURE_MAX_MS: u64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// The tasks of a file, and the decisions about them.
pub(super) struct Plan {
    pub(super) report: Report,
    pub(super) entries: Vec<Entry>,
    /// Entries by their id here.
    pub(super) places: HashMap<TaskId, usize, RandomState>,
    by_uid: HashMap<String, usize, RandomState>,
    pub(super) by_key: HashMap<String, usize, RandomState>,
    pub(super) aliases: HashMap<String, usize, RandomState>,
    /// Skipped tasks, by key: the uid, and whether it is done.
    pub(super) left: HashMap<String, (String, bool), RandomState>,
}

pub(super) struct Entry {
    pub(super) record: Record,
    /// The id in the file, by which a later import finds the task.
    origin: String,
    /// The task before the import. The record has the task after it.
    pub(super) before: Option<Box<Task>>,
    /// It was changed here later than in the file, and stays unchanged.
    pub(super) is_newer_here: bool,
    /// A part of the later version was refused.
    pub(super) is_partial: bool,
}

impl Plan {
    pub(super) fn new(reading: Reading, open_only: bool) -> Plan {
        let mut plan = Plan {
            report: reading.report,
            entries: Vec::with_capacity(reading.records.len()),
            places: HashMap::default(),
            by_uid: HashMap::default(),
            by_key: HashMap::default(),
            aliases: HashMap::default(),
            left: reading.left,
        };
        for record in reading.records {
            plan.report.read += 1;
            if open_only && record.task.is_closed() {
                plan.report_left_out(record);
            } else {
                plan.add(record);
            }
        }
        plan
    }

    pub(super) fn is_own(&self) -> bool {
        self.report.format == Format::Cleo
    }

    fn report_left_out(&mut self, record: Record) {
        let is_done = record.task.status == Status::Done;
        let reason = if is_done { "done" } else { "cancelled" };
        self.report.add_left_out(&record.id, reason);
        for key in [record.id, record.key] {
            self.left.insert(key, (record.task.uid.clone(), is_done));
        }
    }

    fn add(&mut self, mut record: Record) {
        let at = self.entries.len();
        let (mut origin, mut is_other_export) = (record.id.clone(), false);
        let first = match self.is_own() {
            true => self.by_uid.get(&record.task.uid).copied(),
            false => self.by_key.get(&record.key).copied().filter(|first| {
                let other = &self.entries[*first].record.task;
                record.repeats && other.created_at == record.task.created_at
            }),
        };
        if let Some(first) = first {
            let outcome = "the same task once more; the one that was changed last counts";
            self.report_repeated(&record, outcome);
            self.by_key.entry(record.key.clone()).or_insert(first);
            return self.entries[first].record.replace_by_later(record);
        }
        if self.by_key.contains_key(&record.key) {
            self.report_repeated(&record, "another task with the same id; it gets a new one");
            let names = (2..).map(|nth: u32| format!("{}#{nth}", record.id));
            let is_free = |name: &String| !self.by_key.contains_key(name);
            origin = names.into_iter().find(is_free).unwrap_or(origin);
            self.by_key.insert(origin.clone(), at);
            is_other_export = self.is_own();
        }
        self.by_key.entry(record.key.clone()).or_insert(at);
        if let Some(alias) = record.alias.take() {
            self.aliases.entry(alias).or_insert(at);
        }
        self.report.count(&record.task);
        if self.is_own() {
            self.by_uid.insert(record.task.uid.clone(), at);
        } else {
            let format = self.report.format.word();
            let task = &mut record.task;
            task.uid = id::derive_uid(&task.created_at, &[format, &origin]);
            let value = json!({"format": format, "id": origin});
            task.extra.insert("origin".to_string(), value);
        }
        self.entries.push(Entry {
            record,
            origin,
            before: None,
            is_newer_here: false,
            is_partial: false,
        });
        if is_other_export {
            let message = "another task has its id in this file; import each export by itself";
            self.add_fault(at, message.to_string());
        }
    }

    fn report_repeated(&mut self, record: &Record, outcome: &str) {
        self.report.repeated_ids.add(|| Fault {
            place: record.place.clone(),
            id: Some(record.id.clone()),
            message: outcome.to_string(),
        });
    }

    /// Decides about all tasks. Nothing is written yet.
    pub(super) fn decide_all(&mut self, tasks: &mut dyn Transaction, now: &str) -> Result<()> {
        self.assign_ids(tasks, now)?;
        for at in 0..self.entries.len() {
            self.resolve(at, tasks)?;
            self.limit_date(at, now);
        }
        for at in 0..self.entries.len() {
            match self.entries[at].before.clone() {
                None => fill_times(&mut self.entries[at].record.task, now),
                Some(before) if self.is_own() => self.merge_export_version(at, &before, tasks)?,
                Some(before) => self.update(at, &before, now)?,
            }
            self.protect_fields(at, tasks, now)?;
        }
        self.refuse_circles(tasks)?;
        self.keep_wholes_open(tasks)?;
        for task in self.entries.iter().map(|entry| &entry.record.task) {
            let counted = self.report.by_status.entry(task.status.word());
            *counted.or_insert(0) += 1;
            self.report.edges.kept += task.depends.len();
            self.report.parents.kept += usize::from(task.parent.is_some());
        }
        Ok(())
    }

    /// Refuses a version from the future: no later change could ever replace it.
    fn limit_date(&mut self, at: usize, now: &str) {
        let changed = &self.entries[at].record.task.updated_at;
        if now < changed.as_str() && between_ms(now, changed).is_some_and(|ms| ms > FUTURE_MAX_MS) {
            let message = format!("its last change {changed} is in the future; it counts as now");
            self.add_fault(at, message);
            self.entries[at].record.task.updated_at = now.to_string();
        }
    }

    /// Finds known tasks. A new task keeps its id if it is free.
    fn assign_ids(&mut self, tasks: &mut dyn Transaction, now: &str) -> Result<()> {
        let format = self.report.format;
        let unused = tasks.first_unused_id()?;
        let mut last = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let task = &mut entry.record.task;
            let known = match format {
                Format::Cleo => tasks.task_by_uid(&task.uid)?,
                _ => tasks.task_by_origin(format.word(), &entry.origin)?,
            };
            if let Some(id) = known {
                let before = require(tasks, id)?;
                (task.id, task.uid) = (id, before.uid.clone());
                entry.before = Some(Box::new(before));
                self.places.insert(id, at);
                continue;
            }
            let own = entry.origin.parse::<TaskId>().ok();
            if let Some(id) = own.filter(|id| id.0 <= NUMBER_MAX && !self.places.contains_key(id))
                // The id of a deleted task stays used: an agent that still works on that one would pass
                // for the holder of the new one.
                && (id >= unused || tasks.status(id)?.is_none() && tasks.changes(0, Some(id), 1)?.is_empty())
            {
                task.id = id;
                self.places.insert(id, at);
                last = last.max(Some(id));
            }
        }
        if let Some(last) = last {
            tasks.reserve_id(last)?;
        }
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if entry.before.is_some() {
                continue;
            }
            let task = &mut entry.record.task;
            if task.id == TaskId(0) {
                task.id = tasks.next_id()?;
                self.places.insert(task.id, at);
            }
            let (from, to) = (&entry.record.id, task.id);
            if from.parse() != Ok(to) {
                let from = from.clone();
                self.report.renamed.add(|| Renamed { from, to });
            }
            if format != Format::Cleo && tasks.task_by_uid(&task.uid)?.is_some() {
                task.uid = id::derive_uid(now, &[format.word(), &to.to_string()]);
            }
        }
        Ok(())
    }

    /// Reports fields that stay unchanged.
    pub(super) fn report_kept(&mut self, at: usize, fields: Vec<String>, reason: &'static str) {
        let id = self.entries[at].record.task.id;
        self.report.kept.add(|| Difference {
            id,
            fields,
            reason: Some(reason),
        });
    }

    pub(super) fn add_fault(&mut self, at: usize, message: String) {
        let Record { place, id, .. } = &self.entries[at].record;
        self.report.faults.add(|| Fault {
            place: place.clone(),
            id: Some(id.clone()),
            message,
        });
    }
}

impl Record {
    /// Replaces the record by a later version in the same file; of an export it has the notes of both.
    fn replace_by_later(&mut self, mut other: Record) {
        let is_own = self.task.uid == other.task.uid;
        let is_later = other.task.updated_at > self.task.updated_at;
        if is_own {
            self.task.notes = merge_notes(&self.task.notes, other.task.notes.clone());
        }
        if is_later {
            if is_own {
                other.task.notes = std::mem::take(&mut self.task.notes);
            } else {
                other.task.uid.clone_from(&self.task.uid);
                let origin = self.task.extra.remove_entry("origin");
                other.task.extra.extend(origin);
            }
            *self = other;
        }
    }
}

//! What becomes of each task of a file. An export of cleo is merged: its tasks are matched by uid, of
//! two versions of a task the later one counts, the notes of both are kept. A task of another tool is
//! matched by its id there, and what the file says nothing of stays. Nothing is ever deleted.
//!
//! What belongs to the work here stays: claims, proof, that a task is done, the status and criteria of
//! one that is claimed or has to be verified. A version of an export that was merged in part for another
//! reason is later than both by the least step of time, so that the other copy takes it over and all
//! copies become equal.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::mem;

use serde_json::{Value, json};

use super::versions::date;
use crate::clock::between_ms;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::require;
use crate::store::{DANGLING, Transaction};
use crate::task::{Status, Task};
use crate::transfer::formats::cleo::merge_notes;
use crate::transfer::report::{Kept, Loose, Renamed, Repeated, Report};
use crate::transfer::{Fault, Format, Place, Reading, Record, Reference};

/// Largest number that a task may keep: one near the end of the range would use up all ids.
const NUMBER_MAX: u32 = 99_999_999;
/// How far in the future a change may lie, in milliseconds: ten years, because clocks are sometimes wrong.
const FUTURE_MAX_MS: u64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// A file, and what becomes of its tasks.
pub(super) struct Plan {
    pub(super) report: Report,
    pub(super) entries: Vec<Entry>,
    /// Entries by their id here.
    pub(super) places: HashMap<TaskId, usize>,
    by_uid: HashMap<String, usize>,
    by_key: HashMap<String, usize>,
    aliases: HashMap<String, usize>,
    /// Ids that stand for several tasks of an export: two exports in one file.
    ambiguous: HashSet<String>,
    /// Tasks that were left out, by key: the uid, and whether it is done.
    left: HashMap<String, (String, bool)>,
}

pub(super) struct Entry {
    place: Place,
    /// Its id in the file.
    pub(super) id: String,
    /// What the file refers to, until that is resolved.
    references: (Vec<Reference>, Vec<Reference>),
    /// Names of the fields that the file says something of.
    pub(super) told: Vec<&'static str>,
    /// The id in the file by which a later import finds the task.
    origin: String,
    /// The task as it is here.
    pub(super) before: Option<Task>,
    /// The task as it will be.
    pub(super) task: Task,
    /// When the file says that it was changed.
    pub(super) changed: String,
    /// The parent in the file.
    pub(super) given_parent: Option<TaskId>,
    /// Dependencies as the file writes them.
    pub(super) given: Vec<(TaskId, Reference)>,
    /// It was changed here later than the file says, and stays.
    pub(super) is_newer_here: bool,
    /// Something of the later version was refused for good.
    pub(super) is_partial: bool,
    /// A reference was refused that the next import may take.
    pub(super) is_open: bool,
}

/// Where a reference of the file leads.
enum Target {
    Task(TaskId),
    Satisfied,
    Deleted,
    Missing,
}

impl Plan {
    pub(super) fn new(reading: Reading, open_only: bool) -> Plan {
        let mut plan = Plan {
            report: reading.report,
            entries: Vec::with_capacity(reading.records.len()),
            places: HashMap::new(),
            by_uid: HashMap::new(),
            by_key: HashMap::new(),
            aliases: HashMap::new(),
            ambiguous: HashSet::new(),
            left: reading.left,
        };
        for record in reading.records {
            plan.report.read += 1;
            if open_only && record.task.is_closed() {
                plan.leave_out(record);
            } else {
                plan.take(record);
            }
        }
        plan
    }

    fn is_own(&self) -> bool {
        self.report.format == Format::Cleo
    }

    fn leave_out(&mut self, record: Record) {
        let is_done = record.task.status == Status::Done;
        let reason = if is_done { "done" } else { "cancelled" };
        self.report.leave_out(&record.id, reason);
        self.left
            .insert(record.id, (record.task.uid.clone(), is_done));
        self.left.insert(record.key, (record.task.uid, is_done));
    }

    fn take(&mut self, mut record: Record) {
        let at = self.entries.len();
        let mut origin = record.id.clone();
        let owner = match self.is_own() {
            true => self.by_uid.get(&record.task.uid).copied(),
            false => self.by_key.get(&record.key).copied().filter(|owner| {
                let other = &self.entries[*owner].task;
                record.repeats && other.created_at == record.task.created_at
            }),
        };
        if let Some(owner) = owner {
            let outcome = "the same task once more; the one that was changed last counts";
            self.repeat(&record, outcome);
            self.by_key.entry(record.key.clone()).or_insert(owner);
            return self.entries[owner].take_later(record);
        }
        if self.by_key.contains_key(&record.key) {
            self.repeat(&record, "another task with the same id; it gets a new one");
            let names = (2..).map(|nth: u32| format!("{}#{nth}", record.id));
            let is_free = |name: &String| !self.by_key.contains_key(name);
            origin = names.into_iter().find(is_free).unwrap_or(origin);
            self.by_key.insert(origin.clone(), at);
            if self.is_own() {
                self.ambiguous.insert(record.key.clone());
            }
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
            place: record.place,
            id: record.id,
            references: (record.parents, record.depends),
            told: record.told,
            origin,
            before: None,
            changed: record.task.updated_at.clone(),
            task: record.task,
            given_parent: None,
            given: Vec::new(),
            is_newer_here: false,
            is_partial: false,
            is_open: false,
        });
    }

    fn repeat(&mut self, record: &Record, outcome: &str) {
        self.report.repeated_ids.add(|| Repeated {
            id: record.id.clone(),
            place: record.place.clone(),
            outcome: outcome.to_string(),
        });
    }

    /// Decides what becomes of every task. Nothing is written yet.
    pub(super) fn decide(&mut self, tasks: &mut dyn Transaction, now: &str) -> Result<()> {
        self.give_ids(tasks, now)?;
        for at in 0..self.entries.len() {
            self.resolve(at, tasks)?;
            self.limit_date(at, now);
        }
        for at in 0..self.entries.len() {
            match self.entries[at].before.clone() {
                None => date(&mut self.entries[at].task, now),
                Some(before) if self.is_own() => self.merge(at, &before, tasks)?,
                Some(before) => self.update(at, &before, now),
            }
            self.protect(at, tasks, now)?;
        }
        self.keep_wholes_open(tasks)?;
        for entry in &self.entries {
            let word = entry.task.status.word();
            *self.report.by_status.entry(word).or_insert(0) += 1;
        }
        if self.is_own() {
            self.break_circles(tasks)?;
        }
        self.limit_depth(tasks)?;
        if self.is_own() {
            self.break_circles(tasks)?;
        }
        self.refuse_circles(tasks)?;
        self.part_from_whole(tasks)
    }

    /// Refuses a version from the future: no later change could ever replace it.
    fn limit_date(&mut self, at: usize, now: &str) {
        let changed = &self.entries[at].changed;
        if self.is_own() && between_ms(now, changed).is_some_and(|ms| ms > FUTURE_MAX_MS) {
            let message = format!("its updatedAt {changed} lies in the future; it counts as now");
            self.fault(at, message);
            let entry = &mut self.entries[at];
            entry.changed = now.to_string();
            entry.task.updated_at = now.to_string();
        }
    }

    /// Finds the tasks that are here already. A new one keeps its id when it is free.
    fn give_ids(&mut self, tasks: &mut dyn Transaction, now: &str) -> Result<()> {
        let format = self.report.format;
        let mut last = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let known = match format {
                Format::Cleo => tasks.task_by_uid(&entry.task.uid)?,
                _ => tasks.task_by_origin(format.word(), &entry.origin)?,
            };
            if let Some(id) = known {
                let before = require(tasks, id)?;
                (entry.task.id, entry.task.uid) = (id, before.uid.clone());
                entry.before = Some(before);
                self.places.insert(id, at);
                continue;
            }
            let own = entry.origin.parse::<TaskId>().ok();
            if let Some(id) = own.filter(|id| id.0 <= NUMBER_MAX && !self.places.contains_key(id))
                && tasks.status(id)?.is_none()
                // The id of a deleted task stays used: an agent that still works on that one would pass
                // for the holder of the new one.
                && tasks.changes(0, Some(id), 1)?.is_empty()
            {
                entry.task.id = id;
                self.places.insert(id, at);
                last = last.max(Some(id));
            }
        }
        if let Some(last) = last {
            tasks.reserve_id(last)?;
        }
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let own = entry.id.parse::<TaskId>().ok();
            if entry.task.id == TaskId(0) {
                entry.task.id = tasks.next_id()?;
                self.places.insert(entry.task.id, at);
            }
            let (from, to) = (entry.id.clone(), entry.task.id);
            if entry.before.is_none() && own != Some(to) {
                self.report.renamed.add(|| Renamed { from, to });
            }
            if entry.before.is_none() && tasks.task_by_uid(&entry.task.uid)?.is_some() {
                entry.task.uid = id::derive_uid(now, &[format.word(), &to.to_string()]);
            }
        }
        Ok(())
    }

    /// Turns the references of the file into ids of this workspace.
    fn resolve(&mut self, at: usize, tasks: &dyn Transaction) -> Result<()> {
        let own = self.entries[at].task.id;
        let id = self.entries[at].id.clone();
        let (parents, depends) = mem::take(&mut self.entries[at].references);
        let loose = |on: &Reference| Loose {
            id: id.clone(),
            on: on.given.clone(),
        };
        let both = parents.iter().chain(&depends);
        let mut given =
            both.filter(|it| it.readings.iter().any(|key| self.ambiguous.contains(key)));
        if let Some(reference) = given.next() {
            let message = format!(
                "it refers to {}, the id of two tasks in this file; import each export by itself",
                reference.given
            );
            self.fault(at, message);
        }
        let (mut parent, mut missing, mut related) = (None, Vec::new(), Vec::new());
        for reference in &parents {
            match self.find(at, reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.report.parents.itself.add(|| id.clone())
                }
                Target::Task(other) if parent == Some(other) => {}
                Target::Task(_) if parent.is_some() => {
                    self.report.parents.second.add(|| loose(reference));
                    related.push(json!({"type": "parent-child", "id": reference.given}));
                }
                Target::Task(other) => parent = Some(other),
                _ => self.report.parents.dangling.add(|| loose(reference)),
            }
        }
        let mut given: Vec<(TaskId, Reference)> = Vec::new();
        let (mut said, mut seen) = (HashSet::new(), HashSet::new());
        for reference in &depends {
            if !said.insert(reference.readings.first()) {
                self.report.edges.repeated += 1;
                continue;
            }
            let sample = match self.find(at, reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.fault(at, "it depends on itself".to_string());
                    continue;
                }
                Target::Task(other) => {
                    match seen.insert(other) {
                        true => given.push((other, reference.clone())),
                        false => self.report.edges.repeated += 1,
                    }
                    continue;
                }
                Target::Satisfied => {
                    self.report.edges.satisfied += 1;
                    continue;
                }
                Target::Deleted => &mut self.report.edges.on_deleted,
                Target::Missing => &mut self.report.edges.dangling,
            };
            sample.add(|| loose(reference));
            missing.push(reference.given.as_str().into());
        }
        if let Some(before) = self.entries[at].before.clone().filter(|_| !self.is_own()) {
            self.keep_untold(at, &before, &mut parent, &mut given, tasks)?;
        }
        self.report.parents.kept += usize::from(parent.is_some());
        self.report.edges.kept += given.len();
        let entry = &mut self.entries[at];
        entry.task.parent = parent;
        entry.given_parent = parent;
        entry.task.depends = given.iter().map(|(id, _)| *id).collect();
        entry.given = given;
        add_to_list(&mut entry.task, DANGLING, missing);
        add_to_list(&mut entry.task, "relations", related);
        Ok(())
    }

    fn find(&self, at: usize, reference: &Reference, tasks: &dyn Transaction) -> Result<Target> {
        for key in &reference.readings {
            if self.ambiguous.contains(key) {
                return Ok(Target::Missing);
            }
            if let Some(place) = self.by_key.get(key).or_else(|| self.aliases.get(key)) {
                return Ok(Target::Task(self.entries[*place].task.id));
            }
            if let Some((uid, is_done)) = self.left.get(key) {
                return Ok(match (tasks.task_by_uid(uid)?, is_done) {
                    (Some(id), _) => Target::Task(id),
                    (None, true) => Target::Satisfied,
                    (None, false) => Target::Deleted,
                });
            }
        }
        if !self.is_own() {
            for name in reference.readings.iter().chain([&reference.given]) {
                if let Some(id) = tasks.task_by_origin(self.report.format.word(), name)? {
                    return Ok(Target::Task(id));
                }
            }
            return Ok(Target::Missing);
        }
        // The file is a part of an export. What it leaves out has this id in the workspace that wrote it,
        // which is the same task here only where the task here refers to it, too.
        let before = self.entries[at].before.as_ref();
        let is_known = |id: &TaskId| {
            before.is_some_and(|it| it.parent == Some(*id) || it.depends.contains(id))
        };
        let id = reference.given.parse::<TaskId>().ok().filter(is_known);
        Ok(id.map_or(Target::Missing, Target::Task))
    }

    /// Keeps the references of a known task that the file of another tool says nothing of.
    fn keep_untold(
        &self,
        at: usize,
        before: &Task,
        parent: &mut Option<TaskId>,
        given: &mut Vec<(TaskId, Reference)>,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let is_told = |id: TaskId| -> Result<bool> {
            if self.places.contains_key(&id) {
                return Ok(true);
            }
            let task = tasks.task(id)?;
            let origin = task.as_ref().and_then(|task| task.extra.get("origin"));
            let origin = origin.filter(|it| it["format"] == self.report.format.word());
            let id = origin.and_then(|origin| origin["id"].as_str());
            Ok(id.is_some_and(|id| self.left.contains_key(id)))
        };
        let has_told_parent = self.entries[at].told.contains(&"parent");
        if let (None, Some(above)) = (&parent, before.parent)
            && (!has_told_parent || !is_told(above)?)
        {
            *parent = Some(above);
        }
        let mut is_kept = false;
        for need in &before.depends {
            if !given.iter().any(|(id, _)| id == need) && !is_told(*need)? {
                given.push((*need, Reference::to(&need.to_string())));
                is_kept = true;
            }
        }
        if is_kept {
            // In the order in which they are here, so that what is the same counts as unchanged.
            let place = |need: TaskId| before.depends.iter().position(|other| *other == need);
            given.sort_by_key(|(need, _)| place(*need).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    pub(super) fn keep(&mut self, at: usize, fields: Vec<String>, reason: &'static str) {
        let id = self.entries[at].task.id;
        self.report.kept.add(|| Kept { id, fields, reason });
    }

    pub(super) fn fault(&mut self, at: usize, message: String) {
        let entry = &self.entries[at];
        let (place, id) = (entry.place.clone(), Some(entry.id.clone()));
        self.report.faults.add(|| Fault { place, id, message });
    }

    /// Returns the id of a task in the file, else here.
    pub(super) fn name(&self, id: TaskId) -> String {
        match self.places.get(&id) {
            Some(at) => self.entries[*at].id.clone(),
            None => id.to_string(),
        }
    }

    /// Returns the place of the first task that has a key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.by_key.contains_key(key)
    }
}

impl Entry {
    /// Takes another version of the task that the same file holds.
    fn take_later(&mut self, mut other: Record) {
        let is_own = self.task.uid == other.task.uid;
        let notes = merge_notes(&self.task.notes, other.task.notes.clone());
        let text = |task: &Task| json!(task).to_string();
        let is_later = match other.task.updated_at.cmp(&self.task.updated_at) {
            Ordering::Equal => is_own && text(&other.task) > text(&self.task),
            order => order.is_gt(),
        };
        if is_own {
            self.task.notes.clone_from(&notes);
            other.task.notes = notes;
        }
        if is_later {
            other.task.uid.clone_from(&self.task.uid);
            if let Some(origin) = self.task.extra.remove("origin").filter(|_| !is_own) {
                other.task.extra.insert("origin".to_string(), origin);
            }
            self.changed.clone_from(&other.task.updated_at);
            self.task = other.task;
            (self.place, self.id) = (other.place, other.id);
            self.references = (other.parents, other.depends);
            self.told = other.told;
        }
    }
}

/// Adds values to a list in `extra` that lacks them.
pub(super) fn add_to_list(task: &mut Task, name: &str, values: Vec<Value>) {
    if values.is_empty() {
        return;
    }
    let list = task.extra.entry(name).or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    let Value::Array(list) = list else { return };
    for value in values {
        if !list.contains(&value) {
            list.push(value);
        }
    }
}

//! Merging an export of cleo into a workspace that went on. Tasks are matched by uid: of two versions
//! of a task the later one counts, the notes of both are kept, and nothing is deleted. What belongs to
//! the work here stays: claims, proof, and the status of a task that is done or claimed.
//!
//! A version that was merged in part is later than both by the least step of time, so that the other
//! copy takes it over and all copies become equal.

use std::collections::{HashMap, HashSet};
use std::mem;

use serde_json::Value;

use super::import::Request;
use super::source::Source;
use crate::clock;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims::{self, Caller};
use crate::ops::require;
use crate::ops::tasks::DEPTH_MAX;
use crate::ops::trust;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::{Status, Task};
use crate::transfer::circles::groups;
use crate::transfer::formats::cleo::merge_notes;
use crate::transfer::plan::{NUMBER_MAX, add_to_list, date};
use crate::transfer::report::{Circle, Kept, LeftOut, Loose, Renamed, Repeated, Report};
use crate::transfer::{Fault, Format, Item, Record};

/// After so many rounds no reference of a known task is changed any more: only a file that was made
/// for it needs that many.
const ROUNDS_MAX: usize = 16;

/// A file, and what becomes of its tasks.
pub(super) struct Merge {
    pub(super) report: Report,
    open_only: bool,
    entries: Vec<Entry>,
    by_uid: HashMap<String, usize>,
    /// Entries by the id that the file gives them.
    by_file_id: HashMap<String, usize>,
    /// Tasks that were left out, by their id in the file: the uid, and whether it is done.
    left: HashMap<String, (String, bool)>,
    /// Entries by their id here.
    places: HashMap<TaskId, usize>,
}

struct Entry {
    record: Record,
    /// The task as it is here.
    before: Option<Task>,
    /// The task as it will be.
    task: Task,
    /// When the file says that it was changed.
    changed: String,
    /// Something of the later version was refused for good.
    is_partial: bool,
    /// A reference was refused that the next import may take.
    is_open: bool,
}

/// Where a reference of the file leads.
enum Target {
    Task(TaskId),
    Satisfied,
    Deleted,
    Missing,
}

impl Merge {
    pub(super) fn read(source: &Source, request: Request, now: &str) -> Result<Merge> {
        let mut merge = Merge {
            report: Report::new(Format::Cleo, request.dry_run),
            open_only: request.open_only,
            entries: Vec::new(),
            by_uid: HashMap::new(),
            by_file_id: HashMap::new(),
            left: HashMap::new(),
            places: HashMap::new(),
        };
        source.read(now, &mut |item| {
            match mem::replace(item, Item::Turn) {
                Item::Fault(fault) => merge.report.faults.add(|| fault),
                Item::Record(record) => merge.take(*record),
                item => merge.report.note(&item),
            }
            Ok(())
        })?;
        Ok(merge)
    }

    fn take(&mut self, record: Record) {
        self.report.read += 1;
        let (id, uid) = (record.id.clone(), record.task.uid.clone());
        if self.open_only && record.task.is_closed() {
            let is_done = record.task.status == Status::Done;
            let reason = if is_done { "done" } else { "cancelled" }.to_string();
            self.left.insert(id.clone(), (uid, is_done));
            return self.report.left_out.add(|| LeftOut { id, reason });
        }
        let at = self.entries.len();
        let repeated = |outcome: &str| Repeated {
            id: id.clone(),
            place: record.place.clone(),
            outcome: outcome.to_string(),
        };
        if let Some(owner) = self.by_uid.get(&uid).copied() {
            let outcome = "the same task once more; the one that was changed last counts";
            self.report.repeated_ids.add(|| repeated(outcome));
            self.by_file_id.entry(id).or_insert(owner);
            return self.entries[owner].take_later(record);
        }
        if self.by_file_id.contains_key(&id) {
            let outcome = "another task with the same id; it gets a new one";
            self.report.repeated_ids.add(|| repeated(outcome));
        }
        self.report.count(&record.task);
        self.by_uid.insert(uid, at);
        self.by_file_id.entry(id).or_insert(at);
        self.entries.push(Entry {
            before: None,
            task: record.task.clone(),
            changed: record.task.updated_at.clone(),
            is_partial: false,
            is_open: false,
            record,
        });
    }

    /// Decides what becomes of every task. Nothing is written yet.
    pub(super) fn plan(&mut self, tasks: &mut dyn Transaction, now: &str) -> Result<()> {
        self.give_ids(tasks)?;
        for at in 0..self.entries.len() {
            self.resolve(at, tasks)?;
        }
        for at in 0..self.entries.len() {
            self.decide(at, tasks, now)?;
            let word = self.entries[at].task.status.word();
            *self.report.by_status.entry(word).or_insert(0) += 1;
        }
        self.break_circles(tasks)?;
        self.limit_depth(tasks)?;
        self.break_circles(tasks)
    }

    /// Finds the tasks that are here already. A new one keeps its id when it is free.
    fn give_ids(&mut self, tasks: &mut dyn Transaction) -> Result<()> {
        let mut last = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if let Some(id) = tasks.task_by_uid(&entry.task.uid)? {
                entry.before = Some(require(tasks, id)?);
                entry.task.id = id;
                self.places.insert(id, at);
                continue;
            }
            let own = entry.record.id.parse::<TaskId>().ok();
            if let Some(id) = own.filter(|id| id.0 <= NUMBER_MAX && !self.places.contains_key(id))
                && tasks.status(id)?.is_none()
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
            if entry.task.id == TaskId(0) {
                entry.task.id = tasks.next_id()?;
                self.places.insert(entry.task.id, at);
                let (from, to) = (entry.record.id.clone(), entry.task.id);
                self.report.renamed.add(|| Renamed { from, to });
            }
        }
        Ok(())
    }

    /// Turns the references of the file into ids of this workspace.
    fn resolve(&mut self, at: usize, tasks: &dyn Transaction) -> Result<()> {
        let record = &mut self.entries[at].record;
        let (id, own) = (record.id.clone(), self.entries[at].task.id);
        let parents = mem::take(&mut self.entries[at].record.parents);
        let depends = mem::take(&mut self.entries[at].record.depends);
        let loose = |on: &str| Loose {
            id: id.clone(),
            on: on.to_string(),
        };
        let (mut parent, mut needs, mut missing) = (None, Vec::new(), Vec::new());
        for given in parents.iter().map(|reference| reference.given.as_str()) {
            match self.find(at, given, tasks)? {
                Target::Task(id) if id == own => self.report.parents.itself.add(|| given.into()),
                Target::Task(id) => parent = Some(id),
                _ => self.report.parents.dangling.add(|| loose(given)),
            }
        }
        for given in depends.iter().map(|reference| reference.given.as_str()) {
            match self.find(at, given, tasks)? {
                Target::Task(id) if id == own => self.fault(at, "it depends on itself".into()),
                Target::Task(id) if needs.contains(&id) => self.report.edges.repeated += 1,
                Target::Task(id) => needs.push(id),
                Target::Satisfied => self.report.edges.satisfied += 1,
                Target::Deleted => {
                    self.report.edges.on_deleted.add(|| loose(given));
                    missing.push(given.into());
                }
                Target::Missing => {
                    self.report.edges.dangling.add(|| loose(given));
                    missing.push(given.into());
                }
            }
        }
        self.report.parents.kept += usize::from(parent.is_some());
        self.report.edges.kept += needs.len();
        let task = &mut self.entries[at].task;
        (task.parent, task.depends) = (parent, needs);
        add_to_list(task, DANGLING, missing);
        Ok(())
    }

    fn find(&self, at: usize, given: &str, tasks: &dyn Transaction) -> Result<Target> {
        if let Some(place) = self.by_file_id.get(given) {
            return Ok(Target::Task(self.entries[*place].task.id));
        }
        if let Some((uid, is_done)) = self.left.get(given) {
            return Ok(match (tasks.task_by_uid(uid)?, is_done) {
                (Some(id), _) => Target::Task(id),
                (None, true) => Target::Satisfied,
                (None, false) => Target::Deleted,
            });
        }
        // A part of an export of this very workspace: what it leaves out is still here.
        let entry = &self.entries[at];
        let is_ours = entry.before.is_some() && entry.record.id == entry.task.id.to_string();
        match given.parse::<TaskId>() {
            Ok(id) if is_ours && tasks.status(id)?.is_some() => Ok(Target::Task(id)),
            _ => Ok(Target::Missing),
        }
    }

    /// Decides which version of a task counts.
    fn decide(&mut self, at: usize, tasks: &dyn Transaction, now: &str) -> Result<()> {
        let Some(before) = self.entries[at].before.clone() else {
            date(&mut self.entries[at].task, now);
            return Ok(());
        };
        let mut task = self.entries[at].task.clone();
        if task.created_at.is_empty() {
            task.created_at.clone_from(&before.created_at);
        }
        let mut notes = merge_notes(&before.notes, mem::take(&mut task.notes));
        if notes == merge_notes(&before.notes, Vec::new()) {
            notes.clone_from(&before.notes);
        }
        let changed = task.updated_at.clone();
        let same = Task {
            notes: Vec::new(),
            updated_at: changed.clone(),
            ..before.clone()
        };
        let is_later = match changed.cmp(&before.updated_at) {
            _ if same == task => changed > before.updated_at,
            std::cmp::Ordering::Equal => {
                self.canonical(&task, tasks)? > self.canonical(&same, tasks)?
            }
            order => order.is_gt(),
        };
        if !is_later {
            if same != task {
                self.keep(at, differing(&same, &task), "changed here later");
                self.report.newer_here.add(|| before.id.to_string());
            }
            task = before.clone();
        }
        let claim = tasks.claim(before.id)?;
        let is_claimed = claim.is_some_and(|claim| claim.live_holder(now).is_some());
        let reason = match before.status {
            status if status == task.status => None,
            Status::Done => Some("done here"),
            Status::Active if is_claimed && !task.is_closed() => Some("claimed here"),
            _ => None,
        };
        if let Some(reason) = reason {
            task.status = before.status;
            task.started_at.clone_from(&before.started_at);
            task.completed_at.clone_from(&before.completed_at);
            task.cancelled_at.clone_from(&before.cancelled_at);
            task.archived_at.clone_from(&before.archived_at);
            self.keep(at, vec!["status".to_string()], reason);
            self.entries[at].is_partial = true;
        }
        task.notes = notes;
        self.entries[at].task = task;
        Ok(())
    }

    /// Writes a task so that every copy of it gives the same text, wherever its ids lead.
    fn canonical(&self, task: &Task, tasks: &dyn Transaction) -> Result<String> {
        let uid = |id: &TaskId| -> Result<Value> {
            let place = self.places.get(id).map(|at| &self.entries[*at].task);
            Ok(match place {
                Some(task) => task.uid.clone(),
                None => require(tasks, *id)?.uid,
            }
            .into())
        };
        let mut value = serde_json::to_value(task).unwrap_or_default();
        value["id"] = Value::Null;
        value["parent"] = task.parent.as_ref().map(uid).transpose()?.into();
        value["depends"] = Value::Array(task.depends.iter().map(uid).collect::<Result<_>>()?);
        Ok(value.to_string())
    }

    fn keep(&mut self, at: usize, fields: Vec<String>, reason: &'static str) {
        let id = self.entries[at].task.id;
        self.report.kept.add(|| Kept { id, fields, reason });
    }

    fn fault(&mut self, at: usize, message: String) {
        let record = &self.entries[at].record;
        let (place, id) = (record.place.clone(), Some(record.id.clone()));
        self.report.faults.add(|| Fault { place, id, message });
    }

    /// Refuses changes of references by which tasks would wait for each other. A file that does so by
    /// itself is refused as a whole.
    fn break_circles(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for round in 1.. {
            let mut parts: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
            for task in self.entries.iter().map(|entry| &entry.task) {
                if let Some(parent) = task.parent {
                    parts.entry(parent).or_default().push(task.id);
                }
            }
            let waits = |id: TaskId| -> Result<Vec<TaskId>> {
                let entry = self.places.get(&id).map(|at| &self.entries[*at]);
                let mut waits = match entry {
                    Some(entry) => entry.task.depends.clone(),
                    None => tasks.depends(id)?,
                };
                waits.extend(parts.get(&id).into_iter().flatten());
                if entry.is_none_or(|entry| entry.before.is_some()) {
                    let stored = tasks.children(id)?;
                    waits.extend(stored.iter().filter(|part| !self.places.contains_key(part)));
                }
                Ok(waits)
            };
            let mut found = groups(self.places.keys().copied(), waits)?;
            if found.is_empty() {
                return Ok(());
            }
            found.sort();
            let mut is_broken = false;
            for group in found {
                let group = group.into_iter().collect();
                is_broken |= self.break_circle(&group, round < ROUNDS_MAX, tasks)?;
            }
            if !is_broken {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Breaks a circle; returns `false` for one that was here before. Unless `is_only_group`, the
    /// known tasks in it keep all their references.
    fn break_circle(
        &mut self,
        group: &HashSet<TaskId>,
        is_only_group: bool,
        tasks: &dyn Transaction,
    ) -> Result<bool> {
        let mut members: Vec<TaskId> = group.iter().copied().collect();
        members.sort_unstable();
        let mut changed = Vec::new();
        let mut latest = None;
        for id in &members {
            let entry = self.places.get(id).map(|at| (*at, &self.entries[*at]));
            match entry {
                Some((at, entry)) if entry.has_new_reference(group) => changed.push(at),
                Some((_, entry)) => {
                    let task = &entry.task;
                    latest = latest.max(Some((task.updated_at.clone(), task.uid.clone())));
                }
                None => {
                    let task = require(tasks, *id)?;
                    latest = latest.max(Some((task.updated_at, task.uid)));
                }
            }
        }
        for at in &changed {
            let entry = &mut self.entries[*at];
            // In the other copy the same two changes meet: there the earlier one is refused, and
            // only until this refusal arrives.
            let own = Some((entry.changed.clone(), entry.task.uid.clone()));
            match own > latest {
                true => entry.is_partial = true,
                false => entry.is_open = true,
            }
            let fields = entry.refuse_references(|id| !is_only_group || group.contains(&id));
            self.keep(*at, fields, "it would wait for itself");
        }
        if !changed.is_empty() {
            return Ok(true);
        }
        let places = members.iter().filter_map(|id| self.places.get(id).copied());
        let is_new = |at: &usize| self.entries[*at].before.is_none();
        let new: Vec<usize> = places.filter(is_new).collect();
        if new.is_empty() {
            return Ok(false);
        }
        if new.len() < members.len() {
            // A new task does not fit what was changed here: it comes without these references.
            for at in new {
                let entry = &mut self.entries[at];
                entry.is_partial = true;
                let (_, fields) = entry.cut(group);
                self.keep(at, fields, "it would wait for itself");
            }
            return Ok(true);
        }
        let members = members.iter().map(|id| self.name(*id)).collect();
        for at in new {
            let (cut, _) = self.entries[at].cut(group);
            self.report.edges.kept = self.report.edges.kept.saturating_sub(cut.len());
            let names: Vec<Value> = cut.iter().map(|id| self.name(*id).into()).collect();
            let task = &mut self.entries[at].task;
            add_to_list(task, DANGLING, names.clone());
            add_to_list(task, CIRCULAR, names);
        }
        let readings = Vec::new();
        self.report.cycles.add(|| Circle { members, readings });
        Ok(true)
    }

    /// Returns the id of a task in the file, else here.
    fn name(&self, id: TaskId) -> String {
        match self.places.get(&id) {
            Some(at) => self.entries[*at].record.id.clone(),
            None => id.to_string(),
        }
    }

    fn limit_depth(&mut self, tasks: &dyn Transaction) -> Result<()> {
        let mut deep = Vec::new();
        for at in 0..self.entries.len() {
            let mut levels = 1;
            let mut next = self.entries[at].task.parent;
            while let Some(id) = next.filter(|_| levels <= DEPTH_MAX) {
                levels += 1;
                next = match self.places.get(&id) {
                    Some(at) => self.entries[*at].task.parent,
                    None => tasks.parent(id)?,
                };
            }
            if levels > DEPTH_MAX {
                deep.push(at);
            }
        }
        for at in deep {
            let entry = &mut self.entries[at];
            let here = entry.before.as_ref().map(|before| before.parent);
            match here {
                Some(here) if here != entry.task.parent => {
                    entry.task.parent = here;
                    entry.is_partial = true;
                    self.keep(
                        at,
                        vec!["parent".to_string()],
                        "it would be nested too deep",
                    );
                }
                Some(_) => {}
                None => {
                    entry.task.parent = None;
                    self.fault(at, format!("it is nested deeper than {DEPTH_MAX} levels"));
                }
            }
        }
        Ok(())
    }

    /// Writes what was decided; tasks that stay as they are are not written. Returns the commands of
    /// the criteria that came in.
    pub(super) fn write(
        &mut self,
        tasks: &mut dyn Transaction,
        caller: &Caller,
    ) -> Result<Vec<trust::Item>> {
        let mut commands = Vec::new();
        for at in 0..self.entries.len() {
            let entry = &mut self.entries[at];
            let before = entry.before.take();
            if let Some(before) = before.as_ref().filter(|_| entry.is_open) {
                entry.task.updated_at.clone_from(&before.updated_at);
            } else if entry.is_partial {
                entry.task.updated_at = clock::next_millisecond(&entry.task.updated_at);
            }
            let other = match &entry.task.key {
                Some(key) => tasks.task_by_key(key)?.filter(|id| *id != entry.task.id),
                None => None,
            };
            if other.is_some() {
                entry.task.key = before.as_ref().and_then(|before| before.key.clone());
                entry.task.updated_at = clock::next_millisecond(&entry.task.updated_at);
                self.keep(at, vec!["key".to_string()], "another task has the key");
            }
            let task = &self.entries[at].task;
            match before {
                None => {
                    self.report.added += 1;
                    tasks.insert(task)?;
                }
                Some(before) if before == *task => {
                    self.report.unchanged += 1;
                    continue;
                }
                Some(before) => {
                    self.report.updated += 1;
                    if task.is_closed() && !before.is_closed() {
                        // Nobody holds what is over; else it could not be taken up again.
                        claims::end(tasks, task.id, caller)?;
                    }
                    tasks.put(task)?;
                }
            }
            commands.extend(trust::Item::criteria(task.id, &task.acceptance));
        }
        Ok(commands)
    }
}

impl Entry {
    /// Takes another version of the task that the same file holds.
    fn take_later(&mut self, mut other: Record) {
        let stamp = |record: &Record| {
            let references = format!("{:?}{:?}", record.parents, record.depends);
            let text = serde_json::to_string(&record.task).unwrap_or_default();
            (record.task.updated_at.clone(), text, references)
        };
        let there = mem::take(&mut other.task.notes);
        let notes = merge_notes(&self.record.task.notes, there);
        if stamp(&other) > stamp(&self.record) {
            self.record = other;
        }
        self.record.task.notes = notes;
        self.task = self.record.task.clone();
        self.changed.clone_from(&self.task.updated_at);
    }

    /// Returns `true` if a known task gets a reference to one of `group` that it has not here.
    fn has_new_reference(&self, group: &HashSet<TaskId>) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let is_new = |id: &TaskId| group.contains(id) && !before.depends.contains(id);
        let has_new_parent = self.task.parent != before.parent;
        let parent = self.task.parent.filter(|_| has_new_parent);
        parent.is_some_and(|id| group.contains(&id)) || self.task.depends.iter().any(is_new)
    }

    /// Takes the references to a group away; returns what it depended on, and the fields.
    fn cut(&mut self, group: &HashSet<TaskId>) -> (Vec<TaskId>, Vec<String>) {
        let mut fields = Vec::new();
        let needs = mem::take(&mut self.task.depends);
        let (cut, needs): (Vec<_>, Vec<_>) = needs.into_iter().partition(|id| group.contains(id));
        self.task.depends = needs;
        if !cut.is_empty() {
            fields.push("depends".to_string());
        }
        if self.task.parent.take_if(|id| group.contains(id)).is_some() {
            fields.push("parent".to_string());
        }
        (cut, fields)
    }

    /// Leaves references of a known task as they are here; returns the fields that this concerns.
    fn refuse_references(&mut self, is_refused: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut fields = Vec::new();
        let Some(before) = &self.before else {
            return fields;
        };
        if self.task.parent != before.parent && self.task.parent.is_some_and(&is_refused) {
            self.task.parent = before.parent;
            fields.push("parent".to_string());
        }
        let count = self.task.depends.len();
        let depends = &mut self.task.depends;
        depends.retain(|id| !is_refused(*id) || before.depends.contains(id));
        if depends.len() < count {
            fields.push("depends".to_string());
        }
        fields
    }
}

/// Returns the names of the fields in which two versions differ.
fn differing(one: &Task, other: &Task) -> Vec<String> {
    let (one, other) = (serde_json::json!(one), serde_json::json!(other));
    let fields = one.as_object().into_iter().chain(other.as_object());
    let names = fields.flat_map(|fields| fields.keys());
    let names: std::collections::BTreeSet<&String> = names
        .filter(|name| one.get(name) != other.get(name))
        .collect();
    names.into_iter().cloned().collect()
}

//! What could never be done: tasks that wait for each other, and nesting without end. A change of a
//! known task by an export is left as it was; any other file is refused, or goes on without the
//! references.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::plan::{Entry, Plan, add_to_list};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::require;
use crate::ops::tasks::DEPTH_MAX;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::transfer::circles::groups;
use crate::transfer::report::{Circle, Loose};
use crate::transfer::{Format, Reference};

/// After so many rounds no reference of a known task is changed any more: only a file that was made
/// for it needs that many.
const ROUNDS_MAX: usize = 16;
/// Most references of a circle that are explained.
const READINGS_MAX: usize = 20;

type Group = HashSet<TaskId>;

impl Plan {
    /// Finds the groups of tasks that wait for each other: for what they depend on and, if `parts`,
    /// for their parts.
    fn find_circles(&self, parts: bool, tasks: &dyn Transaction) -> Result<Vec<Vec<TaskId>>> {
        let mut below: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for task in self.entries.iter().map(|entry| &entry.task) {
            if let Some(parent) = task.parent.filter(|_| parts) {
                below.entry(parent).or_default().push(task.id);
            }
        }
        let waits = |id: TaskId| -> Result<Vec<TaskId>> {
            let entry = self.places.get(&id).map(|at| &self.entries[*at]);
            let mut waits = match entry {
                Some(entry) => entry.task.depends.clone(),
                None => tasks.depends(id)?,
            };
            waits.extend(below.get(&id).into_iter().flatten());
            if entry.is_none_or(|entry| parts && entry.before.is_some()) {
                let stored = tasks.children(id)?;
                waits.extend(stored.iter().filter(|part| !self.places.contains_key(part)));
            }
            Ok(waits)
        };
        let mut found = groups(self.places.keys().copied(), waits)?;
        found.sort();
        Ok(found)
    }

    /// Refuses changes of references by which tasks would wait for each other.
    pub(super) fn break_circles(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for round in 1.. {
            let mut is_broken = false;
            for group in self.find_circles(true, tasks)? {
                is_broken |= self.break_circle(&group, round < ROUNDS_MAX, tasks)?;
            }
            if !is_broken {
                break;
            }
        }
        Ok(())
    }

    /// Breaks a circle; returns `false` for one that consists of new tasks, or that was here before.
    /// Unless `is_only_group`, the known tasks in it keep all their references.
    fn break_circle(
        &mut self,
        members: &[TaskId],
        is_only_group: bool,
        tasks: &dyn Transaction,
    ) -> Result<bool> {
        let group: Group = members.iter().copied().collect();
        let (mut changed, mut new, mut latest) = (Vec::new(), Vec::new(), None);
        for id in members {
            let at = self.places.get(id).copied();
            match at.map(|at| (at, &self.entries[at])) {
                Some((at, entry)) if entry.has_new_reference(&group) => changed.push(at),
                // What both copies have is no part of the conflict.
                Some((_, entry)) if !entry.is_alone_in(&group) => {}
                Some((at, entry)) => {
                    new.extend(Some(at).filter(|_| entry.before.is_none()));
                    let task = &entry.task;
                    latest = latest.max(Some((task.updated_at.clone(), task.uid.clone())));
                }
                None => {
                    let task = require(tasks, *id)?;
                    latest = latest.max(Some((task.updated_at, task.uid)));
                }
            }
        }
        // In the other copy the same changes meet: the latest is refused for good, and an earlier one only
        // until that refusal arrives, if it still closes a circle then.
        let is_latest = |at: &usize| {
            let entry = &self.entries[*at];
            Some((entry.changed.clone(), entry.task.uid.clone())) > latest
        };
        let (last, earlier): (Vec<usize>, Vec<usize>) =
            changed.iter().partition(|at| is_latest(at));
        let refused = if last.is_empty() { &earlier } else { &last };
        for at in refused {
            let entry = &mut self.entries[*at];
            entry.is_partial |= !last.is_empty();
            entry.is_open |= last.is_empty();
            let fields = entry.refuse_references(|id| !is_only_group || group.contains(&id));
            self.keep(*at, fields, "it would wait for itself");
        }
        if !changed.is_empty() || new.is_empty() || new.len() == members.len() {
            return Ok(!changed.is_empty());
        }
        // New tasks do not fit what was changed here: they come without these references.
        for at in new {
            let entry = &mut self.entries[at];
            entry.is_partial = true;
            let cut = entry.cut(|id| group.contains(&id));
            self.report.edges.kept = self.report.edges.kept.saturating_sub(cut.len());
            let mut fields = Vec::from_iter((!cut.is_empty()).then(|| "depends".to_string()));
            let parent = self.entries[at]
                .task
                .parent
                .take_if(|id| group.contains(id));
            fields.extend(parent.map(|_| "parent".to_string()));
            self.keep(at, fields, "it would wait for itself");
        }
        Ok(true)
    }

    /// Refuses parents by which tasks would be nested too deep, or be parts of themselves.
    pub(super) fn limit_depth(&mut self, tasks: &dyn Transaction) -> Result<()> {
        let mut deep = Vec::new();
        for at in 0..self.entries.len() {
            let above = self.above(self.entries[at].task.parent, tasks)?;
            if above.len() >= DEPTH_MAX {
                deep.push(at);
            }
        }
        for at in deep {
            let entry = &mut self.entries[at];
            let before = entry.before.as_ref().map(|before| before.parent);
            if self.report.format == Format::Cleo && before.is_some() {
                if before != Some(entry.task.parent) {
                    entry.task.parent = before.flatten();
                    entry.is_partial = true;
                    let fields = vec!["parent".to_string()];
                    self.keep(at, fields, "it would be nested too deep");
                }
                continue;
            }
            entry.task.parent = None;
            let message =
                format!("it is nested deeper than {DEPTH_MAX} levels, or a part of itself");
            self.fault(at, message);
            self.report.parents.kept = self.report.parents.kept.saturating_sub(1);
        }
        Ok(())
    }

    /// Returns what a task with this parent is a part of, as far as tasks may be nested.
    fn above(&self, parent: Option<TaskId>, tasks: &dyn Transaction) -> Result<Vec<TaskId>> {
        let mut above = Vec::new();
        let mut next = parent;
        while let Some(id) = next.filter(|_| above.len() < DEPTH_MAX) {
            above.push(id);
            next = match self.places.get(&id) {
                Some(at) => self.entries[*at].task.parent,
                None => tasks.parent(id)?,
            };
        }
        Ok(above)
    }

    /// Looks for tasks that depend on each other. Their references are kept as missing, so that none
    /// of them is ready by accident; whether to go on is decided later.
    pub(super) fn refuse_circles(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for members in self.find_circles(false, tasks)? {
            let mut readings = self.explain(&members);
            readings.truncate(READINGS_MAX);
            let names = members.iter().map(|id| self.name(*id)).collect();
            let group: Group = members.iter().copied().collect();
            for at in self.places_of(&members) {
                let cut = self.entries[at].cut(|id| group.contains(&id));
                self.report.edges.kept = self.report.edges.kept.saturating_sub(cut.len());
                self.entries[at].note_circular(&cut);
            }
            self.report.cycles.add(|| Circle {
                members: names,
                readings,
            });
        }
        Ok(())
    }

    /// Cuts what makes a part wait for its whole, straight or by way of others.
    pub(super) fn part_from_whole(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for at in 0..self.entries.len() {
            if !self.entries[at].task.depends.is_empty() {
                let above = self.above(self.entries[at].task.parent, tasks)?;
                self.relate(at, &above.into_iter().collect());
            }
        }
        for members in self.find_circles(true, tasks)? {
            let group: Group = members.iter().copied().collect();
            for at in self.places_of(&members) {
                self.relate(at, &group);
            }
        }
        Ok(())
    }

    fn places_of(&self, members: &[TaskId]) -> Vec<usize> {
        let places = members.iter().filter_map(|id| self.places.get(id));
        places.copied().collect()
    }

    /// Turns dependencies into relations. An open task waits until somebody looks at it.
    fn relate(&mut self, at: usize, group: &Group) {
        let cut = self.entries[at].cut(|id| group.contains(&id));
        self.report.edges.kept = self.report.edges.kept.saturating_sub(cut.len());
        let entry = &mut self.entries[at];
        for reference in &cut {
            self.report.edges.on_whole.add(|| Loose {
                id: entry.id.clone(),
                on: reference.given.clone(),
            });
        }
        if !entry.task.is_closed() {
            entry.note_circular(&cut);
        }
        let relation = |it: &Reference| json!({"type": "depends", "id": it.given});
        let relations = cut.iter().map(relation).collect();
        add_to_list(&mut entry.task, "relations", relations);
    }

    /// Names the references of a circle that could mean another task.
    fn explain(&self, members: &[TaskId]) -> Vec<String> {
        let mut readings = Vec::new();
        for at in self.places_of(members) {
            let entry = &self.entries[at];
            for (id, reference) in &entry.given {
                if let [first, other] = reference.readings.as_slice()
                    && members.binary_search(id).is_ok()
                    && self.has_key(other)
                {
                    readings.push(format!(
                        "{} depends on `{}`, read as {first}; it could mean {other}",
                        entry.id, reference.given
                    ));
                }
            }
        }
        readings
    }
}

impl Entry {
    /// Returns `true` if a known task gets a reference to one of `group` that it has not here.
    fn has_new_reference(&self, group: &Group) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let is_new = |id: &TaskId| group.contains(id) && !before.depends.contains(id);
        let parent = self.task.parent.filter(|id| before.parent != Some(*id));
        parent.is_some_and(|id| group.contains(&id)) || self.task.depends.iter().any(is_new)
    }

    /// Returns `true` if the task is new, or has a reference to one of `group` here alone.
    fn is_alone_in(&self, group: &Group) -> bool {
        let Some(before) = &self.before else {
            return true;
        };
        let is_given = |id: &TaskId| self.given.iter().any(|(given, _)| given == id);
        let parent = before.parent.filter(|id| self.given_parent != Some(*id));
        let mut here = before
            .depends
            .iter()
            .filter(|id| !is_given(id))
            .chain(&parent);
        here.any(|id| group.contains(id))
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

    /// Takes dependencies away and returns how the file writes them.
    fn cut(&mut self, is_cut: impl Fn(TaskId) -> bool) -> Vec<Reference> {
        let needs = std::mem::take(&mut self.task.depends);
        let (cut, needs): (Vec<_>, Vec<_>) = needs.into_iter().partition(|id| is_cut(*id));
        self.task.depends = needs;
        let given: HashMap<&TaskId, &Reference> = self
            .given
            .iter()
            .map(|(id, reference)| (id, reference))
            .collect();
        let name = |id: &TaskId| match given.get(id) {
            Some(reference) => (*reference).clone(),
            None => Reference::to(&id.to_string()),
        };
        cut.iter().map(name).collect()
    }

    /// Notes dependencies that closed a circle as missing.
    fn note_circular(&mut self, cut: &[Reference]) {
        let names: Vec<Value> = cut.iter().map(|it| it.given.as_str().into()).collect();
        add_to_list(&mut self.task, DANGLING, names.clone());
        add_to_list(&mut self.task, CIRCULAR, names);
    }
}

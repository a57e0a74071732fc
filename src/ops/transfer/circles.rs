//! What could never be done: tasks that wait for each other, and nesting without end. An export never makes a
//! task that is here wait for itself: its references stay as they are here. Any other file is refused, or taken
//! over without the references.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde_json::{Value, json};

use super::plan::{Entry, Plan};
use super::references::add_to_list;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::DEPTH_MAX;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::graph::{in_circles, reachable};
use crate::transfer::report::{Circle, Loose};
use crate::transfer::{Format, Reference};

/// After so many rounds a task in a circle keeps all its references: only a file that was made for it needs
/// that many.
const ROUNDS_MAX: usize = 16;

type Group = BTreeSet<TaskId>;

impl Plan {
    /// Finds the groups of tasks that wait for each other: for what they depend on and, if `parts`,
    /// for their parts.
    fn find_circles(&self, parts: bool, tasks: &dyn Transaction) -> Result<Vec<Group>> {
        let mut below: HashMap<TaskId, Vec<TaskId>, RandomState> = HashMap::default();
        for task in self.entries.iter().map(|entry| &entry.record.task) {
            if let Some(parent) = task.parent.filter(|_| parts) {
                below.entry(parent).or_default().push(task.id);
            }
        }
        let waits = |id: TaskId| -> Result<Vec<TaskId>> {
            let entry = self.places.get(&id).map(|at| &self.entries[*at]);
            let mut waits = match entry {
                Some(entry) => entry.record.task.depends.clone(),
                None => tasks.depends(id)?,
            };
            waits.extend(below.get(&id).into_iter().flatten());
            if entry.is_none_or(|entry| parts && entry.before.is_some()) {
                let stored = tasks.children(id)?;
                waits.extend(stored.iter().filter(|part| !self.places.contains_key(part)));
            }
            Ok(waits)
        };
        let graph = reachable(self.places.keys().copied(), waits)?;
        let groups = in_circles(&graph).into_iter();
        let mut groups: Vec<Group> = groups.map(Group::from_iter).collect();
        groups.sort_unstable();
        Ok(groups)
    }

    /// Refuses changes of references by which tasks would wait for each other; returns whether some still do.
    pub(super) fn break_circles(&mut self, tasks: &dyn Transaction) -> Result<bool> {
        let mut round = 0;
        loop {
            let groups = self.find_circles(true, tasks)?;
            let mut is_broken = false;
            for group in &groups {
                is_broken |= self.break_circle(group, round > ROUNDS_MAX);
            }
            if !is_broken {
                return Ok(!groups.is_empty());
            }
            round += 1;
        }
    }

    /// Breaks a circle; returns `false` for one that consists of new tasks, or that was here before. Known
    /// tasks keep what they refer to here, all of it if `keeps_all`; if they did not change, new tasks come
    /// without their references.
    fn break_circle(&mut self, group: &Group, keeps_all: bool) -> bool {
        let places = self.places_of(group);
        let is_new = |at: &usize| self.entries[*at].before.is_none();
        let (new, known): (Vec<usize>, Vec<usize>) = places.iter().partition(|at| is_new(at));
        if new.len() == group.len() {
            return false;
        }
        for places in [known, new] {
            let mut is_broken = false;
            for at in places {
                let entry = &mut self.entries[at];
                let fields = entry.refuse_references(|id| keeps_all || group.contains(&id));
                if !fields.is_empty() {
                    entry.is_partial = true;
                    is_broken = true;
                    self.keep(at, fields, "it would wait for itself");
                }
            }
            if is_broken {
                return true;
            }
        }
        false
    }

    /// Refuses parents by which tasks would be nested too deep, or be parts of themselves; returns whether there
    /// were any.
    pub(super) fn limit_depth(&mut self, tasks: &dyn Transaction) -> Result<bool> {
        let mut deep = Vec::new();
        for at in 0..self.entries.len() {
            let above = self.above(self.entries[at].record.task.parent, tasks)?;
            if above.len() >= DEPTH_MAX {
                deep.push(at);
            }
        }
        let has_deep = !deep.is_empty();
        for at in deep {
            let entry = &mut self.entries[at];
            let before = entry.before.as_ref().map(|before| before.parent);
            let parent = &mut entry.record.task.parent;
            match before.filter(|_| self.report.format == Format::Cleo) {
                Some(before) if before == *parent => {}
                Some(before) => {
                    *parent = before;
                    entry.is_partial = true;
                    self.keep(
                        at,
                        vec!["parent".to_string()],
                        "it would be nested too deep",
                    );
                }
                None => {
                    *parent = None;
                    let message =
                        format!("it is nested deeper than {DEPTH_MAX} levels, or a part of itself");
                    self.fault(at, message);
                }
            }
        }
        Ok(has_deep)
    }

    /// Returns what a task with this parent is a part of, as far as tasks may be nested.
    fn above(&self, parent: Option<TaskId>, tasks: &dyn Transaction) -> Result<Vec<TaskId>> {
        let mut above = Vec::new();
        let mut next = parent;
        while let Some(id) = next.filter(|_| above.len() < DEPTH_MAX) {
            above.push(id);
            next = match self.places.get(&id) {
                Some(at) => self.entries[*at].record.task.parent,
                None => tasks.parent(id)?,
            };
        }
        Ok(above)
    }

    /// Looks for tasks that depend on each other. Their references are kept as missing, so that none
    /// of them is ready by accident; whether to go on is decided later.
    pub(super) fn refuse_circles(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for group in self.find_circles(false, tasks)? {
            for at in self.places_of(&group) {
                let cut = self.entries[at].cut(&group);
                self.entries[at].note_circular(&cut);
            }
            let name = |id: &TaskId| match self.places.get(id) {
                Some(at) => self.entries[*at].record.id.clone(),
                None => id.to_string(),
            };
            self.report.cycles.add(|| Circle {
                members: group.iter().map(name).collect(),
            });
        }
        Ok(())
    }

    /// Cuts what makes a part wait for its whole, straight or by way of others.
    pub(super) fn part_from_whole(&mut self, tasks: &dyn Transaction) -> Result<()> {
        for at in 0..self.entries.len() {
            if !self.entries[at].record.task.depends.is_empty() {
                let above = self.above(self.entries[at].record.task.parent, tasks)?;
                self.relate(at, &above.into_iter().collect());
            }
        }
        for group in self.find_circles(true, tasks)? {
            for at in self.places_of(&group) {
                self.relate(at, &group);
            }
        }
        Ok(())
    }

    fn places_of(&self, group: &Group) -> Vec<usize> {
        let places = group.iter().filter_map(|id| self.places.get(id));
        places.copied().collect()
    }

    /// Turns dependencies into relations. An open task waits until somebody looks at it.
    fn relate(&mut self, at: usize, group: &Group) {
        let entry = &mut self.entries[at];
        let cut = entry.cut(group);
        for reference in &cut {
            self.report.edges.on_whole.add(|| Loose {
                id: entry.record.id.clone(),
                on: reference.given.clone(),
            });
        }
        if !entry.record.task.is_closed() {
            entry.note_circular(&cut);
        }
        let relation = |it: &Reference| json!({"type": "depends", "id": it.given});
        let relations = cut.iter().map(relation).collect();
        add_to_list(&mut entry.record.task, "relations", relations);
    }
}

impl Entry {
    /// Leaves references as they are here, where a new task has none; returns the fields that this changed.
    fn refuse_references(&mut self, is_refused: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut fields = Vec::new();
        let task = &mut self.record.task;
        let parent = self.before.as_ref().and_then(|before| before.parent);
        if task.parent != parent && task.parent.is_some_and(&is_refused) {
            task.parent = parent;
            fields.push("parent".to_string());
        }
        let before = self.before.as_ref().map(|before| &before.depends);
        let is_here = |id: &TaskId| before.is_some_and(|depends| depends.contains(id));
        let count = task.depends.len();
        task.depends.retain(|id| !is_refused(*id) || is_here(id));
        if task.depends.len() < count {
            fields.push("depends".to_string());
        }
        fields
    }

    /// Takes dependencies away and returns how the file writes them.
    fn cut(&mut self, group: &Group) -> Vec<Reference> {
        let given: HashMap<TaskId, &Reference> =
            self.given.iter().map(|(id, it)| (*id, it)).collect();
        let depends = &mut self.record.task.depends;
        let cut = depends.extract_if(.., |id| group.contains(id));
        cut.map(|id| match given.get(&id) {
            Some(reference) => (*reference).clone(),
            None => Reference::to(&id.to_string()),
        })
        .collect()
    }

    /// Notes dependencies that closed a circle as missing.
    fn note_circular(&mut self, cut: &[Reference]) {
        let names: Vec<Value> = cut.iter().map(|it| it.given.as_str().into()).collect();
        add_to_list(&mut self.record.task, DANGLING, names.clone());
        add_to_list(&mut self.record.task, CIRCULAR, names);
    }
}

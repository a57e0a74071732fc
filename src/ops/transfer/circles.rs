//! Finds tasks that wait for each other, and endless nesting. Such a file is refused, or imported without the references.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde_json::json;

use super::plan::Plan;
use super::references::add_to_list;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::DEPTH_MAX;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::graph::{has_circle, in_circles, reachable};
use crate::transfer::report::{Circle, Loose};

type Group = BTreeSet<TaskId>;

impl Plan {
    /// Removes references by which tasks could never be done, and reports them.
    pub(super) fn refuse_circles(&mut self, tasks: &dyn Transaction) -> Result<()> {
        self.limit_depth(tasks)?;
        for group in self.find_circles(self.is_own(), tasks)? {
            let members = group.iter().map(|id| self.name(*id)).collect();
            self.report.cycles.add(|| Circle { members });
            for at in self.places_of(&group) {
                self.cut_dependencies(at, &group, false);
            }
        }
        for at in 0..self.entries.len() {
            if !self.entries[at].record.task.depends.is_empty() {
                let above = self.list_ancestors(self.entries[at].record.task.parent, tasks)?;
                self.cut_dependencies(at, &above.into_iter().collect(), true);
            }
        }
        if self.is_own() {
            // The first search followed parts, too.
            return Ok(());
        }
        for group in self.find_circles(true, tasks)? {
            for at in self.places_of(&group) {
                self.cut_dependencies(at, &group, true);
            }
        }
        Ok(())
    }

    /// Finds the groups of tasks that wait for each other: for dependencies and, if `parts`, for parts.
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
        if !has_circle(self.places.keys().copied(), waits)? {
            return Ok(Vec::new());
        }
        let graph = reachable(self.places.keys().copied(), waits)?;
        let groups = in_circles(&graph).into_iter();
        let mut groups: Vec<Group> = groups.map(Group::from_iter).collect();
        groups.sort_unstable();
        Ok(groups)
    }

    /// Removes parents by which tasks would be nested too deep, or be parts of themselves.
    fn limit_depth(&mut self, tasks: &dyn Transaction) -> Result<()> {
        let mut deep = Vec::new();
        for at in 0..self.entries.len() {
            let above = self.list_ancestors(self.entries[at].record.task.parent, tasks)?;
            if above.len() >= DEPTH_MAX {
                deep.push(at);
            }
        }
        for at in deep {
            self.entries[at].record.task.parent = None;
            let message =
                format!("it is nested deeper than {DEPTH_MAX} levels, or a part of itself");
            self.add_fault(at, message);
        }
        Ok(())
    }

    /// Returns the tasks above a task with this parent, up to the maximum depth.
    fn list_ancestors(
        &self,
        parent: Option<TaskId>,
        tasks: &dyn Transaction,
    ) -> Result<Vec<TaskId>> {
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

    fn places_of(&self, group: &Group) -> Vec<usize> {
        let places = group.iter().filter_map(|id| self.places.get(id));
        places.copied().collect()
    }

    /// Returns the id of a task in its file, or here if it is not in the file.
    fn name(&self, id: TaskId) -> String {
        match self.places.get(&id) {
            Some(at) => self.entries[*at].record.id.clone(),
            None => id.to_string(),
        }
    }

    /// Removes dependencies on a group of tasks. They count as missing, so that the task waits until a user clears
    /// them; a dependency on the whole becomes a relation and delays only an open task.
    fn cut_dependencies(&mut self, at: usize, group: &Group, is_on_whole: bool) {
        let record = &mut self.entries[at].record;
        let cut = record.task.depends.extract_if(.., |id| group.contains(id));
        let cut: Vec<TaskId> = cut.collect();
        let names: Vec<String> = cut.iter().map(|id| self.name(*id)).collect();
        let record = &mut self.entries[at].record;
        if is_on_whole {
            for on in &names {
                self.report.edges.on_whole.add(|| Loose {
                    id: record.id.clone(),
                    on: on.clone(),
                });
            }
            let relation = |on: &String| json!({"type": "depends", "id": on});
            let relations = names.iter().map(relation).collect();
            add_to_list(&mut record.task, "relations", relations);
        }
        if !is_on_whole || !record.task.is_closed() {
            for list in [DANGLING, CIRCULAR] {
                let names = names.iter().map(|name| json!(name));
                add_to_list(&mut record.task, list, names.collect());
            }
        }
    }
}

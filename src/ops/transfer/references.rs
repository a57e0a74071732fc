//! Turns the references of a file into ids of this workspace.

use std::collections::HashSet;
use std::mem;

use foldhash::fast::RandomState;
use serde_json::{Value, json};

use super::plan::Plan;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{DANGLING, Transaction};
use crate::task::Task;
use crate::transfer::Reference;
use crate::transfer::report::Loose;

/// Where a reference of the file leads.
enum Target {
    Task(TaskId),
    /// A task that was left out and is done.
    Done,
    Deleted,
    Missing,
}

impl Plan {
    /// Resolves the parents and dependencies of a task, and reports those that lead nowhere.
    pub(super) fn resolve(&mut self, at: usize, tasks: &dyn Transaction) -> Result<()> {
        let record = &mut self.entries[at].record;
        let (own, id) = (record.task.id, record.id.clone());
        let parents = mem::take(&mut record.parents);
        let depends = mem::take(&mut record.depends);
        let loose = |on: &Reference| Loose {
            id: id.clone(),
            on: on.given.clone(),
        };
        let is_ambiguous =
            |it: &&Reference| it.readings.iter().any(|key| self.ambiguous.contains(key));
        if let Some(reference) = parents.iter().chain(&depends).find(is_ambiguous) {
            let message = format!(
                "it refers to {}, the id of two tasks in this file; import each export by itself",
                reference.given
            );
            self.fault(at, message);
        }
        let (mut parent, mut related) = (None, Vec::new());
        for reference in &parents {
            match self.find(at, reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.report.parents.itself.add(|| id.clone())
                }
                Target::Task(other) if parent.is_none_or(|first| first == other) => {
                    parent = Some(other)
                }
                Target::Task(_) => {
                    self.report.parents.second.add(|| loose(reference));
                    related.push(json!({"type": "parent-child", "id": reference.given}));
                }
                _ => self.report.parents.dangling.add(|| loose(reference)),
            }
        }
        let (mut given, mut missing): (Vec<(TaskId, Reference)>, _) = (Vec::new(), Vec::new());
        let mut read: HashSet<_, RandomState> = HashSet::default();
        let mut seen: HashSet<_, RandomState> = HashSet::default();
        for reference in depends {
            if !read.insert(reference.readings.first().cloned()) {
                self.report.edges.repeated += 1;
                continue;
            }
            let sample = match self.find(at, &reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.fault(at, "it depends on itself".to_string());
                    continue;
                }
                Target::Task(other) => {
                    match seen.insert(other) {
                        true => given.push((other, reference)),
                        false => self.report.edges.repeated += 1,
                    }
                    continue;
                }
                Target::Done => {
                    self.report.edges.satisfied += 1;
                    continue;
                }
                Target::Deleted => &mut self.report.edges.on_deleted,
                Target::Missing => &mut self.report.edges.dangling,
            };
            sample.add(|| loose(&reference));
            missing.push(reference.given.into());
        }
        if let Some(before) = self.entries[at].before.clone().filter(|_| !self.is_own()) {
            self.keep_untold_parent(at, &before, &mut parent, tasks)?;
            self.keep_untold_depends(&before, &mut given, tasks)?;
        }
        let entry = &mut self.entries[at];
        entry.record.task.parent = parent;
        entry.record.task.depends = given.iter().map(|(id, _)| *id).collect();
        entry.given = given;
        add_to_list(&mut entry.record.task, DANGLING, missing);
        add_to_list(&mut entry.record.task, "relations", related);
        Ok(())
    }

    fn find(&self, at: usize, reference: &Reference, tasks: &dyn Transaction) -> Result<Target> {
        for key in &reference.readings {
            if self.ambiguous.contains(key) {
                return Ok(Target::Missing);
            }
            if let Some(place) = self.by_key.get(key).or_else(|| self.aliases.get(key)) {
                return Ok(Target::Task(self.entries[*place].record.task.id));
            }
            if let Some((uid, is_done)) = self.left.get(key) {
                return Ok(match (tasks.task_by_uid(uid)?, is_done) {
                    (Some(id), _) => Target::Task(id),
                    (None, true) => Target::Done,
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

    /// Keeps the parent of a known task that the file of another tool says nothing of.
    fn keep_untold_parent(
        &self,
        at: usize,
        before: &Task,
        parent: &mut Option<TaskId>,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let is_told = self.entries[at].record.told.contains(&"parent");
        if let (None, Some(above)) = (&parent, before.parent)
            && (!is_told || !self.is_in_file(above, tasks)?)
        {
            *parent = Some(above);
        }
        Ok(())
    }

    /// Keeps dependencies of a known task on tasks that the file of another tool does not hold.
    fn keep_untold_depends(
        &self,
        before: &Task,
        given: &mut Vec<(TaskId, Reference)>,
        tasks: &dyn Transaction,
    ) -> Result<()> {
        let count = given.len();
        for need in &before.depends {
            if !given.iter().any(|(id, _)| id == need) && !self.is_in_file(*need, tasks)? {
                given.push((*need, Reference::to(&need.to_string())));
            }
        }
        if given.len() > count {
            // In the order in which they are here, so that what is the same counts as unchanged.
            let place = |need: TaskId| before.depends.iter().position(|other| *other == need);
            given.sort_by_key(|(need, _)| place(*need).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    /// Returns `true` for a task that the file of another tool holds, also if it was left out.
    fn is_in_file(&self, id: TaskId, tasks: &dyn Transaction) -> Result<bool> {
        if self.places.contains_key(&id) {
            return Ok(true);
        }
        let task = tasks.task(id)?;
        let origin = task.as_ref().and_then(|task| task.extra.get("origin"));
        let origin = origin.filter(|it| it["format"] == self.report.format.word());
        let id = origin.and_then(|origin| origin["id"].as_str());
        Ok(id.is_some_and(|id| self.left.contains_key(id)))
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

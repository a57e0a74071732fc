//! Resolves the references of a file to ids of this workspace.

use std::collections::HashSet;
use std::mem;

use foldhash::fast::RandomState;
use serde_json::{Value, json};

use super::plan::Plan;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{DANGLING, Transaction};
use crate::task::Task;
use crate::transfer::report::Loose;
use crate::transfer::{Format, Reference};

enum Target {
    Task(TaskId),
    /// A skipped task that is done.
    Done,
    Deleted,
    Missing,
}

impl Plan {
    /// Resolves the parents and dependencies of a task, and reports missing ones.
    pub(super) fn resolve(&mut self, at: usize, tasks: &dyn Transaction) -> Result<()> {
        let record = &mut self.entries[at].record;
        let parents = mem::take(&mut record.parents);
        let depends = mem::take(&mut record.depends);
        let mut parent = self.resolve_parent(at, &parents, tasks)?;
        let mut depends = self.resolve_depends(at, &depends, tasks)?;
        if let Some(before) = self.entries[at].before.as_ref().filter(|_| !self.is_own()) {
            let is_in_file = |id: &TaskId| self.places.contains_key(id);
            // No file of Taskwarrior can tell a parent.
            let is_unsaid =
                |id: &TaskId| self.report.format == Format::Taskwarrior || !is_in_file(id);
            parent = parent.or(before.parent.filter(is_unsaid));
            // In the order in which they are here, so that what is the same counts as unchanged.
            let kept = before.depends.iter();
            let kept = kept.filter(|id| depends.contains(*id) || !is_in_file(id));
            let mut all: Vec<TaskId> = kept.copied().collect();
            depends.retain(|id| !all.contains(id));
            all.append(&mut depends);
            depends = all;
        }
        let task = &mut self.entries[at].record.task;
        (task.parent, task.depends) = (parent, depends);
        Ok(())
    }

    fn resolve_parent(
        &mut self,
        at: usize,
        parents: &[Reference],
        tasks: &dyn Transaction,
    ) -> Result<Option<TaskId>> {
        let (own, id) = self.names_of(at);
        let mut parent = None;
        for reference in parents {
            let loose = || Loose {
                id: id.clone(),
                on: reference.given.clone(),
            };
            match self.find(at, reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.report.parents.itself.add(|| id.clone())
                }
                Target::Task(other) if parent.is_none_or(|first| first == other) => {
                    parent = Some(other)
                }
                Target::Task(_) => {
                    self.report.parents.second.add(loose);
                    let relation = json!({"type": "parent-child", "id": reference.given});
                    let task = &mut self.entries[at].record.task;
                    add_to_list(task, "relations", vec![relation]);
                }
                _ => self.report.parents.dangling.add(loose),
            }
        }
        Ok(parent)
    }

    fn resolve_depends(
        &mut self,
        at: usize,
        references: &[Reference],
        tasks: &dyn Transaction,
    ) -> Result<Vec<TaskId>> {
        let (own, id) = self.names_of(at);
        let (mut depends, mut missing) = (Vec::new(), Vec::new());
        let mut read: HashSet<_, RandomState> = HashSet::default();
        let mut seen: HashSet<_, RandomState> = HashSet::default();
        for reference in references {
            if !read.insert(reference.readings.first()) {
                self.report.edges.repeated += 1;
                continue;
            }
            let sample = match self.find(at, reference, tasks)? {
                Target::Task(other) if other == own => {
                    self.add_fault(at, "it depends on itself".to_string());
                    continue;
                }
                Target::Task(other) => {
                    match seen.insert(other) {
                        true => depends.push(other),
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
            let on = reference.given.clone();
            missing.push(Value::from(on.as_str()));
            sample.add(|| Loose { id: id.clone(), on });
        }
        add_to_list(&mut self.entries[at].record.task, DANGLING, missing);
        Ok(depends)
    }

    /// Returns the id of a task here, and that in its file.
    fn names_of(&self, at: usize) -> (TaskId, String) {
        let record = &self.entries[at].record;
        (record.task.id, record.id.clone())
    }

    fn find(&self, at: usize, reference: &Reference, tasks: &dyn Transaction) -> Result<Target> {
        for key in &reference.readings {
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
        // The file is a part of an export. A task that it does not have has this id in the workspace that wrote it,
        // which is the same task here only if the task here refers to it, too.
        let before = self.entries[at].before.as_ref();
        let is_known = |id: &TaskId| {
            before.is_some_and(|it| it.parent == Some(*id) || it.depends.contains(id))
        };
        let id = reference.given.parse::<TaskId>().ok().filter(is_known);
        Ok(id.map_or(Target::Missing, Target::Task))
    }
}

/// Adds missing values to a list in `extra`.
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

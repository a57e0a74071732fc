//! The graph after a merge: two sets of edges that were each in order need not be so together.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::DEPTH_MAX;
use crate::ops::transfer::export::each;
use crate::store::{CIRCULAR, DANGLING, Transaction};
use crate::task::Task;
use crate::transfer::circles::groups;
use crate::transfer::formats::cleo::line;
use crate::transfer::merge::{Conflict, Side};

/// What a task refers to.
#[derive(Clone, Default)]
struct Refers {
    parent: Option<TaskId>,
    depends: Vec<TaskId>,
}

/// Takes away what leads nowhere or round in a circle. What was a dependency is kept as dangling,
/// so that nothing is ready by accident, and each is listed.
pub(super) fn mend(
    transaction: &dyn Transaction,
    changed: &mut BTreeMap<TaskId, Option<Task>>,
    lines: &mut BTreeMap<TaskId, String>,
    conflicts: &mut Vec<Conflict>,
) -> Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let mut refers: HashMap<TaskId, Refers> = HashMap::new();
    let mut before: HashMap<TaskId, Refers> = HashMap::new();
    each(transaction, |task| {
        let own = Refers {
            parent: task.parent,
            depends: task.depends,
        };
        if changed.contains_key(&task.id) {
            before.insert(task.id, own.clone());
        }
        refers.insert(task.id, own);
        Ok(())
    })?;
    for (id, task) in changed.iter() {
        match task {
            None => refers.remove(id),
            Some(task) => refers.insert(
                *id,
                Refers {
                    parent: task.parent,
                    depends: task.depends.clone(),
                },
            ),
        };
    }
    let mut cut = loose(&refers);
    let n_loose = cut.len();
    apply(&mut refers, &cut);
    // First what came from the file goes, and what is still a circle then goes whole.
    for only_new in [true, false] {
        let more = circular(&refers, &before, only_new)?;
        apply(&mut refers, &more);
        cut.extend(more);
    }
    let new: HashSet<TaskId> = changed
        .keys()
        .filter(|id| !before.contains_key(id))
        .copied()
        .collect();
    for (number, (id, target, field)) in cut.into_iter().enumerate() {
        let task = match changed.get(&id).cloned().flatten() {
            Some(task) => task,
            None => crate::ops::require(transaction, id)?,
        };
        let task = without(task, target, field, number >= n_loose);
        let had = match before.get(&id) {
            Some(own) => own.has(target, field),
            None => !new.contains(&id),
        };
        conflicts.push(conflict(id, target, field, had));
        lines.insert(id, line(&task));
        changed.insert(id, Some(task));
    }
    Ok(())
}

impl Refers {
    fn has(&self, target: TaskId, field: &str) -> bool {
        match field {
            "parent" => self.parent == Some(target),
            _ => self.depends.contains(&target),
        }
    }
}

/// Lists a reference that was taken away, on the side that had it: the other one, without it, counts.
fn conflict(id: TaskId, target: TaskId, field: &str, had_here: bool) -> Conflict {
    let (here, file, taken) = match had_here {
        true => (json!(target), Value::Null, Side::File),
        false => (Value::Null, json!(target), Side::Here),
    };
    Conflict {
        id,
        field: field.to_string(),
        here,
        file,
        taken,
    }
}

/// A reference: the task, what it refers to, and by which field.
type Reference = (TaskId, TaskId, &'static str);

fn loose(refers: &HashMap<TaskId, Refers>) -> Vec<Reference> {
    let mut loose = Vec::new();
    for (id, own) in refers {
        let missing = |target: &TaskId| !refers.contains_key(target) || target == id;
        let parent = own.parent.filter(missing);
        loose.extend(parent.map(|target| (*id, target, "parent")));
        let depends = own.depends.iter().filter(|target| missing(target));
        loose.extend(depends.map(|target| (*id, *target, "depends")));
    }
    loose.sort_unstable();
    loose
}

fn apply(refers: &mut HashMap<TaskId, Refers>, cut: &[Reference]) {
    for (id, target, field) in cut {
        let Some(own) = refers.get_mut(id) else {
            continue;
        };
        match *field {
            "parent" => own.parent = None,
            _ => own.depends.retain(|need| need != target),
        }
    }
}

fn circular(
    refers: &HashMap<TaskId, Refers>,
    before: &HashMap<TaskId, Refers>,
    only_new: bool,
) -> Result<Vec<Reference>> {
    let mut parts: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for (id, own) in refers {
        if let Some(parent) = own.parent {
            parts.entry(parent).or_default().push(*id);
        }
    }
    let next = |id: TaskId| {
        let mut waits = parts.get(&id).cloned().unwrap_or_default();
        waits.extend(refers.get(&id).into_iter().flat_map(|own| &own.depends));
        Ok(waits)
    };
    let mut cut = Vec::new();
    for group in groups(refers.keys().copied(), next)? {
        let inside: HashSet<TaskId> = group.iter().copied().collect();
        for id in &group {
            let (Some(own), old) = (refers.get(id), before.get(id)) else {
                continue;
            };
            let had = |target: &TaskId| match old {
                Some(old) => old.depends.contains(target),
                // What was not changed at all was in order before.
                None => true,
            };
            let edges = own.depends.iter().filter(|target| inside.contains(target));
            let edges = edges.filter(|target| !only_new || !had(target));
            cut.extend(edges.map(|target| (*id, *target, "depends")));
            let nested = own.parent.filter(|parent| inside.contains(parent));
            let is_new = old.is_some_and(|old| old.parent != own.parent);
            cut.extend(
                nested
                    .filter(|_| is_new)
                    .map(|target| (*id, target, "parent")),
            );
        }
    }
    for (id, own) in refers.iter().filter(|_| !only_new) {
        let is_new = before.get(id).is_none_or(|old| old.parent != own.parent);
        let deep = own
            .parent
            .filter(|_| is_new && depth(*id, refers) > DEPTH_MAX);
        cut.extend(deep.map(|parent| (*id, parent, "parent")));
    }
    cut.sort_unstable();
    cut.dedup();
    Ok(cut)
}

fn depth(id: TaskId, refers: &HashMap<TaskId, Refers>) -> usize {
    let mut levels = 1;
    let mut above = refers.get(&id).and_then(|own| own.parent);
    while let Some(parent) = above.filter(|_| levels <= DEPTH_MAX) {
        levels += 1;
        above = refers.get(&parent).and_then(|own| own.parent);
    }
    levels
}

fn without(mut task: Task, target: TaskId, field: &str, is_circular: bool) -> Task {
    if field == "parent" {
        task.parent = None;
        return task;
    }
    task.depends.retain(|need| *need != target);
    let circular = is_circular.then_some(CIRCULAR);
    for list in [DANGLING].into_iter().chain(circular) {
        let names = task.extra.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(names) = names {
            let target = Value::String(target.to_string());
            if !names.contains(&target) {
                names.push(target);
            }
        }
    }
    task
}

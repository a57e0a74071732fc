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

/// Why a reference is not taken: the rest stands without it.
const CIRCLE: &str = "it would close a circle";
const DEEP: &str = "it would be nested too deep";

/// What a task refers to.
#[derive(Clone, Default)]
struct Refers {
    parent: Option<TaskId>,
    depends: Vec<TaskId>,
}

/// Takes away what leads nowhere or round in a circle, and lists each. Of what was a dependency here, or
/// leads nowhere, a trace is kept as dangling, so that nothing is ready by accident; what only came with the
/// file and would close a circle is not taken, and the task stays as it was.
pub(super) fn mend(
    transaction: &dyn Transaction,
    changed: &mut BTreeMap<TaskId, Option<Task>>,
    lines: &mut BTreeMap<TaskId, String>,
    conflicts: &mut Vec<Conflict>,
) -> Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let (before, mut refers) = look(transaction, changed)?;
    for cut in cut(&before, &mut refers)? {
        let id = cut.reference.0;
        let task = match changed.get(&id).cloned().flatten() {
            Some(task) => task,
            None => crate::ops::require(transaction, id)?,
        };
        let had = before.get(&id).is_none_or(|own| own.has(&cut.reference));
        let stays = refers.get(&id).and_then(|own| own.parent);
        let task = without(task, &cut, had, stays);
        let old = before.get(&id).and_then(|own| own.parent);
        conflicts.push(conflict(&cut, had, old));
        lines.insert(id, line(&task));
        changed.insert(id, Some(task));
    }
    Ok(())
}

/// What tasks refer to.
type Graph = HashMap<TaskId, Refers>;

/// Reads what tasks that changed referred to before, and what all refer to now. A new one referred to nothing.
fn look(
    transaction: &dyn Transaction,
    changed: &BTreeMap<TaskId, Option<Task>>,
) -> Result<(Graph, Graph)> {
    let (mut before, mut refers) = (Graph::new(), Graph::new());
    each(transaction, |task| {
        let own = Refers::of(&task);
        if changed.contains_key(&task.id) {
            before.insert(task.id, own.clone());
        }
        refers.insert(task.id, own);
        Ok(())
    })?;
    for (id, task) in changed {
        match task {
            None => refers.remove(id),
            Some(task) => {
                before.entry(*id).or_default();
                refers.insert(*id, Refers::of(task))
            }
        };
    }
    Ok((before, refers))
}

/// A reference that goes, and why, if it leads somewhere.
struct Cut {
    reference: Reference,
    why: Option<&'static str>,
}

/// Takes references away until each leads somewhere, none round in a circle and none too deep. What goes
/// back to the parent that it had may be wrong there by now, and is looked at again.
fn cut(before: &Graph, refers: &mut Graph) -> Result<Vec<Cut>> {
    let mut cut = Vec::new();
    let (mut found, mut why) = (loose(refers), None);
    loop {
        apply(refers, before, &found);
        cut.extend(found.into_iter().map(|reference| Cut { reference, why }));
        (found, why) = wrong(refers, before)?;
        if found.is_empty() {
            return Ok(cut);
        }
    }
}

/// Finds what has to go next, and why. First what came from the file goes, and what is still wrong then goes
/// whole.
fn wrong(refers: &Graph, before: &Graph) -> Result<(Vec<Reference>, Option<&'static str>)> {
    for only_new in [true, false] {
        let found = circular(refers, before, only_new)?;
        if !found.is_empty() {
            return Ok((found, Some(CIRCLE)));
        }
    }
    let mut found = deep(refers, before, true);
    if found.is_empty() {
        found = deep(refers, before, false);
    }
    Ok((found, Some(DEEP)))
}

impl Refers {
    fn of(task: &Task) -> Refers {
        Refers {
            parent: task.parent,
            depends: task.depends.clone(),
        }
    }

    fn has(&self, (_, target, field): &Reference) -> bool {
        match *field {
            "parent" => self.parent == Some(*target),
            _ => self.depends.contains(target),
        }
    }
}

/// Lists a reference that was taken away, on the side that had it: the other one, without it, counts.
fn conflict(cut: &Cut, had_here: bool, parent: Option<TaskId>) -> Conflict {
    let (id, target, field) = cut.reference;
    let (here, file, taken) = match had_here {
        true => (json!(target), Value::Null, Side::File),
        false => (
            json!(parent.filter(|_| field == "parent")),
            json!(target),
            Side::Here,
        ),
    };
    Conflict {
        id,
        field: field.to_string(),
        here,
        file,
        taken,
        why: cut.why,
    }
}

/// A reference: the task, what it refers to, and by which field.
type Reference = (TaskId, TaskId, &'static str);

fn loose(refers: &Graph) -> Vec<Reference> {
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

/// Takes references away. What had another parent before goes back to it.
fn apply(refers: &mut Graph, before: &Graph, cut: &[Reference]) {
    for (id, target, field) in cut {
        let old = before.get(id).and_then(|own| own.parent);
        let old = old.filter(|old| old != target && refers.contains_key(old));
        let Some(own) = refers.get_mut(id) else {
            continue;
        };
        match *field {
            "parent" => own.parent = old,
            _ => own.depends.retain(|need| need != target),
        }
    }
}

fn circular(refers: &Graph, before: &Graph, only_new: bool) -> Result<Vec<Reference>> {
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
    cut.sort_unstable();
    Ok(cut)
}

/// Finds parents below which tasks are nested too deep: the new ones, or the uppermost, without which what is
/// below is no longer too deep.
fn deep(refers: &Graph, before: &Graph, only_new: bool) -> Vec<Reference> {
    let mut deep = Vec::new();
    for (id, own) in refers {
        let old = before.get(id);
        let is_new = old.is_none_or(|old| old.parent != own.parent);
        let is_wanted = |parent: &TaskId| match only_new {
            true => is_new,
            false => depth(*parent, refers) <= DEPTH_MAX,
        };
        let parent = own.parent.filter(is_wanted);
        let parent = parent.filter(|_| depth(*id, refers) > DEPTH_MAX);
        deep.extend(parent.map(|parent| (*id, parent, "parent")));
    }
    deep.sort_unstable();
    deep
}

fn depth(id: TaskId, refers: &Graph) -> usize {
    let mut levels = 1;
    let mut above = refers.get(&id).and_then(|own| own.parent);
    while let Some(parent) = above.filter(|_| levels <= DEPTH_MAX) {
        levels += 1;
        above = refers.get(&parent).and_then(|own| own.parent);
    }
    levels
}

/// Takes a reference from a task; `parent` is what it is a part of then.
fn without(mut task: Task, cut: &Cut, had_here: bool, parent: Option<TaskId>) -> Task {
    let (_, target, field) = cut.reference;
    if field == "parent" {
        task.parent = parent;
        return task;
    }
    task.depends.retain(|need| *need != target);
    let lists: &[&str] = match (cut.why, had_here) {
        (None, _) => &[DANGLING],
        (Some(_), true) => &[DANGLING, CIRCULAR],
        (Some(_), false) => &[],
    };
    for list in lists {
        let names = task.extra.entry(*list).or_insert_with(|| json!([]));
        if let Value::Array(names) = names {
            let target = Value::String(target.to_string());
            if !names.contains(&target) {
                names.push(target);
            }
        }
    }
    task
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks and their parents; 0 is none.
    type Parents = &'static [(u32, u32)];

    fn graph(parents: &[(u32, u32)]) -> Graph {
        let own = |parent: u32| Refers {
            parent: (parent > 0).then_some(TaskId(parent)),
            depends: Vec::new(),
        };
        let tasks = parents.iter();
        tasks
            .map(|(id, parent)| (TaskId(*id), own(*parent)))
            .collect()
    }

    /// T1 to T8 stand below each other, as deep as it goes, and some more.
    fn nested(more: &[(u32, u32)]) -> Graph {
        let chain: Vec<(u32, u32)> = (1..=8).map(|id| (id, id - 1)).collect();
        graph(&[&chain[..], more].concat())
    }

    #[test]
    fn nothing_stays_too_deep_below_a_task_that_was_moved() {
        let cases: [(Parents, Parents, [u32; 2]); 5] = [
            // T10 goes back to T9, below which it is too deep by now.
            (&[(9, 0), (10, 9)], &[(9, 7), (10, 8)], [7, 0]),
            (&[(9, 0)], &[(9, 7), (10, 9)], [7, 0]),
            (&[(9, 0), (10, 9)], &[(9, 7), (10, 9)], [7, 0]),
            (&[(9, 0), (10, 9)], &[(9, 8), (10, 9)], [0, 9]),
            // T10 goes back to T9, and would be above it.
            (&[(9, 0), (10, 9)], &[(9, 10), (10, 8)], [0, 9]),
        ];
        for (before, more, parents) in cases {
            let mut refers = nested(more);
            cut(&graph(before), &mut refers).unwrap();
            let parent = |id| refers[&TaskId(id)].parent.map_or(0, |parent| parent.0);
            assert_eq!([parent(9), parent(10)], parents, "{before:?} {more:?}");
            assert!(refers.keys().all(|id| depth(*id, &refers) <= DEPTH_MAX));
        }
    }
}

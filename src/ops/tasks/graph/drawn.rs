//! Drawings of the tasks around one, or below an epic.

use std::collections::HashSet;

use super::check_scope;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::drawing::{DRAWN_MAX, Shape};
use crate::task::graph::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A task with its dependencies and dependents, over a maximum number of steps.
    Around(TaskId, Option<u32>),
    /// All tasks below an epic; without one all tasks.
    Below(Option<TaskId>),
}

pub(crate) type Drawing = Vec<Shape>;

pub(crate) fn drawing(context: &mut Context, part: Part) -> Result<Drawing> {
    context.read(|tasks| {
        let nodes = match part {
            Part::Around(id, depth) => {
                let ids = list_around(tasks, id, depth)?.into_iter();
                let nodes = ids.map(|id| tasks.readable_node(id));
                nodes
                    .filter_map(Result::transpose)
                    .collect::<Result<Vec<Node>>>()?
            }
            Part::Below(epic) => {
                check_scope(tasks, epic)?;
                tasks.nodes(epic)?
            }
        };
        refuse_many(nodes.len())?;
        let ids: Vec<TaskId> = nodes.iter().map(|node| node.id).collect();
        let outlines = tasks.outlines(&ids)?;
        let shapes = nodes.into_iter().map(|node| Shape {
            id: node.id,
            name: node.id.to_string(),
            title: outlines
                .get(node.id)
                .map(|outline| outline.title.clone())
                .unwrap_or_default(),
            state: node.status.into(),
            is_epic: node.is_epic,
            depends: node.depends,
            parent: node.parent,
        });
        Ok(shapes.collect())
    })
}

fn list_around(tasks: &dyn Transaction, id: TaskId, depth: Option<u32>) -> Result<Vec<TaskId>> {
    if tasks.status(id)?.is_none() {
        return Err(no_task(id));
    }
    let mut all = HashSet::from([id]);
    for is_upward in [false, true] {
        let (mut level, mut seen, mut n_steps) = (vec![id], HashSet::from([id]), 0);
        while !level.is_empty() && depth.is_none_or(|depth| n_steps < depth) {
            let mut further = Vec::new();
            for id in level {
                let next = match is_upward {
                    false => tasks.depends(id)?,
                    true => tasks.dependents(id)?,
                };
                further.extend(next.into_iter().filter(|id| seen.insert(*id)));
            }
            refuse_many(seen.len())?;
            (level, n_steps) = (further, n_steps + 1);
        }
        all.extend(seen);
    }
    refuse_many(all.len())?;
    let mut all: Vec<TaskId> = all.into_iter().collect();
    all.sort_unstable();
    Ok(all)
}

/// Refuses a picture of too many tasks.
fn refuse_many(n_tasks: usize) -> Result<()> {
    if n_tasks <= DRAWN_MAX {
        return Ok(());
    }
    let message = format!("there are more than {DRAWN_MAX} tasks to draw; choose a part of them");
    Err(Error::new(Code::InputInvalid, message)
        .fix("cleo list --type epic")
        .or("see how to choose a part", "cleo deps --help"))
}

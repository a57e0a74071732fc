//! Drawings of the tasks around one, or below an epic.

use std::collections::BTreeSet;

use super::check_scope;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::drawing::{DRAWN_MAX, Shape};
use crate::task::graph::{Node, reachable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A task with all that it waits for and all that waits for it.
    Around(TaskId),
    /// All tasks below an epic; without one all tasks.
    Below(Option<TaskId>),
}

pub(crate) fn drawing(context: &mut Context, part: Part) -> Result<Vec<Shape>> {
    context.read(|tasks| {
        let nodes = match part {
            Part::Around(id) => {
                let ids = list_around(tasks, id)?;
                refuse_many(ids.len())?;
                let nodes = ids.into_iter().map(|id| tasks.readable_node(id));
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

/// Lists a task with all that it waits for and all that waits for it.
fn list_around(tasks: &dyn Transaction, id: TaskId) -> Result<BTreeSet<TaskId>> {
    if tasks.status(id)?.is_none() {
        return Err(no_task(id));
    }
    let needs = reachable([id], |id| tasks.depends(id))?;
    let waiting = reachable([id], |id| tasks.dependents(id))?;
    Ok(needs.nodes().chain(waiting.nodes()).chain([id]).collect())
}

fn refuse_many(n_tasks: usize) -> Result<()> {
    if n_tasks <= DRAWN_MAX {
        return Ok(());
    }
    let message = format!("there are more than {DRAWN_MAX} tasks to draw; choose a part of them");
    Err(Error::new(Code::InputInvalid, message)
        .fix("cleo list --type epic")
        .or("see how to choose a part", "cleo deps --help"))
}

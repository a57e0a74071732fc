//! What a task waits for, or what waits for it, as a tree.

use std::collections::HashSet;

use serde::Serialize;

use super::{check_scope, problems_around};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::read::{neighbors, warn_of_problems};
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::TaskView;
use crate::task::drawing::{DRAWN_MAX, Shape};
use crate::task::graph::{Node, Problem};

/// Most rows of a tree.
const ROWS_MAX: usize = 1_000;

/// Which way a tree grows.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Direction {
    /// From a task to what it depends on.
    Needs,
    /// From a task to what depends on it.
    Dependents,
}

/// A task and everything on one side of it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct NeighborTree {
    pub(crate) task: TaskId,
    /// Which way the tree grows.
    pub(crate) direction: Direction,
    /// The rows in the order in which a tree is read; the task itself is the first.
    pub(crate) tree: Vec<NeighborRow>,
    /// True when rows were left out because there were too many.
    pub(crate) truncated: bool,
    /// Why the task, or one that it waits for, can never start.
    pub(crate) problems: Vec<Problem>,
}

/// A row of a tree.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct NeighborRow {
    /// Steps from the task.
    pub(crate) depth: usize,
    /// The task of the row.
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// True when it stands further up already, with everything below it.
    pub(crate) repeated: bool,
}

/// Reads what a task waits for or what waits for it, over at most `depth` steps.
pub(crate) fn neighbor_tree(
    context: &mut Context,
    id: TaskId,
    direction: Direction,
    depth: Option<u32>,
) -> Result<NeighborTree> {
    let grown = context.read(|tasks| {
        if tasks.status(id)?.is_none() {
            return Err(no_task(id));
        }
        let (tree, truncated) = grow(tasks, id, direction, depth)?;
        Ok(NeighborTree {
            task: id,
            direction,
            tree,
            truncated,
            problems: problems_around(tasks, id)?,
        })
    })?;
    warn_of_problems(context, &grown.problems);
    Ok(grown)
}

fn grow(
    tasks: &dyn Transaction,
    root: TaskId,
    direction: Direction,
    most: Option<u32>,
) -> Result<(Vec<NeighborRow>, bool)> {
    let (mut rows, mut seen, mut left) = (Vec::new(), HashSet::new(), vec![(0, root)]);
    while let Some((depth, id)) = left.pop() {
        if rows.len() >= ROWS_MAX {
            return Ok((rows, true));
        }
        let next = match direction {
            Direction::Needs => tasks.depends(id)?,
            Direction::Dependents => tasks.dependents(id)?,
        };
        let repeated = !seen.insert(id) && !next.is_empty();
        if !repeated && most.is_none_or(|most| depth < most as usize) {
            left.extend(next.iter().rev().map(|id| (depth + 1, *id)));
        }
        for task in neighbors(tasks, &[id])? {
            rows.push(NeighborRow {
                depth,
                task,
                repeated,
            });
        }
    }
    Ok((rows, false))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A task with what it waits for and what waits for it, over at most so many steps.
    Around(TaskId, Option<u32>),
    /// What is below an epic; without one everything.
    Below(Option<TaskId>),
}

pub(crate) type Drawing = Vec<Shape>;

pub(crate) fn drawing(context: &mut Context, part: Part) -> Result<Drawing> {
    context.read(|tasks| {
        let nodes = match part {
            Part::Around(id, depth) => {
                let ids = around(tasks, id, depth)?.into_iter();
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

fn around(tasks: &dyn Transaction, id: TaskId, depth: Option<u32>) -> Result<Vec<TaskId>> {
    if tasks.status(id)?.is_none() {
        return Err(no_task(id));
    }
    let mut all = HashSet::from([id]);
    for direction in [Direction::Needs, Direction::Dependents] {
        let (mut level, mut seen, mut n_steps) = (vec![id], HashSet::from([id]), 0);
        while !level.is_empty() && depth.is_none_or(|depth| n_steps < depth) {
            let mut further = Vec::new();
            for id in level {
                let next = match direction {
                    Direction::Needs => tasks.depends(id)?,
                    Direction::Dependents => tasks.dependents(id)?,
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

/// Refuses a picture in which nobody would find anything.
fn refuse_many(n_tasks: usize) -> Result<()> {
    if n_tasks <= DRAWN_MAX {
        return Ok(());
    }
    let message = format!("there are more than {DRAWN_MAX} tasks to draw; choose a part of them");
    Err(Error::new(Code::InputInvalid, message)
        .fix("cleo list --type epic")
        .or("see how to choose a part", "cleo deps --help"))
}

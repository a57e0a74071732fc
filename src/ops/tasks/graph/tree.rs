//! What a task waits for, or what waits for it, as a tree.

use std::collections::HashSet;

use serde::Serialize;

use super::problems_around;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::Neighbor;
use crate::ops::tasks::read::neighbors;
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::graph::Problem;

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
    /// The task.
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
    pub(crate) task: Neighbor,
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
    context.read(|tasks| {
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
    })
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

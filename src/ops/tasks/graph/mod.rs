//! The graph of a workspace or an epic: ready tasks, waves and problems.

mod analyze;
mod apart;
mod choose;
mod drawn;
mod ready;

use std::collections::HashSet;

pub(crate) use analyze::{Analysis, analyze};
pub(crate) use apart::{Apart, Waves, describe_conflict, find_waves, select_independent, waves};
pub(in crate::ops) use choose::{choose, find_expired, is_assigned};
pub(crate) use drawn::{Part, drawing};
pub(crate) use ready::{Next, Ready, find_ready, next, ready, warn_of_stuck};

use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::no_task;
use crate::store::{Filter, Outlines, Transaction};
use crate::task::graph::{Node, PROBLEMS_MAX, Problem, TaskGraph, by_id};
use crate::task::{Status, TaskView};

/// Maximum number of tasks around one whose problems are looked for.
const AROUND_MAX: usize = 1_000;

fn check_scope(tasks: &dyn Transaction, epic: Option<TaskId>) -> Result<()> {
    match epic {
        Some(epic) if tasks.status(epic)?.is_none() => Err(no_task(epic)),
        _ => Ok(()),
    }
}

/// Reads the tasks below an epic, or all, with their dependencies outside.
pub(in crate::ops) fn load(tasks: &dyn Transaction, epic: Option<TaskId>) -> Result<TaskGraph> {
    check_scope(tasks, epic)?;
    with_outside_tasks(tasks, tasks.nodes(epic)?)
}

fn with_outside_tasks(tasks: &dyn Transaction, mut nodes: Vec<Node>) -> Result<TaskGraph> {
    by_id(&mut nodes);
    let (mut known, mut outside) = (HashSet::new(), Vec::new());
    for need in nodes.iter().flat_map(|node| &node.depends) {
        let is_inside = id::place(&nodes, *need, |node| node.id).is_some();
        if !is_inside && known.insert(*need) {
            outside.extend(tasks.readable_node(*need)?);
        }
    }
    Ok(TaskGraph::new(nodes, outside))
}

/// Lists why tasks can never start, without reading the graph where possible. Commands of cleo cannot make circles; they
/// are looked for when no task below an epic is ready, and when pending tasks are left and none is in progress.
fn problems(tasks: &dyn Transaction, epic: Option<TaskId>, n_ready: u64) -> Result<Vec<Problem>> {
    if n_ready == 0 && (epic.is_some() || !is_moving(tasks)?) {
        return Ok(load(tasks, epic)?.problems());
    }
    let mut nodes = Vec::new();
    for id in tasks.list_hindered(epic, PROBLEMS_MAX as u32)? {
        nodes.extend(tasks.readable_node(id)?);
    }
    Ok(with_outside_tasks(tasks, nodes)?.problems())
}

fn is_moving(tasks: &dyn Transaction) -> Result<bool> {
    let count = |statuses: &[Status]| -> Result<u64> {
        let filter = Filter {
            statuses: statuses.to_vec(),
            limit: Some(0),
            ..Filter::default()
        };
        Ok(tasks.list(&filter)?.total)
    };
    Ok(count(&[Status::Active, Status::Review])? > 0 || count(&[Status::Pending])? == 0)
}

/// Lists why a task, or one that it waits for, can never start.
pub(in crate::ops) fn problems_around(tasks: &dyn Transaction, id: TaskId) -> Result<Vec<Problem>> {
    let (mut known, mut left) = (HashSet::from([id]), vec![id]);
    let mut nodes = Vec::new();
    while let Some(id) = left.pop() {
        let Some(node) = tasks.readable_node(id)? else {
            continue;
        };
        if !node.is_open() || nodes.len() >= AROUND_MAX {
            continue;
        }
        let parts = match node.is_container() {
            true => tasks.children(id)?,
            false => Vec::new(),
        };
        let near = node.depends.iter().chain(&parts);
        left.extend(near.filter(|id| known.insert(**id)));
        nodes.push(node);
    }
    Ok(with_outside_tasks(tasks, nodes)?.problems())
}

pub(in crate::ops) fn make_views(
    graph: &TaskGraph,
    outlines: &Outlines,
    ids: &[TaskId],
) -> Vec<TaskView> {
    let nodes = ids.iter().filter_map(|id| graph.find(*id));
    nodes
        .map(|node| {
            let title = outlines.get(node.id).map(|outline| outline.title.clone());
            TaskView {
                id: node.id,
                title: title.unwrap_or_default(),
                status: node.status,
                priority: node.priority,
            }
        })
        .collect()
}

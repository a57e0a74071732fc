//! The graph of a workspace or an epic: what is ready, in which waves.

use std::collections::HashMap;

use serde::Serialize;

use super::Neighbor;
use super::read::neighbors;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{Context, require};
use crate::store::Tasks;
use crate::task::graph::TaskGraph;

/// Tasks that an agent can start now, most urgent first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ready {
    /// The tasks.
    pub tasks: Vec<Neighbor>,
    /// How many there are.
    pub total: usize,
    /// Tasks that wait for each other, for an empty epic or for something that is not here.
    pub stuck: Vec<Neighbor>,
}

/// The task to take next.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Next {
    /// The task; none when nothing is ready.
    pub task: Option<Neighbor>,
    /// Tasks that wait for each other, for an empty epic or for something that is not here.
    pub stuck: Vec<Neighbor>,
}

/// Open tasks in waves; the tasks of a wave can be worked on at the same time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waves {
    /// The waves in order.
    pub waves: Vec<Vec<Neighbor>>,
    /// Tasks that wait for each other, for an empty epic or for something that is not here.
    pub stuck: Vec<Neighbor>,
    /// How many waves there are.
    pub total: usize,
}

/// Reads what is ready below `epic`, or in the whole workspace.
pub fn ready(context: &mut Context, epic: Option<TaskId>) -> Result<Ready> {
    context.read(|tasks| {
        let graph = graph(tasks, epic)?;
        let ids = graph.ready();
        Ok(Ready {
            total: ids.len(),
            tasks: neighbors(tasks, &ids)?,
            stuck: neighbors(tasks, &graph.waves().1)?,
        })
    })
}

/// Reads the task to take next below `epic`, or in the whole workspace.
pub fn next(context: &mut Context, epic: Option<TaskId>) -> Result<Next> {
    context.read(|tasks| {
        let graph = graph(tasks, epic)?;
        let first: Vec<TaskId> = graph.ready().into_iter().take(1).collect();
        Ok(Next {
            task: neighbors(tasks, &first)?.pop(),
            stuck: neighbors(tasks, &graph.waves().1)?,
        })
    })
}

/// Reads the waves below `epic`, or of the whole workspace.
pub fn waves(context: &mut Context, epic: Option<TaskId>) -> Result<Waves> {
    context.read(|tasks| {
        let (ids, stuck) = graph(tasks, epic)?.waves();
        let mut waves = Vec::new();
        for wave in &ids {
            waves.push(neighbors(tasks, wave)?);
        }
        let stuck = neighbors(tasks, &stuck)?;
        Ok(Waves {
            total: waves.len(),
            waves,
            stuck,
        })
    })
}

fn graph(tasks: &dyn Tasks, epic: Option<TaskId>) -> Result<TaskGraph> {
    if let Some(epic) = epic {
        require(tasks, epic)?;
    }
    let nodes = tasks.nodes(epic)?;
    let mut outside = HashMap::new();
    for node in &nodes {
        for need in &node.depends {
            if let Some(status) = tasks.status(*need)? {
                outside.insert(*need, status);
            }
        }
    }
    Ok(TaskGraph::new(nodes, outside))
}

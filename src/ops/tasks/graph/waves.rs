//! Open tasks in waves.

use serde::Serialize;

use super::{load, named};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::Neighbor;
use crate::store::Outlines;
use crate::task::graph::{self, Conflict, Problem, TaskGraph};

/// Open tasks in waves; the tasks of a wave can be worked on at the same time.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waves {
    /// The waves in order, at most as many as asked for.
    pub(crate) waves: Vec<Vec<Neighbor>>,
    /// How many waves there are.
    pub(crate) total: usize,
    /// Tasks that come a wave later because they touch the same files as another.
    pub(crate) conflicts: Vec<Conflict>,
    /// Tasks that no wave ever reaches.
    pub(crate) stuck: Vec<Neighbor>,
    /// Tasks that wait for open tasks outside.
    pub(crate) outside: Vec<Outside>,
    /// Why tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

/// A task that waits for tasks outside of what was asked for.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outside {
    /// The task.
    pub(crate) task: TaskId,
    /// What it waits for.
    pub(crate) waits_for: Vec<TaskId>,
}

/// Reads the waves below `epic`, or of the whole workspace, at most `limit`.
pub(crate) fn waves(
    context: &mut Context,
    epic: Option<TaskId>,
    limit: Option<u32>,
) -> Result<Waves> {
    context.read(|tasks| {
        let graph = load(tasks, epic)?;
        let outlines = tasks.outlines(&graph.ids())?;
        let found = waves_of(&graph, &outlines);
        let shown = found
            .waves
            .iter()
            .take(limit.map_or(usize::MAX, |n| n as usize));
        Ok(Waves {
            waves: shown.map(|wave| named(&graph, &outlines, wave)).collect(),
            total: found.waves.len(),
            conflicts: found.conflicts,
            stuck: named(&graph, &outlines, &found.stuck),
            outside: outside(&graph),
            problems: graph.problems(),
        })
    })
}

/// Makes waves by what tasks say of their files.
pub(super) fn waves_of(graph: &TaskGraph, outlines: &Outlines) -> graph::Waves {
    graph.waves(|id| outlines.files(id))
}

fn outside(graph: &TaskGraph) -> Vec<Outside> {
    let waiting = graph.waiting_outside().into_iter();
    waiting
        .map(|(task, waits_for)| Outside { task, waits_for })
        .collect()
}

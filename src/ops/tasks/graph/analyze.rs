//! The analysis of a graph: open work, the critical path and bottlenecks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{load, make_views};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::Extract;
use crate::ops::tasks::read::warn_of_problems;
use crate::store::Outlines;
use crate::task::graph::{Conflict, Problem, TaskGraph};
use crate::task::{Status, TaskView};

/// How many bottlenecks and conflicts are listed by default.
const LISTED: u32 = 10;

/// A graph of tasks at a glance.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Analysis {
    /// The epic; none for the whole workspace.
    pub(crate) epic: Option<TaskId>,
    /// How many tasks there are.
    pub(crate) totals: Totals,
    /// How many waves there are, and how many tasks each has.
    pub(crate) waves: WaveWidths,
    /// The longest chain of open tasks.
    pub(crate) critical_path: Path,
    /// The tasks that most others wait for.
    pub(crate) bottlenecks: Vec<Bottleneck>,
    /// Tasks that come a wave later because they touch the same files as another.
    pub(crate) conflicts: Vec<Conflict>,
    /// How many of these there are in all.
    pub(crate) conflicts_total: usize,
    /// Why tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    /// All, with epics.
    pub(crate) tasks: usize,
    /// Neither done nor cancelled.
    pub(crate) open: usize,
    /// In waves or stuck: open tasks for agents, without epics.
    pub(crate) work: usize,
    /// Of these, the ones that can start now.
    pub(crate) ready: usize,
    /// Of these, the ones that no wave reaches.
    pub(crate) stuck: usize,
    pub(crate) by_status: BTreeMap<&'static str, usize>,
}

/// Numbers of waves and of the tasks in them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaveWidths {
    pub(crate) total: usize,
    /// How many tasks each has.
    pub(crate) widths: Vec<usize>,
}

/// A chain of tasks, each of which waits for the one before.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Path {
    pub(crate) tasks: Vec<TaskView>,
    pub(crate) total: usize,
    /// Their estimates in all, in hours; none unless each has one.
    pub(crate) hours: Option<f64>,
}

/// A task that others wait for.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bottleneck {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// How many tasks can start once it is done.
    pub(crate) unblocks: usize,
    /// How many tasks wait for it, directly or not.
    pub(crate) unblocks_in_all: usize,
}

/// Analyzes the tasks below an epic, or of the whole workspace, and warns of tasks that can never start. The limit
/// counts bottlenecks and conflicts.
pub(crate) fn analyze(context: &mut Context, part: Extract) -> Result<Analysis> {
    let limit = part.limit.unwrap_or(LISTED) as usize;
    let found = context.read(|tasks| {
        let graph = load(tasks, part.epic)?;
        let outlines = tasks.outlines(&graph.ids())?;
        Ok(analysis(part.epic, &graph, &outlines, limit))
    })?;
    warn_of_problems(context, &found.problems);
    Ok(found)
}

fn analysis(
    epic: Option<TaskId>,
    graph: &TaskGraph,
    outlines: &Outlines,
    limit: usize,
) -> Analysis {
    let waves = graph.waves(|id| outlines.files(id));
    let widths: Vec<usize> = waves.waves.iter().map(Vec::len).collect();
    let critical_path = find_path(graph, outlines);
    let stuck = waves.stuck.len();
    let (conflicts_total, mut conflicts) = (waves.conflicts.len(), waves.conflicts);
    conflicts.truncate(limit);
    let nodes = graph.nodes();
    let all = Status::ALL.iter().map(|status| (status.word(), 0));
    let mut by_status: BTreeMap<&str, usize> = crate::build_map(all);
    for node in nodes {
        *by_status.entry(node.status.word()).or_default() += 1;
    }
    let bottlenecks = graph.bottlenecks(limit).into_iter();
    Analysis {
        epic,
        totals: Totals {
            tasks: nodes.len(),
            open: nodes.iter().filter(|node| node.is_open()).count(),
            work: widths.iter().sum::<usize>() + stuck,
            ready: graph.ready().count(),
            stuck,
            by_status,
        },
        waves: WaveWidths {
            total: widths.len(),
            widths,
        },
        critical_path,
        bottlenecks: bottlenecks
            .filter_map(|one| {
                Some(Bottleneck {
                    task: make_views(graph, outlines, &[one.id]).pop()?,
                    unblocks: one.direct,
                    unblocks_in_all: one.all,
                })
            })
            .collect(),
        conflicts,
        conflicts_total,
        problems: graph.problems(),
    }
}

fn find_path(graph: &TaskGraph, outlines: &Outlines) -> Path {
    let ids = graph.critical_path();
    let estimate = |id: &TaskId| outlines.get(*id).and_then(|outline| outline.estimate);
    let hours: Option<f64> = ids.iter().map(estimate).sum();
    Path {
        tasks: make_views(graph, outlines, &ids),
        total: ids.len(),
        hours: hours.filter(|_| !ids.is_empty()),
    }
}

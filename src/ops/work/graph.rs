//! The graph of an epic, or of all tasks, with a place for each on the page.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::rows::Row;
use super::scene::{Scene, StateCounts, View, with_scene};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::operation::Nothing;
use crate::ops::tasks::graph::make_views;
use crate::run::StepState;
use crate::task::graph::Problem;
use crate::task::layout::{Area, Card, Edge, Folding, Lane, NODE, Stack, picture, ties};
use crate::task::{DisplayStatus, Progress, Status, TaskView};

/// Minimum number of attempts that an estimate is made of.
const SAMPLES_MIN: usize = 5;

#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct GraphQuery {
    /// Only tasks below this one.
    pub(crate) epic: Option<TaskId>,
    /// Whether finished waves are folded; by default they are.
    pub(crate) collapse_done: Option<bool>,
    /// Keys of lanes and stacks that are not folded, between commas.
    pub(crate) unfold: Vec<String>,
    /// Only tasks in one of these states, between commas.
    pub(crate) only: Vec<DisplayStatus>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphView {
    /// Changes when any of it does.
    pub(crate) version: String,
    /// The epic of the query.
    pub(crate) epic: Option<TaskView>,
    /// Number of tasks by state.
    pub(crate) counts: StateCounts,
    /// The longest chain of open tasks.
    pub(crate) critical_path: CriticalPath,
    /// Width and height in pixels.
    pub(crate) size: Size,
    /// The lanes, left to right.
    pub(crate) lanes: Vec<Lane>,
    /// Tasks with a node of their own.
    pub(crate) nodes: Vec<GraphNode>,
    /// Nodes for several tasks.
    pub(crate) stacks: Vec<Stack>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) groups: Vec<Progress>,
    /// Why tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

/// Measures in pixels.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct GraphNode {
    #[serde(flatten)]
    pub(crate) row: Row,
    #[serde(flatten)]
    pub(crate) area: Area,
}

/// The longest chain of open tasks.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CriticalPath {
    /// Its tasks, in order.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) left: usize,
    /// Estimated time in milliseconds: the median of finished attempts, times the tasks that are left; none with
    /// fewer than five attempts.
    pub(crate) about_ms: Option<u64>,
    /// Number of finished attempts behind the estimate.
    pub(crate) samples: usize,
}

/// Draws a graph, joined with the runs that the caller sees.
pub(crate) fn graph(context: &mut Context, query: GraphQuery) -> Result<GraphView> {
    let folding = Folding {
        done: query.collapse_done.unwrap_or(true),
        open: query.unfold.iter().cloned().collect(),
    };
    with_scene(
        context,
        |_| Ok(query.epic),
        |view| {
            let scene = &*view.scene;
            let status = |id| scene.graph.node(id).map(|node| node.status);
            let ties = ties(scene.graph.nodes(), &scene.layers, &scene.critical, status);
            let mut drawn = picture(&cards(scene, &query), &ties, &folding);
            let mut nodes = Vec::with_capacity(drawn.nodes.len());
            for place in &drawn.nodes {
                nodes.extend(view.read_row(place.id)?.map(|row| GraphNode {
                    row,
                    area: Area {
                        x: place.x,
                        y: place.y,
                        width: NODE.0,
                        height: NODE.1,
                    },
                }));
            }
            for stack in &mut drawn.stacks {
                let outline = stack.parent.and_then(|parent| scene.outlines.get(parent));
                stack.title = outline.map(|outline| outline.title.clone());
            }
            let epic = query
                .epic
                .map(|id| view.transaction.salvage(id))
                .transpose()?;
            Ok(GraphView {
                version: view.version.clone(),
                epic: epic.flatten().map(TaskView::from),
                counts: scene.counts.clone(),
                critical_path: critical_path(view),
                size: Size {
                    width: drawn.width,
                    height: drawn.height,
                },
                lanes: drawn.lanes,
                nodes,
                stacks: drawn.stacks,
                edges: drawn.edges,
                groups: groups(scene),
                problems: scene.graph.problems(),
            })
        },
    )
}

/// Epics and other tasks with parts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Epics {
    pub(crate) groups: Vec<Progress>,
}

pub(crate) fn epics(context: &mut Context, _: Nothing) -> Result<Epics> {
    let read = |view: &View<'_>| Ok(groups(&view.scene));
    let groups = with_scene(context, |_| Ok(None), read)?;
    Ok(Epics { groups })
}

fn cards(scene: &Scene, query: &GraphQuery) -> Vec<Card> {
    let shown = scene
        .tasks()
        .filter(|node| scene.is_at(node.id, &query.only));
    let cards = shown.map(|node| Card {
        id: node.id,
        state: scene.state(node.id),
        // All tasks below an epic belong to it.
        parent: node.parent.filter(|parent| Some(*parent) != query.epic),
        layer: scene.layers.of.get(&node.id).copied(),
    });
    cards.collect()
}

/// Returns epics and parents with the numbers of their tasks.
fn groups(scene: &Scene) -> Vec<Progress> {
    let mut totals: HashMap<TaskId, (u64, u64)> = HashMap::new();
    let counted = scene
        .tasks()
        .filter(|node| node.status != Status::Cancelled);
    for node in counted {
        let is_done = u64::from(node.status == Status::Done);
        let (mut above, mut seen) = (node.parent, HashSet::new());
        while let Some(whole) = above.filter(|whole| seen.insert(*whole)) {
            let total = totals.entry(whole).or_default();
            *total = (total.0 + 1, total.1 + is_done);
            above = scene.graph.find(whole).and_then(|node| node.parent);
        }
    }
    let mut wholes: Vec<TaskId> = scene.layers.wholes.iter().copied().collect();
    wholes.sort_unstable();
    let views = make_views(&scene.graph, &scene.outlines, &wholes).into_iter();
    let progress = views.map(|task| {
        let (total, done) = totals.get(&task.id).copied().unwrap_or_default();
        Progress { task, done, total }
    });
    progress.collect()
}

fn critical_path(view: &View<'_>) -> CriticalPath {
    let tasks = view.scene.critical.clone();
    let tracks = view.runs.iter().filter_map(|run| view.tracks.find(&run.id));
    let mut took: Vec<u64> = tracks
        .flat_map(|track| view.scene.tasks().flat_map(|node| track.attempts(node.id)))
        .filter(|attempt| attempt.state == StepState::Done)
        .filter_map(|attempt| attempt.duration_ms)
        .collect();
    took.sort_unstable();
    let median = took.get(took.len() / 2).copied();
    let median = median.filter(|_| took.len() >= SAMPLES_MIN && !tasks.is_empty());
    CriticalPath {
        left: tasks.len(),
        about_ms: median.map(|median| median.saturating_mul(tasks.len() as u64)),
        samples: took.len(),
        tasks,
    }
}

//! The graph of an epic, or of all, as it is drawn.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::memory::{Memory, lock};
use super::row::{Row, row};
use super::scene::{Counted, Scene};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::graph::make_views;
use crate::run::Run;
use crate::run::StepState;
use crate::store::Transaction;
use crate::task::graph::Problem;
use crate::task::layout::{
    Area, Card, Edge, Folding, Lane, NODE, Picture, Stack, Tie, picture, ties,
};
use crate::task::{DisplayStatus, Progress, Status, TaskView};

/// Fewest finished tries that a guess is made of.
const SAMPLES_MIN: usize = 5;

/// Which graph.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct GraphQuery {
    /// Only what is below this task.
    pub(crate) epic: Option<TaskId>,
    /// Whether finished waves are folded; by default they are.
    pub(crate) collapse_done: Option<bool>,
    /// Keys of lanes and stacks that are not folded, between commas.
    pub(crate) unfold: Vec<String>,
    /// Only tasks in one of these states, between commas.
    pub(crate) only: Vec<DisplayStatus>,
}

/// A graph as it is drawn.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphShown {
    /// Changes when any of it does.
    pub(crate) version: String,
    /// What it is below; none for everything.
    pub(crate) epic: Option<TaskView>,
    /// How many tasks stand where.
    pub(crate) counts: Counted,
    /// The longest way through what is open.
    pub(crate) critical_path: CriticalPath,
    /// Width and height in pixels.
    pub(crate) size: Size,
    /// The lanes, left to right.
    pub(crate) lanes: Vec<Lane>,
    /// Tasks that are shown by themselves.
    pub(crate) nodes: Vec<NodeShown>,
    /// What stands for several tasks.
    pub(crate) stacks: Vec<Stack>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) groups: Vec<Progress>,
    /// Why tasks can never start.
    pub(crate) problems: Vec<Problem>,
    pub(crate) focus: Focus,
}

/// Measures in pixels.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// A task in its place.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct NodeShown {
    #[serde(flatten)]
    pub(crate) row: Row,
    #[serde(flatten)]
    pub(crate) area: Area,
}

/// The longest way through what is open.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CriticalPath {
    /// The tasks, in order.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) left: usize,
    /// How long they may take, in milliseconds: as many times as there are tasks what a finished try
    /// took in the middle; none with too few of these.
    pub(crate) about_ms: Option<u64>,
    /// How many finished tries that is made of.
    pub(crate) samples: usize,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Focus {
    pub(crate) lane: Option<String>,
    pub(crate) node: Option<TaskId>,
}

/// Reads a graph and draws it. Of runs only those that the caller sees tell of tasks.
pub(crate) fn graph(context: &mut Context, wanted: GraphQuery) -> Result<GraphShown> {
    let memory = Arc::clone(&context.memory);
    let mut memory = lock(&memory);
    let (runs, cursor) = memory.runs(context)?;
    let now = context.now();
    let folding = Folding {
        done: wanted.collapse_done.unwrap_or(true),
        open: wanted.unfold.iter().cloned().collect(),
    };
    context.read(|transaction| {
        let scene = memory.scene(transaction, wanted.epic, &runs)?;
        let drawn = picture(&cards(&scene, &wanted), &lines(&scene), &folding);
        let nodes = nodes(transaction, &scene, &drawn, &now)?;
        let groups = groups(&scene);
        let epic = wanted.epic.map(|id| transaction.salvage(id)).transpose()?;
        Ok(GraphShown {
            version: format!("{}-{cursor}", transaction.last_cursor()?),
            epic: epic.flatten().map(TaskView::from),
            counts: scene.counts.clone(),
            critical_path: critical_path(&scene, &runs, &memory),
            size: Size {
                width: drawn.width,
                height: drawn.height,
            },
            focus: Focus {
                node: focus(&scene, &drawn),
                lane: drawn.focus,
            },
            lanes: drawn.lanes,
            nodes,
            stacks: name_stacks(&scene, drawn.stacks),
            edges: drawn.edges,
            groups,
            problems: scene.graph.problems(),
        })
    })
}

fn cards(scene: &Scene, wanted: &GraphQuery) -> Vec<Card> {
    let cards = scene.tasks().map(|node| Card {
        id: node.id,
        state: scene.state(node.id),
        // What is drawn below an epic need not be told apart by it.
        parent: node.parent.filter(|parent| Some(*parent) != wanted.epic),
        layer: scene.layers.of.get(&node.id).copied(),
    });
    cards
        .filter(|card| scene.is_at(card.id, &wanted.only))
        .collect()
}

fn lines(scene: &Scene) -> Vec<Tie> {
    let status = |id| scene.graph.node(id).map(|node| node.status);
    ties(scene.graph.nodes(), &scene.layers, &scene.critical, status)
}

fn nodes(
    transaction: &dyn Transaction,
    scene: &Scene,
    drawn: &Picture,
    now: &str,
) -> Result<Vec<NodeShown>> {
    let mut nodes = Vec::with_capacity(drawn.nodes.len());
    for place in &drawn.nodes {
        let row = row(transaction, scene, place.id, now)?;
        nodes.extend(row.map(|row| NodeShown {
            row,
            area: Area {
                x: place.x,
                y: place.y,
                width: NODE.0,
                height: NODE.1,
            },
        }));
    }
    Ok(nodes)
}

/// Names what stacks are parts of.
fn name_stacks(scene: &Scene, mut stacks: Vec<Stack>) -> Vec<Stack> {
    for stack in &mut stacks {
        let outline = stack.parent.and_then(|parent| scene.outlines.get(parent));
        stack.title = outline.map(|outline| outline.title.clone());
    }
    stacks
}

/// Finds a task where work goes on: of those in the lane the one that people look for first.
fn focus(scene: &Scene, drawn: &Picture) -> Option<TaskId> {
    let lane = drawn
        .lanes
        .iter()
        .find(|lane| Some(&lane.key) == drawn.focus.as_ref())?;
    let inside = |x: u32| (lane.x..lane.x + lane.width).contains(&x);
    let rank = |id: TaskId| match scene.state(id) {
        state if state.is_urgent() => 0,
        DisplayStatus::Ready => 1,
        state if !state.is_over() => 2,
        _ => 3,
    };
    let nodes = drawn.nodes.iter().filter(|node| inside(node.x));
    nodes
        .min_by_key(|node| (rank(node.id), node.y))
        .map(|node| node.id)
}

/// Returns epics and parents, each with how many tasks are in it.
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

fn critical_path(scene: &Scene, runs: &[Run], memory: &Memory) -> CriticalPath {
    let tasks = scene.critical.clone();
    let mut took: Vec<u64> = runs
        .iter()
        .filter_map(|run| memory.find_track(&run.id))
        .flat_map(|track| scene.tasks().flat_map(|node| track.attempts(node.id)))
        .filter(|attempt| attempt.state == StepState::Done)
        .filter_map(|attempt| attempt.duration_ms)
        .collect();
    took.sort_unstable();
    let middle = took.get(took.len() / 2).copied();
    let middle = middle.filter(|_| took.len() >= SAMPLES_MIN && !tasks.is_empty());
    CriticalPath {
        left: tasks.len(),
        about_ms: middle.map(|middle| middle.saturating_mul(tasks.len() as u64)),
        samples: took.len(),
        tasks,
    }
}

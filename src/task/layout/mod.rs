//! The interactive picture of a graph: waves from left to right, each task near its neighbors, finished and crowded
//! waves folded. Pure, and the same for the same tasks.

mod fold;
mod picture;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::DisplayStatus;
use crate::id::TaskId;
use crate::task::{Status, graph};

pub(crate) use picture::{Area, Edge, Kind, Lane, Stack, picture};

/// Measures in pixels.
pub(crate) const NODE: (u32, u32) = (224, 50);
/// Width of a lane, and of one that is folded.
const LANE: u32 = 252;
const LANE_FOLDED: u32 = 96;
/// From the edge of a lane to its cards.
const MARGIN: u32 = 14;
const MARGIN_FOLDED: u32 = 8;
/// Height of a row, and where the first begins.
const ROW: u32 = 72;
const TOP: u32 = 48;
/// Fewest rows of a column, after which the next one begins.
const ROWS_MIN: usize = 24;

/// Most cards that are shown at once before waves are folded.
pub(crate) const CARDS_MAX: usize = 800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) id: TaskId,
    pub(crate) state: DisplayStatus,
    /// The task that it is a part of, by which it may be folded.
    pub(crate) parent: Option<TaskId>,
    /// Its layer, from 0; none in a circle.
    pub(crate) layer: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Folding {
    pub(crate) done: bool,
    /// Keys of lanes and stacks that are not folded.
    pub(crate) open: HashSet<String>,
}

/// The layer of each task, which does not depend on its status: finished tasks keep their place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// The layer of each task, from 0. Wholes have none, nor have tasks in a circle or that wait for one.
    pub(crate) of: HashMap<TaskId, usize>,
    /// Tasks that are drawn as groups of others and not by themselves: epics and parents.
    pub(crate) wholes: HashSet<TaskId>,
}

/// Finds the layer of each task: the one after all that it depends on. To depend on a whole is to depend on its parts.
pub(crate) fn layers(nodes: &[graph::Node]) -> Layers {
    let ids: HashSet<TaskId> = nodes.iter().map(|node| node.id).collect();
    let is_inside = |id: &TaskId| ids.contains(id);
    let parents = nodes
        .iter()
        .filter_map(|node| node.parent.filter(is_inside));
    let epics = nodes.iter().filter(|node| node.is_epic);
    let wholes: HashSet<TaskId> = parents.chain(epics.map(|node| node.id)).collect();
    let mut before = graph::Edges::default();
    for node in nodes {
        before.add_node(node.id);
        for need in node.depends.iter().filter(|need| is_inside(need)) {
            before.add_edge(*need, node.id, ());
        }
        if let Some(parent) = node.parent.filter(is_inside) {
            before.add_edge(node.id, parent, ());
        }
    }
    let mut of = graph::depths(&before, |id| usize::from(!wholes.contains(&id)));
    of.retain(|id, _| !wholes.contains(id));
    Layers { of, wholes }
}

/// The content of one place in a picture.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(crate) enum Item {
    Task(TaskId),
    /// A stack, by its key.
    Stack(String),
}

/// Most parts of a whole from which lines are drawn to what follows it.
const PARTS_MAX: usize = 8;

/// A line to a task: from another one, or from something that is not in the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tie {
    /// Where it comes from: a task of the picture, or the name of something else.
    pub(crate) from: Result<TaskId, String>,
    pub(crate) to: TaskId,
    pub(crate) kind: Kind,
}

/// Finds the lines of a graph. `status` tells of tasks outside of it; `critical` is a way through it.
/// A whole is not a place in the picture: lines from it come from its last parts, or from outside where
/// it has none.
pub(crate) fn ties(
    nodes: &[graph::Node],
    layers: &Layers,
    critical: &[TaskId],
    status: impl Fn(TaskId) -> Option<Status>,
) -> Vec<Tie> {
    let inside: HashMap<TaskId, &graph::Node> = nodes.iter().map(|node| (node.id, node)).collect();
    let steps: HashSet<(TaskId, TaskId)> = critical.windows(2).map(|w| (w[0], w[1])).collect();
    let last = last_parts(nodes, layers);
    let mut ties = Vec::new();
    for node in nodes
        .iter()
        .filter(|node| !layers.wholes.contains(&node.id))
    {
        let to = node.id;
        for need in &node.depends {
            let Some(other) = inside.get(need) else {
                ties.extend(tie_to_outside(*need, to, status(*need)));
                continue;
            };
            let is_whole = layers.wholes.contains(need);
            let parts = last.get(need).map(Vec::as_slice).unwrap_or_default();
            if is_whole && parts.is_empty() {
                ties.extend(tie_to_outside(*need, to, Some(other.status)));
            }
            let from = if is_whole {
                parts
            } else {
                std::slice::from_ref(need)
            };
            for from in from.iter().filter(|from| **from != to) {
                let kind = match other.status {
                    Status::Done => Kind::Met,
                    _ if steps.contains(&(*from, to)) => Kind::Critical,
                    _ => Kind::Unmet,
                };
                ties.push(Tie {
                    from: Ok(*from),
                    to,
                    kind,
                });
            }
        }
        ties.extend(
            node.missing
                .iter()
                .map(|need| tie_to_missing(need.name.clone(), to)),
        );
    }
    ties
}

/// Draws what a task outside has to do with one in the picture: nothing once it is done.
fn tie_to_outside(need: TaskId, to: TaskId, status: Option<Status>) -> Option<Tie> {
    let kind = match status {
        Some(Status::Done) => return None,
        Some(_) => Kind::Unmet,
        None => Kind::Missing,
    };
    let tie = tie_to_missing(need.to_string(), to);
    Some(Tie { kind, ..tie })
}

fn tie_to_missing(name: String, to: TaskId) -> Tie {
    Tie {
        from: Err(name),
        to,
        kind: Kind::Missing,
    }
}

/// Returns the parts of each whole, to any depth, that are in its last layer.
fn last_parts(nodes: &[graph::Node], layers: &Layers) -> HashMap<TaskId, Vec<TaskId>> {
    let parents: HashMap<TaskId, TaskId> = nodes
        .iter()
        .filter_map(|node| Some((node.id, node.parent?)))
        .collect();
    let mut last: HashMap<TaskId, (usize, Vec<TaskId>)> = HashMap::new();
    let placed = nodes
        .iter()
        .filter_map(|node| Some((node.id, *layers.of.get(&node.id)?)));
    for (id, layer) in placed {
        let (mut above, mut steps) = (parents.get(&id), 0);
        while let Some(whole) = above.filter(|_| steps < nodes.len()) {
            let (latest, parts) = last.entry(*whole).or_default();
            if layer > *latest {
                *latest = layer;
                parts.clear();
            }
            if layer == *latest && parts.len() < PARTS_MAX {
                parts.push(id);
            }
            (above, steps) = (parents.get(whole), steps + 1);
        }
    }
    let parts = last.into_iter().map(|(whole, (_, parts))| (whole, parts));
    parts.collect()
}

/// How often the order within the layers is made better.
const SWEEPS: usize = 6;

/// Orders the things of each layer by the middle of what they are tied to in the layers before, then after,
/// several times, so that lines cross less. Things that are equally near keep their order.
pub(crate) fn arrange(layers: &mut [Vec<usize>], ties: &[(usize, usize)], n_things: usize) {
    let (mut before, mut after) = (vec![Vec::new(); n_things], vec![Vec::new(); n_things]);
    for (from, to) in ties {
        after[*from].push(*to);
        before[*to].push(*from);
    }
    let mut rows = vec![0; n_things];
    for (row, thing) in layers.iter().flat_map(|layer| layer.iter().enumerate()) {
        rows[*thing] = row;
    }
    for sweep in 0..SWEEPS {
        for step in 0..layers.len() {
            let (layer, near) = match sweep % 2 {
                0 => (step, &before),
                _ => (layers.len() - 1 - step, &after),
            };
            let middle = |thing: &usize| match near[*thing].as_slice() {
                [] => rows[*thing] as f64,
                near => {
                    near.iter().map(|other| rows[*other]).sum::<usize>() as f64 / near.len() as f64
                }
            };
            let mut ranked: Vec<(f64, usize)> = layers[layer]
                .iter()
                .map(|thing| (middle(thing), *thing))
                .collect();
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[layer] = ranked.into_iter().map(|(_, thing)| thing).collect();
            for (row, thing) in layers[layer].iter().enumerate() {
                rows[*thing] = row;
            }
        }
    }
}

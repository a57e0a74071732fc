//! In which wave each task of a plan is, whatever is done of it by now.

use std::collections::{HashMap, HashSet};

use crate::id::TaskId;
use crate::task::Status;
use crate::task::graph::{Node, TaskGraph, in_circles};

#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// The layer of each task and of each whole, from 0; a whole is in that of its last part. What is
    /// in a circle has none.
    pub(crate) of: HashMap<TaskId, usize>,
    /// Tasks that are drawn as groups of others and not by themselves: epics and parents.
    pub(crate) wholes: HashSet<TaskId>,
}

/// Finds the layers: the waves of the engine as they were when nothing was done. So a task that is
/// done stays where it is, and what follows it too. What a circle holds up stands where it would
/// without the circle.
pub(crate) fn layers<'a>(nodes: &[Node], files: impl Fn(TaskId) -> &'a [String]) -> Layers {
    let mut fresh = untouched(nodes);
    let first = TaskGraph::new(fresh.clone(), Vec::new()).waves(&files);
    let circle = match first.stuck.is_empty() {
        true => HashSet::new(),
        false => circle(&fresh, &first.stuck),
    };
    let waves = match circle.is_empty() {
        true => first.waves,
        false => {
            fresh.retain(|node| !circle.contains(&node.id));
            let fresh = within(fresh);
            TaskGraph::new(fresh, Vec::new()).waves(&files).waves
        }
    };
    let mut of = HashMap::with_capacity(nodes.len());
    for (layer, wave) in waves.iter().enumerate() {
        of.extend(wave.iter().map(|id| (*id, layer)));
    }
    let wholes = wholes(nodes);
    raise(nodes, &mut of);
    Layers { of, wholes }
}

/// Returns the tasks that have parts, and epics, which are no work without any either.
fn wholes(nodes: &[Node]) -> HashSet<TaskId> {
    let ids: HashSet<TaskId> = nodes.iter().map(|node| node.id).collect();
    let parents = nodes.iter().filter_map(|node| node.parent);
    let parents = parents.filter(|parent| ids.contains(parent));
    let epics = nodes.iter().filter(|node| node.is_epic);
    parents.chain(epics.map(|node| node.id)).collect()
}

/// Returns the nodes as if nothing had been done: all open, without wholes that have no parts, and
/// nothing that leads out.
fn untouched(nodes: &[Node]) -> Vec<Node> {
    let wholes = wholes(nodes);
    let fresh = nodes.iter().map(|node| Node {
        status: Status::Pending,
        is_epic: wholes.contains(&node.id),
        missing: Vec::new(),
        ..node.clone()
    });
    within(filled(fresh.collect()))
}

/// Leaves out wholes with no task in them: nothing would stand in their wave.
fn filled(mut nodes: Vec<Node>) -> Vec<Node> {
    loop {
        let parents: HashSet<TaskId> = nodes.iter().filter_map(|node| node.parent).collect();
        let n_before = nodes.len();
        nodes.retain(|node| !node.is_epic || parents.contains(&node.id));
        if nodes.len() == n_before {
            return nodes;
        }
    }
}

/// Leaves out what leads to other nodes, and counts parts anew.
fn within(mut nodes: Vec<Node>) -> Vec<Node> {
    let ids: HashSet<TaskId> = nodes.iter().map(|node| node.id).collect();
    let mut parts: HashMap<TaskId, u32> = HashMap::new();
    for parent in nodes.iter().filter_map(|node| node.parent) {
        *parts.entry(parent).or_default() += 1;
    }
    for node in &mut nodes {
        node.depends.retain(|need| ids.contains(need));
        node.open_children = parts.get(&node.id).copied().unwrap_or(0);
        // One whose parts are all in a circle is over by itself.
        node.is_epic &= node.open_children > 0;
    }
    nodes
}

/// Finds among what is stuck the tasks that wait for each other, without those that only wait for them.
fn circle(nodes: &[Node], stuck: &[TaskId]) -> HashSet<TaskId> {
    // A whole is not among what is stuck, though it may be what closes the circle.
    let stuck: HashSet<TaskId> = stuck.iter().copied().collect();
    let is_held = |node: &&Node| stuck.contains(&node.id) || node.open_children > 0;
    let held: Vec<&Node> = nodes.iter().filter(is_held).collect();
    let ids: HashSet<TaskId> = held.iter().map(|node| node.id).collect();
    let needs = held.iter().flat_map(|node| {
        let depends = node.depends.iter().map(|need| (node.id, *need));
        depends.chain(node.parent.map(|parent| (parent, node.id)))
    });
    let graph = needs
        .filter(|(from, need)| ids.contains(from) && ids.contains(need))
        .collect();
    let circles = in_circles(&graph).into_iter().flatten();
    circles.filter(|id| stuck.contains(id)).collect()
}

/// Puts each whole into the layer of its last part, from the parts upwards.
fn raise(nodes: &[Node], of: &mut HashMap<TaskId, usize>) {
    let parents: HashMap<TaskId, TaskId> = nodes
        .iter()
        .filter_map(|node| Some((node.id, node.parent?)))
        .collect();
    let own: Vec<(TaskId, usize)> = of.iter().map(|(id, layer)| (*id, *layer)).collect();
    for (id, layer) in own {
        let (mut above, mut steps) = (parents.get(&id), 0);
        while let Some(parent) = above.filter(|_| steps < nodes.len()) {
            let last = of.entry(*parent).or_insert(layer);
            *last = (*last).max(layer);
            (above, steps) = (parents.get(parent), steps + 1);
        }
    }
}

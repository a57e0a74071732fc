//! The graph of tasks: waves, paths, circles and problems. Pure: it works on nodes that its caller read.

mod circles;
mod paths;
mod problems;
#[cfg(test)]
mod tests;
pub(crate) mod waves;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Serialize;

use super::{Priority, Status};
use crate::id::{self, TaskId};

pub(crate) use circles::{Edges, circle, depths, has_circle, in_circles, reachable};
pub(crate) use problems::{PROBLEMS_MAX, Problem};
pub(crate) use waves::Conflict;

/// A task as a node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) status: Status,
    pub(crate) priority: Priority,
    pub(crate) is_epic: bool,
    /// How many of its children are neither done nor cancelled.
    pub(crate) open_children: u32,
    pub(crate) depends: Vec<TaskId>,
    /// Dependencies of an import that lead to no task.
    pub(crate) missing: Vec<Missing>,
}

impl Node {
    pub(crate) fn is_open(&self) -> bool {
        !self.status.is_closed()
    }

    /// Returns whether the task holds others: it is an epic, or the parent of an open task.
    pub(crate) fn is_container(&self) -> bool {
        self.is_epic || self.open_children > 0
    }
}

pub(crate) fn by_id(nodes: &mut [Node]) {
    nodes.sort_unstable_by_key(|node| node.id);
}

/// A dependency that leads to no task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Missing {
    /// The dependency as the import names it.
    pub(crate) name: String,
    /// True when it was there, and left out because tasks would have waited for each other.
    pub(crate) circular: bool,
}

impl Missing {
    /// Describes it, and why waiting for it has no end.
    pub(crate) fn describe(&self) -> String {
        let why = match self.circular {
            true => "was left out because it closed a circle",
            false => "is not here",
        };
        format!("{}, which {why}", self.name)
    }
}

/// Nodes by id, with those outside that they depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskGraph {
    nodes: Vec<Node>,
    outside: HashMap<TaskId, Node>,
    /// The edges of waiting, computed when they are first used.
    waiting: OnceLock<Waiting>,
}

impl TaskGraph {
    /// Makes a graph of `nodes`; `outside` are the tasks that they depend on and that are not among
    /// them. A task in neither does not exist and never counts as done.
    pub(crate) fn new(mut nodes: Vec<Node>, outside: Vec<Node>) -> TaskGraph {
        by_id(&mut nodes);
        TaskGraph {
            outside: outside.into_iter().map(|node| (node.id, node)).collect(),
            nodes,
            waiting: OnceLock::new(),
        }
    }

    fn waiting(&self) -> &Waiting {
        self.waiting.get_or_init(|| Waiting::for_graph(self))
    }

    /// Returns the nodes by id, without those outside.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn ids(&self) -> Vec<TaskId> {
        self.nodes.iter().map(|node| node.id).collect()
    }

    /// Returns the tasks that can start now, by id.
    pub(crate) fn ready(&self) -> impl Iterator<Item = TaskId> {
        let waiting = self.waiting();
        let is_ready = |place: usize, node: &Node| {
            node.status == Status::Pending && waiting.is_work[place] && waiting.waits[place] == 0
        };
        let ready = self
            .open()
            .filter(move |(place, node)| is_ready(*place, node));
        ready.map(|(_, node)| node.id)
    }

    /// Finds a node, not outside.
    pub(crate) fn find(&self, id: TaskId) -> Option<&Node> {
        self.position(id).map(|place| &self.nodes[place])
    }

    fn position(&self, id: TaskId) -> Option<usize> {
        id::place(&self.nodes, id, |node| node.id)
    }

    /// Finds a node, also outside.
    pub(crate) fn node(&self, id: TaskId) -> Option<&Node> {
        self.find(id).or_else(|| self.outside.get(&id))
    }

    fn open(&self) -> impl Iterator<Item = (usize, &Node)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.is_open())
    }

    /// Returns open tasks with open tasks outside that they depend on.
    pub(crate) fn waiting_outside(&self) -> Vec<(TaskId, Vec<TaskId>)> {
        let open = |id: &TaskId| self.outside.get(id).is_some_and(Node::is_open);
        let needs = |node: &Node| -> Vec<TaskId> {
            let depends = node.depends.iter().copied();
            depends.filter(open).collect()
        };
        let waiting = self.open().map(|(_, node)| (node.id, needs(node)));
        waiting.filter(|(_, needs)| !needs.is_empty()).collect()
    }
}

/// The open nodes of a graph, by their places in it.
#[derive(Clone, Debug)]
struct Waiting {
    /// How many things each waits for: what it depends on and, in a container, its parts.
    waits: Vec<usize>,
    followers: Vec<Vec<usize>>,
    /// Whether it is open and work for an agent: no epic. A parent is work once its parts are done.
    is_work: Vec<bool>,
}

impl Waiting {
    fn for_graph(graph: &TaskGraph) -> Waiting {
        let n_nodes = graph.nodes.len();
        let mut waiting = Waiting {
            waits: vec![0; n_nodes],
            followers: vec![Vec::new(); n_nodes],
            is_work: vec![false; n_nodes],
        };
        for (place, node) in graph.open() {
            waiting.is_work[place] = !node.is_epic;
            for need in &node.depends {
                let inside = graph.position(*need);
                let needed = match inside {
                    Some(place) => Some(&graph.nodes[place]),
                    None => graph.outside.get(need),
                };
                let is_done = needed.is_some_and(|need| need.status == Status::Done);
                if let Some(need) = inside.filter(|need| graph.nodes[*need].is_open()) {
                    waiting.followers[need].push(place);
                }
                waiting.waits[place] += usize::from(!is_done);
            }
            waiting.waits[place] += node.missing.len();
            if let Some(parent) = node.parent.and_then(|id| graph.position(id)) {
                waiting.followers[place].push(parent);
                waiting.waits[parent] += 1;
            }
            // An empty epic waits until somebody completes it.
            waiting.waits[place] += usize::from(node.is_epic && node.open_children == 0);
        }
        waiting
    }

    /// Returns the open nodes in topological order, each soon after the last node that it waits for. Nodes that wait for
    /// ever are left out.
    fn order(&self, graph: &TaskGraph) -> Vec<usize> {
        let mut waits = self.waits.clone();
        let open = graph.open().map(|(place, _)| place);
        let mut free: Vec<usize> = open.filter(|place| waits[*place] == 0).collect();
        let mut order = Vec::with_capacity(free.len());
        while let Some(place) = free.pop() {
            order.push(place);
            self.release(graph, place, &mut waits, |place| free.push(place));
        }
        order
    }

    /// Marks `place` as done, and hands over the open nodes that wait for nothing more.
    fn release(
        &self,
        graph: &TaskGraph,
        place: usize,
        waits: &mut [usize],
        mut free: impl FnMut(usize),
    ) {
        for follower in &self.followers[place] {
            waits[*follower] -= 1;
            if waits[*follower] == 0 && graph.nodes[*follower].is_open() {
                free(*follower);
            }
        }
    }
}

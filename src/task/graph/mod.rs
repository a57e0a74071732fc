//! The graph of tasks: waves, paths, circles and what stands in the way. Pure: it works on nodes
//! that somebody has read.

pub mod below;
mod circle;
mod paths;
mod problems;
#[cfg(test)]
mod tests;
mod waiting;
mod waves;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Serialize;

use super::{Priority, Status};
use crate::id::{self, TaskId};
use waiting::Waiting;

pub use circle::circle;
pub use paths::Bottleneck;
pub use problems::{Kind, PROBLEMS_MAX, Problem};
pub use waves::{Conflict, Waves};

/// What the graph needs to know of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The task.
    pub id: TaskId,
    /// Its parent.
    pub parent: Option<TaskId>,
    /// Where it stands.
    pub status: Status,
    /// How urgent it is.
    pub priority: Priority,
    /// Whether it is an epic.
    pub is_epic: bool,
    /// How many of its children are neither done nor cancelled.
    pub open_children: u32,
    /// What must be done first.
    pub depends: Vec<TaskId>,
    /// What an import says must be done first, and nobody knows.
    pub missing: Vec<Missing>,
}

impl Node {
    /// Says whether the task is neither done nor cancelled.
    pub fn is_open(&self) -> bool {
        !matches!(self.status, Status::Done | Status::Cancelled)
    }

    /// Says whether the task holds others: it is an epic, or the parent of an open task.
    pub fn is_container(&self) -> bool {
        self.is_epic || self.open_children > 0
    }
}

/// Puts nodes in the order of their ids.
pub fn by_id(nodes: &mut [Node]) {
    nodes.sort_unstable_by_key(|node| node.id);
}

/// A dependency that leads to no task.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What an import says must be done first.
    pub name: String,
    /// True when it was there, and left out because tasks would have waited for each other.
    pub circular: bool,
}

impl Missing {
    /// Says what it is and why nobody can wait for it.
    pub fn told(&self) -> String {
        let why = match self.circular {
            true => "was left out because it closed a circle",
            false => "is not here",
        };
        format!("{}, which {why}", self.name)
    }
}

/// Nodes by id, with those outside that they depend on.
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    /// By id.
    nodes: Vec<Node>,
    outside: HashMap<TaskId, Node>,
    /// Who waits for whom, worked out when it is first asked.
    waiting: OnceLock<Waiting>,
}

impl TaskGraph {
    /// Makes a graph of `nodes`; `outside` are the tasks that they depend on and that are not among
    /// them. What is in neither does not exist and is never counted as done.
    pub fn new(mut nodes: Vec<Node>, outside: Vec<Node>) -> TaskGraph {
        by_id(&mut nodes);
        TaskGraph {
            outside: outside.into_iter().map(|node| (node.id, node)).collect(),
            nodes,
            waiting: OnceLock::new(),
        }
    }

    fn waiting(&self) -> &Waiting {
        self.waiting.get_or_init(|| Waiting::of(self))
    }

    /// Returns the nodes by id, without those outside.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the ids of the nodes, sorted.
    pub fn ids(&self) -> Vec<TaskId> {
        self.nodes.iter().map(|node| node.id).collect()
    }

    /// Counts the tasks that can start now.
    pub fn count_ready(&self) -> usize {
        self.ready().count()
    }

    /// Returns the tasks that can start now, by id.
    pub fn ready(&self) -> impl Iterator<Item = TaskId> {
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
    pub fn find(&self, id: TaskId) -> Option<&Node> {
        self.place(id).map(|place| &self.nodes[place])
    }

    /// Finds where a node stands among the nodes.
    fn place(&self, id: TaskId) -> Option<usize> {
        id::place(&self.nodes, id, |node| node.id)
    }

    /// Finds a node, also outside.
    pub fn node(&self, id: TaskId) -> Option<&Node> {
        self.find(id).or_else(|| self.outside.get(&id))
    }

    /// Returns the open nodes with their places.
    fn open(&self) -> impl Iterator<Item = (usize, &Node)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.is_open())
    }

    /// Returns open tasks with open tasks outside that they depend on.
    pub fn waiting_outside(&self) -> Vec<(TaskId, Vec<TaskId>)> {
        let open = |id: &TaskId| self.outside.get(id).is_some_and(Node::is_open);
        let needs = |node: &Node| -> Vec<TaskId> {
            let depends = node.depends.iter().copied();
            depends.filter(open).collect()
        };
        let waiting = self.open().map(|(_, node)| (node.id, needs(node)));
        waiting.filter(|(_, needs)| !needs.is_empty()).collect()
    }
}

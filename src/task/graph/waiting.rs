//! The open part of a graph: how much each task waits for, and who follows whom.

use super::TaskGraph;
use crate::task::Status;

/// The open nodes of a graph, by their places in it.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// How many things each waits for: what it depends on and, in a container, its parts.
    pub(super) waits: Vec<usize>,
    /// Who waits for each.
    pub(super) followers: Vec<Vec<usize>>,
    /// Whether it is open and work for an agent: no epic. A parent is work once its parts are done.
    pub(super) is_work: Vec<bool>,
}

impl Waiting {
    pub(super) fn of(graph: &TaskGraph) -> Waiting {
        let n_nodes = graph.nodes.len();
        let mut waiting = Waiting {
            waits: vec![0; n_nodes],
            followers: vec![Vec::new(); n_nodes],
            is_work: vec![false; n_nodes],
        };
        for (place, node) in graph.open() {
            waiting.is_work[place] = !node.is_epic;
            for need in &node.depends {
                let inside = graph.place(*need);
                let needed = match inside {
                    Some(place) => Some(&graph.nodes[place]),
                    None => graph.outside.get(need),
                };
                let is_done = needed.is_some_and(|need| need.status == Status::Done);
                waiting.wait(graph, place, inside);
                waiting.waits[place] += usize::from(!is_done);
            }
            waiting.waits[place] += node.missing.len();
            if let Some(parent) = node.parent.and_then(|id| graph.place(id)) {
                waiting.followers[place].push(parent);
                waiting.waits[parent] += 1;
            }
            // An empty epic is over when somebody says so: it waits for that.
            waiting.waits[place] += usize::from(node.is_epic && node.open_children == 0);
        }
        waiting
    }

    fn wait(&mut self, graph: &TaskGraph, place: usize, need: Option<usize>) {
        if let Some(need) = need.filter(|need| graph.nodes[*need].is_open()) {
            self.followers[need].push(place);
        }
    }

    /// Returns the open nodes in an order in which each comes after everything that it waits for, and
    /// soon after the last of it: what belongs together stays together. What has to wait for ever is
    /// not among them.
    pub(super) fn order(&self, graph: &TaskGraph) -> Vec<usize> {
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

    /// Lets go of everything that waited for `place`, and hands over what waits for nothing more.
    pub(super) fn release(
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

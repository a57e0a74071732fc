//! Waves: open tasks that can be worked on side by side.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Node, TaskGraph, below};
use crate::id::TaskId;
use crate::task::overlap::{Occupied, Pattern, patterns};
use crate::task::{Priority, Status};

/// Open tasks in waves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waves {
    /// The waves in order, each with its most urgent task first.
    pub waves: Vec<Vec<TaskId>>,
    /// Tasks that no wave ever reaches.
    pub stuck: Vec<TaskId>,
    /// Why tasks come later than what they depend on would allow, by task.
    pub conflicts: Vec<Conflict>,
    /// False when there was too much to compare, and files were left out of account from then on.
    pub files_compared: bool,
}

/// Two tasks that touch the same files and so are not put side by side.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The task that comes later.
    pub task: TaskId,
    /// The task of the wave before that touches its files.
    pub conflicts_with: TaskId,
    /// What the later one says of these files.
    pub files: Vec<String>,
}

impl TaskGraph {
    /// Returns the open tasks for agents in waves: each wave needs only tasks of earlier waves and
    /// done tasks, and no two tasks of a wave touch the same files. A container makes no wave; it
    /// is over with the last task in it. Tasks that wait for a circle, for an empty container or
    /// for something that is not here make no wave either; they are stuck.
    pub fn waves<'a>(&self, files: impl Fn(TaskId) -> &'a [String]) -> Waves {
        let waiting = self.waiting();
        let ranks = self.ranks();
        let mut waits = waiting.waits.clone();
        let mut plan = Plan::default();
        let free = self.open().map(|(place, _)| place);
        let mut candidates: Vec<usize> = free
            .filter(|place| waits[*place] == 0 && waiting.is_work[*place])
            .collect();
        while !candidates.is_empty() {
            candidates.sort_unstable_by_key(|place| ranks[*place]);
            let (wave, later) = plan.wave(self, &candidates, &files);
            candidates = later;
            let mut over = wave;
            while let Some(place) = over.pop() {
                waiting.release(self, place, &mut waits, |free| {
                    match waiting.is_work[free] {
                        true => candidates.push(free),
                        false => over.push(free),
                    }
                });
            }
        }
        let stuck = self.open().filter(|(place, _)| waiting.is_work[*place]);
        let stuck = stuck.filter(|(place, _)| waits[*place] > 0);
        Waves {
            stuck: stuck.map(|(_, node)| node.id).collect(),
            conflicts: plan.conflicts.into_values().collect(),
            files_compared: !plan.is_spent,
            waves: plan.waves,
        }
    }

    /// Returns what the order of tasks goes by: what is under way, then priority, then the longest
    /// chain that waits, then id.
    fn ranks(&self) -> Vec<Rank> {
        let edges = self.open().flat_map(|(_, node)| {
            let edge = |need: &TaskId| (node.id.0, need.0);
            node.depends.iter().map(edge)
        });
        let chains = below::longest(edges.collect());
        let rank = |node: &Node| {
            let rests = !matches!(node.status, Status::Active | Status::Review);
            let chain = chains.length(node.id.0);
            (rests, node.priority, Reverse(chain), node.id)
        };
        self.nodes.iter().map(rank).collect()
    }
}

/// See [`TaskGraph::ranks`].
type Rank = (bool, Priority, Reverse<u32>, TaskId);

/// Waves while they are made.
#[derive(Default)]
struct Plan {
    waves: Vec<Vec<TaskId>>,
    conflicts: BTreeMap<TaskId, Conflict>,
    patterns: HashMap<TaskId, Vec<Pattern>>,
    spent: u64,
    is_spent: bool,
}

impl Plan {
    /// Makes the next wave of the candidates, the first of which come first, and returns it with
    /// those that have to come later.
    fn wave<'a>(
        &mut self,
        graph: &TaskGraph,
        candidates: &[usize],
        files: &impl Fn(TaskId) -> &'a [String],
    ) -> (Vec<usize>, Vec<usize>) {
        let (mut wave, mut later) = (Vec::new(), Vec::new());
        let mut occupied = Occupied::default();
        for place in candidates {
            let id = graph.nodes[*place].id;
            let own = files(id);
            let known = match self.patterns.is_empty() {
                true => None,
                false => self.patterns.remove(&id),
            };
            let parsed = known.unwrap_or_else(|| patterns(own));
            match occupied.conflict(&parsed, &mut self.spent) {
                Some((other, which)) => {
                    let files = which.into_iter().map(|at| own[at].clone()).collect();
                    let conflicts_with = TaskId(other);
                    let conflict = Conflict {
                        task: id,
                        conflicts_with,
                        files,
                    };
                    self.conflicts.insert(id, conflict);
                    self.patterns.insert(id, parsed);
                    later.push(*place);
                }
                None => {
                    occupied.take(id.0, parsed);
                    wave.push(*place);
                }
            }
        }
        self.is_spent |= Occupied::is_spent(self.spent);
        let ids = wave.iter().map(|place| graph.nodes[*place].id);
        self.waves.push(ids.collect());
        (wave, later)
    }
}

//! Waves: open tasks that can be worked on in parallel; and the length of the chain that waits for each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::Serialize;

use super::{Node, TaskGraph};
use crate::id::{self, TaskId};
use crate::task::overlap::{Occupied, Pattern, patterns};
use crate::task::{Priority, Status};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waves {
    /// The waves in order, each with its most urgent task first.
    pub(crate) waves: Vec<Vec<TaskId>>,
    /// Tasks that no wave ever reaches.
    pub(crate) stuck: Vec<TaskId>,
    /// Why tasks come later than what they depend on would allow, by task.
    pub(crate) conflicts: Vec<Conflict>,
}

/// Two tasks that touch the same files, so that they cannot run in parallel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conflict {
    /// The task that comes later.
    pub(crate) task: TaskId,
    /// The first task of an earlier wave that touches its files.
    pub(crate) conflicts_with: TaskId,
    /// The patterns of the later task for these files.
    pub(crate) files: Vec<String>,
}

impl TaskGraph {
    /// Returns the open tasks for agents in waves: each wave needs only tasks of earlier waves and
    /// done tasks, and no two tasks of a wave touch the same files. A parent comes after its
    /// parts. An epic is in no wave; it is over with the last task in it. Tasks that wait for a circle,
    /// for an empty epic or for a missing dependency are in no wave either; they are stuck.
    pub(crate) fn waves<'a>(&self, files: impl Fn(TaskId) -> &'a [String]) -> Waves {
        let waiting = self.waiting();
        let ranks = self.ranks();
        let mut waits = waiting.waits.clone();
        let mut plan = Plan::new(ranks);
        let free = self.open().map(|(place, _)| place);
        let mut candidates: Vec<usize> = free
            .filter(|place| waits[*place] == 0 && waiting.is_work[*place])
            .collect();
        while !candidates.is_empty() || !plan.queues.waited.is_empty() {
            let mut over = plan.wave(self, std::mem::take(&mut candidates), &files);
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
            waves: plan.waves,
        }
    }

    /// Returns the sort keys of tasks: active ones first, then by priority, then by the longest chain that depends on
    /// them, then by id.
    fn ranks(&self) -> Vec<Rank> {
        let edges = self.nodes.iter().flat_map(|node| {
            let edge = |need: &TaskId| (node.id.0, need.0);
            node.depends.iter().map(edge)
        });
        let chains = longest_chains(edges.collect());
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

/// A candidate for a wave: its rank, and its place in the graph.
type Candidate = (Rank, usize);

/// Waves while they are made.
///
/// A candidate waits for the pattern that keeps it out of a wave, in a queue with all others that overlap it. While a
/// task of the wave has that pattern, only the first of the queue is compared, so that many tasks that share a file
/// cost no more than others.
struct Plan {
    ranks: Vec<Rank>,
    waves: Vec<Vec<TaskId>>,
    conflicts: BTreeMap<TaskId, Conflict>,
    /// Patterns of candidates that wait, by place.
    patterns: HashMap<usize, Vec<Pattern>, RandomState>,
    queues: Queues,
}

impl Plan {
    fn new(ranks: Vec<Rank>) -> Plan {
        Plan {
            ranks,
            waves: Vec::new(),
            conflicts: BTreeMap::new(),
            patterns: HashMap::default(),
            queues: Queues::default(),
        }
    }

    /// Makes the next wave of new candidates and those that wait, and returns it.
    fn wave<'a>(
        &mut self,
        graph: &TaskGraph,
        new: Vec<usize>,
        files: &impl Fn(TaskId) -> &'a [String],
    ) -> Vec<usize> {
        let new = new
            .into_iter()
            .map(|place| (self.ranks[place], place, None));
        let mut next: BinaryHeap<_> = new.chain(self.queues.pop_heads()).map(Reverse).collect();
        let mut round = Round::default();
        while let Some(Reverse((rank, place, queue))) = next.pop() {
            let is_held = |round: &Round| queue.is_some_and(|queue| round.held.contains(&queue));
            match queue.filter(|_| is_held(&round)) {
                Some(queue) => self.queues.push(queue, (rank, place)),
                None => self.place_candidate((rank, place), graph, files, &mut round),
            }
            if let Some(queue) = queue.filter(|_| !is_held(&round)) {
                let first = self.queues.pop(queue);
                next.extend(first.map(|(rank, place)| Reverse((rank, place, Some(queue)))));
            }
        }
        let ids = round.wave.iter().map(|place| graph.nodes[*place].id);
        self.waves.push(ids.collect());
        round.wave
    }

    /// Puts a candidate into the wave, or into the queue for what keeps it out.
    fn place_candidate<'a>(
        &mut self,
        (rank, place): Candidate,
        graph: &TaskGraph,
        files: &impl Fn(TaskId) -> &'a [String],
        round: &mut Round,
    ) {
        let id = graph.nodes[place].id;
        let own = files(id);
        let known = self.patterns.remove(&place);
        let parsed = known.unwrap_or_else(|| patterns(own));
        if let Some(taken) = round.occupied.conflict(&parsed) {
            let queue = self.queues.queue_number(&taken.prefix);
            self.queues.push(queue, (rank, place));
            round.held.insert(queue);
            self.conflicts.entry(id).or_insert_with(|| Conflict {
                task: id,
                conflicts_with: TaskId(taken.owner),
                files: taken.texts.iter().map(|at| own[*at].clone()).collect(),
            });
            self.patterns.insert(place, parsed);
            return;
        }
        let queue = |pattern: &Pattern| self.queues.numbers.get(pattern.prefix()).copied();
        round.held.extend(parsed.iter().filter_map(queue));
        round.occupied.occupy(id.0, parsed);
        round.wave.push(place);
    }
}

#[derive(Default)]
struct Round {
    wave: Vec<usize>,
    occupied: Occupied,
    /// Queues for patterns that are taken, whose candidates stay in them.
    held: HashSet<usize, RandomState>,
}

/// Candidates that wait, by the pattern that they wait for.
#[derive(Default)]
struct Queues {
    numbers: HashMap<String, usize, RandomState>,
    queues: Vec<BinaryHeap<Reverse<Candidate>>>,
    /// Queues that somebody waits in.
    waited: BTreeSet<usize>,
}

impl Queues {
    fn queue_number(&mut self, pattern: &str) -> usize {
        if let Some(number) = self.numbers.get(pattern) {
            return *number;
        }
        let number = self.queues.len();
        self.queues.push(BinaryHeap::new());
        self.numbers.insert(pattern.to_string(), number);
        number
    }

    fn push(&mut self, queue: usize, candidate: Candidate) {
        self.queues[queue].push(Reverse(candidate));
        self.waited.insert(queue);
    }

    fn pop(&mut self, queue: usize) -> Option<Candidate> {
        let first = self.queues[queue].pop();
        if self.queues[queue].is_empty() {
            self.waited.remove(&queue);
        }
        first.map(|Reverse(first)| first)
    }

    fn pop_heads(&mut self) -> Vec<(Rank, usize, Option<usize>)> {
        let waited: Vec<usize> = self.waited.iter().copied().collect();
        let head = |queue: usize| {
            self.pop(queue)
                .map(|(rank, place)| (rank, place, Some(queue)))
        };
        waited.into_iter().filter_map(head).collect()
    }
}

/// Maximum length of a chain: a change at the end of a chain is carried up to its beginning.
pub(crate) const BOUND: u32 = 1_000;

/// An edge: the first waits for the second.
pub(crate) type Edge = (u32, u32);

/// Lengths of chains, by the task that is waited for.
#[derive(Debug, Default)]
pub(crate) struct Chains(Vec<Chain>);

/// The longest chain so far that waits for a task, and how many that wait for it are still to come.
#[derive(Debug)]
struct Chain {
    task: u32,
    length: u32,
    to_come: usize,
}

impl Chains {
    /// Returns the length of the longest chain that waits for a task; 0 when nothing does.
    pub(crate) fn length(&self, task: u32) -> u32 {
        find(&self.0, task).map_or(0, |at| self.0[at].length)
    }
}

/// Returns, for each task that something waits for, the length of the longest chain of tasks that
/// wait for it, at most [`BOUND`]. `edges` are those of open tasks. A circle has the length of the
/// bound, and so has everything that it waits for.
pub(crate) fn longest_chains(mut edges: Vec<Edge>) -> Chains {
    edges.sort_unstable();
    let mut known = list_needed(&edges);
    let mut settled: Vec<u32> = edges.iter().map(|(task, _)| *task).collect();
    settled.dedup();
    settled.retain(|task| find(&known, *task).is_none());
    while let Some(task) = settled.pop() {
        let length = find(&known, task).map_or(0, |at| known[at].length);
        let from = edges.partition_point(|edge| edge.0 < task);
        for (_, need) in edges[from..].iter().take_while(|edge| edge.0 == task) {
            let Some(at) = find(&known, *need) else {
                continue;
            };
            let chain = &mut known[at];
            chain.length = chain.length.max((length + 1).min(BOUND));
            chain.to_come -= 1;
            if chain.to_come == 0 {
                settled.push(*need);
            }
        }
    }
    for chain in known.iter_mut().filter(|chain| chain.to_come > 0) {
        chain.length = BOUND;
    }
    Chains(known)
}

/// Returns the tasks that edges lead to, by id, each with the number of the edges.
fn list_needed(edges: &[Edge]) -> Vec<Chain> {
    let mut needs: Vec<u32> = edges.iter().map(|(_, need)| *need).collect();
    needs.sort_unstable();
    let chains = needs.chunk_by(|one, next| one == next);
    let chain = |same: &[u32]| Chain {
        task: same[0],
        length: 0,
        to_come: same.len(),
    };
    chains.map(chain).collect()
}

fn find(chains: &[Chain], task: u32) -> Option<usize> {
    id::place(chains, TaskId(task), |chain| TaskId(chain.task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_chain_counts_up_to_bound() {
        let found = longest_chains(vec![(2, 1), (3, 1), (4, 3), (4, 1)]);
        assert_eq!([1, 2, 3, 4].map(|task| found.length(task)), [2, 0, 1, 0]);
        let chain = longest_chains((1..5_000).map(|id| (id + 1, id)).collect());
        let lengths = [1, 4_000, 4_999, 5_000].map(|task| chain.length(task));
        assert_eq!(lengths, [BOUND, BOUND, 1, 0]);
        assert_eq!(longest_chains(Vec::new()).length(1), 0);
    }

    #[test]
    fn circle_is_as_long_as_can_be() {
        let found = longest_chains(vec![(1, 2), (2, 1), (1, 3), (5, 4)]);
        let lengths = [1, 3, 4].map(|task| found.length(task));
        assert_eq!(lengths, [BOUND, BOUND, 1]);
    }
}

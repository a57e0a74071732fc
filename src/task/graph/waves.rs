//! Waves: open tasks that can be worked on side by side.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::Serialize;

use super::{Node, TaskGraph, below};
use crate::id::TaskId;
use crate::task::overlap::{Occupied, Pattern, Taken, patterns};
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
    /// done tasks, and no two tasks of a wave touch the same files. A parent comes after its
    /// parts. An epic makes no wave; it is over with the last task in it. Tasks that wait for a circle,
    /// for an empty epic or for something that is not here make no wave either; they are stuck.
    pub fn waves<'a>(&self, files: impl Fn(TaskId) -> &'a [String]) -> Waves {
        let waiting = self.waiting();
        let ranks = self.ranks();
        let mut waits = waiting.waits.clone();
        let mut plan = Plan::new(ranks);
        let free = self.open().map(|(place, _)| place);
        let mut candidates: Vec<usize> = free
            .filter(|place| waits[*place] == 0 && waiting.is_work[*place])
            .collect();
        while !candidates.is_empty() || plan.is_waited() {
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
            files_compared: !Occupied::is_spent(plan.spent),
            conflicts: plan.conflicts.into_values().map(|(_, one)| one).collect(),
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

/// A candidate for a wave: its rank, and its place in the graph.
type Candidate = (Rank, usize);

/// Waves while they are made.
///
/// What keeps a candidate out of a wave is a pattern that is taken. It waits for that pattern, in a
/// queue with all others whose files may be among those of the pattern. While somebody has it, none
/// of them is looked at but the first. So many tasks that share a file cost no more than others.
struct Plan {
    ranks: Vec<Rank>,
    waves: Vec<Vec<TaskId>>,
    /// By task, with the number of the wave that it was kept out of last.
    conflicts: BTreeMap<TaskId, (usize, Conflict)>,
    /// Patterns of candidates that wait, by place.
    patterns: HashMap<usize, Vec<Pattern>, RandomState>,
    queues: Queues,
    /// What the wave before has taken, and how much of it before whom.
    before: Occupied,
    counts: Vec<(Rank, usize)>,
    spent: u64,
}

impl Plan {
    fn new(ranks: Vec<Rank>) -> Plan {
        Plan {
            ranks,
            waves: Vec::new(),
            conflicts: BTreeMap::new(),
            patterns: HashMap::default(),
            queues: Queues::default(),
            before: Occupied::default(),
            counts: Vec::new(),
            spent: 0,
        }
    }

    /// Says whether candidates wait for files.
    fn is_waited(&self) -> bool {
        !self.queues.waited.is_empty()
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
        let mut next: BinaryHeap<_> = new.chain(self.queues.heads()).map(Reverse).collect();
        let mut round = Round::default();
        while let Some(Reverse((rank, place, queue))) = next.pop() {
            let is_held = |round: &Round| queue.is_some_and(|queue| round.held.contains(&queue));
            match queue.filter(|_| is_held(&round)) {
                Some(queue) => self.queues.push(queue, (rank, place)),
                None => self.place((rank, place), queue.is_some(), graph, files, &mut round),
            }
            if Occupied::is_spent(self.spent) {
                round.held.clear();
            }
            if let Some(queue) = queue.filter(|_| !is_held(&round)) {
                let first = self.queues.pop(queue);
                next.extend(first.map(|(rank, place)| Reverse((rank, place, Some(queue)))));
            }
        }
        let ids = round.wave.iter().map(|place| graph.nodes[*place].id);
        self.waves.push(ids.collect());
        (self.before, self.counts) = (round.occupied, round.counts);
        round.wave
    }

    /// Puts a candidate into the wave, or into the queue for what keeps it out.
    fn place<'a>(
        &mut self,
        (rank, place): Candidate,
        has_waited: bool,
        graph: &TaskGraph,
        files: &impl Fn(TaskId) -> &'a [String],
        round: &mut Round,
    ) {
        let id = graph.nodes[place].id;
        let own = files(id);
        let known = self.patterns.remove(&place);
        let parsed = known.unwrap_or_else(|| patterns(own));
        if let Some(taken) = round.occupied.conflict(&parsed, &mut self.spent) {
            let queue = self.queues.number(&taken.pattern);
            self.queues.push(queue, (rank, place));
            round.held.insert(queue);
            self.note(id, self.waves.len(), taken, own);
            self.patterns.insert(place, parsed);
            return;
        }
        if has_waited {
            self.note_before(id, rank, &parsed, own);
        }
        round.held.extend(self.queues.for_patterns(&parsed));
        round.counts.push((rank, round.occupied.len()));
        round.occupied.take(id.0, parsed);
        round.wave.push(place);
    }

    /// Notes what kept a task out of a wave.
    fn note(&mut self, task: TaskId, wave: usize, taken: Taken, own: &[String]) {
        let conflict = Conflict {
            task,
            conflicts_with: TaskId(taken.owner),
            files: taken.texts.iter().map(|at| own[*at].clone()).collect(),
        };
        self.conflicts.insert(task, (wave, conflict));
    }

    /// Notes what kept a task out of the wave before, where nobody looked at it then.
    fn note_before(&mut self, task: TaskId, rank: Rank, parsed: &[Pattern], own: &[String]) {
        let Some(wave) = self.waves.len().checked_sub(1) else {
            return;
        };
        if self
            .conflicts
            .get(&task)
            .is_some_and(|(last, _)| *last == wave)
        {
            return;
        }
        let ahead = self.counts.partition_point(|(other, _)| *other < rank);
        let count = self
            .counts
            .get(ahead)
            .map_or(self.before.len(), |(_, n)| *n);
        let taken = self.before.conflict_before(count, parsed, &mut self.spent);
        if let Some(taken) = taken {
            self.note(task, wave, taken, own);
        }
    }
}

/// A wave while it is made.
#[derive(Default)]
struct Round {
    wave: Vec<usize>,
    occupied: Occupied,
    /// How many patterns were taken when each task of the wave was put into it.
    counts: Vec<(Rank, usize)>,
    /// Queues for patterns that are taken, so that everybody in them waits on.
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
    /// Returns the number of the queue for a pattern.
    fn number(&mut self, pattern: &str) -> usize {
        if let Some(number) = self.numbers.get(pattern) {
            return *number;
        }
        let number = self.queues.len();
        self.queues.push(BinaryHeap::new());
        self.numbers.insert(pattern.to_string(), number);
        number
    }

    /// Puts a candidate into a queue.
    fn push(&mut self, queue: usize, candidate: Candidate) {
        self.queues[queue].push(Reverse(candidate));
        self.waited.insert(queue);
    }

    /// Takes the first candidate out of a queue.
    fn pop(&mut self, queue: usize) -> Option<Candidate> {
        let first = self.queues[queue].pop();
        if self.queues[queue].is_empty() {
            self.waited.remove(&queue);
        }
        first.map(|Reverse(first)| first)
    }

    /// Takes the first candidate out of every queue.
    fn heads(&mut self) -> Vec<(Rank, usize, Option<usize>)> {
        let waited: Vec<usize> = self.waited.iter().copied().collect();
        let head = |queue: usize| {
            self.pop(queue)
                .map(|(rank, place)| (rank, place, Some(queue)))
        };
        waited.into_iter().filter_map(head).collect()
    }

    /// Finds the queues for patterns.
    fn for_patterns(&self, patterns: &[Pattern]) -> Vec<usize> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let number = |pattern: &Pattern| self.numbers.get(&pattern.name()).copied();
        patterns.iter().filter_map(number).collect()
    }
}

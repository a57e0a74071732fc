//! Ways through the graph: the longest, and how much work waits behind each task.

use std::cmp::Reverse;

use super::{TaskGraph, Waiting};
use crate::id::TaskId;
use crate::task::Status;

/// Words of bits, one bit a task, in which waiting tasks are counted together.
const WORDS: usize = 16;

/// A task that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bottleneck {
    pub(crate) id: TaskId,
    /// How many tasks can start once it is done.
    pub(crate) direct: usize,
    /// How many tasks wait for it, directly or not.
    pub(crate) all: usize,
}

impl TaskGraph {
    /// Returns the longest chain of open tasks for agents, each of which waits for the one before
    /// it; of several the one whose tasks have the smallest ids, seen from its end.
    pub(crate) fn critical_path(&self) -> Vec<TaskId> {
        let waiting = self.waiting();
        let order = waiting.order(self);
        let n_nodes = self.nodes.len();
        let (mut lengths, mut before) = (vec![0_usize; n_nodes], vec![None::<usize>; n_nodes]);
        for place in &order {
            lengths[*place] += usize::from(waiting.is_work[*place]);
            for follower in &waiting.followers[*place] {
                let is_better = match before[*follower] {
                    None => true,
                    Some(other) if lengths[*place] == lengths[other] => *place < other,
                    Some(other) => lengths[*place] > lengths[other],
                };
                if is_better {
                    before[*follower] = Some(*place);
                    lengths[*follower] = lengths[*place];
                }
            }
        }
        let last = order
            .iter()
            .max_by_key(|place| (lengths[**place], Reverse(**place)));
        let way = std::iter::successors(last.copied(), |place| before[*place]);
        let mut path: Vec<TaskId> = way
            .filter(|place| waiting.is_work[*place])
            .map(|place| self.nodes[place].id)
            .collect();
        path.reverse();
        path
    }

    /// Returns the open tasks that most tasks wait for, at most `limit`.
    pub(crate) fn bottlenecks(&self, limit: usize) -> Vec<Bottleneck> {
        let waiting = self.waiting();
        let all = self.count_dependents(waiting);
        let tasks = all.iter().enumerate().filter(|(_, all)| **all > 0);
        let mut found: Vec<(usize, usize)> = tasks
            .filter(|(place, _)| waiting.is_work[*place])
            .map(|(place, all)| (place, *all))
            .collect();
        found.sort_unstable_by_key(|(place, all)| (Reverse(*all), *place));
        found.truncate(limit);
        let bottleneck = |(place, all): (usize, usize)| Bottleneck {
            id: self.nodes[place].id,
            direct: self.count_freed_by(waiting, place),
            all,
        };
        found.into_iter().map(bottleneck).collect()
    }

    /// Counts the tasks that can start once the one at `place` is done: a parent too, of which it is
    /// the last part. An epic is over when somebody says so, so what waits for that is not among
    /// them.
    fn count_freed_by(&self, waiting: &Waiting, place: usize) -> usize {
        let is_free = |follower: &&usize| {
            let node = &self.nodes[**follower];
            waiting.waits[**follower] == 1 && !node.is_epic && node.status == Status::Pending
        };
        waiting.followers[place].iter().filter(is_free).count()
    }

    /// Counts for each place the tasks that wait for it, directly or not. They are bits, and are
    /// handed from follower to need, some at a time so that memory stays small. Places that none of
    /// these wait for are passed over: of most there are few.
    fn count_dependents(&self, waiting: &Waiting) -> Vec<usize> {
        let order = waiting.order(self);
        let is_work = |turn: &usize| waiting.is_work[order[*turn]];
        let work: Vec<usize> = (0..order.len()).filter(is_work).collect();
        let mut counts = vec![0; self.nodes.len()];
        let mut bits = vec![[0_u64; WORDS]; self.nodes.len()];
        let mut own = vec![None; self.nodes.len()];
        for block in work.chunks(WORDS * 64) {
            let mut has_bits = vec![false; self.nodes.len()];
            for (bit, turn) in block.iter().enumerate() {
                own[order[*turn]] = Some(bit);
            }
            // Tasks after the last of them wait for none of them.
            let last = block.last().copied().unwrap_or(0);
            for place in order[..last].iter().rev() {
                let mut all = [0; WORDS];
                for follower in &waiting.followers[*place] {
                    if has_bits[*follower] {
                        let both = all.iter_mut().zip(&bits[*follower]);
                        both.for_each(|(all, theirs)| *all |= theirs);
                        has_bits[*place] = true;
                    }
                    if let Some(bit) = own[*follower] {
                        all[bit / 64] |= 1 << (bit % 64);
                        has_bits[*place] = true;
                    }
                }
                if has_bits[*place] {
                    let ones = all.iter().map(|word| word.count_ones() as usize);
                    counts[*place] += ones.sum::<usize>();
                    bits[*place] = all;
                }
            }
            block.iter().for_each(|turn| own[order[*turn]] = None);
        }
        counts
    }
}

//! How long a chain of tasks waits for each task.

use crate::id::{self, TaskId};

/// Longest chain that is told from longer ones. A change at the end of a chain has to be carried
/// up to its beginning, so there is an end to that.
pub const BOUND: u32 = 1_000;

/// An edge: the first waits for the second.
pub type Edge = (u32, u32);

/// Lengths of chains, by the task that is waited for.
#[derive(Debug, Default)]
pub struct Chains(Vec<Chain>);

/// The longest chain so far that waits for a task, and how many that wait for it are still to come.
#[derive(Debug)]
struct Chain {
    task: u32,
    length: u32,
    to_come: usize,
}

impl Chains {
    /// Returns the length of the longest chain that waits for a task; 0 when nothing does.
    pub fn length(&self, task: u32) -> u32 {
        find(&self.0, task).map_or(0, |at| self.0[at].length)
    }
}

/// Returns, for each task that something waits for, the length of the longest chain of tasks that
/// wait for it, at most [`BOUND`]. `edges` are those of open tasks. A circle has the length of the
/// bound, and so has everything that it waits for.
pub fn longest(mut edges: Vec<Edge>) -> Chains {
    edges.sort_unstable();
    let mut known = needed(&edges);
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
fn needed(edges: &[Edge]) -> Vec<Chain> {
    let mut needs: Vec<Edge> = edges.iter().map(|(task, need)| (*need, *task)).collect();
    needs.sort_unstable();
    let chains = needs.chunk_by(|one, next| one.0 == next.0);
    let chain = |same: &[Edge]| Chain {
        task: same[0].0,
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
    fn the_longest_chain_counts_up_to_the_bound() {
        let found = longest(vec![(2, 1), (3, 1), (4, 3), (4, 1)]);
        assert_eq!([1, 2, 3, 4].map(|task| found.length(task)), [2, 0, 1, 0]);
        let chain = longest((1..5_000).map(|id| (id + 1, id)).collect());
        let lengths = [1, 4_000, 4_999, 5_000].map(|task| chain.length(task));
        assert_eq!(lengths, [BOUND, BOUND, 1, 0]);
        assert_eq!(longest(Vec::new()).length(1), 0);
    }

    #[test]
    fn a_circle_is_as_long_as_can_be() {
        let found = longest(vec![(1, 2), (2, 1), (1, 3), (5, 4)]);
        let lengths = [1, 3, 4].map(|task| found.length(task));
        assert_eq!(lengths, [BOUND, BOUND, 1]);
    }
}

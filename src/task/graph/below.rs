//! How long a chain of tasks waits for each task.

use std::collections::HashMap;

/// Longest chain that is told from longer ones. A change at the end of a chain has to be carried
/// up to its beginning, so there is an end to that.
pub const BOUND: u32 = 1_000;

/// An edge: the first waits for the second.
pub type Edge = (u32, u32);

/// Returns, for each task that something waits for, the length of the longest chain of tasks that
/// wait for it, at most [`BOUND`]. `edges` are those of open tasks. A circle has the length of the
/// bound, and so has everything that it waits for.
pub fn longest(mut edges: Vec<Edge>) -> HashMap<u32, u32> {
    edges.sort_unstable();
    // Of each task: the longest chain so far, and how many that wait for it are still to come.
    let mut known: HashMap<u32, (u32, u32)> = HashMap::new();
    for (_, need) in &edges {
        known.entry(*need).or_default().1 += 1;
    }
    let mut settled: Vec<u32> = edges.iter().map(|(task, _)| *task).collect();
    settled.dedup();
    settled.retain(|task| !known.contains_key(task));
    while let Some(task) = settled.pop() {
        let length = known.get(&task).map_or(0, |(length, _)| *length);
        let from = edges.partition_point(|edge| edge.0 < task);
        for (_, need) in edges[from..].iter().take_while(|edge| edge.0 == task) {
            if let Some((longest, to_come)) = known.get_mut(need) {
                *longest = (*longest).max((length + 1).min(BOUND));
                *to_come -= 1;
                if *to_come == 0 {
                    settled.push(*need);
                }
            }
        }
    }
    let length = |(length, to_come)| if to_come == 0 { length } else { BOUND };
    known
        .into_iter()
        .map(|(task, found)| (task, length(found)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_chain_counts_up_to_the_bound() {
        let found = longest(vec![(2, 1), (3, 1), (4, 3), (4, 1)]);
        assert_eq!(found, HashMap::from([(1, 2), (3, 1)]));
        let chain = longest((1..5_000).map(|id| (id + 1, id)).collect());
        assert_eq!((chain[&1], chain[&4_000], chain[&4_999]), (BOUND, BOUND, 1));
        assert_eq!(longest(Vec::new()), HashMap::new());
    }

    #[test]
    fn a_circle_is_as_long_as_can_be() {
        let found = longest(vec![(1, 2), (2, 1), (1, 3), (5, 4)]);
        assert_eq!((found[&1], found[&3], found[&4]), (BOUND, BOUND, 1));
    }
}

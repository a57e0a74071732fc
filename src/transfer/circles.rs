//! Groups of tasks that wait for each other.

use std::collections::hash_map::{Entry, HashMap};

use crate::error::Result;
use crate::id::TaskId;

/// Finds all groups of tasks of which each waits for each, also a task that waits for itself. Every
/// task is asked once (Kosaraju's algorithm), and depth is no limit.
pub(crate) fn groups(
    roots: impl IntoIterator<Item = TaskId>,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Vec<Vec<TaskId>>> {
    let mut waits: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    let mut left = Vec::new();
    for root in roots {
        let mut way = vec![(root, false)];
        while let Some((id, is_left)) = way.pop() {
            if is_left {
                left.push(id);
            } else if let Entry::Vacant(place) = waits.entry(id) {
                let steps = next(id)?;
                way.push((id, true));
                way.extend(steps.iter().map(|step| (*step, false)));
                place.insert(steps);
            }
        }
    }
    let mut waiters: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for (id, steps) in &waits {
        for step in steps {
            waiters.entry(*step).or_default().push(*id);
        }
    }
    let mut groups = Vec::new();
    // The last task that was left is in a group that no other group leads back to.
    for root in left.into_iter().rev() {
        let (mut group, mut way, mut on_itself) = (Vec::new(), vec![root], false);
        while let Some(id) = way.pop() {
            if let Some(steps) = waits.remove(&id) {
                on_itself |= steps.contains(&id);
                way.extend(waiters.get(&id).into_iter().flatten());
                group.push(id);
            }
        }
        if group.len() > 1 || on_itself {
            group.sort_unstable();
            groups.push(group);
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(u32, &[u32])]) -> Vec<Vec<u32>> {
        let edges: HashMap<u32, Vec<u32>> =
            rows.iter().map(|(id, next)| (*id, next.to_vec())).collect();
        let next = |id: TaskId| {
            let next = edges.get(&id.0).cloned().unwrap_or_default();
            Ok(next.into_iter().map(TaskId).collect())
        };
        let groups = groups(rows.iter().map(|(id, _)| TaskId(*id)), next).unwrap();
        let mut groups: Vec<Vec<u32>> = groups
            .into_iter()
            .map(|group| group.into_iter().map(|id| id.0).collect())
            .collect();
        groups.sort();
        groups
    }

    #[test]
    fn groups_that_wait_for_each_other_are_found() {
        let none: Vec<Vec<u32>> = Vec::new();
        assert_eq!(found(&[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])]), none);
        assert_eq!(found(&[(1, &[1]), (2, &[9])]), [[1]]);
        let two = found(&[
            (1, &[2]),
            (2, &[3]),
            (3, &[1, 4]),
            (4, &[5]),
            (5, &[4]),
            (6, &[1]),
        ]);
        assert_eq!(two, [vec![1, 2, 3], vec![4, 5]]);
        let chain: Vec<(u32, Vec<u32>)> =
            (1..50_000).map(|id| (id, vec![id % 49_999 + 1])).collect();
        let rows: Vec<(u32, &[u32])> = chain
            .iter()
            .map(|(id, next)| (*id, next.as_slice()))
            .collect();
        assert_eq!(found(&rows)[0].len(), 49_999);
    }
}

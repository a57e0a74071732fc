//! Groups of tasks that wait for each other.

use std::collections::HashMap;

use crate::error::Result;
use crate::id::TaskId;

/// What is known of a task on the way.
struct Seen {
    order: usize,
    low: usize,
    open: bool,
}

/// Finds all groups of tasks of which each waits for each, also a task that waits for itself. Every
/// task is asked once (Tarjan's algorithm), and depth is no limit.
pub(crate) fn groups(
    roots: impl IntoIterator<Item = TaskId>,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Vec<Vec<TaskId>>> {
    let mut seen: HashMap<TaskId, Seen> = HashMap::new();
    let mut open: Vec<TaskId> = Vec::new();
    let mut groups = Vec::new();
    for root in roots {
        if seen.contains_key(&root) {
            continue;
        }
        let mut way = vec![enter(root, &mut seen, &mut open, &mut next)?];
        while let Some((id, steps, on_itself)) = way.last_mut() {
            let id = *id;
            let Some(step) = steps.pop() else {
                let on_itself = *on_itself;
                way.pop();
                leave(id, on_itself, &mut seen, &mut open, &mut groups);
                if let Some((above, ..)) = way.last() {
                    lower(*above, id, &mut seen);
                }
                continue;
            };
            *on_itself |= step == id;
            match seen.get(&step) {
                None => {
                    let entered = enter(step, &mut seen, &mut open, &mut next)?;
                    way.push(entered);
                }
                Some(there) if there.open => {
                    let order = there.order;
                    if let Some(own) = seen.get_mut(&id) {
                        own.low = own.low.min(order);
                    }
                }
                Some(_) => {}
            }
        }
    }
    Ok(groups)
}

/// A task, where it still leads, and whether it waits for itself.
type Step = (TaskId, Vec<TaskId>, bool);

fn enter(
    id: TaskId,
    seen: &mut HashMap<TaskId, Seen>,
    open: &mut Vec<TaskId>,
    next: &mut impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Step> {
    let order = seen.len();
    let low = order;
    seen.insert(
        id,
        Seen {
            order,
            low,
            open: true,
        },
    );
    open.push(id);
    Ok((id, next(id)?, false))
}

fn lower(above: TaskId, below: TaskId, seen: &mut HashMap<TaskId, Seen>) {
    let low = seen.get(&below).map_or(usize::MAX, |below| below.low);
    if let Some(above) = seen.get_mut(&above) {
        above.low = above.low.min(low);
    }
}

fn leave(
    id: TaskId,
    on_itself: bool,
    seen: &mut HashMap<TaskId, Seen>,
    open: &mut Vec<TaskId>,
    groups: &mut Vec<Vec<TaskId>>,
) {
    let is_first = seen.get(&id).is_some_and(|own| own.low == own.order);
    if !is_first {
        return;
    }
    let start = open.iter().rposition(|other| *other == id).unwrap_or(0);
    let mut group = open.split_off(start);
    for member in &group {
        if let Some(member) = seen.get_mut(member) {
            // What lies above has a low of its own; a closed task lowers nobody.
            (member.open, member.low) = (false, usize::MAX);
        }
    }
    if group.len() > 1 || on_itself {
        group.sort_unstable();
        groups.push(group);
    }
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

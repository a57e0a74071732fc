//! Finding circles.

use std::collections::HashSet;
use std::hash::Hash;

/// Finds a circle that can be reached from `roots` along `next`, if there is one: a way from a
/// task back to itself. Each task is asked for once, and depth is no limit. What stands for a task
/// is up to the caller: its id, or its place in a list.
pub fn circle<T: Copy + Eq + Hash, E>(
    roots: impl IntoIterator<Item = T>,
    mut next: impl FnMut(T) -> Result<Vec<T>, E>,
) -> Result<Option<Vec<T>>, E> {
    let mut finished: HashSet<T> = HashSet::new();
    for root in roots {
        if finished.contains(&root) {
            continue;
        }
        let mut way = vec![(root, next(root)?.into_iter())];
        let mut on_way = HashSet::from([root]);
        while let Some((id, steps)) = way.last_mut() {
            let id = *id;
            match steps.next() {
                None => {
                    way.pop();
                    on_way.remove(&id);
                    finished.insert(id);
                }
                Some(step) if on_way.contains(&step) => {
                    let ids: Vec<T> = way.iter().map(|(id, _)| *id).collect();
                    let start = ids.iter().position(|id| *id == step).unwrap_or(0);
                    return Ok(Some(ids[start..].iter().copied().chain([step]).collect()));
                }
                Some(step) if finished.contains(&step) => {}
                Some(step) => {
                    on_way.insert(step);
                    way.push((step, next(step)?.into_iter()));
                }
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;
    use crate::id::TaskId;

    fn ids(ids: &[u32]) -> Vec<TaskId> {
        ids.iter().map(|id| TaskId(*id)).collect()
    }

    fn circle_of(rows: &[(u32, &[u32])]) -> Option<Vec<TaskId>> {
        let edges: HashMap<TaskId, Vec<TaskId>> = rows
            .iter()
            .map(|(id, needs)| (TaskId(*id), ids(needs)))
            .collect();
        let next = |id| Ok::<_, Infallible>(edges.get(&id).cloned().unwrap_or_default());
        let Ok(way) = circle(rows.iter().map(|(id, _)| TaskId(*id)), next);
        way
    }

    #[test]
    fn a_circle_is_found_and_named() {
        assert_eq!(
            circle_of(&[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])]),
            None
        );
        assert_eq!(
            circle_of(&[(1, &[2]), (2, &[3]), (3, &[2])]),
            Some(ids(&[2, 3, 2]))
        );
        assert_eq!(circle_of(&[(1, &[1])]), Some(ids(&[1, 1])));
        assert_eq!(circle_of(&[(1, &[9])]), None);
        let chain: Vec<(u32, Vec<u32>)> = (1..50_000).map(|id| (id, vec![id + 1])).collect();
        let rows: Vec<(u32, &[u32])> = chain
            .iter()
            .map(|(id, needs)| (*id, needs.as_slice()))
            .collect();
        assert_eq!(circle_of(&rows), None);
    }
}

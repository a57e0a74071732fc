//! The graph of tasks: what is ready, which tasks make a wave, and circles. Pure: it works on
//! nodes that somebody has read.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Priority, Status};
use crate::id::TaskId;

/// What the graph needs to know of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The task.
    pub id: TaskId,
    /// Its parent.
    pub parent: Option<TaskId>,
    /// Where it stands.
    pub status: Status,
    /// How urgent it is.
    pub priority: Priority,
    /// Whether it is an epic.
    pub is_epic: bool,
    /// What must be done first.
    pub depends: Vec<TaskId>,
}

/// Who follows whom.
type Edges = HashMap<TaskId, Vec<TaskId>>;

/// Nodes by id, with the statuses of tasks outside that they depend on.
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    nodes: BTreeMap<TaskId, Node>,
    outside: HashMap<TaskId, Status>,
}

impl TaskGraph {
    /// Makes a graph of `nodes`; `outside` gives the status of tasks that they depend on and that
    /// are not among them. What is in neither does not exist and is never counted as done.
    pub fn new(nodes: Vec<Node>, outside: HashMap<TaskId, Status>) -> TaskGraph {
        TaskGraph {
            nodes: nodes.into_iter().map(|node| (node.id, node)).collect(),
            outside,
        }
    }

    fn is_done(&self, id: TaskId) -> bool {
        let inside = self.nodes.get(&id).map(|node| node.status);
        inside.or_else(|| self.outside.get(&id).copied()) == Some(Status::Done)
    }

    /// Says whether the node is a container: an epic, or the parent of a task that is still open.
    fn containers(&self) -> BTreeSet<TaskId> {
        let epics = self
            .nodes
            .values()
            .filter(|node| node.is_epic)
            .map(|node| node.id);
        let parents = self
            .nodes
            .values()
            .filter(|node| is_open(node))
            .filter_map(|n| n.parent);
        epics.chain(parents).collect()
    }

    /// Returns the tasks for agents that can start now, most urgent first: pending, every
    /// dependency done, no container.
    pub fn ready(&self) -> Vec<TaskId> {
        let containers = self.containers();
        let mut ready: Vec<&Node> = self
            .nodes
            .values()
            .filter(|node| node.status == Status::Pending && !containers.contains(&node.id))
            .filter(|node| node.depends.iter().all(|id| self.is_done(*id)))
            .collect();
        let below = self.longest_paths_below();
        ready.sort_by_key(|node| {
            let path = below.get(&node.id).copied().unwrap_or(0);
            (node.priority, std::cmp::Reverse(path), node.id)
        });
        ready.into_iter().map(|node| node.id).collect()
    }

    /// Returns the open tasks for agents in waves: each wave needs only tasks of earlier waves and
    /// done tasks. A container makes no wave; it is over with the last task in it. Tasks that wait
    /// for a circle, for an empty container or for something that is not here make no wave either;
    /// they come back in the second value.
    pub fn waves(&self) -> (Vec<Vec<TaskId>>, Vec<TaskId>) {
        let containers = self.containers();
        let (mut waits, followers) = self.waits(&containers);
        let is_work = |id: &TaskId| !containers.contains(id);
        let mut waves = Vec::new();
        let mut wave: Vec<TaskId> = waits
            .iter()
            .filter(|(id, n_waits)| **n_waits == 0 && is_work(id))
            .map(|(id, _)| *id)
            .collect();
        while !wave.is_empty() {
            let mut over = wave.clone();
            waves.push(std::mem::take(&mut wave));
            while let Some(id) = over.pop() {
                waits.remove(&id);
                for follower in followers.get(&id).into_iter().flatten() {
                    let Some(n_waits) = waits.get_mut(follower) else {
                        continue;
                    };
                    *n_waits -= 1;
                    match (*n_waits, is_work(follower)) {
                        (0, true) => wave.push(*follower),
                        (0, false) => over.push(*follower),
                        _ => {}
                    }
                }
            }
            wave.sort_unstable();
        }
        (waves, waits.into_keys().filter(is_work).collect())
    }

    /// Counts for each open node what it waits for, and lists for each thing who waits for it.
    fn waits(&self, containers: &BTreeSet<TaskId>) -> (BTreeMap<TaskId, usize>, Edges) {
        let mut waits = BTreeMap::new();
        let mut followers = Edges::new();
        for node in self.nodes.values().filter(|node| is_open(node)) {
            let open = node.depends.iter().filter(|id| !self.is_done(**id));
            let mut n_waits = 0;
            for need in open {
                followers.entry(*need).or_default().push(node.id);
                n_waits += 1;
            }
            *waits.entry(node.id).or_insert(0) += n_waits;
            if let Some(parent) = node.parent.filter(|id| self.nodes.contains_key(id)) {
                followers.entry(node.id).or_default().push(parent);
                *waits.entry(parent).or_insert(0) += 1;
            }
        }
        waits.retain(|id, _| self.nodes.get(id).is_some_and(is_open));
        let filled: BTreeSet<TaskId> = self
            .nodes
            .values()
            .filter(|node| is_open(node))
            .filter_map(|node| node.parent)
            .collect();
        // An empty container is over when somebody says so: it waits for itself.
        for id in containers.difference(&filled) {
            waits.entry(*id).and_modify(|n_waits| *n_waits += 1);
        }
        (waits, followers)
    }

    /// Returns for each node the length of the longest chain of tasks that wait for it.
    fn longest_paths_below(&self) -> HashMap<TaskId, usize> {
        let mut dependents = Edges::new();
        for node in self.nodes.values() {
            for dependency in &node.depends {
                dependents.entry(*dependency).or_default().push(node.id);
            }
        }
        let mut lengths = HashMap::new();
        for id in self.nodes.keys() {
            measure(*id, &dependents, &mut lengths);
        }
        lengths
    }
}

fn is_open(node: &Node) -> bool {
    !matches!(node.status, Status::Done | Status::Cancelled)
}

/// Fills in the longest path below `root`, without recursion, so that depth is no limit. A circle
/// counts as far as it was walked.
fn measure(root: TaskId, dependents: &Edges, lengths: &mut HashMap<TaskId, usize>) {
    let below = |id: &TaskId| dependents.get(id).map(Vec::as_slice).unwrap_or_default();
    let mut stack = vec![(root, false)];
    while let Some((id, children_seen)) = stack.pop() {
        if children_seen {
            let longest = below(&id)
                .iter()
                .map(|next| lengths.get(next).map_or(0, |n| n + 1))
                .max();
            lengths.insert(id, longest.unwrap_or(0));
        } else if let Entry::Vacant(unseen) = lengths.entry(id) {
            unseen.insert(0);
            stack.push((id, true));
            stack.extend(below(&id).iter().map(|next| (*next, false)));
        }
    }
}

/// Finds a circle that can be reached from `roots` along `next`, if there is one: a way from a
/// task back to itself. Each task is asked for once, and depth is no limit.
pub fn circle<E>(
    roots: impl IntoIterator<Item = TaskId>,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>, E>,
) -> Result<Option<Vec<TaskId>>, E> {
    let mut finished: HashSet<TaskId> = HashSet::new();
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
                    let ids: Vec<TaskId> = way.iter().map(|(id, _)| *id).collect();
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
    use super::*;
    use std::convert::Infallible;

    fn node(id: u32, status: Status, depends: &[u32]) -> Node {
        let depends = depends.iter().map(|id| TaskId(*id)).collect();
        let priority = Priority::Medium;
        Node {
            id: TaskId(id),
            parent: None,
            status,
            priority,
            is_epic: false,
            depends,
        }
    }

    fn ids(ids: &[u32]) -> Vec<TaskId> {
        ids.iter().map(|id| TaskId(*id)).collect()
    }

    #[test]
    fn a_task_is_ready_when_all_it_depends_on_is_done() {
        use Status::*;
        let nodes = vec![
            node(1, Done, &[]),
            node(2, Pending, &[1]),
            node(3, Pending, &[2]),
            node(4, Pending, &[99]),
            node(5, Active, &[]),
            node(6, Cancelled, &[]),
            node(7, Pending, &[6]),
        ];
        assert_eq!(TaskGraph::new(nodes, HashMap::new()).ready(), ids(&[2]));
    }

    #[test]
    fn ready_tasks_come_by_priority_then_by_what_waits_for_them() {
        use Status::*;
        let mut nodes = vec![
            node(1, Pending, &[]),
            node(2, Pending, &[]),
            node(3, Pending, &[2]),
            node(4, Pending, &[]),
        ];
        nodes[3].priority = Priority::Critical;
        assert_eq!(
            TaskGraph::new(nodes, HashMap::new()).ready(),
            ids(&[4, 2, 1])
        );
    }

    #[test]
    fn epics_and_tasks_with_open_children_are_no_work_for_agents() {
        use Status::*;
        let mut nodes = vec![
            node(1, Pending, &[]),
            node(2, Pending, &[]),
            node(3, Pending, &[]),
        ];
        nodes[0].is_epic = true;
        nodes[2].parent = Some(TaskId(2));
        assert_eq!(TaskGraph::new(nodes, HashMap::new()).ready(), ids(&[3]));
    }

    #[test]
    fn waves_go_to_any_depth_and_name_what_can_never_start() {
        use Status::*;
        let mut nodes = vec![node(1, Pending, &[])];
        nodes.extend((2..=5_000).map(|id| node(id, Pending, &[id - 1])));
        nodes.push(node(6_001, Pending, &[6_002]));
        nodes.push(node(6_002, Pending, &[6_001]));
        nodes.push(node(6_003, Pending, &[9_999]));
        let (waves, stuck) = TaskGraph::new(nodes, HashMap::new()).waves();
        assert_eq!(waves.len(), 5_000);
        assert_eq!(waves[4_999], ids(&[5_000]));
        assert_eq!(stuck, ids(&[6_001, 6_002, 6_003]));
    }

    #[test]
    fn what_waits_for_a_container_comes_after_the_last_task_in_it() {
        use Status::*;
        let mut nodes = vec![
            node(1, Pending, &[]),
            node(2, Pending, &[]),
            node(3, Pending, &[2]),
            node(4, Pending, &[1]),
            node(5, Pending, &[]),
            node(6, Pending, &[5]),
        ];
        nodes[0].is_epic = true;
        nodes[1].parent = Some(TaskId(1));
        nodes[2].parent = Some(TaskId(1));
        nodes[4].is_epic = true;
        let (waves, stuck) = TaskGraph::new(nodes, HashMap::new()).waves();
        assert_eq!(waves, [ids(&[2]), ids(&[3]), ids(&[4])]);
        assert_eq!(stuck, ids(&[6]), "nothing is in the epic that it waits for");
    }

    #[test]
    fn a_task_that_waits_for_its_own_container_is_stuck() {
        use Status::*;
        let mut nodes = vec![node(1, Pending, &[]), node(2, Pending, &[1])];
        nodes[1].parent = Some(TaskId(1));
        let (waves, stuck) = TaskGraph::new(nodes, HashMap::new()).waves();
        assert_eq!((waves, stuck), (Vec::new(), ids(&[2])));
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

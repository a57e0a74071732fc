//! Tasks, or steps, that wait for each other, and how far the others are from the start.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::iter::once;

use foldhash::fast::RandomState;
use petgraph::Directed;
use petgraph::Direction::Incoming;
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graphmap::{GraphMap, NodeTrait};

/// Edges of a graph: from a task to one that it waits for, or the reverse.
pub(crate) type Edges<T> = GraphMap<T, (), Directed, RandomState>;

/// Returns the groups of nodes that can all reach each other.
pub(crate) fn in_circles<T: NodeTrait>(graph: &Edges<T>) -> Vec<Vec<T>> {
    // Not Tarjan's algorithm, which petgraph writes as a recursion: a chain of tasks may be long.
    let parts = kosaraju_scc(graph).into_iter();
    parts
        .filter(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]))
        .collect()
}

/// Returns what can be reached from `roots` along `next`. Each task is asked for once, and depth is not a limit.
pub(crate) fn reachable<T: NodeTrait + Hash, E>(
    roots: impl IntoIterator<Item = T>,
    mut next: impl FnMut(T) -> Result<Vec<T>, E>,
) -> Result<Edges<T>, E> {
    let (mut graph, mut open) = (Edges::default(), Vec::from_iter(roots));
    let mut asked: HashSet<T, RandomState> = HashSet::default();
    while let Some(one) = open.pop() {
        if asked.insert(one) {
            for need in next(one)? {
                graph.add_edge(one, need, ());
                open.push(need);
            }
        }
    }
    Ok(graph)
}

/// Returns whether a circle can be reached from `roots` along `next`, without making a graph: mostly there is none.
pub(crate) fn has_circle<T: NodeTrait + Hash, E>(
    roots: impl IntoIterator<Item = T>,
    mut next: impl FnMut(T) -> Result<Vec<T>, E>,
) -> Result<bool, E> {
    let mut is_finished: HashMap<T, bool, RandomState> = HashMap::default();
    let mut way = Vec::new();
    for root in roots {
        if is_finished.contains_key(&root) {
            continue;
        }
        is_finished.insert(root, false);
        way.push((root, next(root)?));
        while let Some((one, needs)) = way.last_mut() {
            let Some(need) = needs.pop() else {
                is_finished.insert(*one, true);
                way.pop();
                continue;
            };
            match is_finished.get(&need) {
                Some(true) => {}
                Some(false) => return Ok(true),
                None => {
                    is_finished.insert(need, false);
                    way.push((need, next(need)?));
                }
            }
        }
    }
    Ok(false)
}

/// Finds a circle that can be reached from `roots` along `next`, if there is one: a way from a task back to
/// itself, the first root in a circle if there is any.
pub(crate) fn circle<T: NodeTrait + Hash, E>(
    roots: impl IntoIterator<Item = T>,
    mut next: impl FnMut(T) -> Result<Vec<T>, E>,
) -> Result<Option<Vec<T>>, E> {
    let roots: Vec<T> = roots.into_iter().collect();
    if !has_circle(roots.iter().copied(), &mut next)? {
        return Ok(None);
    }
    let graph = reachable(roots.iter().copied(), next)?;
    let parts = in_circles(&graph);
    let members = parts.iter().enumerate();
    let part: HashMap<T, usize> = members
        .flat_map(|(number, part)| part.iter().map(move |one| (*one, number)))
        .collect();
    let first = roots.into_iter().find(|root| part.contains_key(root));
    let Some(start) = first.or_else(|| part.keys().min().copied()) else {
        return Ok(None);
    };
    let mut steps = graph.neighbors(start);
    let step = steps.find(|step| part.get(step) == part.get(&start));
    let back = step.and_then(|step| astar(&graph, step, |one| one == start, |_| 1, |_| 0));
    Ok(back.map(|(_, back)| once(start).chain(back).collect()))
}

/// Returns the weight of the heaviest chain before each node, along edges from predecessors. Nodes in a circle, and
/// nodes that wait for one, have none.
pub(crate) fn depths<T: NodeTrait + Hash>(
    graph: &Edges<T>,
    weight: impl Fn(T) -> usize,
) -> HashMap<T, usize> {
    let mut depths: HashMap<T, usize> = HashMap::new();
    // The parts are in reverse order.
    for part in kosaraju_scc(graph).into_iter().rev() {
        let [one] = part[..] else { continue };
        let depth = graph
            .neighbors_directed(one, Incoming)
            .map(|before| Some(depths.get(&before)? + weight(before)))
            .try_fold(0, |most, depth| Some(most.max(depth?)));
        depths.extend(depth.map(|depth| (one, depth)));
    }
    depths
}

//! Where each task stands in a picture: below everything that it waits for, near to it.

use std::collections::{BTreeMap, HashMap};

use super::Shape;
use crate::id::TaskId;

/// Most tasks side by side; a layer with more goes on in another row.
const COLUMNS: usize = 6;
/// How often the order within the rows is made better.
const SWEEPS: usize = 4;

/// Returns rows of places in `shapes`, from the top to the bottom.
pub(super) fn rows(shapes: &[Shape], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, depth) in depths(shapes.len(), edges).into_iter().enumerate() {
        layers.entry(depth).or_default().push(place);
    }
    let mut layers: Vec<Vec<usize>> = layers.into_values().collect();
    let (mut above, mut below) = (
        vec![Vec::new(); shapes.len()],
        vec![Vec::new(); shapes.len()],
    );
    for (from, to) in edges {
        above[*to].push(*from);
        below[*from].push(*to);
    }
    for sweep in 0..SWEEPS {
        let near = if sweep % 2 == 0 { &above } else { &below };
        arrange(&mut layers, near, shapes.len());
    }
    let rows = layers.iter().flat_map(|layer| layer.chunks(COLUMNS));
    rows.map(<[usize]>::to_vec).collect()
}

/// Finds edges by places: from what comes first to what waits for it.
pub(super) fn edges(shapes: &[Shape]) -> Vec<(usize, usize, bool)> {
    let places = shapes
        .iter()
        .enumerate()
        .map(|(place, shape)| (shape.id, place));
    let places: HashMap<TaskId, usize> = places.collect();
    let mut edges = Vec::new();
    for (to, shape) in shapes.iter().enumerate() {
        let needs = shape.depends.iter().filter_map(|need| places.get(need));
        edges.extend(needs.map(|from| (*from, to, false)));
        let parent = shape.parent.and_then(|parent| places.get(&parent));
        edges.extend(parent.map(|parent| (to, *parent, true)));
    }
    edges.retain(|(from, to, _)| from != to);
    edges
}

/// Returns how many edges lead to each place at most. What is in a circle stands at the top.
fn depths(n_shapes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut depths, mut waits) = (vec![0; n_shapes], vec![0_usize; n_shapes]);
    let mut followers = vec![Vec::new(); n_shapes];
    for (from, to) in edges {
        waits[*to] += 1;
        followers[*from].push(*to);
    }
    let mut free: Vec<usize> = (0..n_shapes).filter(|place| waits[*place] == 0).collect();
    while let Some(place) = free.pop() {
        for follower in &followers[place] {
            depths[*follower] = depths[*follower].max(depths[place] + 1);
            waits[*follower] -= 1;
            if waits[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    depths
}

/// Puts the tasks of each layer near to the middle of what they are tied to.
fn arrange(layers: &mut [Vec<usize>], near: &[Vec<usize>], n_shapes: usize) {
    let mut at = vec![0.0_f64; n_shapes];
    for layer in layers.iter() {
        for (column, place) in layer.iter().enumerate() {
            at[*place] = (column as f64 + 0.5) / layer.len() as f64;
        }
    }
    for layer in layers {
        let middle = |place: usize| match near[place].len() {
            0 => at[place],
            n_near => near[place].iter().map(|other| at[*other]).sum::<f64>() / n_near as f64,
        };
        layer.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)).then(a.cmp(b)));
    }
}

//! In which row each thing of a lane stands.

use std::collections::{BTreeSet, HashMap};

use super::Item;

/// How often the order within the lanes is made better.
const SWEEPS: usize = 6;
/// A lane is drawn anew when it has this many times more rows than things in it.
const SPARSE: usize = 2;

/// Where things stood when they were drawn last: the key of the lane, and the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places(HashMap<Item, (String, usize)>);

impl Places {
    pub(super) fn of(&self, item: &Item) -> Option<(&str, usize)> {
        let (lane, row) = self.0.get(item)?;
        Some((lane, *row))
    }

    pub(super) fn put(&mut self, item: Item, lane: String, row: usize) {
        self.0.insert(item, (lane, row));
    }
}

/// Finds the row of each thing. `lanes` are numbers of things, left to right, each with its key;
/// `ties` lead from left to right. What stood in the same lane before keeps its row.
pub(super) fn rows(
    items: &[Item],
    lanes: &[(String, Vec<usize>)],
    ties: &[(usize, usize)],
    before: &Places,
) -> Vec<usize> {
    let near = Near::of(items.len(), ties);
    let mut rows: Vec<Option<usize>> = vec![None; items.len()];
    for (key, lane) in lanes {
        for item in lane {
            let known = before.of(&items[*item]).filter(|(lane, _)| lane == key);
            rows[*item] = known.map(|(_, row)| row);
        }
        if is_sparse(lane, &rows) {
            lane.iter().for_each(|item| rows[*item] = None);
        }
    }
    if rows.iter().all(Option::is_none) {
        return fresh(lanes, &near, items.len());
    }
    for (_, lane) in lanes {
        fill(lane, &near, &mut rows);
    }
    rows.into_iter().map(Option::unwrap_or_default).collect()
}

/// Says whether so much has gone from a lane that it would be mostly gaps.
fn is_sparse(lane: &[usize], rows: &[Option<usize>]) -> bool {
    let last = lane.iter().filter_map(|item| rows[*item]).max();
    last.is_some_and(|last| last + 1 > SPARSE * lane.len() + 2)
}

/// What each thing is tied to.
struct Near {
    left: Vec<Vec<usize>>,
    right: Vec<Vec<usize>>,
}

impl Near {
    fn of(n_items: usize, ties: &[(usize, usize)]) -> Near {
        let (mut left, mut right) = (vec![Vec::new(); n_items], vec![Vec::new(); n_items]);
        for (from, to) in ties {
            right[*from].push(*to);
            left[*to].push(*from);
        }
        Near { left, right }
    }
}

/// Orders everything anew: each lane by the middle of what its things are tied to in the lanes before,
/// then after, several times.
fn fresh(lanes: &[(String, Vec<usize>)], near: &Near, n_items: usize) -> Vec<usize> {
    let mut order: Vec<Vec<usize>> = lanes.iter().map(|(_, lane)| lane.clone()).collect();
    let mut rows = vec![0; n_items];
    number(&order, &mut rows);
    for sweep in 0..SWEEPS {
        let n_lanes = order.len();
        for step in 0..n_lanes {
            let (place, ties) = match sweep % 2 {
                0 => (step, &near.left),
                _ => (n_lanes - 1 - step, &near.right),
            };
            let lane = &mut order[place];
            let mut ranked: Vec<(f64, usize)> = lane
                .iter()
                .map(|item| {
                    (
                        middle(&ties[*item], &rows).unwrap_or(rows[*item] as f64),
                        *item,
                    )
                })
                .collect();
            // Things that are equally near keep the order that they have.
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            *lane = ranked.into_iter().map(|(_, item)| item).collect();
            lane.iter()
                .enumerate()
                .for_each(|(row, item)| rows[*item] = row);
        }
    }
    rows
}

fn number(order: &[Vec<usize>], rows: &mut [usize]) {
    for lane in order {
        lane.iter()
            .enumerate()
            .for_each(|(row, item)| rows[*item] = row);
    }
}

fn middle(near: &[usize], rows: &[usize]) -> Option<f64> {
    let sum: usize = near.iter().map(|other| rows[*other]).sum();
    (!near.is_empty()).then(|| sum as f64 / near.len() as f64)
}

/// Gives each new thing of a lane the free row that is nearest to what it is tied to.
fn fill(lane: &[usize], near: &Near, rows: &mut [Option<usize>]) {
    let taken: BTreeSet<usize> = lane.iter().filter_map(|item| rows[*item]).collect();
    let new: Vec<usize> = lane
        .iter()
        .copied()
        .filter(|item| rows[*item].is_none())
        .collect();
    // As many rows as there are things are always enough.
    let n_free = new.len();
    let mut free: BTreeSet<usize> = (0..)
        .filter(|row| !taken.contains(row))
        .take(n_free)
        .collect();
    for item in new {
        let known: Vec<usize> = near.left[item]
            .iter()
            .chain(&near.right[item])
            .filter_map(|other| rows[*other])
            .collect();
        let wished = match known.is_empty() {
            true => 0,
            false => known.iter().sum::<usize>() / known.len(),
        };
        let above = free.range(..=wished).next_back().copied();
        let below = free.range(wished..).next().copied();
        let row = match (above, below) {
            (Some(above), Some(below)) if below - wished < wished - above => below,
            (above, below) => above.or(below).unwrap_or(wished),
        };
        free.remove(&row);
        rows[item] = Some(row);
    }
}

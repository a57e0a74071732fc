//! Which waves are folded, into which stacks, and in which row each thing of a lane stands.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use super::{CARDS_MAX, Card, Folding, Item};
use crate::id::TaskId;
use crate::task::State;

/// Most stacks in a lane; parents beyond them share one.
const STACKS_MAX: usize = 12;
/// Most cards that stay out of a fold because somebody looks for them.
const URGENT_MAX: usize = 100;

/// A lane before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// The layers in it; none for what is in a circle.
    pub(super) layers: Option<RangeInclusive<usize>>,
    /// Whether it is folded into one stack.
    pub(super) is_folded: bool,
    /// All cards in it, by id.
    pub(super) cards: Vec<Card>,
    pub(super) shown: Vec<Item>,
}

impl Band {
    pub(super) fn key(&self) -> String {
        match &self.layers {
            None => "stuck".to_string(),
            Some(layers) if layers.start() == layers.end() => format!("w{}", layers.start() + 1),
            Some(layers) => format!("w{}-{}", layers.start() + 1, layers.end() + 1),
        }
    }
}

/// Puts cards into bands, left to right, and folds what is finished and what is too much. Says also
/// whether anything was folded because it was too much.
pub(super) fn fold(cards: &[Card], folding: &Folding) -> (Vec<Band>, bool) {
    let mut layers: BTreeMap<Option<usize>, Vec<Card>> = BTreeMap::new();
    for card in cards {
        layers.entry(card.layer).or_default().push(*card);
    }
    let mut bands: Vec<Band> = layers
        .into_iter()
        .map(|(layer, cards)| band(layer, cards))
        .collect();
    if folding.done {
        bands = finished(bands, folding);
    }
    let is_crowded = bands.iter().map(count_shown).sum::<usize>() > CARDS_MAX;
    if is_crowded {
        crowd(&mut bands, folding);
    }
    (bands, is_crowded)
}

fn band(layer: Option<usize>, mut cards: Vec<Card>) -> Band {
    cards.sort_unstable_by_key(|card| card.id);
    Band {
        layers: layer.map(|layer| layer..=layer),
        is_folded: false,
        shown: cards.iter().map(|card| Item::Task(card.id)).collect(),
        cards,
    }
}

fn count_shown(band: &Band) -> usize {
    let tasks = band
        .shown
        .iter()
        .filter(|item| matches!(item, Item::Task(_)));
    tasks.count()
}

/// Folds the finished waves at the beginning into one, but for the last of them, on which the next one
/// stands.
fn finished(bands: Vec<Band>, folding: &Folding) -> Vec<Band> {
    let is_over =
        |band: &Band| band.layers.is_some() && band.cards.iter().all(|card| card.state.is_over());
    let begin = bands
        .iter()
        .take_while(|band| band.layers.is_none())
        .count();
    let n_over = bands[begin..]
        .iter()
        .take_while(|band| is_over(band))
        .count();
    let n_folded = n_over.saturating_sub(1);
    if n_folded == 0 || begin + n_over == bands.len() {
        return bands;
    }
    let mut rest = bands;
    let after = rest.split_off(begin + n_folded);
    let over = rest.split_off(begin);
    let one = joined(&over);
    match folding.open.contains(&one.key()) {
        true => rest.extend(over),
        false => rest.push(one),
    }
    rest.extend(after);
    rest
}

fn joined(bands: &[Band]) -> Band {
    let layers = bands.iter().filter_map(|band| band.layers.as_ref());
    let (first, last) = layers.fold((usize::MAX, 0), |(first, last), layers| {
        (first.min(*layers.start()), last.max(*layers.end()))
    });
    let mut cards: Vec<Card> = bands
        .iter()
        .flat_map(|band| band.cards.iter().copied())
        .collect();
    cards.sort_unstable_by_key(|card| card.id);
    let mut band = Band {
        layers: Some(first..=last),
        is_folded: true,
        shown: Vec::new(),
        cards,
    };
    band.shown = vec![Item::Stack(band.key()); band.cards.len()];
    band
}

/// Finds the band where work goes on: the first with something that runs or can start.
pub(super) fn focus(bands: &[Band]) -> Option<usize> {
    let has = |wanted: &dyn Fn(State) -> bool| {
        let fits = |band: &Band| band.cards.iter().any(|card| wanted(card.state));
        bands.iter().position(fits)
    };
    let moves = |state: State| state == State::Ready || state.is_urgent();
    let waits = |state: State| !state.is_over();
    has(&moves)
        .or_else(|| has(&waits))
        .or(bands.len().checked_sub(1))
}

/// Folds bands until not too many cards are left, those farthest from where work goes on first.
fn crowd(bands: &mut [Band], folding: &Folding) {
    let at = focus(bands).unwrap_or(0);
    let mut order: Vec<usize> = (0..bands.len()).collect();
    order.sort_by_key(|place| {
        (
            std::cmp::Reverse(place.abs_diff(at)),
            std::cmp::Reverse(*place),
        )
    });
    let mut left: usize = bands.iter().map(count_shown).sum();
    for place in order {
        if left <= CARDS_MAX {
            return;
        }
        let band = &mut bands[place];
        if band.is_folded || folding.open.contains(&band.key()) {
            continue;
        }
        left -= count_shown(band);
        stack(band, folding);
        left += count_shown(band);
    }
}

/// Puts the cards of a band into stacks, by what they are a part of.
fn stack(band: &mut Band, folding: &Folding) {
    let key = band.key();
    let mut parts: HashMap<Option<TaskId>, usize> = HashMap::new();
    for card in &band.cards {
        *parts.entry(card.parent).or_default() += 1;
    }
    let is_few = parts.len() <= STACKS_MAX;
    let mut n_urgent = 0;
    let shown = band.cards.iter().map(|card| {
        let whole = card.parent.filter(|_| is_few);
        let name = match whole {
            Some(whole) => format!("{key}:{whole}"),
            None => key.clone(),
        };
        let is_urgent = card.state.is_urgent() && n_urgent < URGENT_MAX;
        n_urgent += usize::from(is_urgent);
        let is_alone = is_few && parts.get(&whole) == Some(&1);
        match is_urgent || is_alone || folding.open.contains(&name) {
            true => Item::Task(card.id),
            false => Item::Stack(name),
        }
    });
    band.shown = shown.collect();
}

/// How often the order within the lanes is made better.
const SWEEPS: usize = 6;
/// A lane is drawn anew when it has this many times more rows than things in it.
const SPARSE: usize = 2;

/// Where things stood when they were drawn last: the key of the lane, and the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Places(HashMap<Item, (String, usize)>);

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
        // So much may have gone from a lane that it would be mostly gaps.
        let last = lane.iter().filter_map(|item| rows[*item]).max();
        if last.is_some_and(|last| last + 1 > SPARSE * lane.len() + 2) {
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
    for (row, item) in order.iter().flat_map(|lane| lane.iter().enumerate()) {
        rows[*item] = row;
    }
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

//! Which waves are folded, and into which stacks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use super::{CARDS_MAX, Card, Folding, Item, Tie, arrange};
use crate::id::{self, TaskId};
use crate::task::DisplayStatus;

/// Most stacks in a lane; parents beyond them share one.
const STACKS_MAX: usize = 12;
/// Maximum number of urgent cards that stay out of a fold.
const URGENT_MAX: usize = 100;

/// A lane before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// The layers in it; none for what is in a circle.
    pub(super) layers: Option<RangeInclusive<usize>>,
    /// Whether it is folded into one stack.
    pub(super) is_folded: bool,
    /// All cards in it, from top to bottom.
    pub(super) cards: Vec<Card>,
    pub(super) shown: Vec<Item>,
}

impl Band {
    pub(super) fn key(&self) -> String {
        match &self.layers {
            None => "stuck".to_string(),
            Some(layers) if layers.start() == layers.end() => format!("w{}", layers.start()),
            Some(layers) => format!("w{}-{}", layers.start(), layers.end()),
        }
    }
}

/// Puts cards into bands, left to right, and folds what is finished and what is too much. Cards get their order
/// before anything is folded, so that folding moves nothing in other bands.
pub(super) fn fold(cards: &[Card], ties: &[Tie], folding: &Folding) -> Vec<Band> {
    let mut cards = cards.to_vec();
    cards.sort_unstable_by_key(|card| card.id);
    let place = |id| id::place(&cards, id, |card| card.id);
    let mut layers: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (place, card) in cards.iter().enumerate() {
        layers.entry(card.layer).or_default().push(place);
    }
    let ends = ties.iter().filter_map(|tie| {
        let (from, to) = (place(*tie.from.as_ref().ok()?)?, place(tie.to)?);
        (cards[from].layer < cards[to].layer).then_some((from, to))
    });
    let (keys, mut order): (Vec<_>, Vec<_>) = layers.into_iter().unzip();
    arrange(&mut order, &ends.collect::<Vec<_>>(), cards.len());
    let bands = keys.into_iter().zip(order);
    let mut bands: Vec<Band> = bands
        .map(|(layer, order)| Band {
            layers: layer.map(|layer| layer..=layer),
            is_folded: false,
            shown: order.iter().map(|at| Item::Task(cards[*at].id)).collect(),
            cards: order.iter().map(|at| cards[*at]).collect(),
        })
        .collect();
    if folding.done {
        bands = fold_finished(bands, folding);
    }
    fold_until_few(&mut bands, folding);
    bands
}

fn count_shown(band: &Band) -> usize {
    let tasks = band.shown.iter();
    let tasks = tasks.filter(|item| matches!(item, Item::Task(_)));
    tasks.count()
}

/// Folds the finished waves at the beginning into one, except the last of them, on which the next one depends.
fn fold_finished(bands: Vec<Band>, folding: &Folding) -> Vec<Band> {
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
    let one = join_bands(&over);
    match folding.open.contains(&one.key()) {
        true => rest.extend(over),
        false => rest.push(one),
    }
    rest.extend(after);
    rest
}

fn join_bands(bands: &[Band]) -> Band {
    let layers = bands.iter().filter_map(|band| band.layers.as_ref());
    let (first, last) = layers.fold((usize::MAX, 0), |(first, last), layers| {
        (first.min(*layers.start()), last.max(*layers.end()))
    });
    let cards = bands.iter().flat_map(|band| band.cards.iter().copied());
    let mut band = Band {
        layers: Some(first..=last),
        is_folded: true,
        shown: Vec::new(),
        cards: cards.collect(),
    };
    band.shown = vec![Item::Stack(band.key()); band.cards.len()];
    band
}

/// Folds bands until few enough cards are left, those farthest from the current work first: from the first band with a
/// task that runs or can start.
fn fold_until_few(bands: &mut [Band], folding: &Folding) {
    let find = |wanted: &dyn Fn(DisplayStatus) -> bool| {
        let mut bands = bands.iter();
        bands.position(|band| band.cards.iter().any(|card| wanted(card.state)))
    };
    let at = find(&|state| state == DisplayStatus::Ready || state.is_urgent());
    let at = at
        .or_else(|| find(&|state| !state.is_over()))
        .unwrap_or(bands.len());
    let mut order: Vec<usize> = (0..bands.len()).collect();
    order.sort_by_key(|place| Reverse((place.abs_diff(at), *place)));
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
        stack_cards(band, folding);
        left += count_shown(band);
    }
}

/// Puts the cards of a band into stacks, by what they are a part of.
fn stack_cards(band: &mut Band, folding: &Folding) {
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

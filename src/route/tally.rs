//! Counts the points of all agents for a message, and finds who leads.

use std::cmp::Reverse;

use memchr::memmem::Finder;

use super::index::Index;
use super::{Match, Message, TAG_BOOST};
use crate::score::Rank;

/// Points by slot. Those from words of many agents are kept apart, eight agents in a number.
struct Tally {
    points: Vec<u32>,
    lanes: Vec<u64>,
    layers: u8,
}

impl Tally {
    fn new(slots: usize) -> Tally {
        Tally {
            points: vec![0; slots],
            lanes: Vec::new(),
            layers: 0,
        }
    }

    fn add(&mut self, posting: &Posting) {
        match posting {
            Posting::Few(slots) => {
                for slot in slots {
                    self.points[*slot as usize] += 1;
                }
            }
            Posting::Many(lanes, _) => self.add_lanes(lanes),
        }
    }

    fn add_lanes(&mut self, lanes: &[u64]) {
        // A byte has no room for more.
        if self.layers == u8::MAX {
            self.settle();
        }
        self.lanes.resize(self.points.len().div_ceil(8), 0);
        for (sum, lane) in self.lanes.iter_mut().zip(lanes) {
            *sum += lane;
        }
        self.layers += 1;
    }

    /// Moves what stands in lanes to the points.
    fn settle(&mut self) {
        for (points, lane) in self.points.chunks_mut(8).zip(&self.lanes) {
            for (points, more) in points.iter_mut().zip(lane.to_le_bytes()) {
                *points += u32::from(more);
            }
        }
        self.lanes.clear();
        self.layers = 0;
    }

    fn boost(&mut self, tagged: &[(u32, u32)]) {
        for (slot, times) in tagged {
            self.points[*slot as usize] += TAG_BOOST * times;
        }
    }
}

/// A place among the candidates; the smaller key is better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) score: u32,
    pub(super) slot: usize,
    /// In the list of agents.
    place: usize,
}

impl Standing {
    fn key(&self) -> (Reverse<u32>, usize, usize) {
        let (points, order) = (self.score, self.place);
        Rank {
            points,
            position: 0,
            order,
        }
        .key()
    }
}

/// The first two, and how many are as good as the first.
#[derive(Default)]
pub(super) struct Leaders {
    pub(super) first: Option<Standing>,
    pub(super) second: Option<Standing>,
    pub(super) equals: usize,
}

impl Leaders {
    fn consider(&mut self, one: Standing) {
        match self.first {
            Some(first) if one.score == first.score => self.equals += 1,
            Some(first) if one.score < first.score => {}
            _ => self.equals = 1,
        }
        let is_before = |other: Option<Standing>| other.is_none_or(|other| one.key() < other.key());
        if is_before(self.first) {
            self.second = self.first.replace(one);
        } else if is_before(self.second) {
            self.second = Some(one);
        }
    }
}

impl Index {
    /// Returns the number of each word of a message; an unknown word has one that no word has.
    ///
    /// A message without any term goes to nobody: the rule ends there, before it looks at agents
    /// (notes 1.2: no tokens, then `finalize` at once). So its words are not looked up, and a tag of
    /// several short words (`go on`), which counts beside terms (1.4), is not found by them alone.
    pub(super) fn numbers(&self, message: &Message) -> Vec<u32> {
        if message.term_places().is_empty() {
            return Vec::new();
        }
        let number = |word| self.number(word).unwrap_or(u32::MAX);
        message.words().map(number).collect()
    }

    pub(super) fn points(&self, message: &Message, numbers: &[u32], by: Match) -> Vec<u32> {
        let mut tally = Tally::new(self.cards.len());
        let terms = message.term_places().iter();
        let words = terms.filter_map(|at| self.words.get(numbers[*at] as usize));
        for word in words {
            if by == Match::Token {
                tally.add(&word.holders);
            }
            if let Some(tags) = &word.tags {
                tally.boost(&tags.alone);
            }
        }
        for phrase in self.phrases_in(numbers) {
            tally.boost(&self.phrases[phrase]);
        }
        if by == Match::Substring {
            self.add_parts(&mut tally, message);
        }
        tally.settle();
        tally.points
    }

    /// Counts terms that stand inside of words. A term has no blanks, so where it stands inside a
    /// text it stands inside a word.
    fn add_parts(&self, tally: &mut Tally, message: &Message) {
        let mut counted = vec![0; self.cards.len()];
        for (number, term) in (1_u32..).zip(message.terms()) {
            let term = Finder::new(term);
            let is_inside = |text: &str| term.find(text.as_bytes()).is_some();
            for word in self.words.iter().filter(|word| is_inside(&word.text)) {
                word.holders.each(|slot| {
                    let counted = &mut counted[slot as usize];
                    tally.points[slot as usize] += u32::from(*counted != number);
                    *counted = number;
                });
            }
        }
    }

    /// Finds the tags of several words whose words stand side by side in the message: each once,
    /// in the order of their numbers.
    pub(super) fn phrases_in<'n>(&self, numbers: &'n [u32]) -> Vec<&'n [u32]> {
        let mut found = Vec::new();
        if self.phrases.is_empty() {
            return found;
        }
        for (at, number) in numbers.iter().enumerate() {
            let word = self.words.get(*number as usize);
            let tags = word.and_then(|word| word.tags.as_ref());
            let lengths = tags.into_iter().flat_map(|tags| &tags.begins);
            let phrases = lengths.filter_map(|(length, _)| numbers.get(at..at + length));
            found.extend(phrases.filter(|phrase| self.phrases.contains_key(*phrase)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn leaders(&self, points: &[u32]) -> Leaders {
        let mut leaders = Leaders::default();
        let mut least = 1;
        for (slot, score) in points.iter().enumerate() {
            if *score >= least {
                leaders.consider(self.standing(slot, *score));
                least = leaders.second.map_or(1, |second| second.score);
            }
        }
        leaders
    }

    /// Returns the best candidates in their order, also those that nothing speaks for.
    pub(super) fn best(&self, points: &[u32], limit: usize) -> Vec<Standing> {
        let cards = self.cards.iter().enumerate();
        let candidates =
            cards.filter(|(_, card)| card.as_ref().is_some_and(|card| card.is_candidate()));
        let mut all: Vec<Standing> = candidates
            .map(|(slot, _)| self.standing(slot, points[slot]))
            .collect();
        if limit > 0 && limit < all.len() {
            all.select_nth_unstable_by_key(limit - 1, Standing::key);
        }
        all.truncate(limit);
        all.sort_unstable_by_key(Standing::key);
        all
    }

    fn standing(&self, slot: usize, score: u32) -> Standing {
        let card = self.cards[slot].as_ref();
        let place = card.map_or(usize::MAX, |card| card.place);
        Standing { score, slot, place }
    }
}

/// A word is of many when more than one in so many agents has it.
const DENSITY: usize = 8;

/// Below so many agents a list is always short enough.
const SMALL: usize = 1024;

/// The agents of a word. Few are a sorted list of slots; many have a byte for each slot, so that eight
/// agents are counted by one addition.
#[derive(Clone, Debug)]
pub(super) enum Posting {
    /// Their slots, ascending.
    Few(Vec<u32>),
    /// A byte for each slot, 1 where the agent has the word, and how many have.
    Many(Vec<u64>, usize),
}

impl Default for Posting {
    fn default() -> Posting {
        Posting::Few(Vec::new())
    }
}

impl Posting {
    pub(super) fn len(&self) -> usize {
        match self {
            Posting::Few(slots) => slots.len(),
            Posting::Many(_, count) => *count,
        }
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        match self {
            Posting::Few(slots) => slots.binary_search(&slot).is_ok(),
            Posting::Many(lanes, _) => {
                let (lane, bit) = place(slot);
                lanes.get(lane).is_some_and(|lane| lane & bit != 0)
            }
        }
    }

    pub(super) fn insert(&mut self, slot: u32) {
        match self {
            // Slots mostly come in ascending order.
            Posting::Few(slots) if slots.last().is_none_or(|last| *last < slot) => slots.push(slot),
            Posting::Few(slots) => {
                if let Err(at) = slots.binary_search(&slot) {
                    slots.insert(at, slot);
                }
            }
            Posting::Many(lanes, count) => {
                let (lane, bit) = place(slot);
                if lanes.len() <= lane {
                    lanes.resize(lane + 1, 0);
                }
                *count += usize::from(lanes[lane] & bit == 0);
                lanes[lane] |= bit;
            }
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if !self.contains(slot) {
            return;
        }
        match self {
            Posting::Few(slots) => slots.retain(|other| *other != slot),
            Posting::Many(lanes, count) => {
                let (lane, bit) = place(slot);
                lanes[lane] &= !bit;
                *count -= 1;
            }
        }
    }

    pub(super) fn each(&self, mut with: impl FnMut(u32)) {
        match self {
            Posting::Few(slots) => slots.iter().for_each(|slot| with(*slot)),
            Posting::Many(lanes, _) => {
                let slots = (0..).zip(lanes.iter().flat_map(|lane| lane.to_le_bytes()));
                slots
                    .filter(|(_, byte)| *byte != 0)
                    .for_each(|(slot, _)| with(slot));
            }
        }
    }

    /// Takes the form that suits an index of so many slots.
    pub(super) fn settle(&mut self, slots: usize) {
        let is_dense = slots >= SMALL && self.len() > slots / DENSITY;
        if is_dense == matches!(self, Posting::Many(..)) {
            return;
        }
        let mut other = match is_dense {
            true => Posting::Many(vec![0; slots.div_ceil(8)], 0),
            false => Posting::default(),
        };
        self.each(|slot| other.insert(slot));
        *self = other;
    }
}

/// Says in which lane a slot is counted, and by which bit.
fn place(slot: u32) -> (usize, u64) {
    (slot as usize / 8, 1 << (8 * (slot % 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_agents() {
        let mut posting = Posting::default();
        for slot in [5, 3, 4_000, 3, 9] {
            posting.insert(slot);
        }
        (1_000..1_900).for_each(|slot| posting.insert(slot));
        let slots = |posting: &Posting| {
            let mut found = Vec::new();
            posting.each(|slot| found.push(slot));
            found
        };
        let few = slots(&posting);
        posting.settle(4_001);
        assert!(matches!(posting, Posting::Many(..)));
        assert_eq!((slots(&posting), posting.len()), (few, 904));
        posting.insert(4_500);
        posting.insert(4_500);
        (1_000..1_900).for_each(|slot| posting.remove(slot));
        posting.remove(7);
        assert!(posting.contains(9) && !posting.contains(1_000) && !posting.contains(90_000));
        posting.settle(4_501);
        assert!(matches!(posting, Posting::Few(_)));
        assert_eq!(slots(&posting), [3, 5, 9, 4_000, 4_500]);
    }
}

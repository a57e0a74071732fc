//! The inverted index: from a word to the agents that have it, kept up to date when agents come
//! and go. An agent has a slot, which is free again when it goes, and a place in the list, which
//! breaks ties.

use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Profile;
use super::counts;
use super::tally::Posting;
use crate::agent::{AgentStatus, Role};
use crate::score::{normalize, terms};

/// A map that is asked for millions of words: hashing them is most of the work of an index.
type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A word of some agent.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: Arc<str>,
    /// Who has it, in name, texts or tags.
    pub(super) holders: Posting,
    /// What only few words have.
    pub(super) tags: Option<Box<Tagged>>,
}

/// What a word is in tags.
#[derive(Debug, Default)]
pub(super) struct Tagged {
    /// Who has it as a tag, and how often.
    pub(super) alone: Vec<(u32, u32)>,
    /// How many words the tags have that begin with it, and how many tags these are.
    pub(super) begins: Vec<(usize, u32)>,
}

/// An agent of the index.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: Arc<str>,
    pub(super) role: Role,
    pub(super) status: AgentStatus,
    pub(super) tags: Box<[Box<str>]>,
    pub(super) place: usize,
    /// Numbers of its words, ascending.
    pub(super) words: Box<[u32]>,
}

impl Card {
    /// Says whether messages may be routed to it.
    pub(super) fn is_candidate(&self) -> bool {
        self.status == AgentStatus::Active && self.role != Role::Supervisor
    }
}

/// What a tag is to messages.
pub(super) enum Tag<'a> {
    Word(&'a str),
    /// Several words, which must stand side by side.
    Phrase(Vec<&'a str>),
    /// Nothing that a message can name, such as `c++` or `ai`.
    Literal,
}

impl<'a> Tag<'a> {
    pub(super) fn of(normalized: &'a str) -> Tag<'a> {
        let whole = normalized.trim();
        let mut words = terms(whole).map(|term| term.text);
        match (words.next(), words.next()) {
            (Some(_), Some(_)) => Tag::Phrase(terms(whole).map(|term| term.text).collect()),
            (Some(word), None) if word == whole && counts(word) => Tag::Word(word),
            _ => Tag::Literal,
        }
    }
}

/// All agents, by their words.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(super) cards: Vec<Option<Card>>,
    ids: HashMap<Arc<str>, u32>,
    numbers: HashMap<Arc<str>, u32>,
    pub(super) words: Vec<Word>,
    /// Tags of several words, with who has them and how often.
    pub(super) phrases: HashMap<Box<[u32]>, Vec<(u32, u32)>>,
    free_slots: Vec<u32>,
    free_words: Vec<u32>,
    next_place: usize,
    n_candidates: usize,
    /// Number of slots when the postings last took the form that suits it.
    settled: usize,
}

impl Index {
    pub(crate) fn of<'a>(agents: impl IntoIterator<Item = Profile<'a>>) -> Index {
        let agents = agents.into_iter();
        let mut index = Index::default();
        index.ids.reserve(agents.size_hint().0);
        index.cards.reserve(agents.size_hint().0);
        agents.for_each(|agent| index.insert(agent));
        index.settle();
        index
    }

    /// Returns how many agents it knows, candidates or not.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns how many agents a message can be routed to.
    pub(crate) fn candidates(&self) -> usize {
        self.n_candidates
    }

    /// Puts an agent at the end of the list; one whose id is known is replaced in its place.
    pub(crate) fn insert(&mut self, agent: Profile<'_>) {
        let place = match self.ids.get(agent.id) {
            Some(slot) => self.take(*slot),
            None => None,
        };
        let at_end = self.next_place;
        self.next_place += usize::from(place.is_none());
        self.put(agent, place.unwrap_or(at_end));
    }

    /// Puts an agent before another one in the list, or at the end when that is not there.
    pub(crate) fn insert_before(&mut self, agent: Profile<'_>, other: &str) {
        self.remove(agent.id);
        let Some(place) = self.card(other).map(|card| card.place) else {
            return self.insert(agent);
        };
        let behind = self.cards.iter_mut().flatten();
        behind
            .filter(|card| card.place >= place)
            .for_each(|card| card.place += 1);
        self.next_place += 1;
        self.put(agent, place);
    }

    /// Takes an agent out; false when there is none of this id.
    pub(crate) fn remove(&mut self, id: &str) -> bool {
        let slot = self.ids.get(id).copied();
        slot.and_then(|slot| self.take(slot)).is_some()
    }

    /// Says whether an index without agents holds nothing of those that it had.
    #[cfg(test)]
    pub(super) fn is_clean(&self) -> bool {
        let is_free = |word: &Word| word.holders.len() == 0 && word.tags.is_none();
        self.numbers.is_empty() && self.phrases.is_empty() && self.words.iter().all(is_free)
    }

    pub(super) fn card(&self, id: &str) -> Option<&Card> {
        self.slot(id).and_then(|slot| self.cards[slot].as_ref())
    }

    pub(super) fn slot(&self, id: &str) -> Option<usize> {
        self.ids.get(id).map(|slot| *slot as usize)
    }

    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }

    fn put(&mut self, agent: Profile<'_>, place: usize) {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.cards.push(None);
            u32::try_from(self.cards.len() - 1).unwrap_or(u32::MAX)
        });
        let mut card = Card {
            id: agent.id.into(),
            role: agent.role,
            status: agent.status,
            tags: agent.tags.iter().map(|tag| tag.as_str().into()).collect(),
            place,
            words: Box::default(),
        };
        // Nothing else is ever looked up by its words.
        if card.is_candidate() {
            self.n_candidates += 1;
            card.words = self.add_words(slot, agent);
        }
        self.ids.insert(card.id.clone(), slot);
        self.cards[slot as usize] = Some(card);
        if self.cards.len() >= 2 * self.settled.max(1) {
            self.settle();
        }
    }

    /// Takes the agent out of a slot and returns its place in the list.
    fn take(&mut self, slot: u32) -> Option<usize> {
        let card = self.cards[slot as usize].take()?;
        if card.is_candidate() {
            self.n_candidates -= 1;
            let tags = card.tags.iter().map(|tag| normalize(tag));
            tags.for_each(|tag| self.remove_tag(slot, &tag));
            card.words
                .iter()
                .for_each(|word| self.remove_word(slot, *word));
        }
        self.ids.remove(&card.id);
        self.free_slots.push(slot);
        Some(card.place)
    }

    fn add_words(&mut self, slot: u32, agent: Profile<'_>) -> Box<[u32]> {
        let mut numbers = Vec::with_capacity(32);
        for text in [agent.objective, agent.name, agent.description] {
            self.add_text(&normalize(text), &mut numbers);
        }
        for tag in agent.tags {
            let (normalized, start) = (normalize(tag), numbers.len());
            self.add_text(&normalized, &mut numbers);
            self.add_tag(slot, &normalized, &numbers[start..]);
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            self.words[*number as usize].holders.insert(slot);
        }
        numbers.into()
    }

    fn add_text(&mut self, normalized: &str, numbers: &mut Vec<u32>) {
        numbers.extend(terms(normalized).map(|term| self.intern(term.text)));
    }

    fn intern(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.free_words.pop().unwrap_or_else(|| {
            let empty = Word {
                text: Arc::from(""),
                holders: Posting::default(),
                tags: None,
            };
            self.words.push(empty);
            u32::try_from(self.words.len() - 1).unwrap_or(u32::MAX)
        });
        let text: Arc<str> = word.into();
        self.words[number as usize].text = text.clone();
        self.numbers.insert(text, number);
        number
    }

    fn remove_word(&mut self, slot: u32, number: u32) {
        let word = &mut self.words[number as usize];
        word.holders.remove(slot);
        if word.holders.len() == 0 {
            self.numbers.remove(&std::mem::take(&mut word.text));
            (word.holders, word.tags) = (Posting::default(), None);
            self.free_words.push(number);
        }
    }

    /// Adds a tag, whose words have these numbers.
    fn add_tag(&mut self, slot: u32, tag: &str, numbers: &[u32]) {
        match (Tag::of(tag), numbers) {
            (Tag::Word(_), [number]) => add(&mut self.tagged(*number).alone, slot),
            (Tag::Phrase(_), [first, ..]) => {
                add(&mut self.tagged(*first).begins, numbers.len());
                match self.phrases.get_mut(numbers) {
                    Some(holders) => add(holders, slot),
                    None => drop(self.phrases.insert(numbers.into(), vec![(slot, 1)])),
                }
            }
            _ => {}
        }
    }

    fn remove_tag(&mut self, slot: u32, tag: &str) {
        match Tag::of(tag) {
            Tag::Word(word) => {
                let number = self.intern(word);
                subtract(&mut self.tagged(number).alone, slot);
            }
            Tag::Phrase(words) => {
                let numbers: Box<[u32]> = words.iter().map(|word| self.intern(word)).collect();
                subtract(&mut self.tagged(numbers[0]).begins, numbers.len());
                if let Some(holders) = self.phrases.get_mut(&numbers) {
                    subtract(holders, slot);
                    if holders.is_empty() {
                        self.phrases.remove(&numbers);
                    }
                }
            }
            Tag::Literal => {}
        }
    }

    fn tagged(&mut self, number: u32) -> &mut Tagged {
        self.words[number as usize].tags.get_or_insert_default()
    }

    fn settle(&mut self) {
        self.settled = self.cards.len();
        let slots = self.settled;
        self.words
            .iter_mut()
            .for_each(|word| word.holders.settle(slots));
    }
}

/// Counts one more of something in a sorted list.
fn add<K: Ord + Copy>(counts: &mut Vec<(K, u32)>, key: K) {
    if counts.last().is_none_or(|(last, _)| *last < key) {
        return counts.push((key, 1));
    }
    match counts.binary_search_by_key(&key, |(key, _)| *key) {
        Ok(at) => counts[at].1 += 1,
        Err(at) => counts.insert(at, (key, 1)),
    }
}

/// Counts one less; what is not there any more leaves the list.
fn subtract<K: Ord + Copy>(counts: &mut Vec<(K, u32)>, key: K) {
    if let Ok(at) = counts.binary_search_by_key(&key, |(key, _)| *key) {
        counts[at].1 -= 1;
        if counts[at].1 == 0 {
            counts.remove(at);
        }
    }
}

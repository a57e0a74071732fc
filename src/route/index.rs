//! The inverted index: from a word to the agents that have it. Agents are numbered by their place in
//! the list, which breaks ties.

use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Message;
use crate::agent::{Agent, AgentStatus, Role};
use crate::score::{is_long_enough, normalize, units};

/// Hashing words is most of the work of making an index.
type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// Words of three letters or more that texts of all kinds have, sorted. As a tag they count.
const EMPTY: [&str; 28] = [
    "about", "and", "are", "but", "can", "did", "does", "for", "from", "has", "have", "help",
    "how", "not", "please", "test", "that", "the", "this", "was", "what", "when", "which", "who",
    "why", "will", "with", "you",
];

#[derive(Debug, Default)]
pub(super) struct Word {
    /// Agents that have it in name, texts or tags, ascending.
    pub(super) holders: Vec<usize>,
    /// Agents that have it as a tag, once for each such tag.
    pub(super) tagged: Vec<usize>,
    /// Whether it says nothing, so that it alone decides nothing.
    pub(super) is_empty: bool,
    /// Lengths of the tags of several words that begin with it.
    pub(super) phrase_lengths: Vec<usize>,
}

/// How messages name a tag.
pub(super) enum Tag<'a> {
    Word(&'a str),
    /// Several words, which must be adjacent.
    Phrase(Vec<&'a str>),
    /// It cannot be named, such as `c++` or `ai`.
    Literal,
}

impl<'a> Tag<'a> {
    pub(super) fn parse(normalized: &'a str) -> Tag<'a> {
        let whole = normalized.trim();
        let mut words = units(whole).map(|term| term.text);
        match (words.next(), words.next()) {
            (Some(word), None) if word == whole && is_long_enough(word) => Tag::Word(word),
            (Some(first), Some(second)) => {
                Tag::Phrase([first, second].into_iter().chain(words).collect())
            }
            _ => Tag::Literal,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The agents in list order; no two have one id.
    pub(crate) agents: Vec<Arc<Agent>>,
    /// Whether messages may be routed to each; beside them, because every message looks at all.
    pub(super) candidates: Vec<bool>,
    /// Numbers of the words of each agent, ascending; none if messages are never routed to it.
    pub(super) words_of: Vec<Vec<usize>>,
    places: HashMap<Box<str>, usize>,
    numbers: HashMap<Box<str>, usize>,
    pub(super) words: Vec<Word>,
    /// Tags of several words, with the agents that have them, once for each such tag.
    pub(super) phrases: HashMap<Box<[usize]>, Vec<usize>>,
    n_candidates: usize,
    /// Whether words of agents that it does not have are left out.
    is_closed: bool,
}

impl Index {
    pub(crate) fn new(agents: impl IntoIterator<Item = impl Into<Arc<Agent>>>) -> Index {
        let mut index = Index::default();
        let agents = agents.into_iter();
        agents.for_each(|agent| index.push(agent.into()));
        index
    }

    /// Makes an empty index that takes only the words of a message, with which it decides about this message as one of
    /// all words does.
    pub(crate) fn of_message(message: &Message) -> Index {
        let mut index = Index::default();
        for word in message.words.iter() {
            index.find_or_add(word);
        }
        index.is_closed = true;
        index
    }

    /// Returns how many agents a message can be routed to.
    pub(crate) fn candidates(&self) -> usize {
        self.n_candidates
    }

    pub(crate) fn agent(&self, id: &str) -> Option<&Arc<Agent>> {
        self.position(id).map(|place| &self.agents[place])
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub(super) fn word_number(&self, word: &str) -> Option<usize> {
        self.numbers.get(word).copied()
    }

    /// Returns the numbers of the words that contain a text, ascending.
    pub(super) fn numbers_with(&self, text: &str) -> Vec<usize> {
        let finder = memchr::memmem::Finder::new(text);
        let words = self.numbers.iter();
        let found = words.filter(|(word, _)| finder.find(word.as_bytes()).is_some());
        let mut found: Vec<usize> = found.map(|(_, number)| *number).collect();
        found.sort_unstable();
        found
    }

    pub(crate) fn push(&mut self, agent: Arc<Agent>) {
        let place = self.agents.len();
        let is_active = agent.status == AgentStatus::Active;
        let is_candidate = is_active && agent.role != Role::Supervisor;
        self.n_candidates += usize::from(is_candidate);
        let words = match is_candidate {
            true => self.add_words(place, &agent),
            false => Vec::new(),
        };
        self.candidates.push(is_candidate);
        self.places.insert(agent.id.as_str().into(), place);
        self.words_of.push(words);
        self.agents.push(agent);
    }

    fn add_words(&mut self, place: usize, agent: &Agent) -> Vec<usize> {
        let mut numbers = Vec::with_capacity(if self.is_closed { 0 } else { 32 });
        for text in [&agent.objective, &agent.name, &agent.description] {
            self.add_text(&normalize(text), &mut numbers);
        }
        for tag in &agent.tags {
            let (normalized, start) = (normalize(tag), numbers.len());
            if self.add_text(&normalized, &mut numbers) > 0 {
                continue;
            }
            match (Tag::parse(&normalized), &numbers[start..]) {
                (Tag::Word(_), [number]) => self.words[*number].tagged.push(place),
                (Tag::Phrase(_), phrase @ [first, ..]) => {
                    let lengths = &mut self.words[*first].phrase_lengths;
                    if !lengths.contains(&phrase.len()) {
                        lengths.push(phrase.len());
                    }
                    self.phrases.entry(phrase.into()).or_default().push(place);
                }
                _ => {}
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            self.words[*number].holders.push(place);
        }
        numbers
    }

    /// Adds the words of a text. Returns how many of them the index does not take.
    fn add_text(&mut self, normalized: &str, numbers: &mut Vec<usize>) -> usize {
        let mut n_left = 0;
        for term in units(normalized) {
            match self.find_or_add(term.text) {
                Some(number) => numbers.push(number),
                None => n_left += 1,
            }
        }
        n_left
    }

    fn find_or_add(&mut self, word: &str) -> Option<usize> {
        let found = self.word_number(word);
        if found.is_some() || self.is_closed {
            return found;
        }
        let number = self.words.len();
        self.numbers.insert(word.into(), number);
        self.words.push(Word {
            is_empty: EMPTY.binary_search(&word).is_ok(),
            ..Word::default()
        });
        Some(number)
    }
}

//! Counts the points of all agents for a message.

use std::cmp::Reverse;

use super::index::Index;
use super::{Match, Message, TAG_BOOST};

/// A message in the words of an index.
pub(super) struct Reading<'i> {
    /// Terms of the message, each with a word of the index in which it counts; both ascending.
    pub(super) terms: Vec<(usize, usize)>,
    /// Numbers of the terms that are words of the index, ascending.
    pub(super) words: Vec<usize>,
    /// Tags of several words in the message, each once.
    pub(super) phrases: Vec<&'i [usize]>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Points {
    pub(super) score: u32,
    /// Whether something of them may decide: a tag, or a word that says something.
    pub(super) may_decide: bool,
    /// Number of the last term that was counted, from 1: a term in several words of an agent counts once.
    counted: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) score: u32,
    pub(super) place: usize,
}

impl Standing {
    /// Returns the key by which candidates are sorted, best first.
    fn key(&self) -> (Reverse<u32>, usize) {
        (Reverse(self.score), self.place)
    }
}

impl Index {
    /// Looks the words of a message up.
    ///
    /// A message without any term matches no agent (notes 1.2: no tokens, then `finalize` at once). So a tag of several
    /// short words (`do it`), which counts beside terms (1.4), is not found by them alone.
    pub(super) fn read(&self, message: &Message, by: Match) -> Reading<'_> {
        // An unknown word has a number that no word has.
        let number = |word| self.word_number(word).unwrap_or(usize::MAX);
        let numbers: Vec<usize> = message.words.iter().map(number).collect();
        let known = message.terms.iter().map(|at| numbers[*at]).enumerate();
        let known = known.filter(|(_, number)| *number != usize::MAX);
        let mut words: Vec<usize> = known.clone().map(|(_, number)| number).collect();
        words.sort_unstable();
        let found = |(at, term)| {
            self.numbers_with(term)
                .into_iter()
                .map(move |word| (at, word))
        };
        Reading {
            terms: match by {
                Match::Token => known.collect(),
                Match::Substring => message.terms().enumerate().flat_map(found).collect(),
            },
            words,
            phrases: match message.terms.is_empty() || self.phrases.is_empty() {
                true => Vec::new(),
                false => self.phrases_in(&numbers),
            },
        }
    }

    /// Counts the points of each agent.
    pub(super) fn points(&self, reading: &Reading<'_>) -> Vec<Points> {
        let mut points = vec![Points::default(); self.agents.len()];
        for (term, word) in &reading.terms {
            let word = &self.words[*word];
            for place in &word.holders {
                let points = &mut points[*place];
                points.score += u32::from(points.counted != term + 1);
                points.counted = term + 1;
                points.may_decide |= !word.is_empty;
            }
        }
        let words = reading.words.iter().map(|word| &self.words[*word].tagged);
        let phrases = reading.phrases.iter().map(|phrase| &self.phrases[*phrase]);
        for place in words.chain(phrases).flatten() {
            points[*place].score += TAG_BOOST;
            points[*place].may_decide = true;
        }
        points
    }

    fn phrases_in(&self, numbers: &[usize]) -> Vec<&[usize]> {
        let mut found = Vec::new();
        for (at, number) in numbers.iter().enumerate() {
            let word = self.words.get(*number);
            for length in word.into_iter().flat_map(|word| &word.phrase_lengths) {
                let phrase = numbers.get(at..at + length);
                let known = phrase.and_then(|phrase| self.phrases.get_key_value(phrase));
                found.extend(known.map(|(phrase, _)| &**phrase));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the best candidates in their order, also with no points unless they must be able to decide.
    pub(super) fn best(&self, points: &[Points], limit: usize, must_decide: bool) -> Vec<Standing> {
        let agents = self.candidates.iter().zip(points).enumerate();
        let candidates = agents.filter(|(_, (is_candidate, points))| {
            **is_candidate && (points.may_decide || !must_decide)
        });
        let mut all: Vec<Standing> = candidates
            .map(|(place, (_, points))| Standing {
                score: points.score,
                place,
            })
            .collect();
        if limit > 0 && limit < all.len() {
            all.select_nth_unstable_by_key(limit - 1, Standing::key);
        }
        all.truncate(limit);
        all.sort_unstable_by_key(Standing::key);
        all
    }
}

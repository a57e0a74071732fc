//! A message as the router reads it.

use std::collections::HashSet;

use super::TERM_MIN;
use crate::score::{normalize, terms};

/// From so many words on, a set finds repeated ones faster than looking at all earlier ones.
const MANY: usize = 32;

/// The words of a message: all of them in order, and the distinct ones that count.
#[derive(Clone, Debug)]
pub struct Message {
    normalized: String,
    words: Vec<(usize, usize)>,
    /// Places in `words` of the first of each distinct word of three characters or more.
    terms: Vec<usize>,
}

impl Message {
    /// Reads a message.
    pub fn of(text: &str) -> Message {
        let normalized = normalize(text);
        let words: Vec<_> = terms(&normalized)
            .map(|term| (term.start, term.start + term.text.len()))
            .collect();
        let terms = distinct(&normalized, &words);
        Message {
            normalized,
            words,
            terms,
        }
    }

    /// Returns all words in order, normalized, of any length.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(|place| self.word(*place))
    }

    /// Returns the distinct words that count, in the order of the message.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.terms.iter().map(|at| self.word(self.words[*at]))
    }

    /// Returns for each distinct word that counts its place among all words.
    pub(super) fn term_places(&self) -> &[usize] {
        &self.terms
    }

    fn word(&self, (start, end): (usize, usize)) -> &str {
        &self.normalized[start..end]
    }
}

/// Says whether a normalized word is long enough to count.
pub(super) fn counts(word: &str) -> bool {
    word.len() >= TERM_MIN && word.chars().nth(TERM_MIN - 1).is_some()
}

fn distinct(text: &str, words: &[(usize, usize)]) -> Vec<usize> {
    let word = |at: usize| &text[words[at].0..words[at].1];
    let long = (0..words.len()).filter(|at| counts(word(*at)));
    let mut kept: Vec<usize> = Vec::with_capacity(words.len().min(MANY));
    if words.len() < MANY {
        for at in long {
            if kept.iter().all(|earlier| word(*earlier) != word(at)) {
                kept.push(at);
            }
        }
        return kept;
    }
    let mut seen = HashSet::with_capacity(words.len());
    kept.extend(long.filter(|at| seen.insert(word(*at))));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_count_are_distinct_and_have_three_characters() {
        for (text, expected) in [
            (
                "Explain the Second War, the SECOND one",
                "explain the second war one",
            ),
            ("Solve 2x + 5 = 15", "solve"),
            ("snake_case-word", "snake case word"),
            ("Diseño diseno", "diseno"),
            ("日本 日本語", "日本語"),
            ("!?", ""),
        ] {
            let message = Message::of(text);
            let found: Vec<_> = message.terms().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn long_messages_are_read_as_short_ones_are() {
        let short = Message::of("one two three one");
        let long = Message::of(&"one two three one ".repeat(40));
        assert_eq!(
            long.terms().collect::<Vec<_>>(),
            short.terms().collect::<Vec<_>>()
        );
        assert_eq!(long.words().len(), 160);
    }
}

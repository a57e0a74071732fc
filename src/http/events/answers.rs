//! Answers of models in progress. Pieces are not sent again, so the answer so far is kept here
//! until it is complete.

use std::collections::VecDeque;

/// Maximum number of answers; the oldest are dropped.
const ANSWERS_MAX: usize = 64;
/// Maximum size of an answer, in bytes.
const ANSWER_MAX: usize = 400_000;

/// The answer of each run so far.
#[derive(Default)]
pub(super) struct Answers(VecDeque<Answer>);

struct Answer {
    run: String,
    text: String,
    /// Length of the whole answer in UTF-16 units, as browsers count.
    units: usize,
    /// Whether it became too long.
    is_cut: bool,
}

impl Answers {
    /// Adds a piece, and returns its offset in UTF-16 units.
    pub(super) fn append(&mut self, run: &str, piece: &str) -> usize {
        let place = self.0.iter().position(|answer| answer.run == run);
        let place = place.unwrap_or_else(|| self.begin(run));
        let answer = &mut self.0[place];
        let before = answer.units;
        answer.units += piece.encode_utf16().count();
        answer.is_cut |= answer.text.len() + piece.len() > ANSWER_MAX;
        if !answer.is_cut {
            answer.text.push_str(piece);
        }
        before
    }

    fn begin(&mut self, run: &str) -> usize {
        if self.0.len() >= ANSWERS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Answer {
            run: run.to_string(),
            text: String::new(),
            units: 0,
            is_cut: false,
        });
        self.0.len() - 1
    }

    /// Returns the answer so far, or `None` before the first piece and after the end.
    pub(super) fn text_so_far(&self, run: &str) -> Option<&str> {
        let answer = self.0.iter().find(|answer| answer.run == run)?;
        Some(&answer.text)
    }

    pub(super) fn forget(&mut self, run: &str) {
        self.0.retain(|answer| answer.run != run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_chunks_have_offsets() {
        let mut answers = Answers::default();
        assert_eq!(answers.append("a", "The 🐉 "), 0);
        assert_eq!(answers.append("b", "Other"), 0);
        assert_eq!(answers.append("a", "flies."), 7);
        assert_eq!(answers.text_so_far("a"), Some("The 🐉 flies."));
        answers.forget("a");
        assert_eq!(answers.text_so_far("a"), None);
        assert_eq!(answers.text_so_far("b"), Some("Other"));
    }

    #[test]
    fn neither_many_answers_nor_long_one_take_all_memory() {
        let mut answers = Answers::default();
        for run in 0..=ANSWERS_MAX {
            answers.append(&run.to_string(), "x");
        }
        assert_eq!(answers.text_so_far("0"), None);
        let long = "x".repeat(ANSWER_MAX);
        assert_eq!(answers.append("1", &long), 1);
        assert_eq!(answers.append("1", "y"), ANSWER_MAX + 1);
        assert_eq!(answers.text_so_far("1"), Some("x"));
    }
}

//! An answer on a terminal, piece by piece as it comes.

use super::output::Feed;
use super::screen::{Screen, Tone};

/// What was shown so far.
pub(super) struct Live<'a> {
    feed: Feed<'a>,
    /// Who said the last piece.
    speaker: String,
    /// What he said until now.
    said: String,
}

impl<'a> Live<'a> {
    /// Begins with nothing.
    pub(super) fn new(feed: Feed<'a>) -> Live<'a> {
        Live {
            feed,
            speaker: String::new(),
            said: String::new(),
        }
    }

    /// Shows something that is no part of an answer.
    pub(super) fn show(&mut self, text: impl FnOnce(&mut Screen)) {
        self.feed.show(text);
    }

    /// Shows a piece of an answer. When somebody else speaks, a line says who.
    pub(super) fn piece(&mut self, speaker: &str, text: &str) {
        let changes = self.speaker != speaker && !self.said.is_empty();
        if self.speaker != speaker {
            self.speaker = speaker.to_string();
            self.said.clear();
        }
        self.said.push_str(text);
        self.feed.show(|screen| {
            if changes {
                screen.line(Tone::Plain, "");
                screen.line(Tone::Dim, format!("{speaker}:"));
            }
            screen.verbatim(text);
        });
    }

    /// Says whether a piece of an answer was shown.
    pub(super) fn has_spoken(&self) -> bool {
        !self.said.is_empty()
    }

    /// Says whether the whole of an answer was shown last.
    pub(super) fn ends_with(&self, answer: &str) -> bool {
        !answer.is_empty() && self.said == answer
    }
}

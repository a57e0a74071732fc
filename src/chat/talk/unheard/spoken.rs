//! The words of a message, each with where it stands.

use crate::chat::message::{HIDDEN, SEAM, Word, hidden, reasons};

/// A word of a message.
pub(super) struct Said {
    /// Where it stands.
    pub(super) place: Word,
    /// The word in small letters.
    pub(super) text: String,
    /// Whether it stands in quotes, where each word counts.
    pub(super) is_quoted: bool,
    /// Whether a capital letter within a sentence tells that it is a name.
    pub(super) is_name: bool,
}

/// Returns the words of a message without reasons.
pub(super) fn spoken(message: &str) -> Vec<Said> {
    let plain = hidden(message);
    let reasons = reasons(message);
    let is_title = is_title_case(message, &plain);
    let mut spoken = Vec::new();
    for (place, text) in words(message) {
        let before = message[..place.start].trim_end();
        let is_quoted = plain[place.clone()].starts_with(HIDDEN);
        let next = reasons.partition_point(|reason| reason.end <= place.start);
        let in_reason = reasons
            .get(next)
            .is_some_and(|reason| reason.start <= place.start);
        let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':', '\n', SEAM]);
        let is_name =
            !begins && !is_title && message[place.clone()].starts_with(char::is_uppercase);
        if !in_reason {
            spoken.push(Said {
                place,
                text,
                is_quoted,
                is_name,
            });
        }
    }
    spoken
}

/// Says whether most words of a message begin with a capital letter, so that it tells nothing.
fn is_title_case(message: &str, plain: &str) -> bool {
    let open = words(message).filter(|(place, _)| !plain[place.clone()].starts_with(HIDDEN));
    let (mut all, mut capital) = (0, 0);
    for (place, _) in open {
        all += 1;
        capital += usize::from(message[place].starts_with(char::is_uppercase));
    }
    capital * 2 > all
}

/// Finds the words of a text: letters in a row, or digits, in small letters and without leading zeros.
pub(super) fn words(text: &str) -> impl Iterator<Item = (Word, String)> {
    let kind = |c: char| (c.is_alphabetic(), c.is_numeric());
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = rest.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| kind(*c) == kind(first)) {
            end = at + c.len_utf8();
        }
        let word = text[start..end].to_lowercase();
        let digits = word.trim_start_matches('0');
        let word = if digits.is_empty() { "0" } else { digits };
        Some((start..end, word.to_string()))
    })
}

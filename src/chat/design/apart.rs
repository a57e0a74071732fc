//! Changes of a design that stand side by side with nothing between them: "button radius full card
//! radius medium".

use super::several::{has_choice, is_whole};
use crate::chat::kind::Kind;
use crate::chat::message::{SEAM, Word};
use crate::chat::request::Request;
use crate::chat::vocabulary::ELEMENTS;

/// Takes a part of a message apart behind its options, else before them, where each piece then names
/// what is to become what.
pub(super) fn pieces(message: &str, place: Word) -> Vec<Word> {
    let options = options(message, &place);
    if options.len() < 2 || message[place.clone()].contains(SEAM) {
        return vec![place];
    }
    let behind = options.iter().rev().skip(1).rev().map(|option| option.end);
    let before = options.iter().skip(1).map(|option| option.start);
    let read = |piece: &Word| Request::read(&message[piece.clone()], None);
    if has_choice(&read(&place).words) {
        return vec![place];
    }
    let is_change = |piece: &Word| is_whole(&read(piece));
    let all = [split(&place, behind), split(&place, before)];
    let fitting = all.into_iter().find(|pieces| pieces.iter().all(is_change));
    fitting.unwrap_or_else(|| vec![place])
}

fn split(place: &Word, cuts: impl Iterator<Item = usize>) -> Vec<Word> {
    let mut from = place.start;
    let ends = cuts.chain([place.end]);
    ends.map(|end| std::mem::replace(&mut from, end)..end)
        .collect()
}

/// Finds the options at a place, also those that are written as two words.
fn options(message: &str, place: &Word) -> Vec<Word> {
    let words = words(message, place);
    let mut found: Vec<Word> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &words[before]);
        let pair = before.map(|before| before.start..word.end);
        if is_option(&message[word.clone()]) {
            found.push(word.clone());
        } else if let Some(pair) = pair.filter(|pair| is_option(&message[pair.clone()])) {
            found.push(pair);
        }
    }
    found
}

fn words(message: &str, place: &Word) -> Vec<Word> {
    let (mut words, mut at) = (Vec::new(), place.start);
    for piece in message[place.clone()].split_inclusive(char::is_whitespace) {
        words.push(at..at + piece.trim_end().len());
        at += piece.len();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_option(text: &str) -> bool {
    let word = text.to_lowercase().replace(' ', "-");
    let mut kinds = ELEMENTS.iter().map(|element| element.kind);
    kinds.any(|kind| matches!(kind, Kind::Options(options) if options.contains(&word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_apart_where_each_names_its_own_option() {
        for (message, expected) in [
            (
                "set button radius full card radius medium",
                &["set button radius full", "card radius medium"] as &[&str],
            ),
            (
                "full button radius medium card radius",
                &["full button radius", "medium card radius"],
            ),
            (
                "card style soft shadow button style solid",
                &["card style soft shadow", "button style solid"],
            ),
            (
                "button radius to full card radius to small",
                &["button radius to full", "card radius to small"],
            ),
            (
                "set button style solid radius full",
                &["set button style solid radius full"],
            ),
            (
                "button radius from small to full",
                &["button radius from small to full"],
            ),
            (
                "button style solid not stroked",
                &["button style solid not stroked"],
            ),
            ("button radius full", &["button radius full"]),
            ("", &[""]),
        ] {
            let found = pieces(message, 0..message.len());
            let found: Vec<&str> = found
                .into_iter()
                .map(|piece| message[piece].trim())
                .collect();
            assert_eq!(found, expected, "{message}");
        }
    }
}

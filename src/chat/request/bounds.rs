//! Where values begin and end.

use super::owner::Placed;
use super::reader::Reader;
use crate::chat::message::{HIDDEN, SEAM, Word, parts, said};
use crate::chat::vocabulary::{ARTICLES, ELEMENTS, component_type};

/// Words between a field and its value.
const BECOMES: [&str; 4] = ["to", "into", "as", "is"];
/// Words that lead from a value to the next field.
const LEADS: [&str; 7] = ["and", "the", "its", "with", "set", "change", "update"];
/// Most parts of a value that are looked at.
const PARTS_MAX: usize = 50;

impl Reader<'_> {
    /// Finds where the value of a field begins that ends before a word.
    pub(super) fn value_at(&self, next: usize, loose: bool) -> Option<usize> {
        let end = self.words.get(next - 1)?.end;
        let rest = &self.message.plain[end..];
        let gap = rest.len() - rest.trim_start().len();
        if rest.trim_start().starts_with(['=', ':']) {
            return Some(end + gap + 1);
        }
        let follows = self.words.get(next).filter(|word| word.start == end + gap);
        match follows {
            Some(word) if BECOMES.contains(&self.word(word)) => Some(self.behind_sign(word.end)),
            _ => (loose || self.has_quoted(end + gap, next)).then_some(end),
        }
    }

    /// Returns where a value begins behind a word for its sign: "to: Welcome".
    pub(super) fn behind_sign(&self, at: usize) -> usize {
        let rest = self.message.plain.get(at..).unwrap_or_default();
        at + usize::from(rest.starts_with(':'))
    }

    /// Says whether a quote at a place, in front of a word, is the value of what stands before it. What
    /// another value follows is what it was: "title 'Home' to 'House'".
    fn has_quoted(&self, at: usize, next: usize) -> bool {
        let rest = &self.message.plain[at..];
        let behind = rest.trim_start_matches(HIDDEN);
        let end = at + rest.len() - behind.len();
        let sign = self.value.map(|(sign, _)| sign).filter(|sign| *sign >= end);
        let is_old = sign.is_some_and(|sign| {
            let mut between =
                (next..self.words.len()).take_while(|at| self.words[*at].start < sign);
            between.all(|index| self.field(index).is_none())
        });
        let described = self
            .with
            .filter(|with| *with < next && self.component.is_none());
        end > at && !is_old && described.is_none() && !behind.trim_start().starts_with(['=', ':'])
    }

    /// Reads the values at their places. Nothing is a value only when it is quoted.
    pub(super) fn texts(&self, placed: Vec<Placed>) -> Vec<(String, String)> {
        let texts = placed.into_iter().map(|one| {
            let is_quoted = self.is_quoted(one.value.start);
            (one.key, self.tidy(one.value), is_quoted)
        });
        let said = texts.filter(|(_, text, is_quoted)| !text.is_empty() || *is_quoted);
        said.map(|(key, text, _)| (key, text)).collect()
    }

    /// Says whether a field stands apart from the value before it: `…, caption`, `… and the caption`,
    /// `…; set caption`, `"…" with caption`.
    pub(super) fn is_apart(&self, index: usize) -> bool {
        let start = self.words[index].start;
        let without = |text: &'_ str, words: &[&str]| {
            let rest = words.iter().find_map(|word| text.strip_suffix(word));
            rest.map_or(text.len(), |rest| rest.trim_end().len())
        };
        let before = self.message.plain[..start].trim_end();
        let before = &before[..without(before, &["the", "its"])];
        let verb = &before[..without(before, &[" set", " change", " update"])];
        let quote = &before[..without(before, &[" with"])];
        let is_with = quote.len() < before.len() && self.is_quoted_field(index);
        ends_part(before) || ends_part(verb) || quote.ends_with(HIDDEN) || is_with
    }

    /// Says whether a field stands at a word, and its value in quotes behind it.
    fn is_quoted_field(&self, index: usize) -> bool {
        let Some((_, count)) = self.field(index) else {
            return false;
        };
        let end = self.words[index + count - 1].end;
        self.is_quoted(end)
    }

    /// Takes the words off the end of a value that lead to the next field.
    fn tidy(&self, place: Word) -> String {
        let mut end = place.end;
        let next = self.words.partition_point(|word| word.start < end);
        let is_quoted = self.is_quoted_field(next);
        loop {
            let whole = self.message.plain[place.start..end].trim_end();
            let text = whole.trim_end_matches([' ', ',', ';']);
            let last = LEADS.iter().find(|word| {
                let rest = text.strip_suffix(**word);
                let is_lead = |rest: &str| match **word {
                    "with" => rest.trim_end().ends_with(HIDDEN) || is_quoted,
                    "and" | "the" | "its" => true,
                    _ => text == whole && ends_part(rest.trim_end()),
                };
                rest.is_some_and(|rest| {
                    rest.ends_with(' ') && is_lead(rest) && place.end < self.message.plain.len()
                })
            });
            end = place.start + text.len();
            match last {
                Some(word) => end -= word.len(),
                None => return impolite(self.said_at(place.start..end)).to_string(),
            }
        }
    }

    /// Returns the value at a place.
    pub(super) fn said_at(&self, place: Word) -> &str {
        said(self.message.body.get(place).unwrap_or_default())
    }

    /// Finds a change of the design behind a value, such as "and button radius to full": its place, with
    /// what leads to it.
    pub(super) fn design_change(&self, place: Word) -> Option<Word> {
        let text = self.message.plain.get(place.clone())?;
        let parts = parts(text);
        let later = parts.windows(2).take(PARTS_MAX);
        let found = later
            .into_iter()
            .find(|pair| names_design(&text[pair[1].clone()]))?;
        Some(place.start + found[0].end..place.end)
    }
}

/// Takes a "please" and thanks off the end of a text without quotes.
pub(super) fn impolite(text: &str) -> &str {
    let ends = [", please", " please", ", thanks", ", thank you"];
    let bare = text.trim_end_matches(['.', '!']);
    let rest = ends.iter().find_map(|end| {
        let at = bare.len().checked_sub(end.len())?;
        let is_end = bare.get(at..)?.eq_ignore_ascii_case(end);
        is_end.then(|| &bare[..at])
    });
    rest.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// Says whether something else may follow a text: it ends with a comma, or with `and`.
fn ends_part(text: &str) -> bool {
    text.ends_with([',', ';', SEAM]) || text.ends_with(" and")
}

/// Says whether a text names a part of the design in full, and what it is to become.
fn names_design(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && !ARTICLES.contains(word));
    let words: Vec<&str> = words.collect();
    let sign = words.iter().position(|word| BECOMES.contains(word));
    let named = &words[..sign.unwrap_or(0)];
    let is_kind = named
        .first()
        .is_some_and(|word| component_type(word).is_some());
    let fits = |groups: &[&[&str]]| {
        let has = |word: &&str| groups.iter().any(|group| group.contains(word));
        let is_said = |group: &&[&str]| group.iter().any(|word| named.contains(word));
        named.iter().all(has) && groups.iter().all(is_said)
    };
    let mut elements = ELEMENTS.iter().filter(|element| element.words.len() > 1);
    is_kind && elements.any(|element| fits(element.words))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::chat::request::Request;

    #[test]
    fn quotes_bound_values() {
        for (message, updates) in [
            (
                "change title of component 101 to \"Hello\" please",
                json!({"props.title": "Hello"}),
            ),
            (
                "update component 101 title to \"A\" and description \"B\"",
                json!({"props.description": "B", "props.title": "A"}),
            ),
            (
                "update component 101 title 'Hi'",
                json!({"props.title": "Hi"}),
            ),
            (
                "change the title \"Home\" of component 101 to \"House\"",
                json!({"props.title": "House"}),
            ),
            (
                "change component 101 title \"Home\" to \"House\"",
                json!({"props.title": "House"}),
            ),
            (
                "change title of component 101 to \"A\" or \"B\"",
                json!({"props.title": "\"A\" or \"B\""}),
            ),
            (
                "change title of component 101 to 'It''s'",
                json!({"props.title": "It''s"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.updates), updates, "{message}");
        }
    }
}

//! Reads the beginning of a title: an area (`docs:`, `fix(cli):`), a verb, and what the verb is done to.

use super::matrix::{Matrix, Row};
use crate::score::{Words, is_form_of};
use crate::skill;

/// Words that end the object of a verb.
const BORDERS: &[&str] = &[
    "for", "of", "to", "in", "on", "with", "from", "by", "at", "as", "about", "into", "when", "if",
    "that", "so", "before", "after", "while", "behind", "between", "across", "without", "since",
    "instead", "until", "via",
];
/// Words that follow a verb.
const ARTICLES: &[&str] = &[
    "the", "a", "an", "all", "our", "its", "their", "this", "each", "every",
];

/// A skill that the beginning of a title leads to, with the word that decides, and the reason.
pub(super) type Lead<'a> = (&'a str, String, String);

/// Finds the skill by the leading verb of a title. A verb that only tells of some change leaves the choice to its
/// object. `can_take` returns whether a skill counts.
pub(super) fn find<'a>(
    title: &str,
    matrix: &'a Matrix,
    can_take: impl Fn(&str) -> bool,
) -> Option<Lead<'a>> {
    let rows = || matrix.leads.iter().chain(matrix.rows());
    let find_row = |words: &[&str]| {
        let mut rows = rows().filter(|row| can_take(&row.skill));
        rows.find(|row| row.keywords.iter().any(|key| begins_with(words, key)))
    };
    let is_vague = |row: &Row| row.skill == skill::DEFAULT && !matrix.rows().contains(row);
    let begins = |row: &'a Row, word: &str| {
        let reason = format!("the title begins with `{word}`");
        Some((row.skill.as_str(), word.to_string(), reason))
    };
    let end = title.find([':', ']']).map_or(0, |at| at + 1);
    let (area, text) = (Words::parse(&title[..end]), Words::parse(&title[end..]));
    let area = area
        .iter()
        .find_map(|word| Some((find_row(&[word])?, word)));
    if let Some((row, word)) = area.filter(|(row, _)| !is_vague(row)) {
        return begins(row, word);
    }
    let words: Vec<&str> = text.iter().collect();
    let (verb, others) = words.split_first()?;
    let (found, vague) = (find_row(&words), area.map(|(row, _)| row));
    let is_verb = others.first().is_some_and(|next| ARTICLES.contains(next));
    match found.or(vague) {
        Some(row) if !is_vague(row) => return begins(row, verb),
        None if !is_verb => return None,
        _ => {}
    }
    let noun = find_noun(&words).unwrap_or_default();
    let noun_key = |key: &&String| is_form_of(noun, key);
    let text_key = |key: &&String| text.find(key).is_some();
    let of_noun = matrix
        .rows()
        .iter()
        .map(|row| (row, row.keywords.iter().find(noun_key)));
    let of_text = matrix
        .objects
        .iter()
        .map(|row| (row, row.keywords.iter().find(text_key)));
    let mut objects = of_noun
        .chain(of_text)
        .filter(|(row, _)| can_take(&row.skill));
    let object = objects.find_map(|(row, key)| Some((row, key?)));
    Some(match object {
        Some((row, key)) => (
            &row.skill,
            key.clone(),
            format!("the title begins with `{verb}` and is about `{key}`"),
        ),
        None => (
            skill::DEFAULT,
            verb.to_string(),
            format!("the title begins with `{verb}`"),
        ),
    })
}

/// Returns whether words begin with those of a keyword. `ship+log` stands for any words from a verb to its object.
fn begins_with(words: &[&str], keyword: &str) -> bool {
    let is_verb = |verb: &str| words.first().is_some_and(|word| is_form_of(word, verb));
    if let Some((verb, object)) = keyword.split_once('+') {
        return is_verb(verb) && find_noun(words).is_some_and(|noun| is_form_of(noun, object));
    }
    let mut parts = keyword.split(' ');
    parts.next().is_some_and(is_verb)
        && parts
            .zip(1..)
            .all(|(part, at)| words.get(at) == Some(&part))
}

/// Finds the last word of what a leading verb is done to: `fields` in "add two fields to the form".
fn find_noun<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut parts = words.get(1..)?.split(|word| BORDERS.contains(word));
    parts.find(|part| !part.is_empty())?.last().copied()
}

//! Reads the beginning of a title: an area (`docs:`, `fix(cli):`), a verb, and what the verb is done to.

use super::matrix::{Matrix, Rows};
use crate::score::{Words, is_form_of};
use crate::skill;

/// Words that end the object of a verb.
const BORDERS: &str = "for of to in on with from by at as about into when if that so before after while behind \
                       between across without since instead until via";
/// Words that follow a verb.
const ARTICLES: &str = "the a an all our its their this each every";

/// A skill, the word that leads to it and how, and whether that is doubtful.
type Lead<'a> = (&'a str, String, &'static str, bool);

/// Finds the skill by the beginning of a title, with the word that decides. A verb that only tells of some change leaves
/// the choice to its object. `can_take` returns whether a skill counts.
pub(super) fn find<'a>(
    title: &'a str,
    matrix: &'a Matrix,
    can_take: impl Fn(&str) -> bool,
) -> Option<Lead<'a>> {
    let find_in = |rows: &'a Rows, is_key: &dyn Fn(&str) -> bool| {
        rows.iter().find_map(|(keys, skill)| {
            let key = keys.iter().find(|key| is_key(key))?;
            can_take(skill).then_some((skill.as_str(), key.as_str()))
        })
    };
    let end = title.find([':', ']']).map_or(0, |at| at + 1);
    let (area, text) = (Words::parse(&title[..end]), Words::parse(&title[end..]));
    let words: Vec<&str> = text.iter().collect();
    let is_one_of = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let noun = find_noun(&words).unwrap_or_default();
    let mut is_vague = words.get(1).is_some_and(|word| is_one_of(ARTICLES, word));
    let areas = area.iter().map(|word| (vec![word], ""));
    for (start, noun) in areas.chain([(words.clone(), noun)]) {
        let begins = |key: &str| begins_with(&start, noun, key);
        match find_in(&matrix.by_lead, &begins) {
            Some((skill::DEFAULT, _)) => is_vague = true,
            found => {
                if let Some((skill, _)) = found.or_else(|| find_in(&matrix.by_keyword, &begins)) {
                    return Some((skill, start[0].to_string(), "begins with", false));
                }
            }
        }
    }
    let is_about = |key: &str| match key.split_once('+') {
        Some((word, object)) => {
            is_form_of(noun, object) && (word.is_empty() || text.find(word).is_some())
        }
        None => text.find(key).is_some(),
    };
    let object = find_in(&matrix.by_object, &is_about);
    let other = || find_in(&matrix.by_keyword, &|key| is_form_of(noun, key));
    let is_doubtful = object.is_none();
    // Such as `docs` in "remove the docs endpoint".
    let is_aside = |key: &str| !key.contains(['+', ' ']) && !is_form_of(noun, key);
    let (skill, word, how, is_doubtful) = match object.or_else(other) {
        Some((skill, word)) => (skill, word, "is about", is_doubtful || is_aside(word)),
        None => (skill::DEFAULT, *words.first()?, "begins with", false),
    };
    is_vague.then(|| (skill, word.to_string(), how, is_doubtful))
}

/// Returns whether words begin with those of a keyword. `ship+log` needs the verb and its object, whatever is between.
fn begins_with(words: &[&str], noun: &str, keyword: &str) -> bool {
    // Nearly all keywords begin with another letter; they are not even taken apart.
    let is_other = |word: &&str| word.bytes().next() != keyword.bytes().next();
    if keyword.len() > 1 && words.first().is_none_or(is_other) {
        return false;
    }
    let (start, object) = keyword.split_once('+').unwrap_or((keyword, ""));
    let mut parts = start.split(' ').enumerate();
    parts.all(|(at, part)| words.get(at).is_some_and(|word| is_form_of(word, part)))
        && (object.is_empty() || is_form_of(noun, object))
}

/// Finds the last word of what a leading verb is done to: `fields` in "add two fields to the form".
fn find_noun<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_border = |word: &&str| BORDERS.split(' ').any(|one| one == *word);
    let mut parts = words.get(1..)?.split(is_border);
    parts.find(|part| !part.is_empty())?.last().copied()
}

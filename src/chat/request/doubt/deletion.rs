//! Whether a whole component is to be deleted, or only a part of it.

use crate::chat::message::Word;
use crate::chat::request::Request;
use crate::chat::request::reader::{Reader, WITH};
use crate::chat::value::brief;
use crate::chat::vocabulary::{ARTICLES, REASONS, VERBS, Verb};

/// Words between what is meant and where it is.
const PLACES: &[&str] = &["from", "of", "off", "on", "in", "at"];

impl Reader<'_> {
    /// Says that it is not told what of a component is to be deleted.
    pub(super) fn doubtful_delete(&self, request: &Request, values: &[Word]) -> Option<String> {
        let is_whole = request.verb == Some(Verb::Delete) && !request.is_security;
        if !is_whole || self.part.is_some() {
            return None;
        }
        let start = self.words.get(self.from)?.start;
        let place = self.until_clause(start..self.seam(0));
        let mut open = self.open(values);
        let is_here = |index: &usize| place.contains(&self.words[*index].start);
        let index = open.find(|index| is_here(index) && self.names_part(*index))?;
        let word = brief(self.at(index));
        let advice = match &self.component {
            None => "with its number what is to be deleted; what it is called goes in quotes"
                .to_string(),
            Some((_, id)) if word.starts_with("security") => format!(
                "for example \"delete component {id}\", \"unsecure component {id}\" or, with the name of the \
                 group, \"remove the premium security group from component {id}\""
            ),
            Some((_, id)) if self.is_kind(index) => format!("\"delete component {id}\" alone"),
            Some((_, id)) => format!(
                "for example \"delete component {id}\" or \"delete the {word} of component {id}\""
            ),
        };
        Some(format!(
            "I am not sure whether to delete the whole component or only what \"{word}\" names. Nothing \
             was changed. Please say {advice}."
        ))
    }

    /// Cuts off of a place what gives a reason, or says what else is to be done.
    fn until_clause(&self, place: Word) -> Word {
        let words = self.words.iter().filter(|word| place.contains(&word.start));
        let is_over = |word: &str| {
            let is_verb = VERBS.iter().any(|(verb, _)| *verb == word);
            is_verb || REASONS.contains(&word)
        };
        let over = words.into_iter().find(|word| is_over(self.word(word)));
        place.start..over.map_or(place.end, |word| word.start)
    }

    /// Says whether a word names what is only a part of a component: a field, its security, a picture
    /// behind its number.
    fn names_part(&self, index: usize) -> bool {
        let is_behind = |(place, _): &(Word, String)| place.end <= self.words[index].start;
        let is_behind = self.component.as_ref().is_some_and(is_behind);
        let is_article = index > 0 && ARTICLES.contains(&self.at(index - 1));
        let lead = index.checked_sub(1 + usize::from(is_article));
        let is_place = lead.is_some_and(|before| PLACES.contains(&self.at(before)));
        let is_kind = self.is_kind(index);
        let is_described = WITH.contains(&self.at(index));
        let is_field = self.field(index).is_some() && (!is_kind || is_behind) && !is_described;
        let is_security = self.at(index).starts_with("security");
        let is_group = ["group", "groups"].contains(&self.at(index));
        (is_field || is_security || is_kind && is_behind) && !is_place || is_group
    }
}

//! The parts of a message: its verb, where its value begins, which component it is about.

use serde_json::{Map, Value};

use super::Request;
use super::bounds::impolite;
use crate::chat::message::{HIDDEN, Message, SEAM, Word, quoted_first, unquoted};
use crate::chat::vocabulary::{
    ARTICLES, QUESTIONS, STATUS, STATUS_VERBS, VERBS, Verb, component_type,
};

/// Words after which a component is described.
pub(super) const WITH: [&str; 6] = ["with", "titled", "called", "named", "whose", "where"];
/// Words in front of a verb that is not to be followed; `t` is the end of "don't".
const NEGATIONS: [&str; 4] = ["not", "never", "dont", "t"];

/// Reads a message.
pub(super) struct Reader<'a> {
    pub(super) message: &'a Message,
    pub(super) words: Vec<Word>,
    pub(super) verb: Option<Verb>,
    /// Index of the first word after the verb.
    pub(super) from: usize,
    pub(super) component: Option<(Word, String)>,
    /// Where the words are that may name components by their numbers.
    pub(super) naming: Word,
    /// Where the value begins, and where the words before it end.
    pub(super) value: Option<(usize, usize)>,
    /// Index of the word after which a component is described.
    pub(super) with: Option<usize>,
    /// Index of the word between a part of a component and the component: "title from component 101".
    pub(super) part: Option<usize>,
    /// Where values end: where answers begin that complete the message, and where a component is named
    /// behind a value.
    pub(super) seams: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a Message) -> Reader<'a> {
        let mut reader = Reader {
            message,
            words: message.words(),
            verb: None,
            from: 0,
            component: None,
            naming: 0..0,
            value: None,
            with: None,
            part: None,
            seams: message
                .plain
                .match_indices(SEAM)
                .map(|(at, _)| at)
                .collect(),
        };
        reader.find_verb();
        reader.find_value();
        // What is only asked about a component is shown.
        if reader.verb.is_none() && reader.is_question() && reader.names_component() {
            reader.verb = Some(Verb::Read);
        }
        let end = reader.head_end();
        let mut later = reader.words.iter().enumerate().skip(reader.from);
        reader.with = later
            .find(|(_, word)| word.start < end && WITH.contains(&reader.word(word)))
            .map(|(index, _)| index);
        reader.find_part();
        reader
    }

    pub(super) fn word(&self, word: &Word) -> &'a str {
        &self.message.plain[word.clone()]
    }

    pub(super) fn at(&self, index: usize) -> &'a str {
        self.words.get(index).map_or("", |word| self.word(word))
    }

    pub(super) fn find_verb(&mut self) {
        let named = |word: &Word| VERBS.iter().find(|(name, _)| *name == self.word(word));
        let found = self
            .words
            .iter()
            .enumerate()
            .filter(|(index, _)| !self.is_noun(*index))
            .find_map(|(index, word)| named(word).map(|(_, verb)| (index, *verb)));
        let new = || {
            Some((
                self.words
                    .iter()
                    .position(|word| self.word(word) == "new")?,
                Verb::Create,
            ))
        };
        let Some((index, verb)) = found.or_else(new).filter(|(at, _)| !self.is_value(*at)) else {
            return;
        };
        let is_negated = index > 0 && NEGATIONS.contains(&self.at(index - 1));
        // "Make a banner" makes one; "make my banner blurred" changes it.
        let makes =
            self.at(index) == "make" && ["a", "an", "another", "new"].contains(&self.at(index + 1));
        // What is not to be done is only looked at.
        let verb = match (is_negated, makes) {
            (true, _) => Verb::Read,
            (false, true) => Verb::Create,
            (false, false) => verb,
        };
        (self.verb, self.from) = (Some(verb), index + 1);
    }

    /// Says whether a word that can be a verb is none: "the schedule".
    fn is_noun(&self, index: usize) -> bool {
        let is_status = STATUS_VERBS.iter().any(|verb| verb.0 == self.at(index));
        let is_named = index > 0 && ARTICLES.contains(&self.at(index - 1));
        is_status && (is_named || self.is_question())
    }

    fn is_question(&self) -> bool {
        QUESTIONS.contains(&self.at(0))
    }

    fn names_component(&self) -> bool {
        let all = || self.words.iter().map(|word| self.word(word));
        let has_status = all().any(|word| STATUS.iter().any(|status| status.0 == word));
        let has_kind = has_status && all().any(|word| component_type(word).is_some());
        self.component.is_some() || has_kind || all().any(|word| word.starts_with("component"))
    }

    /// Says whether a word is part of a value: a field and the sign of its value stand before it, as
    /// in "title to Delete me".
    pub(super) fn is_value(&self, verb: usize) -> bool {
        let signs = |index: &usize| {
            let end = self.words[*index].end;
            let is_sign = self.message.plain[end..]
                .trim_start()
                .starts_with(['=', ':']);
            is_sign || ["to", "into", "as"].contains(&self.at(*index))
        };
        let is_field = |index: usize| self.phrase(index).is_some() || self.raw_key(index).is_some();
        let Some(field) = (0..verb).find(|index| is_field(*index)) else {
            return false;
        };
        (field..verb).any(|index| signs(&index))
    }

    pub(super) fn is_change(&self) -> bool {
        matches!(self.verb, None | Some(Verb::Update))
    }

    /// Finds the component first: its number may be written with the sign that values follow too.
    pub(super) fn find_value(&mut self) {
        let text = self.message;
        let mut later = self
            .words
            .iter()
            .skip(self.from)
            .filter(|_| self.is_change());
        let becomes = later.find(|word| ["to", "into", "as"].contains(&self.word(word)));
        let limit = becomes.map_or(text.plain.len(), |word| word.start);
        let limit = self.new_fields().unwrap_or(limit);
        (self.component, self.naming) = (text.component(0..limit), 0..limit);
        let inside = self
            .component
            .as_ref()
            .map_or(0..0, |(place, _)| place.clone());
        let start = self.words.get(self.from).map_or(0, |word| word.start);
        let equals = text.plain.match_indices('=').map(|(at, _)| at);
        let mut equals =
            equals.filter(|at| *at >= start && !inside.contains(at) && self.is_change());
        let equals = equals.next().map(|at| (at, at + 1));
        let word = becomes.map(|word| (word.start, self.behind_sign(word.end)));
        self.value = [equals, word].into_iter().flatten().min();
        self.value = self.value.or_else(|| self.colon());
        self.find_behind();
    }

    /// Finds the sign of a value behind the component that the field is of: "title of component 101: X".
    fn colon(&self) -> Option<(usize, usize)> {
        let (place, _) = self.component.as_ref().filter(|_| self.is_change())?;
        let rest = self.message.plain.get(place.end..)?;
        let at = place.end + rest.len() - rest.trim_start().len();
        let next = self.words.iter().position(|word| word.start >= at);
        let is_field = |index: usize| self.phrase(index).is_some() || self.raw_key(index).is_some();
        let is_before = |index: &usize| self.words[*index].start < place.start;
        let mut before = (self.from..self.words.len()).take_while(is_before);
        let is_sign = rest.trim_start().starts_with(':') && !next.is_some_and(is_field);
        (is_sign && before.any(is_field)).then_some((at, at + 1))
    }

    /// Finds the component that is named behind the value: "title to Welcome on component 101".
    fn find_behind(&mut self) {
        let Some((_, from)) = self.value else { return };
        let is_before = self
            .component
            .as_ref()
            .is_some_and(|found| found.0.start < from);
        if is_before || self.message.fault(self.naming.start..from).is_some() {
            return;
        }
        let Some(tail) = self.message.tail(from) else {
            return;
        };
        self.component = self.message.component(tail.clone());
        self.seams.push(tail.start);
        self.seams.sort_unstable();
        self.naming = tail;
    }

    /// Returns where the words in front of the value end.
    pub(super) fn head_end(&self) -> usize {
        self.value.map_or_else(|| self.seam(0), |(end, _)| end)
    }

    /// Returns where the next answer begins that completes the message.
    pub(super) fn seam(&self, from: usize) -> usize {
        let next = self.seams.iter().find(|seam| **seam >= from);
        next.copied().unwrap_or(self.message.plain.len())
    }

    pub(super) fn head(&self) -> impl Iterator<Item = &'a str> {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let words = self
            .words
            .iter()
            .filter(move |word| word.start < end || word.start >= seam);
        words.map(move |word| self.word(word))
    }

    pub(super) fn value(&self) -> Option<String> {
        let (_, from) = self.value?;
        let plain = self.message.plain.get(from..self.seam(from))?;
        let plain = plain.trim_end().trim_end_matches([',', ';']).trim_end();
        let text = self.said_at(from..from + plain.len());
        let is_quoted = self.is_quoted(from);
        let text = if is_quoted { text } else { impolite(text) };
        (!text.is_empty() || is_quoted).then(|| text.to_string())
    }

    pub(super) fn is_quoted(&self, from: usize) -> bool {
        let rest = self.message.plain[from..].trim_start();
        rest.starts_with(HIDDEN)
    }

    /// Returns the last answer that completes the message.
    pub(super) fn answer(&self) -> Option<String> {
        let at = self.message.body.rfind(SEAM)?;
        let text = self
            .message
            .text(at + SEAM.len_utf8()..self.message.body.len());
        let text = text.trim().strip_prefix("to ").unwrap_or(text);
        (!text.is_empty()).then(|| text.to_string())
    }

    /// Finds the type: a word right before `component`, else the first that is no field.
    pub(super) fn kind(&self) -> Option<&'static str> {
        component_type(self.at(self.kind_index()?))
    }

    /// Finds the word for the type. What is part of a component is none.
    pub(super) fn kind_index(&self) -> Option<usize> {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let described = self
            .with
            .map_or(end, |index| self.words[index].start.min(end));
        let places = |index: &usize| {
            let start = self.words[*index].start;
            start < described || start > seam
        };
        let from = self.part.map_or(self.from, |part| part + 1);
        let kinds: Vec<usize> = (from..self.words.len())
            .filter(places)
            .filter(|index| component_type(self.at(*index)).is_some())
            .collect();
        let before = kinds
            .iter()
            .find(|index| self.at(**index + 1).starts_with("component"));
        let is_field = |index: usize| self.is_change() && self.phrase(index).is_some();
        let other = || kinds.iter().find(|index| !is_field(**index));
        before.or_else(other).copied()
    }

    /// Finds what a component is described by.
    pub(super) fn criteria(&self, request: &Request) -> Map<String, Value> {
        let mut criteria = Map::new();
        if request.is_security || request.verb != Some(Verb::Create) {
            if let Some(kind) = self.kind() {
                criteria.insert("component_type".to_string(), kind.into());
            }
            let states = self.states().into_iter();
            criteria.extend(states.map(|(column, value)| (column.to_string(), value.into())));
            if let Some(from) = self.with {
                let end = self.head_end();
                for (key, value) in self.assignments(from, end, true) {
                    let value = match (quoted_first(&value), end < self.message.plain.len()) {
                        (Some(quoted), _) => quoted.to_string(),
                        (None, true) => self.before(&value),
                        (None, false) => value,
                    };
                    criteria.insert(key, value.into());
                }
            }
        }
        criteria
    }

    /// Cuts off the value of the change from a description in front of it.
    pub(super) fn before(&self, value: &str) -> String {
        let cut = value.find(" to ").map_or(value, |at| &value[..at]);
        unquoted(cut.trim()).to_string()
    }
}

//! What is added to a component or taken from it: "title Foo to component 101", "the caption of my
//! card". The component itself stays.

use super::Request;
use super::fields::put;
use super::reader::Reader;
use crate::chat::kind::Kind;
use crate::chat::message::{HIDDEN, Word};
use crate::chat::vocabulary::{
    ARTICLES, FIELDS, POLITE, STATUS, STATUS_VERBS, Verb, component_type,
};

/// Words between what is taken and the component.
const FROM: &[&str] = &["from", "of", "off", "on", "in"];
/// Words between what is added and the component.
const TO: &[&str] = &["to", "on", "in", "into"];
/// Words that name no part of a component: how many components are meant, and what stands beside a
/// field.
const IDLE: &[&str] = &[
    "all", "any", "each", "every", "both", "one", "some", "none", "first", "last", "field",
    "value", "status", "whole", "entire", "of", "old", "current", "existing",
];
/// Words for a piece of a text.
const PIECES: &[&str] = &[
    "beginning",
    "character",
    "characters",
    "end",
    "half",
    "letter",
    "letters",
    "line",
    "lines",
    "part",
    "piece",
    "sentence",
    "sentences",
    "space",
    "spaces",
    "start",
    "word",
    "words",
];

/// Said when a piece of a field is to be taken away.
const ONLY_WHOLE: &str = "I can only empty a whole field, not take a piece out of it. Nothing was changed. \
    Please say what the field is to become, for example: title to Welcome";

impl Reader<'_> {
    /// Finds the word between a part of a component and the component.
    pub(super) fn find_part(&mut self) {
        self.part = match self.verb {
            Some(Verb::Delete) => self.lead(FROM).filter(|at| self.is_taken(*at)),
            Some(Verb::Create) => self.lead(TO).filter(|at| self.is_added(*at)),
            _ => None,
        };
        // What is added is a field with its value, which ends there.
        if let (Some(Verb::Create), Some(part)) = (self.verb, self.part) {
            self.seams.push(self.words[part].start);
            self.seams.sort_unstable();
        }
    }

    /// Finds the word that leads to the component: the last before its number, else the first.
    fn lead(&self, leads: &[&str]) -> Option<usize> {
        let end = self.with.unwrap_or(self.words.len());
        let mut places = (self.from..end).filter(|index| leads.contains(&self.at(*index)));
        match &self.component {
            Some((place, _)) => places
                .take_while(|index| self.words[*index].start < place.start)
                .last(),
            None => places.next(),
        }
    }

    /// Says whether what stands before a word is taken from the component behind it.
    fn is_taken(&self, at: usize) -> bool {
        let says = |start: &str| self.says_before(at, start);
        match self.component {
            Some(_) => !says("security"),
            None => {
                let is_whole = says("component") || says("security") || self.has_kind(at);
                self.is_owned(at) && self.has_part(at) && !is_whole
            }
        }
    }

    /// Says whether what stands before a word is added to the component behind it, which is there
    /// already.
    fn is_added(&self, at: usize) -> bool {
        let is_numbered = self.component.is_some();
        let is_owned = ARTICLES.contains(&self.at(at + 1)) && self.is_owned(at);
        let first = (self.from..at).find(|index| self.says(*index));
        let is_field = first.is_some_and(|index| self.field(index).is_some());
        let has_type = (self.from..at).any(|index| self.is_kind(index));
        let is_whole = self.says_before(at, "component") || self.says_before(at, "security");
        let is_part = (is_numbered && is_field || !has_type) && self.has_part(at);
        is_part && (is_numbered || is_owned) && !is_whole
    }

    /// Says whether a component is named behind a word.
    fn is_owned(&self, at: usize) -> bool {
        let is_component =
            |word: &str| word.starts_with("component") || component_type(word).is_some();
        (at + 1..self.words.len()).any(|index| is_component(self.at(index)))
    }

    /// Says whether a word in front of another begins so.
    fn says_before(&self, at: usize, start: &str) -> bool {
        (self.from..at).any(|index| self.at(index).starts_with(start))
    }

    /// Says whether a type is named before a word that is no field.
    fn has_kind(&self, at: usize) -> bool {
        (self.from..at).any(|index| self.is_kind(index) && self.field(index).is_none())
    }

    fn has_part(&self, at: usize) -> bool {
        let is_quoted = self.message.plain[self.part_place(at)].contains(HIDDEN);
        is_quoted || (self.from..at).any(|index| self.says(index))
    }

    /// Returns what stands between the verb and a word.
    fn part_place(&self, at: usize) -> Word {
        let start = self
            .from
            .checked_sub(1)
            .map_or(0, |verb| self.words[verb].end);
        start..self.words[at].start.max(start)
    }

    fn says(&self, index: usize) -> bool {
        let word = self.at(index);
        !ARTICLES.contains(&word) && !POLITE.contains(&word) && !IDLE.contains(&word)
    }

    /// Reads what is added to a component or taken from it: fields, else a security group.
    pub(super) fn part_fields(&self, at: usize, request: &mut Request) {
        let end = self.words[at].start;
        let (fields, other) = self.parted(at);
        if fields.is_empty() && self.has_part(at) {
            let name = self.group_name(self.part_place(at));
            (request.is_security, request.group) = (true, self.said_group(name));
            return;
        }
        request.verb = Some(Verb::Update);
        if self.verb == Some(Verb::Create) {
            // Directly before the component it has no value.
            let is_bare = (self.from..at).any(|index| {
                let field = self.field(index);
                field.is_some_and(|(_, count)| index + count == at && !self.is_quoted_before(at))
            });
            match is_bare {
                true => request.wanted = fields,
                false => put(request, self.assignments(self.from, end, true)),
            }
            return;
        }
        if self.is_piece(at) {
            request.fault = Some(ONLY_WHOLE.to_string());
            return;
        }
        let kind = |field: &str| {
            FIELDS
                .iter()
                .find(|known| known.0 == field)
                .map(|known| known.1)
        };
        for field in fields {
            let value = match kind(&field) {
                Some(Kind::Flag) => false.into(),
                _ => "".into(),
            };
            request.updates.insert(field, value);
        }
        // What is no field is said to be left out.
        let left = other.into_iter().map(|word| (word, "".into()));
        request.updates.extend(left);
    }

    /// Says whether a quoted value stands directly before a word.
    fn is_quoted_before(&self, at: usize) -> bool {
        let before = &self.message.plain[..self.words[at].start];
        before.trim_end().ends_with(HIDDEN)
    }

    /// Says whether only a piece of a field is to be taken away: "the word Home from the title".
    fn is_piece(&self, at: usize) -> bool {
        let is_said = |index: usize| PIECES.contains(&self.at(index)) || self.leads_to_field(index);
        let is_quoted = self.message.plain[self.part_place(at)].contains(HIDDEN);
        is_quoted || (self.from..at).any(is_said)
    }

    /// Says whether a word leads from a piece to its field: "Home from the title". What stands before
    /// `of` can be the field itself, or say nothing: "the value of the title".
    fn leads_to_field(&self, index: usize) -> bool {
        let is_field =
            |index: usize| self.field(index).is_some() || self.part_status(index).is_some();
        match self.at(index) {
            "of" => index > self.from && self.says(index - 1) && !is_field(index - 1),
            word => FROM.contains(&word),
        }
    }

    /// Tells the fields before a word from what is none.
    fn parted(&self, at: usize) -> (Vec<String>, Vec<String>) {
        let (mut fields, mut other, mut index) = (Vec::new(), Vec::new(), self.from);
        while index < at {
            let status = || Some((self.part_status(index)?.to_string(), 1));
            let (field, count) = self.field(index).or_else(status).unzip();
            fields.extend(field);
            if count.is_none() && self.says(index) {
                other.push(self.at(index).to_string());
            }
            index += count.unwrap_or(1);
        }
        (fields, other)
    }

    /// Finds the field that a word such as `blurred` sets.
    fn part_status(&self, index: usize) -> Option<&'static str> {
        let mut known = STATUS.iter().chain(STATUS_VERBS);
        let found = known.find(|status| status.0 == self.at(index))?;
        Some(found.1)
    }
}

//! What a component is called, in words that no other rule reads: "the Logout button". What is not
//! understood of a description must not be passed over, or another component is taken.

use super::Request;
use super::reader::Reader;
use crate::chat::message::{HIDDEN, SEAM, Word};
use crate::chat::vocabulary::{ARTICLES, POLITE, STATUS, VERBS, Verb};

/// Words after which a description begins.
const BOUNDS: &[&str] = &[
    "of", "to", "from", "on", "in", "into", "for", "with", "as", "off", "and", "at",
];
/// Words beside a type that say nothing of it.
const FILLERS: &str = "me us your that these those all any each every both some one only just s again \
    it is are not no un be so which what existing current whole entire component components page site \
    client there i or display";

impl Reader<'_> {
    /// Finds what the component is called beside its type, or beside the word `component`.
    pub(super) fn called(&self, request: &Request) -> Option<String> {
        let is_new = request.verb == Some(Verb::Create) && !request.is_security;
        if self.component.is_some() || is_new {
            return None;
        }
        let kind = self.kind_index().or_else(|| self.noun())?;
        let is_pair = self.at(kind + 1).starts_with("component");
        let last = if is_pair { kind + 1 } else { kind };
        let is_read = match request.verb {
            None => request.updates.is_empty() && request.wanted.is_empty(),
            verb => verb == Some(Verb::Read),
        };
        let mut parts = Vec::new();
        match (is_read, self.at(last).ends_with('s')) {
            // A list is not made shorter by what is not understood.
            (true, true) => return None,
            (true, false) => self.unread(self.ahead(kind), &mut parts),
            (false, _) => {
                self.unread(self.ahead(kind), &mut parts);
                self.unread(self.behind(last, request), &mut parts);
            }
        }
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Finds the word `component` in front of the value.
    fn noun(&self) -> Option<usize> {
        let end = self.value.map_or(self.message.plain.len(), |(end, _)| end);
        let from = self.part.map_or(self.from, |part| part + 1);
        let mut places = (from..self.words.len()).filter(|index| self.words[*index].start < end);
        places.find(|index| self.at(*index).starts_with("component"))
    }

    /// Returns what stands before a type and belongs to it.
    fn ahead(&self, kind: usize) -> Word {
        let end = self.words[kind].start;
        let seam = self.message.plain[..end]
            .rfind(SEAM)
            .map_or(0, |at| at + SEAM.len_utf8());
        let from = self.part.map_or(self.from, |part| part + 1);
        let is_bound = |index: &usize| self.is_bound(*index);
        let bound = (from..kind).rev().find(is_bound).or(from.checked_sub(1));
        let start = bound.map_or(0, |index| self.words[index].end);
        start.max(seam).min(end)..end
    }

    fn is_bound(&self, index: usize) -> bool {
        let word = self.at(index);
        let is_group = word.starts_with("security") || word.starts_with("group");
        BOUNDS.contains(&word) || is_group || self.field(index).is_some()
    }

    /// Returns what stands behind a type, up to the value or a description.
    fn behind(&self, last: usize, request: &Request) -> Word {
        let start = self.words[last].end;
        let is_bound = |index: &usize| {
            let word = self.at(*index);
            let is_lead = ["to", "into", "from"].contains(&word) || word.starts_with("security");
            // A reason describes nothing.
            let is_over = word == "because" || request.is_security && is_lead;
            Some(*index) == self.with || is_over || self.begins_change(*index)
        };
        let bound = (last + 1..self.words.len()).find(is_bound);
        let bound = bound.map_or(self.message.plain.len(), |index| self.words[index].start);
        let value = self.value.filter(|(end, _)| *end >= start);
        let value = value.map_or(self.message.plain.len(), |(end, _)| end);
        let is_named_behind = request.is_security
            && (last + 1..self.words.len()).any(|index| self.at(index).starts_with("security"));
        let end = bound.min(value).min(self.seam(start));
        let end = if is_named_behind { start } else { end };
        start..end.max(start)
    }

    /// Says whether a word begins what is to be changed: a field with its value, or another verb. A
    /// field whose value follows further on has more of the description behind it: "caption Logout to".
    fn begins_change(&self, index: usize) -> bool {
        let is_verb = VERBS.iter().any(|(verb, _)| *verb == self.at(index));
        let Some((_, count)) = self.field(index).filter(|_| self.is_change()) else {
            return is_verb && self.is_apart(index);
        };
        let start = self.words[index].start;
        let is_last = self.value.is_none_or(|(sign, _)| sign < start);
        is_last || self.value_at(index + count, false).is_some()
    }

    /// Adds what no rule reads of a place, quoted or not.
    pub(super) fn unread(&self, place: Word, parts: &mut Vec<String>) {
        let plain = &self.message.plain[place.clone()];
        if let (Some(from), Some(to)) = (plain.find(HIDDEN), plain.rfind(HIDDEN)) {
            let quoted = place.start + from..place.start + to + HIDDEN.len();
            parts.push(self.message.text(quoted).to_string());
        }
        let mut index = self.words.partition_point(|word| word.start < place.start);
        while index < self.words.len() && self.words[index].start < place.end {
            let count = self.field(index).map_or(1, |(_, count)| count);
            if self.field(index).is_none() && self.is_unread(index) {
                parts.push(self.message.text(self.words[index].clone()).to_string());
            }
            index += count;
        }
    }

    fn is_unread(&self, index: usize) -> bool {
        let word = self.at(index);
        let is_status = STATUS.iter().any(|status| status.0 == word);
        let is_little = ARTICLES.contains(&word) || POLITE.contains(&word);
        !is_status
            && !is_little
            && FILLERS.split(' ').all(|filler| filler != word)
            && !BOUNDS.contains(&word)
    }
}

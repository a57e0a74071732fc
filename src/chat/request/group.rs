//! The security group that a message is about.

use super::reader::Reader;
use crate::chat::message::{HIDDEN, Word, unquoted};
use crate::chat::vocabulary::{ARTICLES, POLITE, Verb};

/// Words between a component and a security group.
const BETWEEN: &[&str] = &["to", "into", "in", "from", "on"];

impl Reader<'_> {
    /// Finds the security group that is named before or after those words.
    pub(super) fn group(&self) -> (bool, Option<String>) {
        let pair = |index: &usize| {
            self.at(*index) == "security" && self.at(*index + 1).starts_with("group")
        };
        let whole = |index: &usize| {
            self.at(*index)
                .replace(['-', '_'], "")
                .starts_with("securitygroup")
        };
        let mut words = 0..self.words.len();
        let Some(index) =
            words.find(|index| pair(index) || whole(index) || self.is_moved_to(*index))
        else {
            let group = self.joined();
            let is_joined = group.is_some();
            return (is_joined, group.and_then(|name| self.said_group(name)));
        };
        let after = index + if pair(&index) { 2 } else { 1 };
        let start = self
            .from
            .checked_sub(1)
            .map_or(0, |verb| self.words[verb].end);
        let before = start.min(self.words[index].start)..self.words[index].start;
        // In "component 101 to the premium security group" it stands after the component.
        let words = || {
            self.words
                .iter()
                .filter(|word| before.contains(&word.start))
        };
        let lead = words().rfind(|word| BETWEEN.contains(&self.word(word)));
        let begin = lead.map_or(before.start, |word| word.end);
        let mut later = words().filter(|word| word.start >= begin);
        let is_about = later.any(|word| self.word(word).starts_with("component"));
        let name = if is_about {
            String::new()
        } else {
            self.name(begin..before.end)
        };
        if !name.is_empty() {
            return (true, Some(name));
        }
        let from = self.words[after - 1].end;
        let mut rest = self.words.iter().skip(after);
        let stop = rest.find(|word| ["to", "from", "on", "for", "of"].contains(&self.word(word)));
        let end = stop.map_or(self.message.plain.len(), |word| word.start);
        let end = end.min(self.seam(from)).max(from);
        (true, self.said_group(self.group_name(from..end)))
    }

    /// Says whether a word is the group that a component is added to or taken from: "component 101 to the
    /// premium group".
    fn is_moved_to(&self, index: usize) -> bool {
        let is_group = ["group", "groups"].contains(&self.at(index));
        let is_verb = matches!(self.verb, Some(Verb::Create | Verb::Delete));
        let Some((place, _)) = self.component.as_ref().filter(|_| is_group && is_verb) else {
            return false;
        };
        let behind = self.words.partition_point(|word| word.start < place.end);
        let ahead = self.words.partition_point(|word| word.start < place.start);
        // Near enough that the gap is short.
        if behind >= index || index - behind > 4 {
            return false;
        }
        let is_little = |at: usize| self.is_kind(at) || ARTICLES.contains(&self.at(at));
        let is_first = (self.from..ahead).all(is_little);
        let gap = self.message.plain.get(place.end..self.words[index].start);
        let is_open = gap.is_some_and(|gap| !gap.contains([',', ';']));
        is_first && is_open && BETWEEN.contains(&self.at(behind))
    }

    /// Returns the name of a group where there is one, else the answer to the question for it.
    pub(super) fn said_group(&self, name: String) -> Option<String> {
        match name.is_empty() {
            true => self.answer().map(|answer| bare_name(&answer)),
            false => Some(name),
        }
    }

    /// Finds the group to which a component that is there already is added: "my card to premium". Its
    /// name is empty in "my card to the group".
    fn joined(&self) -> Option<String> {
        let mut words = self.from..self.words.len();
        let names_group = words.any(|index| ["group", "groups"].contains(&self.at(index)));
        let is_owned = ["my", "our", "this"].contains(&self.at(self.from));
        let is_there = is_owned || names_group && self.at(self.from) == "the";
        let is_new = self.verb != Some(Verb::Create) || !is_there || self.part.is_some();
        let kind = self.kind_index().filter(|_| !is_new)?;
        let is_pair = self.at(kind + 1).starts_with("component");
        let to = kind + 1 + usize::from(is_pair);
        let lead = self.words.get(to);
        let from = lead.filter(|_| ["to", "into"].contains(&self.at(to)))?;
        let place = from.end..self.seam(from.end);
        (!self.name(place.clone()).is_empty()).then(|| self.group_name(place))
    }

    /// Returns the name of a group without what is said behind it: "premium group, please".
    pub(super) fn group_name(&self, place: Word) -> String {
        let is_beside = |word: &str| POLITE.contains(&word) || ["group", "groups"].contains(&word);
        let mut end = place.end;
        let words = self.words.iter().rev();
        for word in words.filter(|word| place.contains(&word.start)) {
            let gap = self.message.plain.get(word.end..end);
            let is_last = gap.is_some_and(|gap| !gap.contains(HIDDEN));
            if !is_last || !is_beside(self.word(word)) {
                break;
            }
            end = word.start;
        }
        self.name(place.start..end)
    }

    /// Returns what is left of a text without little words at its start.
    pub(super) fn name(&self, place: Word) -> String {
        let mut start = place.start;
        for word in self.words.iter().filter(|word| place.contains(&word.start)) {
            let is_next = self.message.plain[start..word.start].trim().is_empty();
            if is_next && ARTICLES.contains(&self.word(word)) {
                start = word.end;
            }
        }
        let text = self.message.text(start..place.end);
        let text = text.trim_matches([',', ';', ':', ' ', '=']);
        unquoted(text).to_string()
    }
}

/// Takes the little words off an answer that names a group: "the premium one, please".
fn bare_name(answer: &str) -> String {
    let is = |list: &[&[&str]], word: &str| {
        let word = word.trim_matches([',', '.', '!']).to_lowercase();
        list.iter().any(|words| words.contains(&word.as_str()))
    };
    let words: Vec<&str> = answer.split_whitespace().collect();
    let begin = words
        .iter()
        .take_while(|word| is(&[ARTICLES], word))
        .count();
    let behind = words[begin..].iter().rev();
    let tail = behind
        .take_while(|word| is(&[POLITE, &["one", "group", "groups"]], word))
        .count();
    match begin + tail < words.len() && tail + begin > 0 {
        true => words[begin..words.len() - tail]
            .join(" ")
            .trim_end_matches([',', '.'])
            .to_string(),
        false => answer.to_string(),
    }
}

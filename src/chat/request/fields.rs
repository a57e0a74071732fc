//! Fields that a message names, and what they are to become.

use super::Request;
use super::made::take_id;
use super::reader::Reader;
use crate::chat::message::{HIDDEN, SEAM, Word};
use crate::chat::value::{brief, label, plain};
use crate::chat::vocabulary::{
    ARTICLES, PHRASES, POLITE, PROTECTED, STATUS, STATUS_VERBS, Verb, component_type,
};

/// Words between a field and its value.
const BECOMES: [&str; 4] = ["to", "into", "as", "is"];

/// Takes values of fields over. One that has two values has none.
pub(super) fn put(request: &mut Request, pairs: Vec<(String, String)>) {
    for (key, value) in pairs {
        let before = request.updates.insert(key.clone(), value.clone().into());
        if let Some(before) = before.filter(|before| plain(before) != value) {
            request.fault = Some(format!(
                "\"{}\" and \"{}\" are both to be the {}. Nothing was changed. Please say it again \
                 with one of them.",
                brief(&plain(&before)),
                brief(&value),
                brief(label(&key)),
            ));
        }
    }
}

impl Reader<'_> {
    /// Finds what people call a field at a word: its path, and how many words it is.
    pub(super) fn phrase(&self, index: usize) -> Option<(String, usize)> {
        let fits = |words: &&(&[&str], &str)| {
            words
                .0
                .iter()
                .enumerate()
                .all(|(offset, word)| self.at(index + offset) == *word)
        };
        let longest = PHRASES
            .iter()
            .filter(fits)
            .max_by_key(|(words, _)| words.len());
        longest.map(|(words, path)| (path.to_string(), words.len()))
    }

    /// Finds a key as programs write it: with a point or an underscore in it, whatever else.
    pub(super) fn raw_key(&self, index: usize) -> Option<String> {
        let word = self.words.get(index)?;
        let before = &self.message.plain[..word.start];
        if before.ends_with(|c: char| !c.is_whitespace()) {
            return None;
        }
        let rest = self.message.body.get(word.start..)?;
        let token = rest.split([' ', '\t', '\n', '=', ':', ',', SEAM]).next()?;
        let is_number = token.bytes().all(|c| c.is_ascii_digit() || c == b'.');
        let is_key = token.trim_end_matches('.').contains(['.', '_']) && !is_number;
        let is_protected = PROTECTED.contains(&token);
        (is_key || is_protected).then(|| token.to_string())
    }

    pub(super) fn field(&self, index: usize) -> Option<(String, usize)> {
        let start = self.words.get(index)?.start;
        // In `component_id=101` it is how the component is named.
        let names_component = |(place, _): &(Word, String)| place.contains(&start);
        if self.component.as_ref().is_some_and(names_component) {
            return None;
        }
        let raw = self.raw_key(index).map(|key| (key, 1));
        let field = raw.or_else(|| self.phrase(index))?;
        // In "my text component" it is a type.
        (!self.at(index + field.1).starts_with("component")).then_some(field)
    }

    /// Finds fields with their values. With `loose` a value may follow at once, without a sign.
    pub(super) fn assignments(
        &self,
        from: usize,
        end: usize,
        loose: bool,
    ) -> Vec<(String, String)> {
        let mut found: Vec<(String, usize, usize)> = Vec::new();
        let mut index = from;
        while index < self.words.len() && self.words[index].start < end {
            let field = self
                .field(index)
                .filter(|_| found.is_empty() || self.is_apart(index));
            let value = field
                .as_ref()
                .and_then(|(_, count)| self.value_at(index + count, loose));
            match (field, value) {
                (Some((key, count)), Some(value)) => {
                    found.push((key, self.words[index].start, value));
                    index += count;
                }
                _ => index += 1,
            }
        }
        let ends = found.iter().skip(1).map(|(_, start, _)| *start);
        let ends: Vec<usize> = ends.chain([self.message.plain.len()]).collect();
        let values = found.into_iter().zip(ends).map(|((key, _, from), end)| {
            let end = end.min(self.seam(from)).max(from);
            (key, from, self.tidy(from..end))
        });
        // Nothing is a value only when it is quoted.
        let said = values.filter(|(_, from, value)| !value.is_empty() || self.is_quoted(*from));
        said.map(|(key, _, value)| (key, value)).collect()
    }

    /// Takes the words off the end of a value that lead to the next field.
    pub(super) fn tidy(&self, place: Word) -> String {
        let mut end = place.end;
        loop {
            let text = self.message.plain[place.start..end].trim_end_matches([' ', ',', ';']);
            let last = ["and", "the", "its", "with"].iter().find(|word| {
                let rest = text.strip_suffix(**word);
                let is_lead = |rest: &str| **word != "with" || rest.trim_end().ends_with(HIDDEN);
                rest.is_some_and(|rest| {
                    rest.ends_with(' ') && is_lead(rest) && place.end < self.message.plain.len()
                })
            });
            end = place.start + text.len();
            match last {
                Some(word) => end -= word.len(),
                None => return self.message.text(place.start..end).to_string(),
            }
        }
    }

    /// Says whether a field stands apart from the value before it: `…, caption`, `… and the caption`,
    /// `"…" with caption`.
    pub(super) fn is_apart(&self, index: usize) -> bool {
        let start = self.words[index].start;
        let before = self.message.plain[..start].trim_end();
        let before = ["the", "its"]
            .iter()
            .find_map(|word| before.strip_suffix(word))
            .unwrap_or(before);
        let before = before.trim_end();
        let quote = before.strip_suffix(" with").unwrap_or(before).trim_end();
        before.ends_with([',', ';', SEAM]) || before.ends_with(" and") || quote.ends_with(HIDDEN)
    }

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
            Some(word) if BECOMES.contains(&self.word(word)) => Some(word.end),
            _ => loose.then_some(end),
        }
    }

    /// Finds which fields are to become what, or are only named.
    pub(super) fn fields(&self, request: &mut Request) {
        let end = self.message.plain.len();
        if let Some(at) = self.part {
            return self.part_fields(at, request);
        }
        match request.verb {
            Some(Verb::Create) => {
                let kind = (self.from..self.words.len())
                    .find(|index| component_type(self.at(*index)).is_some());
                if let Some(from) = self.with.or(kind.map(|index| index + 1)) {
                    put(request, self.assignments(from, end, true));
                    take_id(request);
                }
            }
            Some(Verb::Update) | None => {
                let with = self.with.filter(|_| self.component.is_some());
                let loose = with.map(|from| self.assignments(from, end, true));
                let pairs = loose.filter(|pairs| !pairs.is_empty());
                put(
                    request,
                    pairs.unwrap_or_else(|| self.assignments(self.from, end, false)),
                );
                match request.updates.is_empty() {
                    true => self.far_fields(request),
                    // In "blur it and set its title to X" the verb says something too.
                    false => self.set_by_verbs(request),
                }
            }
            _ => {}
        }
    }

    /// Finds fields whose value stands further on: "title of my card to Welcome".
    pub(super) fn far_fields(&self, request: &mut Request) {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let described = self
            .with
            .map_or(end, |index| self.words[index].start.min(end));
        let mut fields = Vec::new();
        let mut index = self.from;
        while index < self.words.len() {
            let start = self.words[index].start;
            let field = self
                .field(index)
                .filter(|_| start < described || start > seam);
            if let Some((key, _)) = &field {
                fields.push((
                    key.clone(),
                    self.raw_key(index).is_some(),
                    self.is_kind(index),
                    start,
                ));
            }
            index += field.map_or(1, |(_, count)| count);
        }
        if fields.iter().any(|field| field.1) {
            fields.retain(|field| field.1);
        }
        if fields.iter().any(|field| !field.2) {
            fields.retain(|field| !field.2);
        }
        let last = self.message.plain.rfind(SEAM).unwrap_or(0);
        let is_before = |field: &&(String, bool, bool, usize)| !field.2 && field.3 < last;
        let before = fields.iter().filter(is_before);
        let before: Vec<String> = before.map(|field| field.0.clone()).collect();
        let mut keys: Vec<String> = fields.into_iter().map(|field| field.0).collect();
        if keys.is_empty() && self.from > 0 && self.at(self.from - 1) == "rename" {
            keys.push("props.title".to_string());
        }
        let is_status = keys.is_empty() || keys == ["is_secured"] || keys == ["is_blur"];
        if is_status && self.status(request) {
            return;
        }
        let answered = self.answered_field();
        if let Some(key) = answered.filter(|key| before.is_empty() || before.contains(key)) {
            request.wanted = vec![key];
            return;
        }
        // What was wanted before is answered, whatever the answer reads like.
        if !before.is_empty() {
            keys = before;
        }
        match request.value.clone().or_else(|| self.answer()) {
            Some(value) => {
                for key in keys {
                    request.updates.insert(key, value.clone().into());
                }
            }
            None => request.wanted = keys,
        }
    }

    pub(super) fn is_kind(&self, index: usize) -> bool {
        component_type(self.at(index)).is_some()
    }

    /// Finds the field that an answer only names, which is no value yet.
    fn answered_field(&self) -> Option<String> {
        let seam = self.message.plain.rfind(SEAM)?;
        let is_said = |word: &Word| word.start > seam && !ARTICLES.contains(&self.word(word));
        let first = self.words.iter().position(is_said)?;
        let (key, count) = self.field(first)?;
        let is_all = first + count == self.words.len();
        (is_all && !self.message.plain[seam..].contains(HIDDEN)).then_some(key)
    }

    /// Finds words such as `blurred`, which are field and value at once.
    pub(super) fn status(&self, request: &mut Request) -> bool {
        for (index, word) in self.words.iter().enumerate() {
            let is_not = index > 0 && ["not", "no", "un"].contains(&self.at(index - 1));
            let is_verb = self.is_status_verb(index);
            let known = if is_verb { STATUS_VERBS } else { STATUS };
            let named = known.iter().find(|(name, ..)| *name == self.word(word));
            if let Some((_, field, value)) = named {
                request
                    .updates
                    .insert((*field).to_string(), (*value != is_not).into());
                self.beyond(request, is_verb);
            }
        }
        !request.updates.is_empty()
    }

    /// Says whether a word is the verb, or one that follows it: "blur and secure".
    fn is_status_verb(&self, index: usize) -> bool {
        let is_known = |word: &str| STATUS_VERBS.iter().any(|verb| verb.0 == word);
        let begin = self.from.checked_sub(1).filter(|from| *from <= index);
        let row = begin.map(|from| (from..=index).map(|index| self.at(index)));
        row.is_some_and(|mut row| row.all(|word| word == "and" || is_known(word)))
    }

    /// Sets what the verb says by itself.
    fn set_by_verbs(&self, request: &mut Request) {
        let verbs = (0..self.words.len()).filter(|index| self.is_status_verb(*index));
        for index in verbs {
            let verb = STATUS_VERBS.iter().find(|verb| verb.0 == self.at(index));
            if let Some((_, field, value)) = verb {
                let field = (*field).to_string();
                request.updates.entry(field).or_insert((*value).into());
            }
        }
    }

    /// Has it said that what follows the component is left out: "schedule component 101 for May".
    fn beyond(&self, request: &mut Request, is_verb: bool) {
        let Some((place, _)) = self.component.as_ref().filter(|_| is_verb) else {
            return;
        };
        let rest = self.message.text(place.end..self.seam(place.end));
        let rest = rest.trim_matches([',', '.', ';', '!', '?', ' ']);
        if !rest.split_whitespace().all(|word| POLITE.contains(&word)) {
            request.updates.insert(rest.to_string(), true.into());
        }
    }
}

//! Fields that a message names, and what they are to become.

use super::Request;
use super::made::take_id;
use super::reader::Reader;
use crate::chat::message::{HIDDEN, SEAM, Word};
use crate::chat::value::{brief, label, plain};
use crate::chat::vocabulary::{ARTICLES, PHRASES, POLITE, PROTECTED, Verb, component_type};

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
        self.texts(self.placed(from, end, loose))
    }

    /// Finds which fields are to become what, or are only named.
    pub(super) fn fields(&self, request: &mut Request) {
        if let Some(at) = self.part {
            return self.part_fields(at, request);
        }
        match request.verb {
            Some(Verb::Create) => {
                let made = self.made();
                self.made_states(request, &made);
                put(request, self.texts(made));
                take_id(request);
            }
            Some(Verb::Update) | None => {
                let changes = self.changes();
                let open = self.open_fields(&changes);
                let values: Vec<Word> = changes.iter().map(|one| one.value.clone()).collect();
                put(request, self.texts(changes));
                match request.updates.is_empty() {
                    true => self.far_fields(request),
                    // In "blur it and set its title to X" the verb says something too.
                    false => {
                        self.states_beside(request, &values);
                        request.wanted = open;
                    }
                }
            }
            _ => {}
        }
    }

    /// Finds fields whose value stands further on: "title of my card to Welcome".
    pub(super) fn far_fields(&self, request: &mut Request) {
        let fields = self.named_fields();
        let last = self.message.plain.rfind(SEAM).unwrap_or(0);
        let before = fields
            .iter()
            .filter(|field| !field.is_kind && field.start < last);
        let before: Vec<String> = before.map(|field| field.key.clone()).collect();
        let mut keys: Vec<String> = fields.into_iter().map(|field| field.key).collect();
        keys.extend(self.renamed().filter(|_| keys.is_empty()));
        let is_status = keys.is_empty() || keys == ["is_secured"] || keys == ["is_blur"];
        if is_status && self.status(request) {
            return;
        }
        // "Make component 101 secure".
        let makes = ["make", "mark", "keep"].contains(&self.at(self.from.saturating_sub(1)));
        if keys == ["is_secured"] && makes && request.value.is_none() && before.is_empty() {
            request
                .updates
                .insert("is_secured".to_string(), true.into());
            return;
        }
        let answered = self.answered_field();
        if let Some(key) = answered.filter(|key| before.is_empty() || before.contains(key)) {
            request.wanted = vec![key];
            return;
        }
        if before.is_empty() && request.value.is_none() && self.put_answered(request) {
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

    /// Takes an answer that begins with a field for what that is to become: "title Foo".
    fn put_answered(&self, request: &mut Request) -> bool {
        let Some(seam) = self.message.plain.rfind(SEAM) else {
            return false;
        };
        let little = [ARTICLES, &["only", "just"]].concat();
        let is_said = |word: &Word| word.start > seam && !little.contains(&self.word(word));
        let first = self.words.iter().position(is_said);
        let Some(first) = first.filter(|first| self.field(*first).is_some()) else {
            return false;
        };
        if let Some(named) = self.only_named(first) {
            request.wanted = named;
            return true;
        }
        let pairs = self.assignments(first, self.message.plain.len(), true);
        let is_taken = !pairs.is_empty();
        put(request, pairs);
        is_taken
    }

    /// Returns the fields from a word on where there is nothing else: "title and description".
    fn only_named(&self, first: usize) -> Option<Vec<String>> {
        let (mut named, mut index) = (Vec::new(), first);
        while index < self.words.len() {
            let field = self.field(index);
            let word = self.at(index);
            let is_little = [ARTICLES, POLITE, &["only", "just"]]
                .iter()
                .any(|list| list.contains(&word));
            index += field.as_ref().map_or(1, |(_, count)| *count);
            match field {
                Some((key, _)) => named.push(key),
                None if is_little => {}
                None => return None,
            }
        }
        let quotes = self.message.plain[self.words[first].start..].contains(HIDDEN);
        (!quotes).then_some(named)
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
}

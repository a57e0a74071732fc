//! What a message asks for, as far as words tell: what to do, to which component, which fields are to
//! become what. Nothing here is checked yet.

use serde_json::{Map, Value};

use super::message::{HIDDEN, Message, SEAM, Word, unquoted};
use super::vocabulary::{PHRASES, PROTECTED, STATUS, VERBS, Verb, component_type};

/// Words between a field and its value.
const BECOMES: [&str; 4] = ["to", "into", "as", "is"];
/// Words after which a component is described.
const WITH: [&str; 6] = ["with", "titled", "called", "named", "whose", "where"];
/// Words that say nothing.
const ARTICLES: [&str; 8] = ["a", "an", "the", "my", "its", "our", "new", "this"];

/// Words in front of a verb that is not to be followed; `t` is the end of "don't".
const NEGATIONS: [&str; 4] = ["not", "never", "dont", "t"];

/// What a message asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    /// The message, with what it completes.
    pub(super) message: String,
    /// The client that it is about, now or before.
    pub(super) client: Option<String>,
    /// The component that it names by number.
    pub(super) component: Option<String>,
    /// Other components that it names by number.
    pub(super) others: Vec<String>,
    /// What to do.
    pub(super) verb: Option<Verb>,
    /// Words in front of the value, and of answers.
    pub(super) head: Vec<String>,
    /// All words outside of quotes.
    pub(super) words: Vec<String>,
    /// What something is to become.
    pub(super) value: Option<String>,
    /// The type of components that it is about.
    pub(super) kind: Option<&'static str>,
    /// Whether it is about a security group.
    pub(super) is_security: bool,
    /// The security group that it names.
    pub(super) group: Option<String>,
    /// Fields and what they are to become.
    pub(super) updates: Map<String, Value>,
    /// Fields that it names without a value.
    pub(super) wanted: Vec<String>,
    /// What the component is described by.
    pub(super) criteria: Map<String, Value>,
}

impl Request {
    /// Reads a message; `client` is the one that the conversation named last.
    pub(super) fn read(text: &str, client: Option<&str>) -> Request {
        let message = Message::read(text);
        let reader = Reader::new(&message);
        let mut request = Request {
            message: text.to_string(),
            client: message.client.clone().or(client.map(String::from)),
            component: reader.component.as_ref().map(|found| found.1.clone()),
            others: message.others(reader.limit),
            verb: reader.verb,
            words: reader
                .words
                .iter()
                .map(|word| reader.word(word).to_string())
                .collect(),
            head: reader.head(),
            value: reader.value(),
            kind: reader.kind(),
            ..Request::default()
        };
        (request.is_security, request.group) = reader.group();
        if !request.is_security {
            reader.fields(&mut request);
        }
        request.criteria = reader.criteria(request.verb);
        request
    }

    /// Says whether one of the words is there, in front of the value.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.head.iter().any(|word| words.contains(&word.as_str()))
    }
}

struct Reader<'a> {
    message: &'a Message,
    words: Vec<Word>,
    verb: Option<Verb>,
    /// Index of the first word after the verb.
    from: usize,
    component: Option<(Word, String)>,
    /// Where the words end that may name components.
    limit: usize,
    /// Where the value begins, and where the words before it end.
    value: Option<(usize, usize)>,
    /// Index of the word after which a component is described.
    with: Option<usize>,
    /// Where answers begin that complete the message.
    seams: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn new(message: &'a Message) -> Reader<'a> {
        let mut reader = Reader {
            message,
            words: message.words(),
            verb: None,
            from: 0,
            component: None,
            limit: 0,
            value: None,
            with: None,
            seams: message
                .plain
                .match_indices(SEAM)
                .map(|(at, _)| at)
                .collect(),
        };
        reader.find_verb();
        reader.find_value();
        let end = reader.head_end();
        let mut later = reader.words.iter().enumerate().skip(reader.from);
        reader.with = later
            .find(|(_, word)| word.start < end && WITH.contains(&reader.word(word)))
            .map(|(index, _)| index);
        reader
    }

    fn word(&self, word: &Word) -> &'a str {
        &self.message.plain[word.clone()]
    }

    fn at(&self, index: usize) -> &'a str {
        self.words.get(index).map_or("", |word| self.word(word))
    }

    fn find_verb(&mut self) {
        let named = |word: &Word| VERBS.iter().find(|(name, _)| *name == self.word(word));
        let found = self
            .words
            .iter()
            .enumerate()
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

    /// Says whether a word is part of a value: a field and the sign of its value stand before it, as
    /// in "title to Delete me".
    fn is_value(&self, verb: usize) -> bool {
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

    fn is_change(&self) -> bool {
        matches!(self.verb, None | Some(Verb::Update))
    }

    /// Finds the component first: its number may be written with the sign that values follow too.
    fn find_value(&mut self) {
        let text = self.message;
        let mut later = self
            .words
            .iter()
            .skip(self.from)
            .filter(|_| self.is_change());
        let becomes = later.find(|word| ["to", "into", "as"].contains(&self.word(word)));
        let limit = becomes.map_or(text.plain.len(), |word| word.start);
        (self.component, self.limit) = (text.component(limit), limit);
        let inside = self
            .component
            .as_ref()
            .map_or(0..0, |(place, _)| place.clone());
        let start = self.words.get(self.from).map_or(0, |word| word.start);
        let equals = text.plain.match_indices('=').map(|(at, _)| at);
        let mut equals =
            equals.filter(|at| *at >= start && !inside.contains(at) && self.is_change());
        let equals = equals.next().map(|at| (at, at + 1));
        let word = becomes.map(|word| (word.start, word.end));
        self.value = [equals, word].into_iter().flatten().min();
    }

    /// Returns where the words in front of the value end.
    fn head_end(&self) -> usize {
        self.value.map_or_else(|| self.seam(0), |(end, _)| end)
    }

    /// Returns where the next answer begins that completes the message.
    fn seam(&self, from: usize) -> usize {
        let next = self.seams.iter().find(|seam| **seam >= from);
        next.copied().unwrap_or(self.message.plain.len())
    }

    fn head(&self) -> Vec<String> {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let words = self
            .words
            .iter()
            .filter(|word| word.start < end || word.start > seam);
        words.map(|word| self.word(word).to_string()).collect()
    }

    fn value(&self) -> Option<String> {
        let (_, from) = self.value?;
        let text = self
            .message
            .body
            .get(from..self.seam(from))
            .unwrap_or_default();
        let text = text.trim().trim_end_matches([',', ';']).trim();
        (!text.is_empty() || self.is_quoted(from)).then(|| unquoted(text).to_string())
    }

    fn is_quoted(&self, from: usize) -> bool {
        let rest = self.message.plain[from..].trim_start();
        rest.starts_with(HIDDEN)
    }

    /// Returns the last answer that completes the message.
    fn answer(&self) -> Option<String> {
        let at = self.message.body.rfind(SEAM)?;
        let text = self
            .message
            .text(at + SEAM.len_utf8()..self.message.body.len());
        let text = text.trim().strip_prefix("to ").unwrap_or(text);
        (!text.is_empty()).then(|| text.to_string())
    }

    /// Finds the type: a word right before `component`, else the first that is no field.
    fn kind(&self) -> Option<&'static str> {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let described = self
            .with
            .map_or(end, |index| self.words[index].start.min(end));
        let places = |index: &usize| {
            let start = self.words[*index].start;
            start < described || start > seam
        };
        let kinds: Vec<usize> = (self.from..self.words.len())
            .filter(places)
            .filter(|index| component_type(self.at(*index)).is_some())
            .collect();
        let before = kinds
            .iter()
            .find(|index| self.at(**index + 1).starts_with("component"));
        let is_field = |index: usize| self.is_change() && self.phrase(index).is_some();
        let other = || kinds.iter().find(|index| !is_field(**index));
        before
            .or_else(other)
            .and_then(|index| component_type(self.at(*index)))
    }

    /// Finds what people call a field at a word: its path, and how many words it is.
    fn phrase(&self, index: usize) -> Option<(String, usize)> {
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
    fn raw_key(&self, index: usize) -> Option<String> {
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

    fn field(&self, index: usize) -> Option<(String, usize)> {
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
    fn assignments(&self, from: usize, end: usize, loose: bool) -> Vec<(String, String)> {
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
    fn tidy(&self, place: Word) -> String {
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
    fn is_apart(&self, index: usize) -> bool {
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
    fn value_at(&self, next: usize, loose: bool) -> Option<usize> {
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
    fn fields(&self, request: &mut Request) {
        let put = |request: &mut Request, pairs: Vec<(String, String)>| {
            for (key, value) in pairs {
                request.updates.insert(key, value.into());
            }
        };
        let end = self.message.plain.len();
        match request.verb {
            Some(Verb::Create) => {
                let kind = (self.from..self.words.len())
                    .find(|index| component_type(self.at(*index)).is_some());
                if let Some(from) = self.with.or(kind.map(|index| index + 1)) {
                    put(request, self.assignments(from, end, true));
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
                if request.updates.is_empty() {
                    self.far_fields(request);
                }
            }
            _ => {}
        }
    }

    /// Finds fields whose value stands further on: "title of my card to Welcome".
    fn far_fields(&self, request: &mut Request) {
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
                ));
            }
            index += field.map_or(1, |(_, count)| count);
        }
        if fields.iter().any(|(_, is_raw, _)| *is_raw) {
            fields.retain(|(_, is_raw, _)| *is_raw);
        }
        if fields.iter().any(|(_, _, is_kind)| !is_kind) {
            fields.retain(|(_, _, is_kind)| !is_kind);
        }
        let mut keys: Vec<String> = fields.into_iter().map(|(key, _, _)| key).collect();
        if keys.is_empty() && self.from > 0 && self.at(self.from - 1) == "rename" {
            keys.push("props.title".to_string());
        }
        let is_status = keys.is_empty() || keys == ["is_secured"] || keys == ["is_blur"];
        if is_status && self.status(request) {
            return;
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

    fn is_kind(&self, index: usize) -> bool {
        component_type(self.at(index)).is_some()
    }

    /// Finds words such as `blurred`, which are field and value at once.
    fn status(&self, request: &mut Request) -> bool {
        for (index, word) in self.words.iter().enumerate() {
            let is_not = index > 0 && ["not", "no", "un"].contains(&self.at(index - 1));
            let named = STATUS.iter().find(|(name, _)| *name == self.word(word));
            let verb = match self.word(word) {
                "blur" if index + 1 == self.from => Some("is_blur"),
                "secure" if index + 1 == self.from => Some("is_secured"),
                _ => None,
            };
            if let Some(field) = named.map(|(_, field)| *field).or(verb) {
                request.updates.insert(field.to_string(), (!is_not).into());
            }
        }
        !request.updates.is_empty()
    }

    /// Finds the security group that is named before or after those words.
    fn group(&self) -> (bool, Option<String>) {
        let pair = |index: &usize| {
            self.at(*index) == "security" && self.at(*index + 1).starts_with("group")
        };
        let whole = |index: &usize| {
            self.at(*index)
                .replace(['-', '_'], "")
                .starts_with("securitygroup")
        };
        let Some(index) = (0..self.words.len()).find(|index| pair(index) || whole(index)) else {
            return (false, None);
        };
        let after = index + if whole(&index) { 1 } else { 2 };
        let start = self
            .from
            .checked_sub(1)
            .map_or(0, |verb| self.words[verb].end);
        let before = start.min(self.words[index].start)..self.words[index].start;
        let is_other = |word: &Word| {
            let word = self.word(word);
            word.starts_with("component") || ["to", "from", "on"].contains(&word)
        };
        let is_about = self
            .words
            .iter()
            .any(|word| before.contains(&word.start) && is_other(word));
        let name = if is_about {
            String::new()
        } else {
            self.name(before)
        };
        if !name.is_empty() {
            return (true, Some(name));
        }
        let from = self.words[after - 1].end;
        let mut rest = self.words.iter().skip(after);
        let stop = rest.find(|word| ["to", "from", "on", "for", "of"].contains(&self.word(word)));
        let end = stop.map_or(self.message.plain.len(), |word| word.start);
        let end = end.min(self.seam(from)).max(from);
        let name = self.name(from..end);
        let name = if name.is_empty() {
            self.answer()
        } else {
            Some(name)
        };
        (true, name)
    }

    /// Returns what is left of a text without little words at its start.
    fn name(&self, place: Word) -> String {
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

    /// Finds what a component is described by.
    fn criteria(&self, verb: Option<Verb>) -> Map<String, Value> {
        let mut criteria = Map::new();
        if verb == Some(Verb::Create) && self.group().0 || verb != Some(Verb::Create) {
            if let Some(kind) = self.kind() {
                criteria.insert("component_type".to_string(), kind.into());
            }
            if let Some(from) = self.with {
                let end = self.head_end();
                for (key, value) in self.assignments(from, end, true) {
                    let value = match end < self.message.plain.len() {
                        true => self.before(&value),
                        false => value,
                    };
                    criteria.insert(key, value.into());
                }
            }
        }
        criteria
    }

    /// Cuts off the value of the change from a description in front of it.
    fn before(&self, value: &str) -> String {
        let cut = value.find(" to ").map_or(value, |at| &value[..at]);
        unquoted(cut.trim()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_and_values_are_found_in_many_ways_of_saying_it() {
        for (message, updates) in [
            (
                "update component 101 title to Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "set the caption of component 103 to Sign in",
                json!({"props.caption": "Sign in"}),
            ),
            (
                "update component 101: title = A, caption: B",
                json!({"props.title": "A", "props.caption": "B"}),
            ),
            (
                "change component 101 title from Home to Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "change component 101 title to A and the url to https://a.b/c?d=1",
                json!({"props.title": "A", "link_props.url": "https://a.b/c?d=1"}),
            ),
            (
                "update component 101 title to Read the description to learn",
                json!({"props.title": "Read the description to learn"}),
            ),
            (
                "update component 101 title to 'a, caption to b'",
                json!({"props.title": "a, caption to b"}),
            ),
            (
                "update component 101 title to \"\"",
                json!({"props.title": ""}),
            ),
            (
                "rename component 101 to Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "update component 101 props.title=Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "update component 101 with title Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "update component_id=101 heading to Welcome",
                json!({"props.title": "Welcome"}),
            ),
            ("update component 101 body to x", json!({"props.text": "x"})),
            (
                "update component 101 subheading to x",
                json!({"props.caption": "x"}),
            ),
            (
                "update component 101 content to x",
                json!({"props.description": "x"}),
            ),
            (
                "update component 101 website to x",
                json!({"link_props.url": "x"}),
            ),
            (
                "update component 101 aspect ratio to 16:9",
                json!({"layout_props.aspectRatio": "16:9"}),
            ),
            (
                "update component 101 card type to wide",
                json!({"layout_props.cardType": "wide"}),
            ),
            (
                "update component 101 template to grid",
                json!({"layout": "grid"}),
            ),
            (
                "update component 101 position to 3",
                json!({"display_order": "3"}),
            ),
            (
                "update component 101 radius to full",
                json!({"manual_edits.properties.radius": "full"}),
            ),
            (
                "update component 101 text color to red",
                json!({"manual_edits.properties.textcolor": "red"}),
            ),
            ("mark component 101 as secured", json!({"is_secured": true})),
            ("make component 101 blurred", json!({"is_blur": true})),
            ("make component 101 not blurred", json!({"is_blur": false})),
            ("blur component 101", json!({"is_blur": true})),
            (
                "set blur of component 101 to false",
                json!({"is_blur": "false"}),
            ),
            (
                "set component 101 to scheduled",
                json!({"schedule_enabled": true}),
            ),
            (
                "add a banner with title Hello and url https://a.b",
                json!({"props.title": "Hello", "link_props.url": "https://a.b"}),
            ),
            (
                "add a banner titled Hello to",
                json!({"props.title": "Hello to"}),
            ),
            (
                "create a new text with caption: Hi",
                json!({"props.caption": "Hi"}),
            ),
            (
                "update title of my card component\u{2} to X",
                json!({"props.title": "X"}),
            ),
            (
                "update component 101 title\u{2} Welcome",
                json!({"props.title": "Welcome"}),
            ),
            (
                "add a card titled \"Big news\" with url https://a.b",
                json!({"props.title": "Big news", "link_props.url": "https://a.b"}),
            ),
            (
                "update component 101 title to 'A' caption to 'B'",
                json!({"props.title": "A", "props.caption": "B"}),
            ),
            (
                "add a card titled Play with text",
                json!({"props.title": "Play with text"}),
            ),
            (
                "component 101 title to Delete me",
                json!({"props.title": "Delete me"}),
            ),
            (
                "component 101 title = Show more",
                json!({"props.title": "Show more"}),
            ),
            ("update component 101 title to ", json!({})),
            ("don't change component 101 title to X", json!({})),
            ("delete component 101", json!({})),
            ("show component 101 title to me", json!({})),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.updates), updates, "{message}");
        }
    }

    #[test]
    fn components_are_described_by_type_and_fields() {
        for (message, criteria) in [
            (
                "update title of my card component to X",
                json!({"component_type": "cards"}),
            ),
            (
                "change my button component with caption Login",
                json!({"component_type": "buttons", "props.caption": "Login"}),
            ),
            (
                "change the title of my card with title Home to Welcome",
                json!({"component_type": "cards", "props.title": "Home"}),
            ),
            (
                "delete my image titled 'a to b'",
                json!({"component_type": "images", "props.title": "a to b"}),
            ),
            (
                "change the text of my image to X",
                json!({"component_type": "images"}),
            ),
            (
                "update my header component",
                json!({"component_type": "headers"}),
            ),
            (
                "add premium security group to my card component",
                json!({"component_type": "cards"}),
            ),
            ("list components", json!({})),
            ("update a component", json!({})),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.criteria), criteria, "{message}");
        }
    }

    #[test]
    fn a_security_group_is_named_before_or_after() {
        for (message, group) in [
            (
                "add premium security group to component 101",
                Some("premium"),
            ),
            (
                "add the 'gold plus' security group to component 101",
                Some("gold plus"),
            ),
            (
                "add security group premium to component 101",
                Some("premium"),
            ),
            (
                "add component 101 to security group premium",
                Some("premium"),
            ),
            (
                "remove the premium security-group from my card component",
                Some("premium"),
            ),
            ("add a security group to component 101", None),
        ] {
            let request = Request::read(message, None);
            assert!(request.is_security, "{message}");
            assert_eq!(request.group.as_deref(), group, "{message}");
        }
    }

    #[test]
    fn a_long_message_is_read_in_one_go() {
        for part in [
            "title to a, ",
            "my card component ",
            "security group ",
            "= : to with ",
            "\"' ",
            "a;",
        ] {
            let message = format!(
                "update component 101 {}",
                part.repeat((1 << 17) / part.len())
            );
            let _ = Request::read(&message, None);
        }
    }
}

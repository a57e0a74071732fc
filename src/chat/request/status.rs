//! Words such as `blurred`, which are field and value at once, in what is changed or made.

use std::collections::HashSet;

use super::Request;
use super::owner::Placed;
use super::reader::Reader;
use crate::chat::message::{HIDDEN, Word};
use crate::chat::vocabulary::{POLITE, STATUS, STATUS_VERBS, component_type};

/// Words right before a status that turn it round.
const NOT: [&str; 3] = ["not", "un", "non"];
/// Words for yes and no, right behind a status.
const FLAGS: [(&str, bool); 6] = [
    ("true", true),
    ("yes", true),
    ("on", true),
    ("false", false),
    ("no", false),
    ("off", false),
];

/// A status that a word says, by the index of the word.
pub(super) type Said = (usize, &'static str, bool);

impl Reader<'_> {
    /// Sets what words such as `blurred` say where nothing else is to become anything.
    pub(super) fn status(&self, request: &mut Request) -> bool {
        for (index, field, value) in self.said_states(&[]) {
            let flag = self.far_flag(index, request.value.as_deref());
            let value = value == flag.unwrap_or(true);
            request.updates.insert(field.to_string(), value.into());
        }
        !request.updates.is_empty()
    }

    /// Sets what such words say beside fields with values at places.
    pub(super) fn states_beside(&self, request: &mut Request, values: &[Word]) {
        for (index, field, value) in self.said_states(values) {
            if self.component.is_none() && !self.is_status_verb(index) && !self.is_alone(index) {
                continue;
            }
            let field = field.to_string();
            request.updates.entry(field).or_insert(value.into());
        }
    }

    /// Sets what such words say of something new: "a blurred card".
    pub(super) fn made_states(&self, request: &mut Request, made: &[Placed]) {
        let places: Vec<Word> = made.iter().map(|one| one.value.clone()).collect();
        let fields: HashSet<usize> = made.iter().map(|one| one.start).collect();
        let words = (self.from..self.words.len()).filter(|index| self.is_open(*index, &places));
        let words = words.filter(|index| !fields.contains(&self.words[*index].start));
        let said = words.filter_map(|index| self.said_state(index));
        for (_, field, value) in said {
            request.updates.insert(field.to_string(), value.into());
        }
    }

    /// Says whether nothing that it could belong to follows a status at once: "the card Secured area" is called so.
    fn is_alone(&self, index: usize) -> bool {
        let Some(next) = self.words.get(index + 1) else {
            return true;
        };
        let gap = &self.message.plain[self.words[index].end..next.start];
        let is_over = self.word(next) == "but" || POLITE.contains(&self.word(next));
        let is_said = self.flag(index).is_some() || self.field(index + 1).is_some();
        !gap.trim().is_empty() || is_over || is_said
    }

    /// Finds the words that say what a status is to be, out of values at places. One that describes the
    /// component says nothing.
    pub(super) fn said_states(&self, values: &[Word]) -> Vec<Said> {
        let words = (0..self.words.len()).filter(|index| self.is_open(*index, values));
        let said = words.filter_map(|index| match self.is_status_verb(index) {
            true => {
                let verb = STATUS_VERBS.iter().find(|verb| verb.0 == self.at(index))?;
                Some((index, verb.1, verb.2))
            }
            false => self.said_state(index).filter(|_| self.is_to_be(index)),
        });
        said.collect()
    }

    /// Says whether a word stands out of values at places, which are in their order.
    pub(super) fn is_open(&self, index: usize, values: &[Word]) -> bool {
        let start = self.words[index].start;
        let next = values.partition_point(|value| value.start <= start);
        !next
            .checked_sub(1)
            .is_some_and(|at| values[at].contains(&start))
    }

    fn is_state(&self, index: usize) -> bool {
        STATUS.iter().any(|status| status.0 == self.at(index))
    }

    /// Reads a status at a word: its column and what it says.
    fn said_state(&self, index: usize) -> Option<Said> {
        let (_, column, value) = STATUS.iter().find(|status| status.0 == self.at(index))?;
        let is_not = self.turned(index).is_some();
        let flag = self.flag(index).unwrap_or(true);
        Some((index, *column, (*value == flag) != is_not))
    }

    /// Finds the word right before a status that turns it round.
    pub(super) fn turned(&self, index: usize) -> Option<usize> {
        let before = index.checked_sub(1)?;
        NOT.contains(&self.at(before)).then_some(before)
    }

    /// Says whether a status with a value at a place belongs to the text before it: neither a quote ends that, nor
    /// is there a sign or a yes or a no.
    pub(super) fn is_of_text(&self, index: usize, value: usize) -> bool {
        let (word, plain) = (&self.words[index], &self.message.plain);
        let is_signed = plain[word.end..value].contains(['=', ':']);
        let before = plain[..word.start].trim_end().trim_end_matches("and");
        let is_closed = before.trim_end_matches([' ', ',', ';']).ends_with(HIDDEN);
        let text = self.message.body.get(value..).unwrap_or_default();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let first = words.find(|word| !word.is_empty()).unwrap_or_default();
        let is_flag = FLAGS.iter().any(|flag| first.eq_ignore_ascii_case(flag.0));
        self.status_field(index).is_some() && !is_signed && !is_closed && !is_flag
    }

    /// Reads a yes or a no right behind a status: "blurred off".
    pub(super) fn flag(&self, index: usize) -> Option<bool> {
        let (word, next) = (&self.words[index], self.words.get(index + 1)?);
        let gap = self.message.plain.get(word.end..next.start)?;
        let flag = FLAGS.iter().find(|flag| flag.0 == self.word(next))?;
        // In "blurred on component 101" it leads on.
        let is_last = !self.at(index + 2).starts_with("component") && !self.is_kind(index + 2);
        (gap.trim().is_empty() && (is_last || flag.0 != "on")).then_some(flag.1)
    }

    /// Reads a yes or a no that stands further on: "blurred of component 101 to false".
    fn far_flag(&self, index: usize, value: Option<&str>) -> Option<bool> {
        let (sign, _) = self.value?;
        let word = value?.trim_end_matches(['.', '!', '?']).to_lowercase();
        let flag = FLAGS.iter().find(|flag| flag.0 == word)?;
        (self.words[index].start < sign).then_some(flag.1)
    }

    /// Says whether a status is what the component is to become, and not what it is: "the blurred card",
    /// "from blurred to unblurred". In a description only the last word can be that.
    fn is_to_be(&self, index: usize) -> bool {
        let is_from = index > 0 && self.at(index - 1) == "from";
        let is_described = self.with.is_some_and(|with| {
            let end = self.head_end();
            let is_before = self.words[index].start < end;
            let mut rest = index + 1..self.words.len();
            let is_last = rest.all(|rest| POLITE.contains(&self.at(rest)));
            self.component.is_none() && index > with && is_before && !is_last
        });
        !is_from && !is_described && !self.is_adjective(index)
    }

    /// Says whether a status describes the component: "the blurred card", "the blurred Home card".
    pub(super) fn is_adjective(&self, index: usize) -> bool {
        let first = self.turned(index).unwrap_or(index);
        let before = first.checked_sub(1).map_or("", |at| self.at(at));
        let is_called = ["the", "my", "our", "this"].contains(&before);
        self.is_beside(index) || is_called && self.is_of_components(index + 2)
    }

    fn is_of_components(&self, index: usize) -> bool {
        let word = self.at(index);
        word.starts_with("component") || component_type(word).is_some()
    }

    /// Says whether a status stands right beside the component that it describes: "the blurred card", "a card
    /// that is blurred".
    pub(super) fn is_beside(&self, index: usize) -> bool {
        let first = self.turned(index).unwrap_or(index);
        let before = |back: usize| first.checked_sub(back).map_or("", |at| self.at(at));
        let is_it = ["is", "are", "was", "were"].contains(&before(1));
        if is_it && ["that", "which"].contains(&before(2)) {
            return true;
        }
        let is_value = ["as", "to", "into"].contains(&before(1));
        let is_more = |at: usize| self.at(at) == "and" && self.is_state(at + 1);
        // "The secured and blurred card".
        let index = if is_more(index + 1) { index + 2 } else { index };
        !is_value && self.is_of_components(index + 1)
    }

    /// Finds the column of a status that a sign follows: "secured to false".
    pub(super) fn status_field(&self, index: usize) -> Option<&'static str> {
        let known = STATUS.iter().filter(|status| status.2);
        let found = known
            .into_iter()
            .find(|status| status.0 == self.at(index))?;
        let is_from = index > 0 && self.at(index - 1) == "from";
        let is_value = !is_from && self.turned(index).is_none();
        (is_value && !self.is_adjective(index)).then_some(found.1)
    }

    /// Says whether a word is the verb, or one that follows it: "blur and secure".
    pub(super) fn is_status_verb(&self, index: usize) -> bool {
        let is_known = |word: &str| STATUS_VERBS.iter().any(|verb| verb.0 == word);
        let begin = self.from.checked_sub(1).filter(|from| *from <= index);
        let row = begin.map(|from| (from..=index).map(|index| self.at(index)));
        let is_row = row.is_some_and(|mut row| row.all(|word| word == "and" || is_known(word)));
        // "Secure component 101 and blur it".
        let is_joined = index > self.from && self.at(index - 1) == "and";
        let is_also = is_joined && ["it", "that"].contains(&self.at(index + 1));
        (is_row || is_also && self.component.is_some()) && is_known(self.at(index))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::chat::request::Request;

    #[test]
    fn a_status_is_what_is_said_of_it() {
        for (message, updates) in [
            (
                "set component 101 secured to false",
                json!({"is_secured": "false"}),
            ),
            (
                "update component 101 secured=false",
                json!({"is_secured": "false"}),
            ),
            (
                "set component 101 scheduled = false",
                json!({"schedule_enabled": "false"}),
            ),
            (
                "update component 101 blurred: yes",
                json!({"is_blur": "yes"}),
            ),
            (
                "update component 101\u{2} secured to false",
                json!({"is_secured": "false"}),
            ),
            ("set component 101 blurred off", json!({"is_blur": false})),
            (
                "set blurred of component 101 to false",
                json!({"is_blur": false}),
            ),
            (
                "add a card with title X, blurred: no",
                json!({"is_blur": "no", "props.title": "X"}),
            ),
            (
                "unsecure the secured component 101",
                json!({"is_secured": false}),
            ),
            (
                "unblur the blurred component 101",
                json!({"is_blur": false}),
            ),
            ("unsecure my secured card", json!({"is_secured": false})),
            ("blur the secured component 101", json!({"is_blur": true})),
            ("make my blurred card secured", json!({"is_secured": true})),
            ("secure the blurred card Home", json!({"is_secured": true})),
            (
                "blur my secured and scheduled card",
                json!({"is_blur": true}),
            ),
            (
                "blur component 101 that is secured",
                json!({"is_blur": true}),
            ),
            (
                "set component 101 secured, title to X",
                json!({"is_secured": true, "props.title": "X"}),
            ),
            (
                "make component 101 blurred and change its title to X",
                json!({"is_blur": true, "props.title": "X"}),
            ),
            (
                "update component 101 blurred=false, title=X",
                json!({"is_blur": "false", "props.title": "X"}),
            ),
            (
                "add a blurred card with title X",
                json!({"is_blur": true, "props.title": "X"}),
            ),
            (
                "add a card that is not blurred with title Secured area",
                json!({"is_blur": false, "props.title": "Secured area"}),
            ),
            (
                "change component 101 from blurred to unblurred",
                json!({"is_blur": false}),
            ),
            (
                "update component 101 title to Get secured to win",
                json!({"props.title": "Get secured to win"}),
            ),
            ("secure card Home", json!({"is_secured": true})),
            ("secure cards", json!({"is_secured": true})),
            (
                "set description of component 101 to Our party, scheduled to start at noon",
                json!({"props.description": "Our party, scheduled to start at noon"}),
            ),
            (
                "add a card with title Concert, scheduled to begin at 8",
                json!({"props.title": "Concert, scheduled to begin at 8"}),
            ),
            (
                "update card Secured area title to X",
                json!({"props.title": "X"}),
            ),
            (
                "add a secured, blurred card with title X",
                json!({"is_blur": true, "is_secured": true, "props.title": "X"}),
            ),
            (
                "set card Home secured title to X",
                json!({"is_secured": true, "props.title": "X"}),
            ),
            (
                "update component 101 title to \"Welcome\", secured: \"true\"",
                json!({"is_secured": "true", "props.title": "Welcome"}),
            ),
            (
                "update component 101 title to \"Welcome\", secured: flase",
                json!({"is_secured": "flase", "props.title": "Welcome"}),
            ),
            (
                "update component 101 blurred to true, secured to \"false\"",
                json!({"is_blur": "true", "is_secured": "false"}),
            ),
            (
                "make component 101 secured but not blurred",
                json!({"is_blur": false, "is_secured": true}),
            ),
            (
                "make component 101 secured, not blurred",
                json!({"is_blur": false, "is_secured": true}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.updates), updates, "{message}");
            assert_eq!(request.doubt, None, "{message}");
        }
    }

    #[test]
    fn a_status_beside_the_component_tells_which_is_meant() {
        for (message, criteria) in [
            (
                "unsecure my secured card",
                json!({"component_type": "cards", "is_secured": true}),
            ),
            (
                "make my blurred card not secured",
                json!({"component_type": "cards", "is_blur": true}),
            ),
            ("make my card blurred", json!({"component_type": "cards"})),
            ("secure card Home", json!({"component_type": "cards"})),
            ("secure cards", json!({"component_type": "cards"})),
            (
                "rename the Secured area card to X",
                json!({"component_type": "cards"}),
            ),
            (
                "change the title of my card to The blurred card",
                json!({"component_type": "cards"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.criteria), criteria, "{message}");
        }
    }
}

//! Words that no rule takes and that could turn a request round, restrict it or make it another: rather
//! than pass them over, the chat asks again.

mod deletion;

use std::collections::HashSet;

use serde_json::Value;

use super::left::other_order;
use super::reader::Reader;
use super::status::Said;
use super::{MANY_CLIENTS, Request};
use crate::chat::message::{Word, quoted_first, reasons};
use crate::chat::value::brief;
use crate::chat::vocabulary::{STATUS, Verb};

/// Words that negate or restrict, whatever is asked for; `t` is the end of "don't".
const TURNS: &[&str] = &[
    "not",
    "t",
    "no",
    "never",
    "dont",
    "cannot",
    "without",
    "except",
    "excepting",
    "unless",
    "neither",
    "nor",
    "instead",
    "if",
    "or",
];
/// Words that do so beside a status.
const STATUS_TURNS: &[&str] = &[
    "disable",
    "deactivate",
    "stop",
    "undo",
    "avoid",
    "prevent",
    "off",
    "until",
    "while",
    "when",
];
/// Words that do so behind the verb.
const JOINTS: &[&str] = &["but", "or"];
/// Words that do so behind the verb where something is deleted, or take back what stands before them.
const DELETE_TURNS: &[&str] = &[
    "but", "or", "until", "keep", "leave", "besides", "wait", "sorry", "actually", "oops", "rather",
];
/// Said where a question names what could be done.
const QUESTION: &str = "I took that for a question, and nothing was changed. To have something done, please \
    say it as an order, for example: update component 101 title to Welcome";

impl Reader<'_> {
    /// Says that a word is not understood that could turn a request to write round.
    pub(super) fn doubt(&self, request: &Request) -> Option<String> {
        let is_write = match request.verb {
            Some(verb) => verb != Verb::Read,
            None => !request.updates.is_empty(),
        };
        let values = self.said_places(request);
        let found = || {
            if request.asks_about_doing() {
                return Some(QUESTION.to_string());
            }
            if self.message.names_clients {
                return Some(MANY_CLIENTS.to_string());
            }
            if let Some(replaced) = self.replaced_group(request) {
                return Some(replaced);
            }
            let turning = self.turning(&values);
            let turning = turning.map(|index| self.again(index, &values));
            turning
                .or_else(|| self.doubtful_status(&values))
                .or_else(|| self.doubtful_delete(request, &values))
                .or_else(|| self.misplaced())
                .or_else(|| mixed(request))
                .or_else(|| overfull(request))
        };
        is_write.then(found).flatten()
    }

    /// Says that a security group is only added or removed.
    fn replaced_group(&self, request: &Request) -> Option<String> {
        let verb = self.at(self.from.checked_sub(1)?);
        let verbs = ["replace", "change", "switch", "convert", "alter", "rename"];
        (request.is_security && verbs.contains(&verb)).then(|| {
            "I can add a security group or remove one. Nothing was changed. Please say which, for example: \
             add the premium security group to component 101"
                .to_string()
        })
    }

    /// Returns the places of what is said as it stands: values, descriptions, groups and reasons.
    fn said_places(&self, request: &Request) -> Vec<Word> {
        let mut places: Vec<Word> = self.values().collect();
        let end = self.message.plain.len();
        let is = |text: &Option<String>| {
            let mut values = request.updates.values();
            values.any(|value| value.as_str().is_some() && value.as_str() == text.as_deref())
        };
        if let Some((_, from)) = self.value.filter(|_| is(&request.value)) {
            places.push(from..self.seam(from));
        }
        if let Some(with) = self.with.filter(|_| self.verb != Some(Verb::Create)) {
            places.push(self.words[with].end..self.head_end());
        }
        places.extend(reasons(&self.message.body));
        // In "component no. 103" it is a number.
        places.extend(self.component.as_ref().map(|(place, _)| place.clone()));
        let group = request.group.as_deref().unwrap_or_default().to_lowercase();
        let group_at = self
            .message
            .plain
            .find(&group)
            .filter(|_| !group.is_empty());
        places.extend(group_at.map(|at| at..at + group.len()));
        if is(&request.answer) {
            places.push(self.seam(0)..end);
        }
        merged(places)
    }

    /// Returns the places of the values that are read with their fields.
    fn values(&self) -> impl Iterator<Item = Word> {
        let placed = match (self.verb, self.part) {
            (Some(Verb::Create), Some(part)) => {
                self.placed(self.from, self.words[part].start, true)
            }
            (Some(Verb::Create), None) => self.made(),
            (Some(Verb::Update) | None, _) => self.changes(),
            _ => Vec::new(),
        };
        placed.into_iter().map(|one| one.value)
    }

    /// Returns the words that stand out of values.
    fn open(&self, values: &[Word]) -> impl Iterator<Item = usize> {
        (0..self.words.len()).filter(|index| self.is_open(*index, values))
    }

    /// Finds a word that turns what is asked for round.
    fn turning(&self, values: &[Word]) -> Option<usize> {
        let has_status = self.open(values).any(|index| self.is_status(index));
        let is_delete = self.verb == Some(Verb::Delete);
        let taken = self.taken_turns(values);
        self.open(values).find(|index| {
            let word = self.at(*index);
            let is_behind = *index >= self.from;
            let is_read = self.component.is_some() && taken.contains(&(*index + 1));
            let is_joint = JOINTS.contains(&word) && !is_read;
            // "Blur component 101 false".
            let is_flag = ["false", "no"].contains(&word) && self.value.is_none();
            let is_turn = TURNS.contains(&word)
                || has_status && is_flag
                || has_status && STATUS_TURNS.contains(&word)
                || has_status && is_behind && is_joint
                || is_delete && is_behind && DELETE_TURNS.contains(&word);
            is_turn && !taken.contains(index) && !self.is_polite_turn(*index)
        })
    }

    fn is_status(&self, index: usize) -> bool {
        let is_word = STATUS.iter().any(|status| status.0 == self.at(index));
        is_word && !self.is_adjective(index) || self.is_status_verb(index)
    }

    /// Returns the words that turn a status round and are read so.
    fn taken_turns(&self, values: &[Word]) -> HashSet<usize> {
        let is_change = self.verb != Some(Verb::Delete);
        let words = self.open(values).filter_map(|index| {
            STATUS.iter().find(|status| status.0 == self.at(index))?;
            let flag = self.flag(index).map(|_| index + 1);
            let turn = match is_change {
                true => self.turned(index),
                false => self.negation(index),
            };
            Some([flag, turn])
        });
        words.flatten().flatten().collect()
    }

    /// Says whether a word turns nothing round where it stands: "no, change …", "if possible".
    fn is_polite_turn(&self, index: usize) -> bool {
        let rest = &self.message.plain[self.words[index].end..];
        match self.at(index) {
            "no" => index == 0 && rest.starts_with([',', '.', '!', ';']),
            "if" => ["possible", "you", "i"].contains(&self.at(index + 1)),
            "instead" => self.at(index + 1) != "of" && self.verb == Some(Verb::Update),
            _ => false,
        }
    }

    fn again(&self, index: usize, values: &[Word]) -> String {
        let word = match self.at(index) {
            "t" => format!("{}'t", brief(self.at(index.saturating_sub(1)))),
            word => brief(word),
        };
        let verb = self.status_named(values);
        let advice = match (verb, &self.component) {
            (Some(verb), Some((_, id))) if self.verb != Some(Verb::Delete) => {
                format!("\"{verb} component {id}\" or \"un{verb} component {id}\"")
            }
            _ => "only what is to be done; what belongs to a name or a text goes in quotes".into(),
        };
        format!(
            "I am not sure what \"{word}\" is to change here. Nothing was changed. Please say it again \
             with {advice}."
        )
    }

    /// Returns the verb for the first status that is named.
    fn status_named(&self, values: &[Word]) -> Option<&'static str> {
        let verb = |index: usize| {
            let word = self.at(index).trim_start_matches("un");
            let mut verbs = ["secure", "blur", "schedule"].into_iter();
            verbs.find(|verb| word.starts_with(verb))
        };
        let mut open = self.open(values).filter(|index| self.is_status(*index));
        open.find_map(verb)
    }

    /// Says that a status is to be two things at once, or what its opposite is to be.
    fn doubtful_status(&self, values: &[Word]) -> Option<String> {
        let said = self.said_states(values);
        let first = |column: &str| said.iter().find(|other| other.1 == column);
        let clash = |one: &&Said| first(one.1).is_some_and(|other| other.2 != one.2);
        let clash = said.iter().find(clash);
        let is_signed = |index: &usize| {
            let is_un = STATUS
                .iter()
                .any(|status| status.0 == self.at(*index) && !status.2);
            is_un && self.value_at(index + 1, false).is_some()
        };
        let signed = || self.open(values).find(is_signed);
        let is_change = matches!(self.verb, Some(Verb::Update) | None);
        let index = clash.map(|one| one.0).or_else(signed);
        index
            .filter(|_| is_change)
            .map(|index| self.again(index, values))
    }

    /// Says that a value would hold the component that is to be changed: "Home with House in the title
    /// of component 101".
    fn misplaced(&self) -> Option<String> {
        let (place, id) = self.component.as_ref()?;
        let is_change = matches!(self.verb, Some(Verb::Update) | None);
        let mut values = self.values().filter(|_| is_change);
        values.find(|value| value.contains(&place.start))?;
        Some(format!(
            "I can only set a whole field, and am not sure to what. Nothing was changed. Please say what \
             the field is to become, for example: update component {id} title to Welcome"
        ))
    }
}

/// Says that another order may be part of a value: "title to X, remove the description".
fn mixed(request: &Request) -> Option<String> {
    let part = brief(&other_order(request)?);
    Some(format!(
        "I am not sure whether \"{part}\" belongs to what is to be written. Nothing was changed. Please put \
         what belongs to a text in quotes, and say each order in a message of its own."
    ))
}

/// Says that more stands behind a value in quotes.
fn overfull(request: &Request) -> Option<String> {
    let texts = request.updates.values().filter_map(Value::as_str);
    let is_open = |text: &&str| !request.message.contains(&format!("'{text}'"));
    let (text, quoted) = texts
        .filter(is_open)
        .find_map(|text| Some((text, quoted_first(text)?)))?;
    let (text, quoted) = (brief(text), brief(quoted));
    Some(format!(
        "I am not sure what is to be written: \"{quoted}\", or all of {text}. Nothing was changed. Please \
         put all of it in quotes, and say further changes in a message of their own."
    ))
}

/// Puts places in their order, without those within others.
fn merged(mut places: Vec<Word>) -> Vec<Word> {
    places.sort_by_key(|place| place.start);
    let mut merged: Vec<Word> = Vec::with_capacity(places.len());
    for place in places {
        match merged.last_mut().filter(|last| place.start <= last.end) {
            Some(last) => last.end = last.end.max(place.end),
            None => merged.push(place),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use crate::chat::request::Request;

    #[test]
    fn what_could_turn_a_request_round_is_in_doubt() {
        for (message, word) in [
            ("component 101 should not be blurred", "\"not\""),
            ("component 101 must no longer be scheduled", "\"no\""),
            ("no blur on component 101", "\"no\""),
            ("disable blur on component 101", "\"disable\""),
            ("mark component 101 as not yet secured", "\"not\""),
            (
                "make component 101 unblurred instead of blurred",
                "\"instead\"",
            ),
            ("make component 101 blurred or secured", "\"or\""),
            ("set component 101 unsecured = false", "\"unsecured\""),
            ("I do not want you to delete component 101", "\"not\""),
            ("you shouldn't ever delete component 101", "\"shouldn't\""),
            ("delete the card that is not Home", "\"not\""),
            ("delete anything but component 101", "\"but\""),
            ("delete component 101, no wait, 102", "\"no\""),
            ("delete component 101 if it is blurred", "\"if\""),
            ("blur component 101 false", "\"false\""),
            (
                "replace premium security group with gold on component 101",
                "add a security group or remove one",
            ),
            ("how do I delete component 101?", "question"),
            ("what if I delete component 101", "question"),
            (
                "add premium security group to component 101 or delete it",
                "\"or\"",
            ),
            ("change title or caption of component 101 to X", "\"or\""),
            (
                "first secure component 102, then add a banner with title \"Hello\"",
                "\"then add a banner with title",
            ),
            (
                "rename component 101 to X, remove its description",
                "\"remove its description\"",
            ),
            (
                "update component 101 title to \"X\" and blur it",
                "\"X\", or all of",
            ),
            (
                "delete component 101 because it is old but not used",
                "\"but\"",
            ),
            ("delete component 101's description", "\"description\""),
            ("delete component 101 title", "\"title\""),
            (
                "delete component 101 description and keep the title",
                "\"keep\"",
            ),
            ("delete card Home's url", "\"url\""),
            ("delete component 101 image", "\"image\""),
            ("remove security from component 101", "\"security\""),
            (
                "if component 101 is blurred, change its title to X",
                "\"if\"",
            ),
            (
                "replace Home with House in the title of component 101",
                "whole field",
            ),
        ] {
            let doubt = Request::read(message, None).doubt;
            let is_said = doubt.as_ref().is_some_and(|doubt| doubt.contains(word));
            assert!(is_said, "{message}: {doubt:?}");
        }
    }

    #[test]
    fn what_is_plain_is_not_in_doubt() {
        for message in [
            "change title of component 101 to Not now",
            "change title of component 101 to A and description to If only",
            "no, change title of component 101 to X",
            "change title of component 101 to X if possible",
            "make component 101 not blurred",
            "make component 101 secured, not blurred",
            "set component 101 blurred off",
            "set component 101 secured to no",
            "delete my card that is not secured",
            "delete the card with title Not found",
            "delete component no. 101",
            "what about deleting component 101",
            "change title of component 101 to \"A or B\"",
            "delete component 101 because it is not needed",
            "make component 101 secured but not blurred",
            "secure card Home",
            "delete component 101 from my website",
            "delete component 101 and 102",
            "sure, but delete component 102",
            "delete component 101 and change button radius to full",
            "delete title of component 101",
            "delete my header",
            "add no entry security group to component 101",
            "add a card with title Never",
            "add title Not now to component 101",
            "show the card that is not Home",
            "update component 101 title\u{2} No entry",
            "update component 101\u{2} not blurred",
        ] {
            let doubt = Request::read(message, None).doubt;
            assert_eq!(doubt, None, "{message}");
        }
    }
}

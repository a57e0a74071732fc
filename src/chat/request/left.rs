//! What of a message is not taken, which the answer then says: a second order, a second component of
//! the same kind, a status that restricts nothing. Single words that no rule takes are told by the reply.

use super::Request;
use super::reader::Reader;
use crate::chat::message::{Message, SEAM, parts};
use crate::chat::value::{brief, plain};
use crate::chat::vocabulary::{
    ARTICLES, PHRASES, POLITE, STATUS_VERBS, VERBS, Verb, component_type,
};

/// Most parts of a message that are looked at.
const PARTS_MAX: usize = 50;
const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several", "many",
];

impl Reader<'_> {
    /// Says what of a message is left out, in sentences.
    pub(super) fn left(&self, request: &Request) -> Vec<String> {
        let verb = self.from.checked_sub(1).map_or("", |verb| self.at(verb));
        let orders = orders(request, verb)
            .map(|orders| format!("Left out: {orders}. Please say it in a message of its own."));
        let many = self
            .is_many()
            .then(|| "I add one component at a time.".to_string());
        let states = self.untaken_states();
        let words = (!states.is_empty()).then(|| {
            format!(
                "I did not understand \"{}\", so nothing is chosen by it.",
                brief(&states.join(" "))
            )
        });
        let all = [orders, many, words, self.left_design()];
        all.into_iter().flatten().collect()
    }

    /// Quotes a change of the design behind a value of a component.
    fn left_design(&self) -> Option<String> {
        let is_change = self.is_change() && self.component.is_some() || self.value.is_some();
        let values = self.changes().into_iter().filter(|_| is_change);
        let last = values.map(|one| one.value.start).max()?;
        let place = self.design_change(last..self.seam(last))?;
        let said = self.message.text(place).trim_start_matches([',', ';', ' ']);
        let said = said.strip_prefix("and ").unwrap_or(said);
        let said = brief(said);
        Some(format!(
            "Left out: \"{said}\". Please say it in a message of its own."
        ))
    }

    /// Says whether more than one component is to be made.
    fn is_many(&self) -> bool {
        let is_new = self.verb == Some(Verb::Create);
        let kind = self.kind_index().filter(|kind| is_new && *kind > self.from);
        let number = kind.map_or("", |kind| self.at(kind - 1));
        NUMBERS.contains(&number) || number.parse::<u32>().is_ok_and(|number| number > 1)
    }
}

/// Finds an order of another kind behind the one that is carried out, which a value of the request holds, or
/// which holds one.
pub(super) fn other_order(request: &Request) -> Option<String> {
    let text = request.message.split(SEAM).next().unwrap_or_default();
    let later = parts(text).into_iter().take(PARTS_MAX).skip(1);
    let mut later = later.map(|place| text[place].trim());
    let found = later.find(|part| {
        let verb = first_verb(part);
        let is_other = verb.is_some() && verb != request.verb && request.verb.is_some();
        is_other && is_taken(part, request) && is_about(part)
    });
    found.map(String::from)
}

/// Quotes the orders to write behind the one with the verb that is carried out, where nothing of the
/// request holds them.
fn orders(request: &Request, verb: &str) -> Option<String> {
    let text = request.message.split(SEAM).next().unwrap_or_default();
    let parts = parts(text).into_iter().take(PARTS_MAX);
    let parts = parts.map(|place| text[place].trim());
    let later = parts
        .skip_while(|part| !words(part).any(|word| word == verb))
        .skip(1);
    let left = later.filter(|part| begins_write(part) && !is_taken(part, request));
    let left: Vec<String> = left.map(|part| format!("\"{}\"", brief(part))).collect();
    (!left.is_empty()).then(|| left.join(", "))
}

/// Says whether what follows a verb is of a component: "remove its description", and not "remove shoes".
fn is_about(part: &str) -> bool {
    let little = [ARTICLES, POLITE].concat();
    let mut words = words(part).filter(|word| !little.contains(&word.as_str()) || word == "its");
    let object = words.nth(1).unwrap_or_default();
    let is_field = PHRASES
        .iter()
        .any(|(words, _)| words.first() == Some(&object.as_str()));
    let is_it = ["it", "its", "that", "component", "components"].contains(&object.as_str());
    is_it || is_field || component_type(&object).is_some()
}

fn words(part: &str) -> impl Iterator<Item = String> {
    let words = part.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn begins_write(part: &str) -> bool {
    first_verb(part).is_some()
}

/// Finds the verb that a part begins with, where that writes.
fn first_verb(part: &str) -> Option<Verb> {
    let first = words(part).find(|word| !POLITE.contains(&word.as_str()))?;
    let found = VERBS.iter().find(|(verb, _)| *verb == first)?;
    (found.1 != Verb::Read).then_some(found.1)
}

/// Says whether a part is a value of the request, or sets one.
fn is_taken(part: &str, request: &Request) -> bool {
    let read = Message::read(part);
    let part = read.body.trim();
    let fields = request.updates.iter().chain(&request.criteria);
    let mut texts = fields
        .map(|(_, value)| plain(value))
        .chain(request.group.clone());
    let is_text =
        texts.any(|text| !text.is_empty() && (part.contains(&text) || text.contains(part)));
    let verb = words(part).next().unwrap_or_default();
    let status = STATUS_VERBS.iter().find(|status| status.0 == verb);
    is_text || status.is_some_and(|status| request.updates.contains_key(status.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_is_said() {
        for (message, left) in [
            (
                "delete component 101 and change button radius to full",
                &["\"change button radius to full\""] as &[&str],
            ),
            ("list components, then show my design", &[]),
            ("show my design and list my components", &[]),
            ("get and show component 101", &[]),
            ("find and show my cards", &[]),
            ("list all non blurred components", &[]),
            ("how many components are secured", &[]),
            ("the schedule and delete component 101", &[]),
            (
                "list components and delete component 101",
                &["\"delete component 101\""],
            ),
            ("list all but secured components", &["\"secured\""]),
            ("add two banners", &["one component at a time"]),
            ("add 3 cards", &["one component at a time"]),
            ("list my blue cards", &[]),
            ("add a card for me, please", &[]),
            ("add a card component with id 500 and title X", &[]),
            ("add a card with title A big one", &[]),
            ("delete component 101 permanently", &[]),
            ("delete component 101 because it is old", &[]),
            (
                "change title of component 101 to X and button radius to full",
                &["\"button radius to full\""],
            ),
            (
                "list secured or blurred components",
                &["\"secured blurred\""],
            ),
            ("blur component 101 and set its title to X", &[]),
            ("blur and secure component 101", &[]),
            ("please go and delete component 101", &[]),
            ("change my card title and set the text to X", &[]),
            ("please list all my components", &[]),
            ("show me the second card", &[]),
        ] {
            let found = Request::read(message, None).left;
            assert_eq!(found.len(), left.len(), "{message}: {found:?}");
            let mut both = found.iter().zip(left);
            assert!(
                both.all(|(said, part)| said.contains(part)),
                "{message}: {found:?}"
            );
        }
    }

    #[test]
    fn what_several_verbs_say_is_taken() {
        for (message, updates) in [
            (
                "blur and secure component 101",
                serde_json::json!({"is_blur": true, "is_secured": true}),
            ),
            (
                "blur component 101 and set its title to X",
                serde_json::json!({"is_blur": true, "props.title": "X"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(
                serde_json::Value::from(request.updates),
                updates,
                "{message}"
            );
        }
    }
}

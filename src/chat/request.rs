//! What a message asks for, as far as words tell: what to do, to which component, which fields are to
//! become what. Nothing here is checked yet.

mod bounds;
mod called;
mod doubt;
mod effects;
mod fields;
mod group;
mod keys;
mod lead;
mod left;
mod made;
mod owner;
mod part;
mod reader;
mod states;
mod status;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub(super) use self::lead::{assigned, behind_lead, behind_name};
use self::reader::Reader;
use super::message::{Message, SEAM};
use super::vocabulary::{ARTICLES, POLITE, VERBS, Verb};

/// Said where a change names more than one client.
pub(super) const MANY_CLIENTS: &str = "I work on one client at a time, and you name several. Nothing was \
    changed. Please say it again for each of them.";

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
    /// Whether the message itself names the client.
    pub(super) names_client: bool,
    /// What is wrong with a number that names the client or the component.
    pub(super) fault: Option<String>,
    /// What could turn it round, or make it another, where it changes components.
    pub(super) doubt: Option<String>,
    /// What to do.
    pub(super) verb: Option<Verb>,
    /// Words in front of the value, and of answers.
    pub(super) head: Vec<String>,
    /// All words outside of quotes.
    pub(super) words: Vec<String>,
    /// What something is to become.
    pub(super) value: Option<String>,
    /// The last answer that completes the message.
    pub(super) answer: Option<String>,
    /// The type of components that it is about.
    pub(super) kind: Option<&'static str>,
    /// Whether it is about a security group.
    pub(super) is_security: bool,
    /// The security group that it names.
    pub(super) group: Option<String>,
    /// Fields and what they are to become.
    pub(super) updates: Map<String, Value>,
    /// Values that answers gave to fields, as they are.
    pub(super) given: Map<String, Value>,
    /// Fields that it names without a value.
    pub(super) wanted: Vec<String>,
    /// What the component is described by.
    pub(super) criteria: Map<String, Value>,
    /// What is to be added and no page has.
    pub(super) effect: Option<String>,
    /// Whether the message was written anew from one that the user was told of; answers follow it.
    pub(super) is_restated: bool,
    /// What of it is not taken, in sentences.
    pub(super) left: Vec<String>,
    /// Words beside its type that no rule reads: what it is called, as in "the Logout button".
    pub(super) called: Option<String>,
}

impl Request {
    /// Reads a message; `client` is the one that the conversation named last.
    pub(super) fn read(text: &str, client: Option<&str>) -> Request {
        let message = Message::read(asked_for(text));
        let reader = Reader::new(&message);
        let doubt = message.doubt(client);
        let names_client = message.client.is_some();
        let named = message.client.clone().filter(|_| doubt.is_none());
        let mut request = Request {
            message: text.to_string(),
            names_client,
            client: named.or(client.map(String::from)),
            component: reader.component.as_ref().map(|found| found.1.clone()),
            others: message.others(reader.naming.clone()),
            fault: doubt
                .or_else(|| message.fault(reader.naming.clone()))
                .or_else(|| reader.broken_key()),
            verb: reader.verb,
            words: keys::spread(reader.words.iter().map(|word| reader.word(word))),
            head: keys::spread(reader.head()),
            value: reader.value(),
            answer: reader.answer(),
            kind: reader.kind(),
            ..Request::default()
        };
        (request.is_security, request.group) = reader.group();
        if !request.is_security {
            reader.fields(&mut request);
        }
        request.effect = reader.effect();
        if request.effect.is_some() {
            (request.is_security, request.group) = (false, None);
        }
        request.criteria = reader.criteria(&request);
        request.called = reader.called(&request);
        request.doubt = reader.doubt(&request);
        if request.doubt.is_none() {
            request.left = reader.left(&request);
        }
        request
    }

    /// Says whether it begins with what to do to something, also where no rule knows that: "change
    /// the logo". "Make it red" and "use Lato" speak of what was asked about.
    pub(super) fn is_order(&self) -> bool {
        let (first, second) = self.begin();
        let is_other = |word: &str| !["use", "make"].contains(&first) || ARTICLES.contains(&word);
        let is_said = second.is_some_and(is_other);
        self.begins_with_verb() && is_said && !self.has(&["it", "that", "one", "client"])
    }

    /// Says whether it asks about what could be done, and does not politely ask for it: "how do I delete a
    /// card?", but not "is it possible to delete a card?".
    pub(super) fn asks_about_doing(&self) -> bool {
        let words = self.words.iter().map(String::as_str);
        let words: Vec<&str> = words
            .filter(|word| !POLITE.contains(word) || *word == "you")
            .take(4)
            .collect();
        let at = |index: usize| words.get(index).copied().unwrap_or_default();
        let is_polite = ["possible", "able", "way"];
        match at(0) {
            "how" => at(1) != "about",
            "why" | "who" | "does" | "did" => true,
            "what" => ["if", "happens", "would", "does", "is", "are", "when"].contains(&at(1)),
            "is" | "are" | "was" | "were" | "should" => {
                !words.iter().any(|word| is_polite.contains(word))
            }
            _ => false,
        }
    }

    /// Says whether it begins with what to do.
    pub(super) fn begins_with_verb(&self) -> bool {
        VERBS.iter().any(|(verb, _)| *verb == self.begin().0)
    }

    /// Returns the first two words without politeness.
    fn begin(&self) -> (&str, Option<&str>) {
        let words = self.words.iter().map(String::as_str);
        let mut words = words.filter(|word| !POLITE.contains(word));
        (words.next().unwrap_or_default(), words.next())
    }

    /// Says whether one of the words is there, in front of the value.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.head.iter().any(|word| words.contains(&word.as_str()))
    }
}

/// Takes the sign of a question off a polite order: "could you rename it to Us?".
fn asked_for(text: &str) -> &str {
    let begin = text.trim_start().to_lowercase();
    let polite = [
        "can ",
        "could ",
        "would ",
        "will ",
        "may ",
        "might ",
        "is it possible ",
    ];
    let begin = begin.trim_start_matches("please ");
    let is_order = polite.iter().any(|word| begin.starts_with(word));
    let text = text.trim_end();
    let is_whole = is_order && !text.contains(SEAM);
    text.strip_suffix('?').filter(|_| is_whole).unwrap_or(text)
}

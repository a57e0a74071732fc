//! A draft of an entry, valid or not: one JSON object, its faults, and the entry that it makes.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::entry::{Entry, Fault, Raw, Status, task};
use super::rules::{self, Rule, find_placeholder, quote};
use crate::document::kind_of;
use crate::id::TaskId;

enum Kind {
    Text(Rule),
    List(Rule),
    Flag,
}

/// Number of required fields: the first ones of [`FIELDS`].
const REQUIRED: usize = 10;
/// Maximum number of faults to report for one field.
const NAMED_MAX: usize = 20;

/// Known fields, in the order of the specification.
static FIELDS: [(&str, Kind); 16] = [
    ("id", Kind::Text(rules::check_id)),
    ("file", Kind::Text(rules::check_file)),
    ("title", Kind::Text(rules::check_title)),
    ("date", Kind::Text(rules::check_date)),
    ("status", Kind::Text(rules::check_status)),
    ("topics", Kind::List(rules::check_line)),
    ("key_findings", Kind::List(rules::check_paragraph)),
    ("actionable", Kind::Flag),
    ("needs_followup", Kind::List(rules::followup_item)),
    ("linked_tasks", Kind::List(rules::task_item)),
    ("agent_type", Kind::Text(rules::check_line)),
    ("created_by", Kind::Text(rules::check_line)),
    ("created_at", Kind::Text(rules::check_moment)),
    ("skill", Kind::Text(rules::check_line)),
    ("run", Kind::Text(rules::check_line)),
    ("output_digest", Kind::Text(rules::check_line)),
];

#[derive(Default)]
pub(crate) struct Draft<'a> {
    /// The JSON that it was read from.
    source: &'a str,
    /// In a box, because a draft is moved several times.
    known: Box<[Option<Value>; FIELDS.len()]>,
    /// Unknown fields as they were written: a number may have more digits than any type of ours.
    extra: IndexMap<String, &'a RawValue>,
    /// Names of duplicate fields.
    duplicates: Vec<String>,
}

impl<'a> Draft<'a> {
    /// Reads an object and nothing after it. The error is the parser's.
    pub(crate) fn read(text: &'a str) -> serde_json::Result<Draft<'a>> {
        let mut draft: Draft<'a> = serde_json::from_str(text)?;
        draft.source = text;
        Ok(draft)
    }

    /// Reads the objects with an id that a text begins with, at most `limit`. Returns where it stopped, too.
    pub(super) fn read_first(text: &'a str, limit: usize) -> (Vec<Draft<'a>>, usize) {
        let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Draft<'a>>();
        let (mut found, mut start) = (Vec::new(), 0);
        while found.len() < limit
            && let Some(Ok(mut draft)) = objects.next()
        {
            draft.source = &text[start..objects.byte_offset()];
            start = objects.byte_offset();
            found.extend(Some(draft).filter(|draft| draft.id().is_some()));
        }
        (found, objects.byte_offset())
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.known[position(name, 0)?].as_ref()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    /// Returns the texts of a list such as `topics` or `linked_tasks`.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let items = self.value(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.text("id")
    }

    /// Returns the tasks that are named, each with the field that names it.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (&'static str, TaskId)> {
        let of = |name| self.texts(name).filter_map(task).map(move |id| (name, id));
        of("needs_followup").chain(of("linked_tasks"))
    }

    pub(crate) fn has_status(&self, status: Status) -> bool {
        self.text("status") == Some(status.word())
    }

    pub(crate) fn is_linked_to(&self, id: TaskId) -> bool {
        self.texts("linked_tasks")
            .any(|text| task(text) == Some(id))
    }

    /// Lists all faults; a valid draft has none.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        // Without these in the line, none of its texts has to be looked at for placeholders.
        let may_ask = memchr::memchr2(b'<', b'\\', self.source.as_bytes()).is_some();
        for (at, (value, (name, kind))) in self.known.iter().zip(&FIELDS).enumerate() {
            let mut report = |message| faults.push(Fault::new(*name, message));
            match value {
                None | Some(Value::Null) if at < REQUIRED => report("is missing".into()),
                None | Some(Value::Null) => {}
                Some(value) => check(value, kind, may_ask, &mut report),
            }
        }
        faults.extend(self.count_findings());
        let duplicates = self.duplicates.iter().take(NAMED_MAX);
        faults.extend(duplicates.map(|name| Fault::new(quote(name), "is a duplicate field")));
        faults
    }

    fn count_findings(&self) -> Option<Fault> {
        let findings = self.value("key_findings")?.as_array()?.len();
        let fits = (3..=7).contains(&findings) || !self.has_status(Status::Complete);
        let message = || format!("has {findings}; a complete entry has 3 to 7");
        (!fits).then(|| Fault::new("key_findings", message()))
    }

    pub(crate) fn entry(&self) -> Result<Entry, Vec<Fault>> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let unread = |cause: serde_json::Error| vec![Fault::new("entry", cause.to_string())];
        let extra = self.extra.iter();
        Ok(Entry {
            extra: extra
                .map(|(name, raw)| (name.clone(), Raw::new(raw)))
                .collect(),
            ..serde_json::from_str(self.source).map_err(unread)?
        })
    }
}

/// Finds a field by its name. Most writers keep the document's order, so the field that is `next` in it is
/// tried first.
fn position(name: &str, next: usize) -> Option<usize> {
    match FIELDS.get(next) {
        Some((known, _)) if *known == name => Some(next),
        _ => FIELDS.iter().position(|(known, _)| *known == name),
    }
}

fn check(value: &Value, kind: &Kind, may_ask: bool, report: &mut dyn FnMut(String)) {
    let placeholder = |text: &str| may_ask.then(|| find_placeholder(text))?;
    let faulty = |text: &str, rule: &Rule| placeholder(text).or_else(|| rule(text));
    match (kind, value) {
        (Kind::Flag, Value::Bool(_)) => {}
        (Kind::Flag, other) => report(format!("is {}, not true or false", kind_of(other))),
        (Kind::Text(rule), Value::String(text)) => {
            let message = faulty(text, rule);
            let fault = message.map(|message| format!("is {}, {message}", quote(text)));
            fault.into_iter().for_each(report);
        }
        (Kind::Text(_), other) => report(format!("is {}, not a text", kind_of(other))),
        (Kind::List(rule), Value::Array(items)) => {
            let fault = |item: &Value| match item {
                Value::String(text) => {
                    let message = faulty(text, rule)?;
                    Some(format!("holds {}, {message}", quote(text)))
                }
                other => Some(format!("holds {}, not only texts", kind_of(other))),
            };
            let faults = items.iter().filter_map(fault);
            faults.take(NAMED_MAX).for_each(report);
        }
        (Kind::List(_), other) => report(format!("is {}, not a list of texts", kind_of(other))),
    }
}

impl<'de> Deserialize<'de> for Draft<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DraftVisitor)
    }
}

struct DraftVisitor;

impl<'de> Visitor<'de> for DraftVisitor {
    type Value = Draft<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    /// A map would hide duplicate fields, and lose digits of unknown numbers.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Draft<'de>, A::Error> {
        let (mut draft, mut next) = (Draft::default(), 0);
        while let Some(name) = map.next_key::<String>()? {
            let is_duplicate = match position(&name, next) {
                Some(at) => {
                    next = at + 1;
                    draft.known[at].replace(map.next_value()?).is_some()
                }
                None => {
                    let value: &RawValue = map.next_value()?;
                    // The parser has skipped it without a look at escapes and depth.
                    serde_json::from_str::<Value>(value.get()).map_err(A::Error::custom)?;
                    draft.extra.insert(name.clone(), value).is_some()
                }
            };
            if is_duplicate {
                draft.duplicates.push(name);
            }
        }
        Ok(draft)
    }
}

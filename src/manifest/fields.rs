//! The fields of one JSON object as somebody wrote them, right or wrong. Reading borrows from the
//! text, so that a manifest of 100,000 lines is checked without copying it.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::slot::{Name, Slot};

/// Names of the fields that an entry must have, as the document spells them.
pub(super) const REQUIRED: usize = 10;

/// Names of all fields that cleo knows: first those that must be there, in the document's order.
pub(super) const NAMES: [&str; 16] = [
    "id",
    "file",
    "title",
    "date",
    "status",
    "topics",
    "key_findings",
    "actionable",
    "needs_followup",
    "linked_tasks",
    "agent_type",
    "created_by",
    "created_at",
    "skill",
    "run",
    "output_digest",
];

/// One object, field by field.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    pub(super) known: [Slot<'a>; NAMES.len()],
    /// What cleo does not know, as it was written: a number may be longer than any of ours.
    pub(super) extra: IndexMap<String, &'a RawValue>,
    /// Names that stand more than once.
    pub(super) twice: Vec<String>,
}

impl<'a> Fields<'a> {
    /// Reads an object and nothing after it. The error is the parser's.
    pub fn read(text: &'a str) -> serde_json::Result<Fields<'a>> {
        serde_json::from_str(text)
    }

    /// Returns what stands in a field that cleo knows.
    pub(super) fn slot(&self, name: &str) -> &Slot<'a> {
        const MISSING: &Slot<'static> = &Slot::Missing;
        position(name, 0).map_or(MISSING, |position| &self.known[position])
    }

    /// Returns the id, if there is one that is a text.
    pub fn id(&self) -> Option<&str> {
        self.slot("id").text()
    }

    /// Returns the texts of a list such as `topics` or `linked_tasks`.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.slot(name).texts()
    }

    fn put(&mut self, position: usize, value: Slot<'a>) {
        if self.known[position] != Slot::Missing {
            self.twice.push(NAMES[position].to_string());
        }
        self.known[position] = value;
    }

    fn put_extra(&mut self, name: Cow<'_, str>, value: &'a RawValue) {
        if let Some((name, _)) = self.extra.get_key_value(&*name) {
            self.twice.push(name.clone());
        }
        self.extra.insert(name.into_owned(), value);
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        let mut next = 0;
        while let Some(Name(name)) = map.next_key()? {
            match position(&name, next) {
                Some(position) => {
                    fields.put(position, map.next_value()?);
                    next = position + 1;
                }
                None => fields.put_extra(name, whole(map.next_value()?)?),
            }
        }
        Ok(fields)
    }
}

/// Checks a value that is kept as it is: the parser skips it without a look at escapes and depth.
fn whole<E: serde::de::Error>(raw: &RawValue) -> Result<&RawValue, E> {
    match serde_json::from_str::<Value>(raw.get()) {
        Ok(_) => Ok(raw),
        Err(cause) => {
            let what = cause.to_string();
            Err(E::custom(what.split(" at line ").next().unwrap_or(&what)))
        }
    }
}

/// Finds a field by its name. Most writers keep the document's order, so the field that is `next`
/// in it is tried first.
fn position(name: &str, next: usize) -> Option<usize> {
    if NAMES.get(next) == Some(&name) {
        return Some(next);
    }
    NAMES.iter().position(|known| *known == name)
}

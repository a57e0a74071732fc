//! The fields of one JSON object as somebody wrote them, right or wrong. Reading borrows from the
//! text, so that a manifest of 100,000 lines is checked without copying it.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

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

/// What stands in a field.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Slot<'a> {
    #[default]
    Missing,
    Null,
    Flag(bool),
    Number,
    Text(Cow<'a, str>),
    List(Vec<Slot<'a>>),
    Object,
}

impl Slot<'_> {
    /// Names the kind of value for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Slot::Missing => "missing",
            Slot::Null => "null",
            Slot::Flag(_) => "true or false",
            Slot::Number => "a number",
            Slot::Text(_) => "a text",
            Slot::List(_) => "a list",
            Slot::Object => "an object",
        }
    }

    /// Returns the text of a field that holds one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Slot::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the texts of a list; what is no text is left out.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let items = match self {
            Slot::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().filter_map(Slot::text)
    }
}

/// One object, field by field.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    pub(super) known: [Slot<'a>; NAMES.len()],
    pub(super) extra: IndexMap<String, Value>,
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
        let position = NAMES.iter().position(|known| *known == name);
        position.map_or(MISSING, |position| &self.known[position])
    }

    /// Returns the id, if there is one that is a text.
    pub fn id(&self) -> Option<&str> {
        self.slot("id").text()
    }

    /// Returns the texts of a list such as `topics` or `linked_tasks`.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.slot(name).texts()
    }

    fn put(&mut self, name: Cow<'_, str>, value: Slot<'a>) {
        let Some(position) = NAMES.iter().position(|known| *known == name) else {
            return;
        };
        if self.known[position] != Slot::Missing {
            self.twice.push(name.into_owned());
        }
        self.known[position] = value;
    }

    fn put_extra(&mut self, name: Cow<'_, str>, value: Value) {
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
        while let Some(Name(name)) = map.next_key()? {
            if NAMES.contains(&&*name) {
                fields.put(name, map.next_value()?);
            } else {
                fields.put_extra(name, map.next_value()?);
            }
        }
        Ok(fields)
    }
}

/// The name of a field, borrowed where it holds no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(SlotVisitor)? {
            Slot::Text(name) => Ok(Name(name)),
            other => Err(serde::de::Error::custom(other.kind())),
        }
    }
}

impl<'de> Deserialize<'de> for Slot<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SlotVisitor)
    }
}

struct SlotVisitor;

impl<'de> Visitor<'de> for SlotVisitor {
    type Value = Slot<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Slot<'de>, E> {
        Ok(Slot::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Slot<'de>, E> {
        Ok(Slot::Flag(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Slot<'de>, E> {
        Ok(Slot::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Slot<'de>, E> {
        Ok(Slot::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Slot<'de>, E> {
        Ok(Slot::Number)
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Slot<'de>, E> {
        Ok(Slot::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Slot<'de>, E> {
        Ok(Slot::Text(Cow::Owned(value.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Slot<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Slot::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Slot<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Slot::Object)
    }
}

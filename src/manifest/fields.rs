//! The fields of one JSON object as somebody wrote them, right or wrong. Reading borrows from the
//! text, so that a manifest of 100,000 lines is checked without copying it.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

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

#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub(super) known: [Slot<'a>; NAMES.len()],
    /// What cleo does not know, as it was written: a number may be longer than any of ours.
    pub(super) extra: IndexMap<String, &'a RawValue>,
    /// Names that stand more than once.
    pub(super) twice: Vec<String>,
}

impl<'a> Fields<'a> {
    /// Reads an object and nothing after it. The error is the parser's.
    pub(crate) fn read(text: &'a str) -> serde_json::Result<Fields<'a>> {
        serde_json::from_str(text)
    }

    /// Returns what stands in a field that cleo knows.
    pub(super) fn slot(&self, name: &str) -> &Slot<'a> {
        const MISSING: &Slot<'static> = &Slot::Missing;
        position(name, 0).map_or(MISSING, |position| &self.known[position])
    }

    /// Returns the id, if there is one that is a text.
    pub(crate) fn id(&self) -> Option<&str> {
        self.slot("id").text()
    }

    /// Returns the texts of a list such as `topics` or `linked_tasks`.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.slot(name).texts()
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
                    let known = &mut fields.known[position];
                    if *known != Slot::Missing {
                        fields.twice.push(NAMES[position].to_string());
                    }
                    *known = map.next_value()?;
                    next = position + 1;
                }
                None => {
                    let value = whole(map.next_value()?)?;
                    if fields.extra.contains_key(&*name) {
                        fields.twice.push(name.to_string());
                    }
                    fields.extra.insert(name.into_owned(), value);
                }
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

/// The name of a field, borrowed where it holds no escapes.
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

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

/// A value that is handed on and never read, so that it keeps every digit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(with = "serde_json::Value"))]
#[serde(transparent)]
pub(crate) struct Raw(Box<RawValue>);

impl Raw {
    /// Keeps a value; blanks and line ends between its parts go.
    pub(in crate::manifest) fn of(raw: &RawValue) -> Raw {
        let there = raw.get();
        if !there.contains(['\n', '\r']) {
            return Raw(raw.to_owned());
        }
        // What was one value without its blanks still is.
        let line = RawValue::from_string(on_one_line(there));
        Raw(line.unwrap_or_else(|_| raw.to_owned()))
    }

    pub(crate) fn json(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.json() == other.json()
    }
}

fn on_one_line(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let mut keep = |c: char| {
        let keeps = in_text || !c.is_ascii_whitespace();
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_text,
            '"' => in_text = !in_text,
            _ => {}
        }
        keeps
    };
    json.chars().filter(|c| keep(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_digits_and_loses_its_line_ends() {
        for (there, line) in [
            ("18446744073709551617", "18446744073709551617"),
            ("[1.10,  1E5]", "[1.10,  1E5]"),
            ("[1.10,\n  2]", "[1.10,2]"),
            (
                "{\"a b\": \"c\\\" d\\n\",\r\n\"e\" : \"\\\\\" }",
                "{\"a b\":\"c\\\" d\\n\",\"e\":\"\\\\\"}",
            ),
        ] {
            let raw: &RawValue = serde_json::from_str(there).unwrap();
            assert_eq!(Raw::of(raw).json(), line);
        }
    }
}

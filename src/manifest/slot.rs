//! One value as somebody wrote it, of whatever kind.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

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

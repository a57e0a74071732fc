//! Reads a value of JSON into a type: an object is never taken from a list (serde would read the fields of one in
//! their order, at any depth), and an error names the path. An unknown field is reported with the nearest known one.

use std::{fmt, vec};

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::{Map, Value, map};

use crate::document::kind_of;
use crate::error::nearest;

/// Maximum length of a field name in a message, in characters.
const NAME_MAX: usize = 60;
/// Largest number up to which floating point has every integer.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, Fault> {
    T::deserialize(Strict::Json(value))
}

/// The fields of a request: texts of its address, which are parsed by the type of their field, and a JSON object.
#[derive(Clone, Default)]
pub(crate) struct Input {
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) body: Map<String, Value>,
}

impl Input {
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Fault> {
        T::deserialize(MapAccessDeserializer::new(Fields {
            texts: self.texts.into_iter(),
            rest: self.body.into_iter(),
            current: None,
        }))
    }
}

pub(crate) fn describe_unknown(field: &str, known: &[&str]) -> String {
    let short: String = field.chars().take(NAME_MAX).collect();
    match nearest(field, known.iter().copied()) {
        Some(near) => format!("there is no field `{short}`; `{near}` is the nearest"),
        None if known.is_empty() => {
            format!("there is no field `{short}`; no fields are taken here")
        }
        None => format!(
            "there is no field `{short}`; there are {}",
            known.join(", ")
        ),
    }
}

/// Returns whether a field is one of those that are named, as it is or in words with `_`: `created_at` is `createdAt`.
pub(crate) fn is_among(field: &str, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| *name == field || to_snake_case(name) == field)
}

/// Writes `createdAt` as `created_at`.
pub(crate) fn to_snake_case(name: &str) -> String {
    let letters = name.chars().flat_map(|letter| {
        let space = letter.is_ascii_uppercase().then_some('_');
        space.into_iter().chain([letter.to_ascii_lowercase()])
    });
    letters.collect()
}

/// The fault of a value, and the path to it, such as `all[0].size`.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) what: String,
    /// The field that is unknown, and those that are known there.
    pub(crate) unknown: Option<(String, &'static [&'static str])>,
}

impl Fault {
    fn in_field(mut self, name: &str) -> Fault {
        let separator = match self.path.is_empty() || self.path.starts_with('[') {
            true => "",
            false => ".",
        };
        self.path.insert_str(0, &format!("{name}{separator}"));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => formatter.write_str(&self.what),
            path => write!(formatter, "{path}: {}", self.what),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(what: T) -> Fault {
        Fault {
            path: String::new(),
            what: what.to_string(),
            unknown: None,
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Fault {
        Fault {
            unknown: Some((field.to_string(), expected)),
            ..serde::de::Error::custom(describe_unknown(field, expected))
        }
    }
}

/// The fields of an object that were not read yet.
struct Fields {
    texts: vec::IntoIter<(String, String)>,
    rest: map::IntoIter,
    current: Option<(String, Strict)>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let text = self.texts.next();
        self.current = match text {
            Some((name, text)) => Some((name, Strict::Text(text))),
            None => self
                .rest
                .next()
                .map(|(name, value)| (name, Strict::Json(value))),
        };
        let name = self.current.as_ref().map(|(name, _)| name.as_str());
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((name, value)) = self.current.take() else {
            return Err(serde::de::Error::custom("a value was read twice"));
        };
        seed.deserialize(value)
            .map_err(|fault| fault.in_field(&name))
    }
}

/// The items of a list that were not read yet.
struct Items(std::iter::Enumerate<vec::IntoIter<Strict>>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let item = self.0.next();
        item.map(|(n, item)| {
            seed.deserialize(item)
                .map_err(|fault| fault.in_field(&format!("[{n}]")))
        })
        .transpose()
    }
}

/// A value whose objects are never read from lists.
enum Strict {
    Json(Value),
    /// Text of an address, which is a number, a word or a list with commas where that is asked for.
    Text(String),
}

impl Strict {
    /// Returns the value; text as the number or the truth value that it spells.
    fn parse_text(self) -> Value {
        match self {
            // `2.0` is an integer, too.
            Strict::Json(value) => match value.as_f64().filter(|_| value.is_f64()) {
                Some(number) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => {
                    Value::from(number as i64)
                }
                _ => value,
            },
            // JSON allows spaces around a number, and a parameter does not.
            Strict::Text(text) => match serde_json::from_str(&text) {
                Ok(value @ (Value::Number(_) | Value::Bool(_))) if text.trim() == text => value,
                _ => Value::String(text),
            },
        }
    }

    fn into_value(self) -> Value {
        match self {
            Strict::Json(value) => value,
            Strict::Text(text) => Value::String(text),
        }
    }
}

fn visit_items<'de, V: Visitor<'de>>(items: Vec<Strict>, visitor: V) -> Result<V::Value, Fault> {
    let mut items = Items(items.into_iter().enumerate());
    let read = visitor.visit_seq(&mut items)?;
    match items.0.next() {
        None => Ok(read),
        Some((n, _)) => Err(serde::de::Error::custom(format!(
            "there are more than {n} items"
        ))),
    }
}

/// Reads what text may spell: a number or a truth value.
macro_rules! parse_methods {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            Strict::Json(self.parse_text()).deserialize_any(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for Strict {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.into_value() {
            Value::Array(items) => {
                visit_items(items.into_iter().map(Strict::Json).collect(), visitor)
            }
            Value::Object(fields) => visitor.visit_map(Fields {
                texts: Vec::new().into_iter(),
                rest: fields.into_iter(),
                current: None,
            }),
            plain => plain
                .deserialize_any(visitor)
                .map_err(serde::de::Error::custom),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Strict::Text(text) = self else {
            return self.deserialize_any(visitor);
        };
        let words = text.split(',').map(str::trim);
        let words = words.filter(|word| !word.is_empty());
        let words = words.map(|word| Strict::Text(word.to_string()));
        visit_items(words.collect(), visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Strict::Json(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.into_value() {
            object @ Value::Object(_) => Strict::Json(object).deserialize_any(visitor),
            other => {
                let what = format!("invalid type: {}, expected an object", kind_of(&other));
                Err(serde::de::Error::custom(what))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let read = self.into_value().deserialize_enum(name, variants, visitor);
        read.map_err(serde::de::Error::custom)
    }

    parse_methods! {
        deserialize_bool deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i64 deserialize_f64
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u128 f32 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map identifier ignored_any
    }
}

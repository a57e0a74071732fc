//! Reads untrusted JSON or YAML: no duplicate fields, and bounded in size, because a YAML alias can repeat a
//! long text any number of times. Writes JSON.

use std::cell::Cell;
use std::{fmt, io};

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Maximum nesting of untrusted values that are stored: their envelope adds some levels, and readers of JSON stop
/// at 128.
pub(crate) const NESTING_MAX: usize = 64;

/// Returns how deep the lists and objects of a JSON text are nested.
pub(crate) fn json_depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut rest) = (0_usize, 0, json.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_text(rest),
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

pub(crate) fn depth_of(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth_of).max(),
        Value::Object(fields) => fields.values().map(depth_of).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

pub(crate) fn append_json(
    value: &(impl Serialize + ?Sized),
    text: &mut Vec<u8>,
) -> serde_json::Result<()> {
    serde_json::to_writer(Appending(text), value)
}

pub(crate) fn to_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    let mut text = Vec::with_capacity(256);
    append_json(value, &mut text)?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Appends what is written. Most parts of JSON are single signs, which take a tenth of the time as such.
struct Appending<'a>(&'a mut Vec<u8>);

impl io::Write for Appending<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.write_all(part).map(|()| part.len())
    }

    #[inline]
    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        match part {
            [sign] => self.0.push(*sign),
            _ => self.0.extend_from_slice(part),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns what follows the text whose first quote has just been read.
pub(crate) fn after_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let skipped = if rest[at] == b'"' { 1 } else { 2 };
        let is_end = skipped == 1;
        rest = rest.get(at + skipped..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// Number of bytes that an item counts as.
const ITEM: usize = 16;
/// The characters that may separate values of JSON.
const BLANKS: [char; 4] = [' ', '\n', '\r', '\t'];

/// Reads a JSON text into a value with a maximum number of bytes.
///
/// # Errors
///
/// What is wrong with it, with line and column.
pub(crate) fn json(text: &str, max: usize) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Within(&Cell::new(max)).deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// Reads a sequence of JSON values with a maximum number of bytes altogether, and hands out each.
///
/// # Errors
///
/// What is wrong with them, with line and column.
pub(crate) fn jsons(text: &str, max: usize, take: &mut dyn FnMut(Value)) -> serde_json::Result<()> {
    let left = Cell::new(max);
    let mut rest = text.trim_start_matches(BLANKS);
    loop {
        let mut reader = serde_json::Deserializer::from_str(rest);
        take(Within(&left).deserialize(&mut reader).or_else(|_| {
            // Blanks in place of what comes before it give the error the right line and column.
            let before = text[..text.len() - rest.len()].bytes();
            let blanks = before.map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            let whole = String::from_iter(blanks) + rest;
            Within(&left).deserialize(&mut serde_json::Deserializer::from_str(&whole))
        })?);
        let read = reader.into_iter::<IgnoredAny>().byte_offset();
        rest = rest[read..].trim_start_matches(BLANKS);
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Reads a YAML text, with or without a byte order mark, into a value with a maximum number of bytes.
///
/// # Errors
///
/// What is wrong with it, with line and column where they are known.
pub(crate) fn yaml(text: &str, max: usize) -> Result<Value, serde_yaml::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    crate::yaml::check_shape(text)?;
    Within(&Cell::new(max)).deserialize(serde_yaml::Deserializer::from_str(text))
}

/// The fields of an object without duplicate fields at any depth, of a text with a known size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object, D::Error> {
        match Within(&Cell::new(usize::MAX)).deserialize(from)? {
            Value::Object(fields) => Ok(Object(fields)),
            other => {
                let what = format!("invalid type: {}, expected an object", kind_of(&other));
                Err(D::Error::custom(what))
            }
        }
    }
}

/// The fields of an object without duplicates, as they are written; their values are not parsed.
pub(crate) struct Parts<'a>(pub(crate) IndexMap<String, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Parts<'a>, D::Error> {
        from.deserialize_map(Parts(IndexMap::new()))
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Parts<'a> {
    type Value = Parts<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut parts: A) -> Result<Parts<'a>, A::Error> {
        while let Some(name) = parts.next_key::<String>()? {
            if self.0.contains_key(&name) {
                return Err(duplicate_field(&name));
            }
            self.0.insert(name, parts.next_value()?);
        }
        Ok(self)
    }
}

fn duplicate_field<E: Error>(name: &str) -> E {
    let short: String = name.chars().take(60).collect();
    E::custom(format!("duplicate field `{short}`"))
}

#[derive(Clone, Copy)]
struct Within<'a>(&'a Cell<usize>);

impl Within<'_> {
    fn consume<E: Error>(self, size: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(size);
        self.0
            .set(left.ok_or_else(|| E::custom("it is larger than it may be"))?);
        Ok(())
    }
}

/// The name of a field. It is checked while it is read, so that readers of YAML can name the line.
struct Name<'a>(&'a Map<String, Value>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_string(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<String, E> {
        if self.0.contains_key(name) {
            return Err(duplicate_field(name));
        }
        Ok(name.to_string())
    }
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a plain value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.consume(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.consume(ITEM)?;
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key_seed(Name(&map))? {
            self.consume(ITEM + name.len())?;
            map.insert(name, fields.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nesting_counts_lists_and_objects_outside_of_texts() {
        for (text, depth) in [
            ("1", 0),
            ("[]", 1),
            ("{\"a\":[1,{}],\"b\":[]}", 3),
            (r#"["[[[", "\"[[", "\\", [1]]"#, 2),
        ] {
            assert_eq!(json_depth(text), depth, "{text}");
        }
    }

    #[test]
    fn duplicate_fields_are_refused_at_any_depth() {
        let Object(fields) = serde_json::from_str("{\"a\":{\"b\":[1]}}").unwrap();
        assert_eq!(Value::Object(fields), json!({"a": {"b": [1]}}));
        for (text, fault) in [
            ("{\"a\":1,\"a\":2}", "duplicate field `a`"),
            ("{\"a\":[{\"b\":1,\"b\":1}]}", "duplicate field `b`"),
            ("null", "invalid type: null, expected an object"),
        ] {
            let told = serde_json::from_str::<Object>(text).unwrap_err();
            assert!(told.to_string().contains(fault), "{text}: {told}");
        }
    }

    #[test]
    fn duplicate_field_is_reported_with_its_line() {
        let fault = json("{\"a\":1,\n\"a\":2}", 1_000).unwrap_err().to_string();
        assert!(fault.contains("duplicate field `a` at line 2"), "{fault}");
        let fault_of = |text: &str| yaml(text, 1_000).unwrap_err().to_string();
        assert_eq!(
            fault_of("a: 1\nb:\n  c: 2\n  c: 3\n"),
            "b: duplicate field `c` at line 4 column 3"
        );
        assert_eq!(
            fault_of("a: 1\na: 2\n"),
            "duplicate field `a` at line 2 column 1"
        );
    }

    #[test]
    fn consecutive_values_are_all_read() {
        let read = |text: &str, max| {
            let mut all = Vec::new();
            jsons(text, max, &mut |value| all.push(value)).map(|()| all)
        };
        let all = read(" {\"a\":1}\n[2] 3\n", 1_000).unwrap();
        assert_eq!(all, [json!({"a": 1}), json!([2]), json!(3)]);
        for cut in ["", " ", "{\"a\":1} {", "{} }"] {
            assert!(read(cut, 1_000).is_err(), "{cut}");
        }
        assert!(json("{} {}", 1_000).is_err());
        for (text, max, expected) in [
            (
                "{}\n {\"a\":1,\"a\":2}",
                1_000,
                "duplicate field `a` at line 2 column 11",
            ),
            (
                "{\"a\":\"é\"} {\"b\"}",
                1_000,
                "expected `:` at line 1 column 16",
            ),
            (
                "{\"a\":1}\n{\"b\":1}\n",
                30,
                "it is larger than it may be at line 2 column 4",
            ),
        ] {
            assert_eq!(read(text, max).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn name_that_stands_for_long_text_counts_each_time() {
        let text = format!("- &a {}\n- *a\n- *a\n", "x".repeat(100));
        assert!(yaml(&text, 500).is_ok());
        assert!(yaml(&text, 300).is_err());
    }
}

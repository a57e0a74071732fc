//! Reads a JSON or YAML text into a value that is not larger than the text allows: a name in YAML
//! can stand for a long text any number of times.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::plan::PLAN_MAX;
use crate::plan::check::{Fault, FaultKind};

/// Most bytes that a value may be made of.
const SIZE_MAX: usize = 2 * PLAN_MAX as usize;
/// What an item counts, in bytes.
const ITEM: usize = 16;

/// Reads a text: JSON when it begins like it, else YAML.
pub(super) fn read(bytes: &[u8]) -> Result<Value, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let before = &bytes[..fault.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count()
            + 1;
        syntax(Some((line, column)), "it is not written in UTF-8")
    })?;
    let left = Cell::new(SIZE_MAX);
    match text.trim_start().starts_with(['{', '[']) {
        true => json(text, &left),
        false => yaml(text, &left),
    }
}

fn json(text: &str, left: &Cell<usize>) -> Result<Value, Fault> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Within(left).deserialize(&mut json);
    let whole = value.and_then(|value| json.end().map(|()| value));
    whole.map_err(|fault| {
        let place = Some((fault.line(), fault.column()));
        syntax(place, &format!("no JSON: {fault}"))
    })
}

fn yaml(text: &str, left: &Cell<usize>) -> Result<Value, Fault> {
    let value = crate::yaml::check_depth(text)
        .and_then(|()| Within(left).deserialize(serde_yaml::Deserializer::from_str(text)));
    value.map_err(|fault| {
        let place = fault.location().map(|place| (place.line(), place.column()));
        syntax(place, &format!("no YAML: {fault}"))
    })
}

fn syntax(place: Option<(usize, usize)>, message: &str) -> Fault {
    let place = match place {
        Some((line, column)) => format!("line {line}, column {column}"),
        None => "plan".to_string(),
    };
    // The place that a reader adds is the same once more; what it quotes may be long.
    let message = message.split(" at line ").next().unwrap_or_default();
    let message: String = message.chars().take(200).collect();
    Fault::new(FaultKind::Syntax, place, message)
}

/// A value within what is left to spend.
#[derive(Clone, Copy)]
struct Within<'a>(&'a Cell<usize>);

impl Within<'_> {
    fn spend<E: Error>(self, size: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(size);
        self.0
            .set(left.ok_or_else(|| E::custom("it is larger than a plan may be"))?);
        Ok(())
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

    /// An empty document in YAML.
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.spend(ITEM)?;
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            self.spend(ITEM + name.len())?;
            if map.contains_key(&name) {
                let short: String = name.chars().take(60).collect();
                return Err(A::Error::custom(format!(
                    "the field `{short}` is there twice"
                )));
            }
            map.insert(name, fields.next_value_seed(self)?);
        }
        Ok(map.into())
    }
}

//! The keys and values of front matter, with their places, and how they are read leniently. Start at `read`.

use super::{Fault, strict_yaml};
use crate::document;

/// Maximum size of a front matter with its aliases expanded, in bytes.
const EXPANSION_LIMIT: usize = 16 * 1024 * 1024;

/// The front matter of the embedded skills and protocols, sorted, and what is in it.
static KNOWN: &[(&str, Known)] = include!(concat!(env!("OUT_DIR"), "/front_matter.rs"));

enum Known {
    Text(&'static str),
    Mapping(&'static [(&'static str, Known)]),
}

/// The width of the opening `---`, after which the block begins in line one of the file.
pub(super) const OPENING: usize = 3;

/// Line and column in the file, both from one.
pub(crate) type Place = (usize, usize);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) value: Value,
    pub(crate) value_place: Place,
}

/// A value in the front matter. Numbers and booleans are text, as in the reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text { text: String, is_plain: bool },
    List(Vec<Value>),
    Mapping(Fields),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields(pub(crate) Vec<Field>);

impl Fields {
    pub(crate) fn find(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|field| field.name == key)
    }

    /// The value of `key`, if it is a scalar and not null.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.find(key)?.value {
            Value::Text { text, is_plain } if !is_plain || !is_null(text) => Some(text),
            _ => None,
        }
    }

    /// The mapping below `key`, such as `metadata` or the `when` of a protocol file.
    pub(crate) fn mapping(&self, key: &str) -> Option<&Fields> {
        match &self.find(key)?.value {
            Value::Mapping(fields) => Some(fields),
            _ => None,
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Reads with the strict reader where it accepts the text, so that `1.10` stays as written; otherwise as YAML. That of
/// embedded files was read when the program was built.
pub(super) fn read(block: &str) -> Result<Fields, Fault> {
    let known = KNOWN.binary_search_by(|(known, _)| (*known).cmp(block));
    match known.map(|at| KNOWN[at].1.read()) {
        Ok(Value::Mapping(fields)) => Ok(fields),
        _ => strict_yaml::read(block).or_else(|_| read_leniently(block)),
    }
}

impl Known {
    fn read(&self) -> Value {
        match self {
            Known::Text(text) => Value::Text {
                text: (*text).to_string(),
                is_plain: false,
            },
            Known::Mapping(fields) => {
                let fields = fields.iter();
                let fields =
                    fields.map(|(name, value)| field((*name).to_string(), value.read(), (1, 1)));
                Value::Mapping(Fields(fields.collect()))
            }
        }
    }
}

fn read_leniently(block: &str) -> Result<Fields, Fault> {
    let value = document::yaml(block, EXPANSION_LIMIT).map_err(yaml_fault)?;
    let serde_json::Value::Object(fields) = value else {
        let message = "The front matter must be keys and values.";
        return Err(Fault::new("FRONT_MATTER_NOT_MAPPING", (1, 1), message));
    };
    let fields = fields.into_iter().map(|(name, value)| {
        let line = block.lines().position(|line| begins_with_key(line, &name));
        let place = (line.map_or(1, |line| line + 1), 1);
        field(name, value_of(value, place), place)
    });
    Ok(Fields(fields.collect()))
}

fn begins_with_key(line: &str, key: &str) -> bool {
    let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
    rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
}

fn field(name: String, value: Value, place: Place) -> Field {
    Field {
        name,
        place,
        value,
        value_place: place,
    }
}

/// Reads a value; what is below it is said to be where it is.
fn value_of(value: serde_json::Value, place: Place) -> Value {
    let text = |text: String, is_plain| Value::Text { text, is_plain };
    match value {
        serde_json::Value::Null => text(String::new(), true),
        serde_json::Value::String(value) => text(value, false),
        serde_json::Value::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| value_of(item, place))
                .collect(),
        ),
        serde_json::Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| field(name, value_of(value, place), place));
            Value::Mapping(Fields(fields.collect()))
        }
        other => text(other.to_string(), false),
    }
}

/// The block starts in line one of the file, after the opening `---`, so the lines are those of the file.
fn yaml_fault(error: serde_yaml::Error) -> Fault {
    let place = error
        .location()
        .map_or((1, 1), |location| match location.line() {
            1 => (1, location.column() + OPENING),
            line => (line, location.column()),
        });
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    Fault::new(
        "FRONT_MATTER_YAML",
        place,
        format!("The front matter is not YAML: {message}."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forget_places(fields: Fields) -> Fields {
        let forget = |it: Field| match it.value {
            Value::Mapping(below) => field(it.name, Value::Mapping(forget_places(below)), (1, 1)),
            Value::List(items) => field(it.name, Value::List(items), (1, 1)),
            Value::Text { text, .. } => {
                let is_plain = false;
                field(it.name, Value::Text { text, is_plain }, (1, 1))
            }
        };
        Fields(fields.0.into_iter().map(forget).collect())
    }

    #[test]
    fn embedded_front_matter_reads_as_yaml() {
        assert!(KNOWN.len() > 20);
        for (block, _) in KNOWN {
            let strict = forget_places(strict_yaml::read(block).unwrap());
            assert_eq!(forget_places(read(block).unwrap()), strict);
        }
    }
}

//! The keys and values of front matter, and how they are read leniently. Start at `read`.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Fault;
use super::strict_yaml::{self, Entry, Tree};

const DEPTH_LIMIT: usize = 100;

const EXPANSION_LIMIT: usize = 16 * 1024 * 1024;

const OPENING: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields(Vec<(String, Value)>);

impl Fields {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The value of `key`, if it is a scalar and not null.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A value in the front matter. Numbers and booleans are text, as in the reference.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    Text(String),
    List(Vec<Value>),
    Mapping(Fields),
}

/// Reads with the strict reader where it accepts the text, so that `1.10` stays as written; otherwise, and
/// with merge keys, as YAML.
pub(super) fn read(block: &str) -> Result<Fields, Fault> {
    let strict = strict_yaml::read(block).map(|entries| entries.into_iter().map(field).collect());
    strict.or_else(|_| lenient_fields(block))
}

fn field(entry: Entry) -> (String, Value) {
    (entry.name, value_of_tree(entry.value))
}

impl FromIterator<(String, Value)> for Fields {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(items: T) -> Self {
        Self(items.into_iter().collect())
    }
}

fn value_of_tree(tree: Tree) -> Value {
    match tree {
        Tree::Text { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") =>
        {
            Value::Null
        }
        Tree::Text { text, .. } => Value::Text(text),
        Tree::Sequence(items) => Value::List(items.into_iter().map(value_of_tree).collect()),
        Tree::Mapping(entries) => Value::Mapping(entries.into_iter().map(field).collect()),
    }
}

fn lenient_fields(block: &str) -> Result<Fields, Fault> {
    check_depth(block)?;
    if block.contains('&') && block.matches('*').count() * block.len() > EXPANSION_LIMIT {
        let message = "The front matter holds too many aliases for its size.";
        return Err(Fault::new("FRONT_MATTER_YAML", (1, 1), message));
    }
    let mut value: serde_yaml::Value = serde_yaml::from_str(block).map_err(yaml_fault)?;
    value.apply_merge().map_err(yaml_fault)?;
    match value_of_yaml(value) {
        Value::Mapping(fields) => Ok(fields),
        _ => {
            let message = "The front matter must be keys and values.";
            Err(Fault::new("FRONT_MATTER_NOT_MAPPING", (1, 1), message))
        }
    }
}

/// Refuses deep flow style early, for the YAML reader takes seconds before it does.
fn check_depth(block: &str) -> Result<(), Fault> {
    let (mut depth, mut place) = (0_usize, (1, OPENING));
    for character in block.chars() {
        place = if character == '\n' {
            (place.0 + 1, 0)
        } else {
            (place.0, place.1 + 1)
        };
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_LIMIT {
            let message = format!("The front matter is nested more than {DEPTH_LIMIT} deep.");
            return Err(Fault::new("FRONT_MATTER_YAML", place, message));
        }
    }
    Ok(())
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

fn value_of_yaml(value: serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(value) => Value::Text(value.to_string()),
        serde_yaml::Value::Number(value) => Value::Text(value.to_string()),
        serde_yaml::Value::String(text) => Value::Text(text),
        serde_yaml::Value::Sequence(items) => {
            Value::List(items.into_iter().map(value_of_yaml).collect())
        }
        serde_yaml::Value::Mapping(entries) => {
            let field = |(key, value)| {
                let key = match value_of_yaml(key) {
                    Value::Text(text) => text,
                    _ => String::new(),
                };
                (key, value_of_yaml(value))
            };
            Value::Mapping(entries.into_iter().map(field).collect())
        }
        serde_yaml::Value::Tagged(tagged) => value_of_yaml(tagged.value),
    }
}

//! The fields of one JSON object, taken out one by one. What nobody took is kept as it is.

use serde_json::{Map, Value};

use super::moment;
use crate::task::Note;
use crate::task::files::inside;
use crate::task::rules::is_slug;

/// Fields of a JSON object that are still to be taken.
#[derive(Debug, Default)]
pub(super) struct Fields {
    left: Map<String, Value>,
    /// Fields whose value was of a kind that nobody can use.
    pub(super) faults: Vec<String>,
}

impl Fields {
    pub(super) fn new(left: Map<String, Value>) -> Fields {
        Fields {
            left,
            faults: Vec::new(),
        }
    }

    /// Looks at a field and leaves it.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.left.get(name).filter(|value| !value.is_null())
    }

    /// Says whether a field is there and says that there is nothing.
    pub(super) fn has_null(&self, name: &str) -> bool {
        self.left.get(name).is_some_and(Value::is_null)
    }

    pub(super) fn word(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Takes a field as it is; null is none.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name).filter(|value| !value.is_null())
    }

    /// Drops fields that are derived from others.
    pub(super) fn drop(&mut self, names: &[&str]) {
        for name in names {
            self.left.remove(*name);
        }
    }

    /// Puts a value back among those that are kept.
    pub(super) fn keep(&mut self, name: &str, value: impl Into<Value>) {
        self.left.insert(name.to_string(), value.into());
    }

    /// Takes a text. Something else in its place is a fault.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => {
                self.faults.push(format!("{name} is no text"));
                None
            }
        }
    }

    /// Takes a text that may be a number as well.
    pub(super) fn id(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            None => None,
            Some(value) => id(&value).or_else(|| {
                self.faults
                    .push(format!("{name} is neither a text nor a whole number"));
                None
            }),
        }
    }

    /// Takes a list of texts. A list with anything else in it stays whole where it is.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let plain = |value: &Value| match value {
            Value::Array(all) => all.iter().all(Value::is_string),
            Value::Null => true,
            _ => false,
        };
        if !self.left.get(name).is_some_and(plain) {
            return Vec::new();
        }
        match self.take(name) {
            Some(Value::Array(all)) => all.into_iter().filter_map(into_text).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes a list of ids. Anything else in it is a fault: nothing that holds a task up is lost.
    pub(super) fn ids(&mut self, name: &str) -> Vec<String> {
        let found = match self.take(name) {
            None => Some(Vec::new()),
            Some(Value::Array(all)) => all.iter().map(id).collect(),
            Some(_) => None,
        };
        found.unwrap_or_else(|| {
            self.faults.push(format!("{name} is no list of ids"));
            Vec::new()
        })
    }

    /// Takes a list of texts in which none stands twice.
    pub(super) fn set(&mut self, name: &str) -> Vec<String> {
        unique(self.texts(name))
    }

    /// Takes the files of a task; what leads out of the workspace stays where it is.
    pub(super) fn files(&mut self, name: &str) -> Vec<String> {
        let texts = self.set(name).into_iter();
        let (outside, files): (Vec<_>, Vec<_>) = texts.partition(|text| inside(text).is_none());
        if !outside.is_empty() {
            self.keep(name, outside);
        }
        unique(files.iter().filter_map(|file| inside(file)).collect())
    }

    /// Takes a time. Epoch 0 stands for none; what is no time stays where it is.
    pub(super) fn time(&mut self, name: &str) -> Option<String> {
        let found = self.word(name).and_then(moment::read)?;
        self.left.remove(name);
        (!found.starts_with("1970-01-01T00:00:00") && !found.starts_with("0001-01-01"))
            .then_some(found)
    }

    /// Takes a slug; any other text stays where it is.
    pub(super) fn slug(&mut self, name: &str) -> Option<String> {
        let fits = self.word(name).is_some_and(is_slug);
        if fits { self.text(name) } else { None }
    }

    /// Takes a name of one line and at most 100 characters; any other text stays where it is.
    pub(super) fn name(&mut self, name: &str) -> Option<String> {
        let fits = |text: &str| crate::task::rules::check_word(name, Some(text)).is_ok();
        let fits = self.word(name).is_some_and(fits);
        if fits { self.text(name) } else { None }
    }

    /// Returns what nobody took, without empty values.
    pub(super) fn rest(self) -> Map<String, Value> {
        let mut left = self.left;
        left.retain(|_, value| !value.is_null());
        left
    }
}

/// Reads an id: a text, or a whole number.
pub(super) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

fn into_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Drops what stands twice; the first stays.
pub(super) fn unique(lines: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    for line in lines {
        if !line.is_empty() && !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
}

/// Makes a note; an empty text makes none.
pub(super) fn note(at: &str, by: &str, text: impl Into<String>) -> Option<Note> {
    let text = text.into();
    (!text.trim().is_empty()).then(|| Note {
        at: at.to_string(),
        by: by.to_string(),
        text,
    })
}

//! The fields of one JSON object, taken out one by one. What nobody took is kept as it is.

use serde_json::{Map, Value};

use super::moment;
use crate::task::rules::{check_word, inside, is_slug};
use crate::task::{Note, Task};

/// Fields of a JSON object that are still to be taken.
#[derive(Debug, Default)]
pub(super) struct Fields {
    left: Map<String, Value>,
    /// Fields whose value was of a kind that nobody can use.
    pub(super) faults: Vec<String>,
    /// Parts of fields that nobody can use. They cost themselves and not the task.
    pub(super) loose: Vec<String>,
}

impl Fields {
    pub(super) fn new(left: Map<String, Value>) -> Fields {
        Fields {
            left,
            faults: Vec::new(),
            loose: Vec::new(),
        }
    }

    /// Looks at a field and leaves it.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.left.get(name).filter(|value| !value.is_null())
    }

    /// Returns `true` for a field that is there, also if it is null.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// Returns the parts of a task for which there is a field; `parts` holds pairs of both.
    pub(super) fn find_parts(&self, parts: &[(&'static str, &str)]) -> Vec<&'static str> {
        let there = parts.iter().filter(|(_, field)| self.get(field).is_some());
        there.map(|(part, _)| *part).collect()
    }

    /// Replaces fields by those of a later version.
    pub(super) fn extend(&mut self, later: Fields) {
        self.left.extend(later.rest());
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

    /// Puts items of a list back among those that are kept; none takes nothing.
    pub(super) fn keep_items(&mut self, name: &str, items: Vec<Value>) {
        if items.is_empty() {
            return;
        }
        match self.left.get_mut(name) {
            Some(Value::Array(there)) => there.extend(items),
            _ => drop(self.left.insert(name.to_string(), items.into())),
        }
    }

    /// Takes what `read` can use of a list; the other items stay where they are, and so does what is
    /// no list.
    pub(super) fn items<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let Some(Value::Array(all)) = self.get(name) else {
            return Vec::new();
        };
        let read: Vec<Option<T>> = all.iter().map(read).collect();
        let Some(Value::Array(all)) = self.take(name) else {
            return Vec::new();
        };
        let odd = all.into_iter().zip(&read);
        let odd = odd.filter(|(_, read)| read.is_none()).map(|(item, _)| item);
        self.keep_items(name, odd.collect());
        read.into_iter().flatten().collect()
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

    /// Takes a word of a set; any other stays where it is.
    pub(super) fn parsed<T: std::str::FromStr>(&mut self, name: &str) -> Option<T> {
        let word = self.word(name)?.parse().ok()?;
        self.left.remove(name);
        Some(word)
    }

    /// Takes the times of creation and of the last change.
    pub(super) fn take_times(&mut self, task: &mut Task, created: &str, updated: &str) {
        task.created_at = self.time(created).unwrap_or_default();
        let updated = self.time(updated);
        task.updated_at = updated.unwrap_or_else(|| task.created_at.clone());
    }

    /// Takes a list of texts; a number is its text. Anything else in it stays where it is.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        self.items(name, text_of)
    }

    /// Takes a list of ids. Anything else in it stays where it is and is told: nothing that holds a
    /// task up is lost.
    pub(super) fn ids(&mut self, name: &str) -> Vec<String> {
        if self.get(name).is_some_and(|value| !value.is_array()) {
            self.left.remove(name);
            self.faults.push(format!("{name} is no list of ids"));
        }
        let ids = self.items(name, id);
        let odd = self.get(name).and_then(Value::as_array);
        let told = odd.into_iter().flatten();
        let told: Vec<String> = told
            .map(|odd| format!("{name} holds {odd}, which is no id"))
            .collect();
        self.loose.extend(told);
        ids
    }

    /// Takes a list of texts in which none stands twice.
    pub(super) fn set(&mut self, name: &str) -> Vec<String> {
        unique(self.texts(name))
    }

    /// Takes the files of a task; what leads out of the workspace stays where it is.
    pub(super) fn files(&mut self, name: &str) -> Vec<String> {
        let texts = self.set(name).into_iter();
        let (outside, files): (Vec<_>, Vec<_>) = texts.partition(|text| inside(text).is_none());
        self.keep_items(name, outside.into_iter().map(Value::from).collect());
        unique(files.iter().filter_map(|file| inside(file)).collect())
    }

    /// Takes a time. What is none stays where it is, and so do the times that stand for none: the
    /// first moments of the year 1 and of 1970.
    pub(super) fn time(&mut self, name: &str) -> Option<String> {
        let found = self.word(name).and_then(moment::read)?;
        if found.starts_with("1970-01-01T00:00:00") || found.starts_with("0001-01-01") {
            return None;
        }
        self.left.remove(name);
        Some(found)
    }

    /// Takes a slug; any other text stays where it is.
    pub(super) fn slug(&mut self, name: &str) -> Option<String> {
        let fits = self.word(name).is_some_and(is_slug);
        if fits { self.text(name) } else { None }
    }

    /// Takes a name of one line and at most 100 characters; any other text stays where it is.
    pub(super) fn name(&mut self, name: &str) -> Option<String> {
        let fits = |text: &str| check_word(name, Some(text)).is_ok();
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

/// Reads a text; a number is its text.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
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

//! The fields of one JSON object, which readers take one by one. The rest is kept unchanged.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::moment;
use crate::task::rules::{check_word, is_slug, normalize_inside};
use crate::task::{Note, Task};

/// Fields of a JSON object that are still to be taken.
#[derive(Debug, Default)]
pub(super) struct Fields {
    left: Map<String, Value>,
    /// Faults of fields with a value of the wrong kind.
    pub(super) faults: Vec<String>,
    /// Faults of parts of fields, which do not affect the task.
    pub(super) loose: Vec<String>,
}

impl Fields {
    pub(super) fn new(left: Map<String, Value>) -> Fields {
        Fields {
            left,
            ..Fields::default()
        }
    }

    /// Looks at a field and leaves it.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.left.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn word(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Takes a field as it is; null is none.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let value = self.left.get_mut(name).map(Value::take);
        value.filter(|value| !value.is_null())
    }

    pub(super) fn take_where(&mut self, mut take: impl FnMut(&str, &Value) -> bool) {
        self.left.retain(|name, value| !take(name, value));
    }

    /// Drops fields that are derived from others.
    pub(super) fn drop(&mut self, names: &[&str]) {
        for name in names {
            self.left.remove(*name);
        }
    }

    /// Puts a value back among those that are kept.
    pub(super) fn put_back(&mut self, name: &str, value: impl Into<Value>) {
        self.left.insert(name.to_string(), value.into());
    }

    /// Takes the items of a list that `read` accepts; the others stay. A single value is a list of one.
    pub(super) fn items<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let (mut all, is_list) = match self.take(name) {
            None => return Vec::new(),
            Some(Value::Array(all)) => (all, true),
            Some(value) => (vec![value], false),
        };
        let mut found = Vec::with_capacity(all.len());
        all.retain(|item| {
            let taken = read(item);
            let is_odd = taken.is_none();
            found.extend(taken);
            is_odd
        });
        if !all.is_empty() {
            match is_list {
                true => self.put_back(name, all),
                false => self.put_back(name, all.swap_remove(0)),
            }
        }
        found
    }

    /// Takes a list of references. Items that are none are reported, because the task may depend on them.
    pub(super) fn references<T>(
        &mut self,
        name: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Vec<T> {
        let found = self.items(name, read);
        let odd = self.left.get(name).filter(|value| !value.is_null());
        match odd.map(Value::as_array) {
            None => {}
            Some(None) => self.faults.push(format!("{name} is not a list")),
            Some(Some(odd)) => {
                let told = |odd: &Value| format!("{name} holds {odd}, an invalid reference");
                self.loose.extend(odd.iter().map(told));
            }
        }
        found
    }

    /// Takes a text. Any other value is a fault.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => {
                self.faults.push(format!("{name} is not text"));
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

    /// Takes a word of a set; any other word stays.
    pub(super) fn parse_word<T: std::str::FromStr>(&mut self, name: &str) -> Option<T> {
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

    /// Takes a list of texts without duplicates; numbers become texts.
    pub(super) fn set(&mut self, name: &str) -> Vec<String> {
        remove_duplicates(self.items(name, text_of))
    }

    /// Takes the files of a task; paths outside of the workspace stay.
    pub(super) fn files(&mut self, name: &str) -> Vec<String> {
        remove_duplicates(self.items(name, |file| normalize_inside(&text_of(file)?)))
    }

    /// Takes a time. An invalid one stays, and so do times that mean none: the first moments of year 1 and of 1970.
    pub(super) fn time(&mut self, name: &str) -> Option<String> {
        let found = self.word(name).and_then(moment::read)?;
        if found.starts_with("1970-01-01T00:00:00") || found.starts_with("0001-01-01") {
            return None;
        }
        self.left.remove(name);
        Some(found)
    }

    /// Takes a slug; any other text stays.
    pub(super) fn slug(&mut self, name: &str) -> Option<String> {
        self.word(name)
            .is_some_and(is_slug)
            .then(|| self.text(name))?
    }

    /// Takes a name of one line and at most 100 characters; any other text stays.
    pub(super) fn name(&mut self, name: &str) -> Option<String> {
        let fits = |text: &str| check_word(name, Some(text)).is_ok();
        self.word(name).is_some_and(fits).then(|| self.text(name))?
    }

    /// Returns the remaining fields, without empty values.
    pub(super) fn into_rest(self) -> Map<String, Value> {
        let left = self.left.into_iter();
        left.filter(|(_, value)| !value.is_null()).collect()
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

pub(super) fn remove_duplicates(lines: Vec<String>) -> Vec<String> {
    let kept = lines.into_iter().filter(|line| !line.is_empty());
    kept.collect::<IndexSet<String, RandomState>>()
        .into_iter()
        .collect()
}

/// Makes a note; an empty text makes none.
pub(super) fn make_note(at: &str, by: &str, text: impl Into<String>) -> Option<Note> {
    let text = text.into();
    (!text.trim().is_empty()).then(|| Note {
        at: at.to_string(),
        by: by.to_string(),
        text,
    })
}

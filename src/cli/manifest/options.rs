//! An entry of the manifest as options say it.

use std::io::{IsTerminal, stdin};

use clap::Args;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::{document, file};

/// Most that is read from standard input, in bytes: an entry with room for line ends and blanks.
const INPUT_MAX: u64 = 4 << 20;

// The fields of an entry as options; what is left out is missing or empty.
#[derive(Args, Default, PartialEq, Serialize)]
#[command(next_help_heading = "Entry")]
pub(super) struct EntryOptions {
    /// Name of the entry: one word
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,

    /// Output file, relative to claudedocs/agent-outputs
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<String>,

    /// One line
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,

    /// Day of the work; today by default
    #[arg(long, value_name = "DATE")]
    pub(super) date: Option<String>,

    /// complete, partial, blocked or archived; complete by default
    #[arg(long, value_name = "STATUS")]
    pub(super) status: Option<String>,

    /// What it is about; may be repeated or separated by commas
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',')]
    pub(super) topics: Vec<String>,

    /// One fact in one sentence; a complete entry has 3 to 7
    #[arg(long = "finding", value_name = "TEXT")]
    pub(super) key_findings: Vec<String>,

    /// Somebody can act on it now
    #[arg(long)]
    pub(super) actionable: bool,

    /// Task that has to follow, or BLOCKED:reason; may be repeated
    #[arg(long = "followup", value_name = "TASK|BLOCKED:REASON")]
    pub(super) needs_followup: Vec<String>,

    /// Task that it belongs to; may be repeated or separated by commas
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',')]
    pub(super) linked_tasks: Vec<TaskId>,

    /// Skill that the work was done by
    #[arg(long, value_name = "SKILL")]
    pub(super) skill: Option<String>,
}

impl EntryOptions {
    /// Reads the entry, and what is to be said of it: from the options alone where they can describe
    /// it, so that nobody is waited for, else from standard input if something is there.
    pub(super) fn read(self, today: String) -> Result<(String, Vec<String>)> {
        let is_given = self != EntryOptions::default();
        let named = [&self.id, &self.file, &self.title];
        if named.into_iter().all(Option::is_some) || (is_given && stdin().is_terminal()) {
            return Ok((self.text(today), Vec::new()));
        }
        let text = read_stdin()?;
        if is_given && text.trim().is_empty() {
            return Ok((self.text(today), Vec::new()));
        }
        Ok(joined(text, &json!(self)))
    }

    fn text(mut self, today: String) -> String {
        self.date.get_or_insert(today);
        self.status.get_or_insert("complete".to_string());
        json!(self).to_string()
    }
}

fn read_stdin() -> Result<String> {
    let refused = |message: String| Error::new(Code::EntryInvalid, message);
    if stdin().is_terminal() {
        return Err(refused(
            "no entry is given: put it on standard input".into(),
        ));
    }
    let bytes = file::read_stdin(INPUT_MAX)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes);
    text.map(str::to_string).map_err(|cause| {
        let place = cause.valid_up_to() + 1;
        refused(format!("the entry is no UTF-8 from byte {place}"))
    })
}

/// The fields of an entry as they were written.
type Written = IndexMap<String, Box<RawValue>>;

/// What is said where an entry is taken although nothing can be joined to it.
const UNREAD: &str =
    "the options do not count: a field of the entry stands twice or cannot be read";

/// Joins an entry with fields from options, and says which of its own give way: lists grow, all else
/// counts in the place of what the entry says. A text that is no object stays as it is, for whoever
/// reads it next to name its faults.
pub(super) fn joined(text: String, options: &Value) -> (String, Vec<String>) {
    let given = options.as_object().into_iter().flatten();
    let given: Vec<(&String, &Value)> = given
        // An option that is left out is an empty list, false or null.
        .filter(|(_, value)| match value {
            Value::Array(list) => !list.is_empty(),
            value => !matches!(value, Value::Bool(false) | Value::Null),
        })
        .collect();
    if given.is_empty() {
        return (text, Vec::new());
    }
    let Some(mut entry) = written(&text) else {
        return (text, vec![UNREAD.to_string()]);
    };
    let mut warnings = Vec::new();
    for (name, value) in given {
        let old = entry.get(name).map(|old| old.get());
        let old = old.and_then(|old| serde_json::from_str(old).ok());
        let new = of_both(name, old, value, &mut warnings);
        if let Ok(new) = to_raw_value(&new) {
            entry.insert(name.clone(), new);
        }
    }
    (serde_json::to_string(&entry).unwrap_or(text), warnings)
}

/// Reads an object; none when a field stands twice, which is a fault that joining would hide.
fn written(text: &str) -> Option<Written> {
    document::json(text, usize::MAX).ok()?;
    serde_json::from_str(text).ok()
}

fn of_both(name: &str, old: Option<Value>, new: &Value, warnings: &mut Vec<String>) -> Value {
    match (old, new) {
        (Some(Value::Array(mut list)), Value::Array(more)) => {
            let missing = more.iter().filter(|item| !list.contains(item));
            let missing: Vec<Value> = missing.cloned().collect();
            list.extend(missing);
            return Value::Array(list);
        }
        (Some(old), new) if old != *new => warnings.push(format!(
            "{name} is {new}, as the options say; the entry on standard input says {old}"
        )),
        _ => {}
    }
    new.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_and_all_else_gives_way() {
        let options = json!({"status": "blocked", "topics": [], "actionable": false,
            "linked_tasks": ["T3", "T2"], "skill": "x"});
        let text =
            r#"{"id":"a","n":1.00000000000000000001,"status":"partial","linked_tasks":["T2"]}"#;
        let (entry, warnings) = joined(text.to_string(), &options);
        assert_eq!(
            entry,
            r#"{"id":"a","n":1.00000000000000000001,"status":"blocked","linked_tasks":["T2","T3"],"skill":"x"}"#
        );
        assert_eq!(
            warnings,
            [
                "status is \"blocked\", as the options say; the entry on standard input says \"partial\""
            ]
        );
    }

    #[test]
    fn what_cannot_be_joined_stays_as_it_is() {
        let options = json!({"linked_tasks": ["T3"]});
        for text in ["[1]", "no JSON", r#"{"id":"a","id":"b"}"#] {
            let same = (text.to_string(), vec![UNREAD.to_string()]);
            assert_eq!(joined(text.to_string(), &options), same);
        }
        let text = "{ \"id\": \"a\" }".to_string();
        assert_eq!(joined(text.clone(), &json!({})), (text, Vec::new()));
    }
}

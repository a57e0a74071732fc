//! One entry of the manifest, its words and its faults.

use std::fmt;

use chrono::DateTime;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

#[cfg(any(test, fuzzing))]
use super::draft::Draft;
use super::rules::{check_line, is_placeholder, quote};
use crate::id::TaskId;
use crate::words::closed;

pub(crate) use super::rules::LINE_MAX;

/// Report of an agent about one piece of work. Field names are those of the manifest, also in replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Entry {
    /// Name of the entry, one word, once in a manifest.
    #[schemars(regex(pattern = "^[A-Za-z0-9._-]{1,200}$"))]
    pub(crate) id: String,
    /// Output file, relative to the manifest's folder.
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) file: String,
    /// One line.
    #[schemars(transform = crate::task::schema::line(500))]
    pub(crate) title: String,
    /// Day of the work, `2026-01-26`.
    #[schemars(extend("format" = "date"))]
    pub(crate) date: String,
    pub(crate) status: Status,
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) topics: Vec<String>,
    /// Findings, one sentence each, readable alone.
    #[schemars(transform = crate::task::schema::long_note(LINE_MAX))]
    pub(crate) key_findings: Vec<String>,
    /// True if somebody can act on it now.
    pub(crate) actionable: bool,
    #[schemars(inner(regex(pattern = r"^([Tt]0*[1-9][0-9]{0,8}|BLOCKED:.*\S.*)$")))]
    pub(crate) needs_followup: Vec<Followup>,
    /// Tasks that it belongs to: the epic and the task.
    pub(crate) linked_tasks: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) created_by: Option<String>,
    /// When it was appended, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::moment)]
    pub(crate) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) skill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::task::schema::line(LINE_MAX))]
    pub(crate) output_digest: Option<String>,
    /// Unknown fields, in their order and spelling.
    #[serde(flatten, skip_deserializing)]
    pub(crate) extra: IndexMap<String, Raw>,
}

impl Entry {
    /// Reads an entry from a JSON object, on one line or on several, and names every fault.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn read(text: &str) -> Result<Entry, Vec<Fault>> {
        let draft = Draft::read(text).map_err(|cause| vec![Fault::syntax(text, &cause)])?;
        draft.entry()
    }

    /// Returns whether the entry is older than a task: then it is about the task with its id in another workspace.
    pub(crate) fn is_older_than(&self, task_created_at: &str) -> bool {
        let at = self.created_at.as_deref().map(DateTime::parse_from_rfc3339);
        let since = DateTime::parse_from_rfc3339(task_created_at);
        matches!((at, since), (Some(Ok(at)), Ok(since)) if at < since)
    }

    /// Returns the tasks that the entry names: follow-ups, then those that it is linked to.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let followups = self.needs_followup.iter().filter_map(|one| match one {
            Followup::Task(id) => Some(*id),
            Followup::Blocked(_) => None,
        });
        followups.chain(self.linked_tasks.iter().copied())
    }

    /// Writes the entry as its line, without the line's end.
    pub(crate) fn line(&self) -> Result<String, Fault> {
        let line = crate::document::to_json(self)
            .map_err(|cause| Fault::new("entry", cause.to_string()))?;
        if line.len() > LINE_MAX {
            let message = format!("has {} bytes; {LINE_MAX} are allowed", line.len());
            return Err(Fault::new("entry", message));
        }
        Ok(line)
    }
}

/// Prefix of a follow-up that is a reason and no task.
const BLOCKED: &str = "BLOCKED:";

closed! {
    /// Result of the work.
    #[derive(Default)]
    Status, "status":
    #[default]
    Complete = "complete",
    Partial = "partial",
    Blocked = "blocked",
    /// No longer in force.
    Archived = "archived",
}

/// Work that remains.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(with = "String", inline)]
pub(crate) enum Followup {
    /// Work on a task.
    Task(TaskId),
    /// `BLOCKED:` and the reason.
    Blocked(String),
}

impl fmt::Display for Followup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Followup::Task(id) => id.fmt(formatter),
            Followup::Blocked(reason) => write!(formatter, "{}{reason}", BLOCKED),
        }
    }
}

impl Serialize for Followup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Followup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Followup, D::Error> {
        let text = String::deserialize(deserializer)?;
        followup(&text).ok_or_else(|| serde::de::Error::custom("no follow-up"))
    }
}

pub(super) fn followup(text: &str) -> Option<Followup> {
    let Some(reason) = text.strip_prefix(BLOCKED) else {
        return task(text).map(Followup::Task);
    };
    let fits = check_line(reason).is_none() && !is_placeholder(reason);
    fits.then(|| Followup::Blocked(reason.to_string()))
}

/// Reads a task id without blanks around it.
pub(super) fn task(text: &str) -> Option<TaskId> {
    let bare = text.starts_with(['T', 't']) && !text.ends_with(char::is_whitespace);
    bare.then(|| text.parse().ok()).flatten()
}

/// A fault of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    pub(crate) field: String,
    /// The fault, to be read after the field's name.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Fault {
        let (field, message) = (field.into(), message.into());
        Fault { field, message }
    }

    /// Returns the fault of a text that cannot be parsed as a JSON object, with its place.
    pub(crate) fn syntax(text: &str, cause: &serde_json::Error) -> Fault {
        Fault::new("entry", no_object(text, cause))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.field, self.message)
    }
}

fn no_object(text: &str, cause: &serde_json::Error) -> String {
    if text.trim().is_empty() {
        return "is empty; one JSON object is due".to_string();
    }
    let place = match text.trim_end().contains('\n') {
        true => format!("line {} column {}", cause.line(), cause.column()),
        false => format!("column {}", cause.column()),
    };
    if let Some(word) = placeholder(text, cause) {
        let word = quote(&word);
        return format!("holds {word} at {place}, which is still to be replaced");
    }
    match cause.classify() {
        Category::Data => "is JSON but no object".to_string(),
        Category::Eof => format!("ends in the middle, at {place}"),
        _ => {
            let why = cause.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            // A quote that was not escaped ends its text early: the commonest slip of agents.
            let hint = match why.starts_with("expected `,`") {
                true => "; a quote inside of a text is written `\\\"`",
                false => "",
            };
            format!("is not a JSON object: {why} at {place}{hint}")
        }
    }
}

/// Returns the `<true|false>` of the protocol's line, if that is where the parser stopped.
fn placeholder(text: &str, cause: &serde_json::Error) -> Option<String> {
    let line = text.lines().nth(cause.line().checked_sub(1)?)?;
    let rest = line.get(cause.column().checked_sub(1)?..)?;
    let ends = |c: &char| ",}\n".contains(*c);
    let word = rest.chars().take_while(|c| !ends(c)).collect();
    rest.starts_with('<').then_some(word)
}

/// A value that is copied as text, so that it keeps every digit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(with = "serde_json::Value")]
#[serde(transparent)]
pub(crate) struct Raw(Box<RawValue>);

impl Raw {
    /// Copies a value without line ends between its parts.
    pub(in crate::manifest) fn new(raw: &RawValue) -> Raw {
        // Texts hold no line ends, and blanks between the parts do not change a value.
        let line = RawValue::from_string(raw.get().replace(['\n', '\r'], " "));
        Raw(line.unwrap_or_else(|_| raw.to_owned()))
    }

    pub(crate) fn json(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.json() == other.json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_keeps_its_digits() {
        for (there, line) in [
            ("18446744073709551617", "18446744073709551617"),
            ("[1.10,  1E5]", "[1.10,  1E5]"),
            ("[1.10,\n  2]", "[1.10,   2]"),
            (
                "{\"a b\": \"c\\n\",\r\n\"e\" : 1}",
                "{\"a b\": \"c\\n\",  \"e\" : 1}",
            ),
        ] {
            let raw: &RawValue = serde_json::from_str(there).unwrap();
            assert_eq!(Raw::new(raw).json(), line);
        }
    }
}

//! One entry of the manifest. Start at [`Entry::read`]; the rules are in [`super::rules`].

use std::fmt;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::fields::{Fields, Slot};
use super::rules;
use crate::id::TaskId;

/// Longest line of the manifest, in bytes, without its end.
pub const LINE_MAX: usize = 1 << 20;

/// What an agent reports about one piece of work. Spelled as in the manifest, also in replies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Name of the entry, one word, once in a manifest.
    pub id: String,
    /// Output file, relative to the manifest's folder.
    pub file: String,
    /// One line.
    pub title: String,
    /// Day of the work, `2026-01-26`.
    pub date: String,
    /// How far the work came.
    pub status: Status,
    /// What it is about.
    pub topics: Vec<String>,
    /// What was found, one sentence each, readable alone.
    pub key_findings: Vec<String>,
    /// Whether somebody can act on it now.
    pub actionable: bool,
    /// What has to follow.
    pub needs_followup: Vec<Followup>,
    /// Tasks that it belongs to: the epic and the task.
    pub linked_tasks: Vec<TaskId>,
    /// Kind of agent that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Who appended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was appended, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Skill that the work was done by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Run that the work was part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Digest of the output file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
    /// Fields that cleo does not know, kept in the order in which they stood.
    #[serde(flatten)]
    pub extra: IndexMap<String, Value>,
}

/// How far the work of an entry came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All of it.
    Complete,
    /// Some of it.
    Partial,
    /// None that holds.
    Blocked,
    /// It counts no longer.
    Archived,
}

impl Status {
    /// All statuses, in the order in which messages name them.
    pub const ALL: [Status; 4] = [
        Status::Complete,
        Status::Partial,
        Status::Blocked,
        Status::Archived,
    ];

    /// Returns the word as it stands in the manifest.
    pub fn word(self) -> &'static str {
        match self {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Blocked => "blocked",
            Status::Archived => "archived",
        }
    }
}

impl std::str::FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Status, String> {
        let found = Status::ALL.into_iter().find(|status| status.word() == text);
        found.ok_or_else(|| {
            let words = Status::ALL.map(Status::word).join(", ");
            format!("{} is no status; use one of {words}", rules::shown(text))
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// What has to follow an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followup {
    /// Work on a task.
    Task(TaskId),
    /// `BLOCKED:` and the reason.
    Blocked(String),
}

impl fmt::Display for Followup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Followup::Task(id) => id.fmt(formatter),
            Followup::Blocked(reason) => write!(formatter, "{}{reason}", rules::BLOCKED),
        }
    }
}

impl Serialize for Followup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One thing that is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The field.
    pub field: String,
    /// What is wrong with it, to be read after the field's name.
    pub message: String,
}

impl Fault {
    /// Makes a fault.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Fault {
        let (field, message) = (field.into(), message.into());
        Fault { field, message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.field, self.message)
    }
}

impl Entry {
    /// Reads an entry from a JSON object, on one line or on several, and names every fault.
    pub fn read(text: &str) -> Result<Entry, Vec<Fault>> {
        let fields = Fields::read(text).map_err(|cause| vec![rules::syntax(text, &cause)])?;
        fields.entry()
    }

    /// Checks a value from somewhere else than a text and names every fault.
    pub fn check(value: &Value) -> Result<Entry, Vec<Fault>> {
        Entry::read(&value.to_string())
    }

    /// Writes the entry as its line, without the line's end.
    pub fn line(&self) -> Result<String, Fault> {
        let line =
            serde_json::to_string(self).map_err(|cause| Fault::new("entry", cause.to_string()))?;
        match line.len() {
            length if length > LINE_MAX => Err(rules::too_long(length)),
            _ => Ok(line),
        }
    }
}

impl Fields<'_> {
    /// Returns the tasks that are named, each with the field that names it.
    pub fn tasks(&self) -> impl Iterator<Item = (&'static str, TaskId)> {
        let named = |field| {
            self.texts(field)
                .filter_map(rules::task)
                .map(move |id| (field, id))
        };
        ["needs_followup", "linked_tasks"]
            .into_iter()
            .flat_map(named)
    }

    /// Says whether the entry would be linked to a task.
    pub fn is_linked_to(&self, task: TaskId) -> bool {
        self.texts("linked_tasks")
            .any(|text| rules::task(text) == Some(task))
    }

    /// Makes the entry, if nothing is wrong with the fields.
    pub fn entry(self) -> Result<Entry, Vec<Fault>> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let text = |name| self.slot(name).text().unwrap_or_default().to_string();
        let optional = |name| self.slot(name).text().map(str::to_string);
        let list = |name| self.texts(name).map(str::to_string).collect();
        Ok(Entry {
            id: text("id"),
            file: text("file"),
            title: text("title"),
            date: text("date"),
            status: text("status").parse().unwrap_or(Status::Archived),
            topics: list("topics"),
            key_findings: list("key_findings"),
            actionable: *self.slot("actionable") == Slot::Flag(true),
            needs_followup: self
                .texts("needs_followup")
                .filter_map(rules::followup)
                .collect(),
            linked_tasks: self.texts("linked_tasks").filter_map(rules::task).collect(),
            agent_type: optional("agent_type"),
            created_by: optional("created_by"),
            created_at: optional("created_at"),
            skill: optional("skill"),
            run: optional("run"),
            output_digest: optional("output_digest"),
            extra: self.extra,
        })
    }
}

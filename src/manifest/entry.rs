//! One entry of the manifest. Start at [`Entry::read`]; the rules are in [`super::rules`].

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::fields::Fields;
pub use super::raw::Raw;
use super::slot::Slot;
use super::{rules, words};
use crate::id::TaskId;

pub use super::fault::Fault;
pub use super::rules::LINE_MAX;
pub use super::words::{Followup, Status};

/// What an agent reports about one piece of work. Spelled as in the manifest, also in replies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Fields that cleo does not know, kept in the order and the spelling in which they stood.
    #[serde(flatten)]
    pub extra: IndexMap<String, Raw>,
}

impl Entry {
    /// Reads an entry from a JSON object, on one line or on several, and names every fault.
    pub fn read(text: &str) -> Result<Entry, Vec<Fault>> {
        let fields = Fields::read(text).map_err(|cause| vec![Fault::syntax(text, &cause)])?;
        fields.entry()
    }

    /// Checks a value from somewhere else than a text and names every fault.
    pub fn check(value: &Value) -> Result<Entry, Vec<Fault>> {
        Entry::read(&value.to_string())
    }

    /// Returns the tasks that the entry names: follow-ups, then those that it is linked to.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let followups = self.needs_followup.iter().filter_map(|one| match one {
            Followup::Task(id) => Some(*id),
            Followup::Blocked(_) => None,
        });
        followups.chain(self.linked_tasks.iter().copied())
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
                .filter_map(words::task)
                .map(move |id| (field, id))
        };
        ["needs_followup", "linked_tasks"]
            .into_iter()
            .flat_map(named)
    }

    /// Says whether the entry has this status.
    pub fn has_status(&self, status: Status) -> bool {
        self.slot("status").text() == Some(status.word())
    }

    /// Says whether the entry would be linked to a task.
    pub fn is_linked_to(&self, task: TaskId) -> bool {
        self.texts("linked_tasks")
            .any(|text| words::task(text) == Some(task))
    }

    /// Makes the entry, if nothing is wrong with the fields.
    pub fn entry(&self) -> Result<Entry, Vec<Fault>> {
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
                .filter_map(words::followup)
                .collect(),
            linked_tasks: self.texts("linked_tasks").filter_map(words::task).collect(),
            agent_type: optional("agent_type"),
            created_by: optional("created_by"),
            created_at: optional("created_at"),
            skill: optional("skill"),
            run: optional("run"),
            output_digest: optional("output_digest"),
            extra: self
                .extra
                .iter()
                .map(|(name, raw)| (name.clone(), Raw::of(raw)))
                .collect(),
        })
    }
}

//! A task before it is stored: how one is read from JSON, and what it takes to be a task.

use clap::Args;
use serde::Deserialize;
use serde_json::error::Category;

use super::rules::check_files;
use super::rules::{
    check_due, check_estimate, check_list, check_note, check_phase, check_text, check_title,
    check_word,
};
use super::{Priority, Size, TaskType};
use crate::document::Parts;
use crate::error::{Code, Error, Result, nearest};
use crate::gate::Criterion;
use crate::id::TaskId;
use crate::strict;

/// Names of the fields that a draft may have, as they stand in JSON.
pub(crate) const FIELDS: &[&str] = &[
    "title",
    "description",
    "type",
    "parent",
    "depends",
    "labels",
    "priority",
    "phase",
    "size",
    "files",
    "acceptance",
    "deliverables",
    "notes",
    "assignedAgent",
    "due",
    "estimate",
    "feature",
    "key",
];

/// Points to another task: by id, or with `@` by the key of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// `T12`
    Id(TaskId),
    /// `@name`
    Key(String),
}

impl std::str::FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Reference, String> {
        match text.trim().strip_prefix('@') {
            Some(key) if !key.is_empty() => Ok(Reference::Key(key.to_string())),
            _ => text.parse().map(Reference::Id),
        }
    }
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Reference {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reference".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Reference, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Draft {
    /// One line that leads with its verb
    #[arg(
        required_unless_present = "batch",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) title: String,

    /// Full text of the task
    #[arg(
        long,
        short,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) description: String,

    /// Kind of work: epic, task, subtask, research, testing, documentation, …
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    #[serde(rename = "type")]
    pub(crate) kind: Option<TaskType>,

    /// Label; may be repeated or separated by commas
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,

    /// Task that must be done first (T2, or @key); may be repeated or separated by commas
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub(crate) depends: Vec<Reference>,

    /// Task that this one is a part of (T1, or @key)
    #[arg(long, value_name = "TASK")]
    pub(crate) parent: Option<Reference>,

    /// critical, high, medium or low
    #[arg(long, short, value_name = "PRIORITY")]
    pub(crate) priority: Option<Priority>,

    /// Phase that it belongs to
    #[arg(long, value_name = "SLUG")]
    pub(crate) phase: Option<String>,

    /// small, medium or large
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Size>,

    /// Criterion by which the work is accepted, perhaps with a command: 'tests pass :: cargo test';
    /// may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) acceptance: Vec<String>,

    /// File or glob that the work touches; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    pub(crate) files: Vec<String>,

    /// What the work leaves behind; may be repeated
    #[arg(long = "deliverable", value_name = "TEXT")]
    pub(crate) deliverables: Vec<String>,

    /// Note; may be repeated
    #[arg(long = "note", value_name = "TEXT")]
    pub(crate) notes: Vec<String>,

    /// Agent that it is assigned to
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) assigned_agent: Option<String>,

    /// When it is due: a date or an RFC 3339 time
    #[arg(long, value_name = "DATE")]
    pub(crate) due: Option<String>,

    /// Estimated hours
    #[arg(long, value_name = "HOURS")]
    pub(crate) estimate: Option<f64>,

    /// Feature that it belongs to
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,

    /// Add the task only if no task has this key yet
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// The line of a batch that it stands on.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) line: Option<usize>,
}

impl Draft {
    /// Reads a draft from the text of a JSON object. An unknown field is refused with the nearest
    /// known one, a wrong value with the name of its field.
    pub(crate) fn from_json(text: &[u8]) -> Result<Draft> {
        // A list would be read as well, by the order of the fields.
        if text.trim_ascii_start().starts_with(b"{")
            && let Ok(draft) = serde_json::from_slice(text)
        {
            return Ok(draft);
        }
        // Read once more, to say what is wrong.
        let Parts(parts) = serde_json::from_slice(text).map_err(|cause| {
            let what = without_place(&cause);
            match cause.classify() {
                Category::Data if what.ends_with("is there twice") => {
                    Error::new(Code::TaskInvalid, what)
                }
                Category::Data => Error::new(
                    Code::TaskInvalid,
                    "a task is written as one JSON object on one line",
                ),
                _ => {
                    let message = format!("no JSON at column {}: {what}", cause.column());
                    Error::new(Code::BatchInvalid, message)
                }
            }
        })?;
        refuse_unknown(parts.keys())?;
        let invalid = |fault: String| Error::new(Code::TaskInvalid, fault);
        let value = serde_json::from_slice(text).map_err(|cause| invalid(cause.to_string()))?;
        strict::read(value).map_err(|fault| invalid(fault.to_string()))
    }

    /// Trims what is trimmed, puts dates into one form and checks every field.
    pub(crate) fn checked(mut self) -> Result<Draft> {
        self.title = self.title.trim().to_string();
        check_title(&self.title)?;
        check_text("description", &self.description)?;
        self.labels = check_list("labels", std::mem::take(&mut self.labels))?;
        let files = check_list("files", std::mem::take(&mut self.files))?;
        self.files = check_list("files", check_files(&files)?)?;
        self.acceptance = check_list("acceptance", std::mem::take(&mut self.acceptance))?;
        self.acceptance
            .iter()
            .try_for_each(|line| Criterion::check(line))?;
        self.deliverables = check_list("deliverables", std::mem::take(&mut self.deliverables))?;
        for note in &self.notes {
            check_note(note)?;
        }
        for word in [
            &mut self.phase,
            &mut self.assigned_agent,
            &mut self.feature,
            &mut self.key,
        ] {
            *word = word.take().map(|word| word.trim().to_string());
        }
        for (name, value) in [
            ("assignedAgent", &self.assigned_agent),
            ("feature", &self.feature),
            ("key", &self.key),
        ] {
            check_word(name, value.as_deref())?;
        }
        check_phase(self.phase.as_deref())?;
        self.due = self.due.as_deref().map(check_due).transpose()?;
        self.estimate = check_estimate(self.estimate)?;
        Ok(self)
    }
}

/// Returns what a parser says without the place, which it only knows within its own line.
fn without_place(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    what.split(" at line ")
        .next()
        .unwrap_or_default()
        .to_string()
}

fn refuse_unknown<'a>(mut names: impl Iterator<Item = &'a String>) -> Result<()> {
    let Some(name) = names.find(|name| !FIELDS.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint = match (name.as_str(), nearest(name, FIELDS.iter().copied())) {
        ("id", _) => "ids are handed out; to refer to a line give it a `key`".to_string(),
        ("status", _) => "a new task is pending; `cleo start` and its like move it".to_string(),
        (_, Some(known)) => format!("did you mean `{known}`?"),
        _ => format!("known are {}", FIELDS.join(", ")),
    };
    let message = format!("a task has no field `{name}`: {hint}");
    Err(Error::new(Code::FieldUnknown, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest_known_one() {
        let error = Draft::from_json(br#"{"titel": "x"}"#).unwrap_err();
        assert_eq!(error.code, Code::FieldUnknown);
        assert_eq!(
            error.message,
            "a task has no field `titel`: did you mean `title`?"
        );
    }

    #[test]
    fn a_wrong_kind_of_value_is_refused() {
        for (text, message) in [
            (
                r#"{"title": 1}"#,
                "title: invalid type: integer `1`, expected a string",
            ),
            (
                r#"["x"]"#,
                "a task is written as one JSON object on one line",
            ),
            (
                r#"{"title": "x", "depends": ["x"]}"#,
                "depends[0]: `x` is no task id; ids look like T12",
            ),
            (
                r#"{"title": "a", "title": "b"}"#,
                "the field `title` is there twice",
            ),
        ] {
            let error = Draft::from_json(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.code, error.message.as_str()),
                (Code::TaskInvalid, message)
            );
        }
    }

    #[test]
    fn references_are_ids_or_keys() {
        assert_eq!("T3".parse(), Ok(Reference::Id(TaskId(3))));
        assert_eq!("@auth".parse(), Ok(Reference::Key("auth".into())));
        assert!("auth".parse::<Reference>().is_err());
        assert!("@".parse::<Reference>().is_err());
    }
}

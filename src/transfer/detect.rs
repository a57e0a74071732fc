//! What kind of file it is, by what stands in it and never by its name.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Format;
use super::fields::id;
use super::lines::{is_conflict, unmarked};
use crate::id::TaskId;

/// What a look at a file gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// One kind fits.
    One(Format),
    /// Several kinds fit; nobody guesses.
    Several(Vec<Format>),
    /// None fits.
    None,
}

impl Verdict {
    /// Makes a verdict of all kinds that fit.
    pub(crate) fn of(mut formats: Vec<Format>) -> Verdict {
        formats.sort_unstable();
        formats.dedup();
        match formats.as_slice() {
            [] => Verdict::None,
            [one] => Verdict::One(*one),
            _ => Verdict::Several(formats),
        }
    }
}

/// Looks at the first line of a file that is an object by itself, as in JSON lines; none when the
/// file is no such, and all of it has to be looked at.
pub(crate) fn of_lines(start: &[u8]) -> Option<Verdict> {
    let lines = unmarked(start)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !is_conflict(line));
    let fields: Map<String, Value> = serde_json::from_slice(lines.next()?).ok()?;
    let is_document = fields.values().any(|value| value.get("tasks").is_some())
        || fields.contains_key("tasks")
        || fields.contains_key("archivedTasks");
    (!is_document).then(|| Verdict::of(of_object(&fields)))
}

/// Looks at one object that stands for one task.
fn of_object(fields: &Map<String, Value>) -> Vec<Format> {
    let has = |name: &str| fields.contains_key(name);
    let is_task = |name: &str| {
        fields
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(is_task_id)
    };
    let is_header = fields.get("cleo").and_then(Value::as_str) == Some("tasks");
    let is_issue = has("issue_type") || has("_type") || has("_schema");
    let is_bare_issue = has("title") && has("created_at") && has("id") && !is_task("id");
    let mut found = Vec::new();
    if is_issue || is_bare_issue {
        found.push(Format::Beads);
    }
    if is_header || (is_task("id") && !is_issue) {
        found.push(Format::Cleo);
    }
    if has("uuid") && has("entry") && has("description") {
        found.push(Format::Taskwarrior);
    }
    found
}

fn is_task_id(text: &str) -> bool {
    text.starts_with('T') && text.parse::<TaskId>().is_ok()
}

/// Says whether something is an id of CLEO: one that is too long for an id here gets another.
fn is_todo_id(text: &str) -> bool {
    let digits = text.trim_end().strip_prefix('T').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Looks at a whole document.
pub(crate) fn of_document(bytes: &[u8]) -> Verdict {
    let bytes = unmarked(bytes);
    if let Ok(all) = serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        let first = all
            .first()
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        return Verdict::of(first.map(|fields| of_object(&fields)).unwrap_or_default());
    }
    let Ok(parts) = serde_json::from_slice::<IndexMap<String, &RawValue>>(bytes) else {
        return Verdict::None;
    };
    Verdict::of(of_parts(&parts))
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: Value,
}

/// Reads the ids of a list of tasks, as far as that is one.
fn ids(raw: Option<&&RawValue>) -> Vec<String> {
    let all: Vec<&RawValue> = raw
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let named = all
        .iter()
        .filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok());
    named.filter_map(|named| id(&named.id)).collect()
}

fn of_parts(parts: &IndexMap<String, &RawValue>) -> Vec<Format> {
    let has = |name: &str| parts.contains_key(name);
    let value = |name: &str| -> Value {
        let raw = parts
            .get(name)
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        raw.unwrap_or_default()
    };
    let mut found = Vec::new();
    let is_list = |name: &str| {
        parts
            .get(name)
            .is_some_and(|raw| raw.get().starts_with('['))
    };
    if is_list("tasks") || is_list("archivedTasks") {
        let ids = ids(parts.get("tasks"));
        let cleo_ids = ids.iter().all(|id| is_todo_id(id));
        let meta = value("_meta");
        let is_todo = meta.get("schemaVersion").is_some()
            || value("project").get("phases").is_some()
            || meta["format"] == "cleo-export"
            || (has("exportedAt") && has("projectName") && has("taskCount"));
        if is_list("archivedTasks") || (cleo_ids && is_todo) {
            found.push(Format::Todo);
        }
        let numbers = |id: &String| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if has("metadata") && ids.iter().all(numbers) {
            found.push(Format::Taskmaster);
        }
        return found;
    }
    let is_tag = |raw: &&RawValue| {
        let tag: Result<IndexMap<String, &RawValue>, _> = serde_json::from_str(raw.get());
        tag.is_ok_and(|tag| {
            tag.get("tasks")
                .is_some_and(|tasks| tasks.get().starts_with('['))
        })
    };
    if !parts.is_empty() && parts.values().all(is_tag) {
        found.push(Format::Taskmaster);
    }
    let whole: Map<String, Value> = [
        "uuid",
        "entry",
        "description",
        "id",
        "issue_type",
        "title",
        "created_at",
    ]
    .into_iter()
    .filter(|name| has(name))
    .map(|name| (name.to_string(), value(name)))
    .collect();
    found.extend(of_object(&whole));
    found
}

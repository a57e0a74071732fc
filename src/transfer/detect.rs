//! What kind of file it is, by what stands in it and never by its name.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Format;
use super::fields::id;
use super::lines::{is_conflict, strip_mark};
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
    pub(crate) fn new(mut formats: Vec<Format>) -> Verdict {
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
pub(crate) fn look_at_lines(start: &[u8]) -> Option<Verdict> {
    let lines = strip_mark(start)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !is_conflict(line));
    let fields: Map<String, Value> = serde_json::from_slice(lines.next()?).ok()?;
    let is_document = fields.values().any(|value| value.get("tasks").is_some())
        || fields.contains_key("tasks")
        || fields.contains_key("archivedTasks");
    (!is_document).then(|| Verdict::new(look_at_object(&fields)))
}

/// Looks at one object that stands for one task.
fn look_at_object(fields: &Map<String, Value>) -> Vec<Format> {
    let has = |name: &str| fields.contains_key(name);
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let has_task_id = text("id").starts_with('T') && text("id").parse::<TaskId>().is_ok();
    let is_issue = has("issue_type") || has("_type") || has("_schema");
    let is_bare_issue = has("title") && has("created_at") && has("id") && !has_task_id;
    let signs = [
        (Format::Beads, is_issue || is_bare_issue),
        (
            Format::Cleo,
            text("cleo") == "tasks" || (has_task_id && !is_issue),
        ),
        (
            Format::Taskwarrior,
            has("uuid") && has("entry") && has("description"),
        ),
    ];
    collect(&signs)
}

fn collect(signs: &[(Format, bool)]) -> Vec<Format> {
    let fitting = signs.iter().filter(|(_, fits)| *fits);
    fitting.map(|(format, _)| *format).collect()
}

/// Looks at a whole document.
pub(crate) fn look_at_document(bytes: &[u8]) -> Verdict {
    let bytes = strip_mark(bytes);
    if let Ok(all) = serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        let first = all
            .first()
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        return Verdict::new(
            first
                .map(|fields| look_at_object(&fields))
                .unwrap_or_default(),
        );
    }
    let parts = serde_json::from_slice::<IndexMap<String, &RawValue>>(bytes);
    parts.map_or(Verdict::None, |parts| Verdict::new(look_at_parts(&parts)))
}

fn look_at_parts(parts: &IndexMap<String, &RawValue>) -> Vec<Format> {
    let has = |name: &str| parts.contains_key(name);
    let is_list = |name: &str| {
        parts
            .get(name)
            .is_some_and(|raw| raw.get().starts_with('['))
    };
    let value = |name: &str| -> Value {
        parts
            .get(name)
            .and_then(|raw| read(raw))
            .unwrap_or_default()
    };
    if is_list("tasks") || is_list("archivedTasks") {
        let ids = parts
            .get("tasks")
            .map(|raw| read_ids(raw))
            .unwrap_or_default();
        let is_number = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        // An id that is too long for one here gets another.
        let is_todo_id = |id: &String| id.trim_end().strip_prefix('T').is_some_and(is_number);
        let meta = value("_meta");
        let is_todo = meta.get("schemaVersion").is_some()
            || value("project").get("phases").is_some()
            || meta["format"] == "cleo-export"
            || (has("exportedAt") && has("projectName") && has("taskCount"));
        let has_todo_tasks = is_todo && ids.iter().all(is_todo_id);
        return collect(&[
            (Format::Todo, is_list("archivedTasks") || has_todo_tasks),
            (
                Format::Taskmaster,
                has("metadata") && ids.iter().all(|id| is_number(id)),
            ),
        ]);
    }
    let is_tag = |raw: &&RawValue| {
        let tag: Option<IndexMap<String, &RawValue>> = read(raw);
        tag.is_some_and(|tag| {
            tag.get("tasks")
                .is_some_and(|tasks| tasks.get().starts_with('['))
        })
    };
    let has_tags = !parts.is_empty() && parts.values().all(is_tag);
    let mut found = collect(&[(Format::Taskmaster, has_tags)]);
    let signs = [
        "uuid",
        "entry",
        "description",
        "id",
        "issue_type",
        "title",
        "created_at",
    ];
    let fields = signs.into_iter().filter(|name| has(name));
    found.extend(look_at_object(
        &fields.map(|name| (name.to_string(), value(name))).collect(),
    ));
    found
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// Reads the ids of a list of tasks, as far as that is one.
fn read_ids(raw: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        id: Value,
    }
    let all: Vec<&RawValue> = read(raw).unwrap_or_default();
    let named = all.iter().filter_map(|raw| read::<Named>(raw));
    named.filter_map(|named| id(&named.id)).collect()
}

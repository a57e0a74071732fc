//! Detects the format of a file by its content, never by its name.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Format;
use super::fields::id;
use super::lines::{is_conflict, split, strip_mark};
use crate::id::TaskId;

type Parts<'a> = IndexMap<String, &'a RawValue>;

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: Value,
}

/// Returns the formats that a file fits, by its first object: that of its first line, or of its list, or all
/// of it.
pub(crate) fn detect(bytes: &[u8]) -> Vec<Format> {
    let lines = split(bytes).map(|(_, line)| line.trim_ascii());
    let line = lines
        .filter(|line| !line.is_empty() && !is_conflict(line))
        .map(read::<Parts<'_>>)
        .next()
        .flatten();
    let bytes = strip_mark(bytes);
    let first = || {
        read::<Vec<&RawValue>>(bytes)?
            .first()
            .and_then(|raw| read(raw.get().as_bytes()))
    };
    let parts = line.or_else(first).or_else(|| read(bytes));
    parts.map(|parts| find_fitting(&parts)).unwrap_or_default()
}

fn find_fitting(parts: &Parts<'_>) -> Vec<Format> {
    let has = |name: &str| parts.contains_key(name);
    let raw = |name: &str| parts.get(name).map(|raw| raw.get().as_bytes());
    let is_list = |name: &str| raw(name).is_some_and(|raw| raw.starts_with(b"["));
    let value = |name: &str| raw(name).and_then(read::<Value>).unwrap_or_default();
    let signs = if is_list("tasks") || is_list("archivedTasks") {
        let tasks = raw("tasks")
            .and_then(read::<Vec<Named>>)
            .unwrap_or_default();
        let ids: Vec<String> = tasks.iter().filter_map(|task| id(&task.id)).collect();
        let is_number = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        // An id that is too long for one here gets another.
        let is_todo_id = |id: &String| id.trim_end().strip_prefix('T').is_some_and(is_number);
        let meta = value("_meta");
        let is_todo = meta.get("schemaVersion").is_some()
            || value("project").get("phases").is_some()
            || meta["format"] == "cleo-export"
            || (has("exportedAt") && has("projectName") && has("taskCount"));
        let has_todo_tasks = is_todo && ids.iter().all(is_todo_id);
        let has_numbers = ids.iter().all(|id| is_number(id));
        vec![
            (Format::Todo, is_list("archivedTasks") || has_todo_tasks),
            (Format::Taskmaster, has("metadata") && has_numbers),
        ]
    } else {
        let id = value("id");
        let id = id.as_str().unwrap_or_default();
        let has_task_id = id.starts_with('T') && id.parse::<TaskId>().is_ok();
        let is_issue = has("issue_type") || has("_type") || has("_schema");
        let is_bare_issue = has("title") && has("created_at") && has("id") && !has_task_id;
        let is_tag = |raw: &&RawValue| {
            let tag = read::<Parts<'_>>(raw.get().as_bytes());
            tag.is_some_and(|tag| tag.get("tasks").is_some_and(|it| it.get().starts_with('[')))
        };
        let has_tags = !parts.is_empty() && parts.values().all(is_tag);
        let is_own = value("cleo") == "tasks" || (has_task_id && !is_issue);
        let is_taskwarrior = has("uuid") && has("entry") && has("description");
        vec![
            (Format::Cleo, is_own),
            (Format::Beads, is_issue || is_bare_issue),
            (Format::Taskmaster, has_tags),
            (Format::Taskwarrior, is_taskwarrior),
        ]
    };
    let fitting = signs.into_iter().filter(|(_, fits)| *fits);
    fitting.map(|(format, _)| format).collect()
}

fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    serde_json::from_slice(json).ok()
}

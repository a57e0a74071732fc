//! Takes control characters out of the texts of a task, as `add` demands it: whatever shows the task later may
//! print it to a terminal.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::task::rules::{cleaned_line, cleaned_text};
use crate::task::{Note, Task};

/// Where `extra` keeps texts as they stood in the file.
pub(crate) const ORIGINAL: &str = "original";

/// Cleans the texts of a task; returns `true` if one was changed. What stood there is kept in
/// `extra.original`: of a list only those lines.
pub(super) fn clean(task: &mut Task) -> bool {
    let mut before = Map::new();
    let mut note =
        |name: &str, value: Option<Value>| before.extend(value.map(|it| (name.to_string(), it)));
    let title = cleaned_line(&task.title).map(|title| std::mem::replace(&mut task.title, title));
    note("title", title.map(Value::from));
    let text = cleaned_text(&task.description);
    let text = text.map(|text| std::mem::replace(&mut task.description, text));
    note("description", text.map(Value::from));
    for (name, list) in [
        ("labels", &mut task.labels),
        ("files", &mut task.files),
        ("acceptance", &mut task.acceptance),
        ("deliverables", &mut task.deliverables),
    ] {
        note(name, replace(list, |line| cleaned_line(line)));
    }
    note("notes", replace(&mut task.notes, cleaned_note));
    if before.is_empty() {
        return false;
    }
    match task.extra.get_mut(ORIGINAL) {
        Some(Value::Object(kept)) => kept.extend(before),
        _ => drop(task.extra.insert(ORIGINAL.to_string(), before.into())),
    }
    true
}

/// Replaces the items that have to change; returns those.
fn replace<T: Serialize>(list: &mut [T], clean: impl Fn(&T) -> Option<T>) -> Option<Value> {
    let mut before = Vec::new();
    for item in list {
        if let Some(cleaned) = clean(item) {
            before.push(std::mem::replace(item, cleaned));
        }
    }
    (!before.is_empty()).then(|| json!(before))
}

fn cleaned_note(note: &Note) -> Option<Note> {
    let (by, text) = (cleaned_line(&note.by), cleaned_text(&note.text));
    (by.is_some() || text.is_some()).then(|| Note {
        at: note.at.clone(),
        by: by.unwrap_or_else(|| note.by.clone()),
        text: text.unwrap_or_else(|| note.text.clone()),
    })
}

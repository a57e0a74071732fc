//! Removes control characters from the texts of a task, as `add` requires it: they may be printed to a terminal.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::task::rules::{clean_line, clean_text};
use crate::task::{Note, Task};

/// Name in `extra` of the texts of the file that were changed.
pub(crate) const ORIGINAL: &str = "original";

/// Removes control characters from the texts of a task, and returns how many texts had some. `extra.original` keeps
/// them: of a list only those lines.
pub(super) fn clean(task: &mut Task) -> usize {
    let line = |text: &String| clean_line(text);
    let text = |text: &String| clean_text(text);
    let mut before = Map::new();
    let mut keep = |name: &str, items: Vec<Value>| {
        before.extend((!items.is_empty()).then(|| (name.to_string(), items.into())));
    };
    keep("labels", replace(&mut task.labels, line));
    keep("files", replace(&mut task.files, line));
    keep("acceptance", replace(&mut task.acceptance, line));
    keep("deliverables", replace(&mut task.deliverables, line));
    keep("notes", replace(&mut task.notes, clean_note));
    let title = replace(std::slice::from_mut(&mut task.title), line);
    before.extend(title.into_iter().map(|it| ("title".to_string(), it)));
    let description = replace(std::slice::from_mut(&mut task.description), text);
    before.extend(
        description
            .into_iter()
            .map(|it| ("description".to_string(), it)),
    );
    let n_changed = before.len();
    if n_changed == 0 {
        return 0;
    }
    match task.extra.get_mut(ORIGINAL) {
        Some(Value::Object(kept)) => kept.extend(before),
        _ => drop(task.extra.insert(ORIGINAL.to_string(), before.into())),
    }
    n_changed
}

/// Replaces items that have to change, and returns them.
fn replace<T: Serialize>(items: &mut [T], clean: impl Fn(&T) -> Option<T>) -> Vec<Value> {
    let changed = items.iter_mut().filter_map(|item| {
        let cleaned = clean(item)?;
        Some(json!(std::mem::replace(item, cleaned)))
    });
    changed.collect()
}

fn clean_note(note: &Note) -> Option<Note> {
    let (by, text) = (clean_line(&note.by), clean_text(&note.text));
    (by.is_some() || text.is_some()).then(|| Note {
        at: note.at.clone(),
        by: by.unwrap_or_else(|| note.by.clone()),
        text: text.unwrap_or_else(|| note.text.clone()),
    })
}

//! Makes the texts of a task such as `add` requires them: without control characters, which may be printed to a
//! terminal, and labels without commas.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::remove_duplicates;
use crate::task::rules::{clean_line, clean_text};
use crate::task::{Note, Task};

/// Name in `extra` of the texts of the file that were changed.
pub(crate) const ORIGINAL: &str = "original";

const CLEANED: &str = "control characters were removed; the original is in extra.original";
const DIVIDED: &str = "labels were divided at commas; the original is in extra.original";

/// Removes control characters from the texts of a task and divides labels with commas, and returns what was changed.
/// `extra.original` keeps the texts: of a list only those lines.
pub(super) fn clean(task: &mut Task) -> Option<&'static str> {
    let line = |text: &String| clean_line(text);
    let label = |text: &String| clean_line(text).or(text.contains(',').then(|| text.clone()));
    let text = |text: &String| clean_text(text);
    let mut before = Map::new();
    let mut keep = |name: &str, items: Vec<Value>| {
        before.extend((!items.is_empty()).then(|| (name.to_string(), items.into())));
    };
    keep("labels", replace(&mut task.labels, label));
    let has_commas = task.labels.iter().any(|label| label.contains(','));
    let labels = task.labels.iter().flat_map(|label| label.split(','));
    task.labels = remove_duplicates(labels.map(|label| label.trim().to_string()).collect());
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
    if before.is_empty() {
        return None;
    }
    match task.extra.get_mut(ORIGINAL) {
        Some(Value::Object(kept)) => kept.extend(before),
        _ => drop(task.extra.insert(ORIGINAL.to_string(), before.into())),
    }
    Some(if has_commas { DIVIDED } else { CLEANED })
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

//! Makes the texts of a task such as `add` requires them: without control characters, which may be printed to a
//! terminal, and labels without commas.

use super::remove_duplicates;
use crate::task::Task;
use crate::task::rules::{clean_line, clean_text};

/// Removes control characters from the texts of a task and divides labels with commas. Returns what was changed.
pub(super) fn clean(task: &mut Task) -> Option<&'static str> {
    let mut is_changed = false;
    let mut replace = |text: &mut String, clean: fn(&str) -> Option<String>| {
        if let Some(cleaned) = clean(text) {
            *text = cleaned;
            is_changed = true;
        }
    };
    replace(&mut task.title, clean_line);
    replace(&mut task.description, clean_text);
    for note in &mut task.notes {
        replace(&mut note.by, clean_line);
        replace(&mut note.text, clean_text);
    }
    let lists = [
        &mut task.labels,
        &mut task.files,
        &mut task.acceptance,
        &mut task.deliverables,
    ];
    for line in lists.into_iter().flatten() {
        replace(line, clean_line);
    }
    let has_commas = task.labels.iter().any(|label| label.contains(','));
    let labels = task.labels.iter().flat_map(|label| label.split(','));
    task.labels = remove_duplicates(labels.map(|label| label.trim().to_string()).collect());
    if has_commas {
        return Some("labels were divided at commas");
    }
    is_changed.then_some("control characters were removed")
}

//! Control characters of a file: they are taken out of what people see, and what stood there is kept
//! aside, because text is data.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::task::rules::{cleaned_line, cleaned_text};
use crate::task::{Note, Task};
use crate::transfer::Format;

/// Fields that had control characters in them, with what stood there: of a list only those lines.
type Stood = Vec<(&'static str, Value)>;

/// Takes control characters out of the texts of a task, as `add` demands it; returns what stood there.
/// Whatever shows a task later may be no terminal of ours.
pub(super) fn clean(task: &mut Task) -> Stood {
    let mut stood = Stood::new();
    let title = cleaned_line(&task.title).map(|title| std::mem::replace(&mut task.title, title));
    stood.extend(title.map(|title| ("title", Value::from(title))));
    let text = cleaned_text(&task.description);
    let text = text.map(|text| std::mem::replace(&mut task.description, text));
    stood.extend(text.map(|text| ("description", Value::from(text))));
    for (name, list) in [
        ("labels", &mut task.labels),
        ("files", &mut task.files),
        ("acceptance", &mut task.acceptance),
        ("deliverables", &mut task.deliverables),
    ] {
        stood.extend(changed(list, |line| cleaned_line(line)).map(|lines| (name, lines)));
    }
    stood.extend(changed(&mut task.notes, cleaned_note).map(|notes| ("notes", notes)));
    stood
}

/// Puts items in the place of those that have to change, and returns those.
fn changed<T: Serialize>(list: &mut [T], clean: impl Fn(&T) -> Option<T>) -> Option<Value> {
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

/// Keeps under `extra.<format>` what stood in fields, beside what nobody took; says where.
pub(super) fn keep(task: &mut Task, format: Format, stood: Stood) -> Vec<String> {
    let word = format.word();
    let kept = task.extra.entry(word);
    let Value::Object(kept) = kept.or_insert_with(|| Value::Object(Map::new())) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    for (name, before) in stood {
        let name = free(kept, name, &before);
        places.push(format!("extra.{word}.{name}"));
        kept.insert(name, before);
    }
    places
}

/// Finds the name under which something is kept already, or one that nothing has: the tool may have a field of that
/// name that is another, and so may an earlier text.
fn free(kept: &Map<String, Value>, name: &str, before: &Value) -> String {
    let later = (2..).map(|number| format!("{name}.original.{number}"));
    let names = [name.to_string(), format!("{name}.original")];
    let is_free = |name: &String| kept.get(name).is_none_or(|there| there == before);
    let mut names = names.into_iter().chain(later);
    names.find(is_free).unwrap_or_else(|| name.to_string())
}

/// Says what was done, and where the texts are as they stood.
pub(super) fn reason(places: &[String]) -> String {
    let done = "control characters were taken out";
    match places {
        [] => done.to_string(),
        places => format!("{done}; what stood there is in {}", places.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TaskId;

    /// A task with control characters in two of its texts.
    fn task() -> Task {
        let mut task = Task::new(TaskId(0), "", "");
        task.title = "a\u{1b}b".to_string();
        task.labels = vec!["plain".to_string(), "l\0m".to_string()];
        task
    }

    #[test]
    fn a_text_that_is_kept_gives_way_to_none_that_comes_later() {
        let kept = json!({"title": "a", "title.original": "b"});
        let kept = kept.as_object().unwrap();
        for (before, name) in [
            ("a", "title"),
            ("b", "title.original"),
            ("c", "title.original.2"),
        ] {
            assert_eq!(free(kept, "title", &json!(before)), name);
        }
    }

    #[test]
    fn what_stood_in_a_field_is_kept_and_nothing_in_its_place_is_lost() {
        let mut task = task();
        let own = json!({"title": "of the tool"});
        task.extra.insert("taskwarrior".to_string(), own);
        let stood = clean(&mut task);
        let places = keep(&mut task, Format::Taskwarrior, stood);
        assert_eq!(
            reason(&places),
            "control characters were taken out; what stood there is in \
             extra.taskwarrior.title.original, extra.taskwarrior.labels"
        );
        assert_eq!(
            (task.title.as_str(), &task.labels[1]),
            ("a b", &"l m".into())
        );
        let expected = json!({
            "title": "of the tool",
            "title.original": "a\u{1b}b",
            "labels": ["l\0m"],
        });
        assert_eq!(task.extra["taskwarrior"], expected);
        assert_eq!(clean(&mut task), Stood::new());
    }

    #[test]
    fn where_there_is_no_place_for_it_none_is_named() {
        let mut task = task();
        task.extra.insert("cleo".to_string(), "a text".into());
        let stood = clean(&mut task);
        let places = keep(&mut task, Format::Cleo, stood);
        assert_eq!(reason(&places), "control characters were taken out");
        assert_eq!(task.extra["cleo"], "a text");
    }
}

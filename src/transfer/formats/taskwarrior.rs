//! Taskwarrior `task export`: an array of objects, or one object a line.

use serde_json::Value;
use serde_json::value::RawValue;

use super::note_block;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, make_note, remove_duplicates, text_of};
use crate::transfer::{Reading, Record, Reference, lines, moment};

/// Reads an export. Old ones end each line with a comma.
pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    let bytes = lines::strip_mark(bytes);
    if bytes.trim_ascii_start().starts_with(b"[") {
        let all: Vec<&RawValue> = lines::parse_document(bytes, reading).unwrap_or_default();
        return lines::read_objects(lines::with_lines(bytes, &all), reading, read_task);
    }
    if serde_json::from_slice::<&RawValue>(bytes).is_ok() {
        return lines::read_objects([(1, bytes)], reading, read_task);
    }
    let objects = lines::split(bytes).map(|(line, object)| {
        let object = object.trim_ascii();
        (line, object.strip_suffix(b",").unwrap_or(object))
    });
    lines::read_objects(objects, reading, read_task);
}

fn read_task(reading: &mut Reading, line: usize, mut fields: Fields) {
    let Some(uuid) = fields.text("uuid").filter(|uuid| !uuid.is_empty()) else {
        return reading.no_id(line, &fields);
    };
    fields.drop(&["id", "urgency"]);
    let mut record = Record::new(reading, line, uuid, &fields);
    record.key = record.id.to_lowercase();
    record.repeats = true;
    record.depends = take_depends(&mut fields);
    fill_task(&mut record.task, &mut fields);
    set_status(&mut record.task, &mut fields, &reading.now);
    reading.add(record, fields);
}

/// Takes the dependencies: a list, one text with commas, or a list that is written in a text.
fn take_depends(fields: &mut Fields) -> Vec<Reference> {
    let split = |value: &Value| -> Option<Vec<String>> {
        let text = id_of(value)?;
        let words = || {
            text.split(',')
                .map(|uuid| uuid.trim().to_string())
                .collect()
        };
        Some(serde_json::from_str(&text).unwrap_or_else(|_| words()))
    };
    let uuids = fields.references("depends", split).into_iter().flatten();
    let uuids = uuids.filter(|uuid| !uuid.is_empty());
    let reference = |given: String| Reference {
        readings: vec![given.to_lowercase()],
        given,
    };
    uuids.map(reference).collect()
}

fn fill_task(task: &mut Task, fields: &mut Fields) {
    task.title = fields.text("description").unwrap_or_default();
    fields.take_times(task, "entry", "modified");
    task.due = fields.time("due");
    let mut labels = fields.set("tags");
    let project = fields.text("project");
    labels.extend(project.map(|name| format!("project:{name}")));
    task.labels = remove_duplicates(labels);
    task.priority = match fields.word("priority") {
        Some("H") => Priority::High,
        Some("L") => Priority::Low,
        _ => Priority::Medium,
    };
    if matches!(fields.word("priority"), Some("H" | "M" | "L")) {
        fields.drop(&["priority"]);
    }
    task.size = fields.parse_word("size");
    task.notes = fields.items("annotations", |each| {
        // A time that is none stays with its text.
        let at = match each["entry"].as_str() {
            Some(at) => moment::read(at)?,
            None => String::new(),
        };
        make_note(&at, "taskwarrior", text_of(each.get("description")?)?)
    });
}

fn set_status(task: &mut Task, fields: &mut Fields, now: &str) {
    task.started_at = fields.time("start");
    let ended = fields.time("end");
    let waits = ["wait", "scheduled"].iter().find_map(|name| {
        let at = fields.word(name).and_then(moment::read)?;
        (at.as_str() > now).then(|| format!("{name} until {at}"))
    });
    let word = fields.text("status").unwrap_or_default();
    let (status, reason) = match (word.as_str(), waits) {
        ("completed", _) => (Status::Done, None),
        ("deleted", _) => (Status::Cancelled, None),
        ("recurring", _) => (Status::Blocked, Some("a recurring template".to_string())),
        (_, Some(reason)) => (Status::Blocked, Some(reason)),
        ("waiting", None) => (Status::Blocked, Some("waiting".to_string())),
        _ if task.started_at.is_some() => (Status::Active, None),
        _ => (Status::Pending, None),
    };
    if !matches!(word.as_str(), "completed" | "deleted" | "pending") {
        fields.put_back("status", Value::from(word));
    }
    task.status = status;
    match status {
        Status::Done => task.completed_at = ended,
        Status::Cancelled => task.cancelled_at = ended,
        _ => {}
    }
    note_block(task, "taskwarrior", reason.as_deref());
}

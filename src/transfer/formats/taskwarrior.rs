//! Taskwarrior `task export`: an array of objects, or one object a line.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::note_block;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, note, text_of, unique};
use crate::transfer::{Reading, Record, Reference, lines, moment};

/// Reads an export. Of objects with the same uuid, later fields win.
pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    let bytes = lines::strip_mark(bytes);
    let mut found: Vec<(usize, Fields)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    lines::read_objects(objects(bytes, reading), reading, |reading, line, fields| {
        let id = fields.word("uuid").unwrap_or_default().to_string();
        let uuid = id.to_lowercase();
        if let Some(place) = places.get(&uuid).filter(|_| !uuid.is_empty()) {
            let reason = "the same task once more; its later fields count";
            reading.leave_out(&id, reason);
            return found[*place].1.extend(fields);
        }
        places.insert(uuid, found.len());
        found.push((line, fields));
    });
    for (line, fields) in found {
        read_task(reading, line, fields);
    }
}

/// Cuts the input into objects, with the numbers of their lines.
fn objects<'a>(bytes: &'a [u8], reading: &mut Reading) -> Vec<(usize, &'a [u8])> {
    if bytes.trim_ascii_start().starts_with(b"[") {
        let all: Vec<&RawValue> = lines::parse_document(bytes, reading).unwrap_or_default();
        return lines::with_lines(bytes, &all);
    }
    if serde_json::from_slice::<&RawValue>(bytes).is_ok() {
        return vec![(1, bytes)];
    }
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // Old exports end each line with a comma.
    let lines = lines.map(|line| line.strip_suffix(b",").unwrap_or(line));
    (1..).zip(lines).collect()
}

fn read_task(reading: &mut Reading, line: usize, mut fields: Fields) {
    let Some(uuid) = fields.text("uuid").filter(|uuid| !uuid.is_empty()) else {
        return reading.no_id(line, &fields);
    };
    fields.drop(&["id", "urgency"]);
    let mut record = Record::new(reading, line, uuid);
    record.key = record.id.to_lowercase();
    record.told = fields.find_parts(&[("priority", "priority"), ("labels", "tags")]);
    record.depends = take_depends(&mut fields);
    fill(&mut record.task, &mut fields);
    set_status(&mut record.task, &mut fields, &reading.now);
    reading.add(record, fields);
}

/// Takes the dependencies: a list, one text with commas, or a list that is written in a text.
fn take_depends(fields: &mut Fields) -> Vec<Reference> {
    let text = fields.word("depends").map(str::to_string);
    let uuids: Vec<String> = match text {
        None => fields.ids("depends"),
        Some(text) => {
            fields.drop(&["depends"]);
            let split = || {
                text.split(',')
                    .map(|uuid| uuid.trim().to_string())
                    .collect()
            };
            serde_json::from_str(&text).unwrap_or_else(|_| split())
        }
    };
    let uuids = uuids.into_iter().filter(|uuid| !uuid.is_empty());
    let reference = |given: String| Reference {
        readings: vec![given.to_lowercase()],
        given,
    };
    uuids.map(reference).collect()
}

fn fill(task: &mut Task, fields: &mut Fields) {
    task.title = fields.text("description").unwrap_or_default();
    fields.take_times(task, "entry", "modified");
    task.due = fields.time("due");
    task.labels = fields.set("tags");
    let project = fields.text("project");
    task.labels
        .extend(project.map(|name| format!("project:{name}")));
    task.labels = unique(std::mem::take(&mut task.labels));
    let priority = match fields.word("priority") {
        Some("H") => Some(Priority::High),
        Some("M") => Some(Priority::Medium),
        Some("L") => Some(Priority::Low),
        _ => None,
    };
    if let Some(priority) = priority {
        task.priority = priority;
        fields.drop(&["priority"]);
    }
    task.size = fields.parsed("size");
    task.notes = fields.items("annotations", |each| {
        // A time that is none stays with its text.
        let at = match each["entry"].as_str() {
            Some(at) => moment::read(at)?,
            None => String::new(),
        };
        note(&at, "taskwarrior", text_of(each.get("description")?)?)
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
        fields.keep("status", Value::from(word));
    }
    task.status = status;
    match status {
        Status::Done => task.completed_at = ended,
        Status::Cancelled => task.cancelled_at = ended,
        _ => {}
    }
    note_block(task, "taskwarrior", reason.as_deref());
}

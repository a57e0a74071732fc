//! Taskwarrior `task export`: an array of objects, or one object a line.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Faults, blank, emit, keep_rest};
use crate::error::Result;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, note, text_of, unique};
use crate::transfer::silent::{self, Silent, Told};
use crate::transfer::{Fault, Format, Item, Read, Record, Reference, Setting, Sink, lines, moment};

/// Fields that tell what not every task has.
const TOLD: &Told = &[
    (silent::Part::Priority, &["priority"]),
    (silent::Part::Labels, &["tags"]),
];

/// Reads an export.
pub(crate) fn read(bytes: &[u8], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let bytes = lines::unmarked(bytes);
    let head = bytes.trim_ascii_start();
    let parts = match head.first() {
        Some(b'[') => array(bytes, setting, sink)?,
        _ => objects(bytes),
    };
    merged(&parts, setting, sink)
}

/// An object with the number of its line.
type Part<'a> = (usize, &'a [u8]);

fn array<'a>(bytes: &'a [u8], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<Vec<Part<'a>>> {
    match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        Ok(all) => Ok(all
            .into_iter()
            .map(|raw| (lines::line_of(bytes, raw), raw.get().as_bytes()))
            .collect()),
        Err(cause) => sink(lines::no_document(setting, &cause)).map(|()| Vec::new()),
    }
}

/// Cuts the input into its lines, unless all of it is one object.
fn objects(bytes: &[u8]) -> Vec<Part<'_>> {
    if serde_json::from_slice::<&RawValue>(bytes).is_ok() {
        return vec![(1, bytes)];
    }
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.is_empty())
        .collect()
}

/// Hands on each task once: of objects with the same uuid, later fields win.
fn merged(parts: &[Part<'_>], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    #[derive(Deserialize)]
    struct Named {
        uuid: String,
    }
    let uuid = |part: &Part<'_>| {
        serde_json::from_slice::<Named>(part.1)
            .ok()
            .map(|named| named.uuid)
    };
    let mut later: HashMap<String, Vec<usize>> = HashMap::new();
    let uuids: Vec<Option<String>> = parts.iter().map(uuid).collect();
    for (at, uuid) in uuids.iter().enumerate() {
        if let Some(uuid) = uuid {
            later.entry(uuid.to_lowercase()).or_default().push(at);
        }
    }
    for (at, (line, bytes)) in parts.iter().enumerate() {
        let same = uuids[at]
            .as_ref()
            .and_then(|uuid| later.get(&uuid.to_lowercase()));
        if same.is_some_and(|same| same.first() != Some(&at)) {
            let id = uuids[at].clone().unwrap_or_default();
            sink(Item::LeftOut {
                id,
                reason: "the same task once more; its later fields count",
            })?;
            continue;
        }
        let mut object = match plain(bytes) {
            Ok(object) => object,
            Err(message) => {
                let place = setting.place(*line);
                sink(Item::Fault(Fault {
                    place,
                    id: uuids[at].clone(),
                    message,
                }))?;
                continue;
            }
        };
        for later in same.into_iter().flatten().skip(1) {
            object.extend(plain(parts[*later].1).unwrap_or_default());
        }
        one(*line, Fields::new(object), setting, sink)?;
    }
    Ok(())
}

fn plain(bytes: &[u8]) -> Read<serde_json::Map<String, Value>> {
    if lines::is_conflict(bytes) {
        return Err("git left a conflict here".to_string());
    }
    // Old exports end each line with a comma.
    let bytes = bytes.strip_suffix(b",").unwrap_or(bytes);
    lines::parse(bytes).map(Fields::rest)
}

fn one(line: usize, mut fields: Fields, setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let Some(uuid) = fields.text("uuid").filter(|uuid| !uuid.is_empty()) else {
        return sink(super::no_id(setting, line, &fields));
    };
    fields.drop(&["id", "urgency"]);
    let silent = Silent::of(&fields, TOLD);
    let depends = depends(&mut fields);
    let task = task(&mut fields, setting);
    let faults = Faults::take(&mut fields);
    let mut record = Record {
        place: setting.place(line),
        key: uuid.to_lowercase(),
        id: uuid,
        alias: None,
        repeats: false,
        task,
        parents: Vec::new(),
        depends,
        silent,
    };
    keep_rest(&mut record.task, Format::Taskwarrior, fields.rest());
    emit(record, &faults, Format::Taskwarrior, setting, sink)
}

/// Takes the dependencies: a list, one text with commas, or a list that stands in a text.
fn depends(fields: &mut Fields) -> Vec<Reference> {
    let text = fields.word("depends").map(str::to_string);
    let uuids: Vec<String> = match text {
        None => fields.ids("depends"),
        Some(text) => {
            fields.drop(&["depends"]);
            let listed = serde_json::from_str::<Vec<String>>(&text);
            listed.unwrap_or_else(|_| {
                text.split(',')
                    .map(|uuid| uuid.trim().to_string())
                    .collect()
            })
        }
    };
    let reference = |uuid: &String| Reference {
        given: uuid.clone(),
        readings: vec![uuid.to_lowercase()],
    };
    uuids
        .iter()
        .filter(|uuid| !uuid.is_empty())
        .map(reference)
        .collect()
}

fn task(fields: &mut Fields, setting: &Setting<'_>) -> Task {
    let mut task = blank();
    task.title = fields.text("description").unwrap_or_default();
    task.created_at = fields.time("entry").unwrap_or_default();
    task.updated_at = fields
        .time("modified")
        .unwrap_or_else(|| task.created_at.clone());
    task.due = fields.time("due");
    task.labels = fields.set("tags");
    task.labels.extend(
        fields
            .text("project")
            .map(|project| format!("project:{project}")),
    );
    task.labels = unique(std::mem::take(&mut task.labels));
    task.priority = match fields.word("priority") {
        Some("H") => Priority::High,
        Some("L") => Priority::Low,
        _ => Priority::Medium,
    };
    if matches!(fields.word("priority"), Some("H" | "M" | "L")) {
        fields.drop(&["priority"]);
    }
    if let Some(Ok(size)) = fields.word("size").map(str::parse) {
        task.size = Some(size);
        fields.drop(&["size"]);
    }
    task.notes = fields.items("annotations", |each| {
        let at = each["entry"].as_str().map(moment::read);
        // A time that is none stays with its text.
        let at = at.map_or(Some(String::new()), |at| at)?;
        note(&at, "taskwarrior", text_of(each.get("description")?)?)
    });
    stand(&mut task, fields, setting);
    task
}

fn stand(task: &mut Task, fields: &mut Fields, setting: &Setting<'_>) {
    let started = fields.time("start");
    let ended = fields.time("end");
    let later = |name: &str| {
        let at = fields.word(name).and_then(moment::read);
        at.filter(|at| at.as_str() > setting.now)
            .map(|at| format!("Blocked: {name} until {at}"))
    };
    let waits = later("wait").or_else(|| later("scheduled"));
    let word = fields.text("status").unwrap_or_default();
    let (status, reason) = match (word.as_str(), waits) {
        ("completed", _) => (Status::Done, None),
        ("deleted", _) => (Status::Cancelled, None),
        ("recurring", _) => (
            Status::Blocked,
            Some("Blocked: a recurring template".to_string()),
        ),
        (_, Some(reason)) => (Status::Blocked, Some(reason)),
        ("waiting", None) => (Status::Blocked, Some("Blocked: waiting".to_string())),
        _ if started.is_some() => (Status::Active, None),
        _ => (Status::Pending, None),
    };
    if !matches!(word.as_str(), "completed" | "deleted" | "pending") {
        fields.keep("status", word.as_str());
    }
    task.status = status;
    task.started_at = started;
    match status {
        Status::Done => task.completed_at = ended,
        Status::Cancelled => task.cancelled_at = ended,
        _ => {}
    }
    task.notes
        .extend(reason.and_then(|text| note(&task.updated_at, "taskwarrior", text)));
}

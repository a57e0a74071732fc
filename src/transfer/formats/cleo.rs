//! cleo's own JSON lines: one task a line, made for version control. A changed task is a changed
//! line, and what is empty is not written.

use std::fmt::Write as _;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::{Faults, blank, emit, no_id};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, unique};
use crate::transfer::silent::Silent;
use crate::transfer::{Fault, Format, Item, Record, Reference, Setting, Sink, lines};

/// The first line of a file.
pub(crate) const HEADER: &str = "{\"cleo\":\"tasks\",\"version\":1}";
/// Version of the lines.
const VERSION: u64 = 1;

/// Keys of a line, in this order; any other key comes after them.
const KEYS: [&str; 28] = [
    "id",
    "uid",
    "title",
    "type",
    "status",
    "priority",
    "parent",
    "depends",
    "labels",
    "phase",
    "size",
    "description",
    "acceptance",
    "files",
    "deliverables",
    "notes",
    "assignedAgent",
    "due",
    "estimate",
    "feature",
    "key",
    "createdAt",
    "updatedAt",
    "startedAt",
    "completedAt",
    "cancelledAt",
    "archivedAt",
    "extra",
];

/// Writes a task as its line, without the end of the line. Notes are sorted, because two copies of a
/// task get theirs in different orders.
pub(crate) fn line(mut task: Task) -> String {
    task.notes = merge_notes(&[], task.notes);
    let Ok(Value::Object(mut fields)) = serde_json::to_value(task) else {
        return String::new();
    };
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    fields.retain(|_, value| !is_empty(value));
    let mut line = String::from("{");
    let known = KEYS.iter().filter_map(|key| fields.remove_entry(*key));
    let known: Vec<(String, Value)> = known.collect();
    for (key, value) in known.into_iter().chain(fields) {
        let comma = if line.len() > 1 { "," } else { "" };
        let _ = write!(line, "{comma}\"{key}\":{value}");
    }
    line.push('}');
    line
}

/// Joins the notes of two copies of a task, sorted.
pub(crate) fn merge_notes(here: &[Note], there: Vec<Note>) -> Vec<Note> {
    let mut notes = here.to_vec();
    notes.extend(there);
    notes.sort_by(|a, b| (&a.at, &a.by, &a.text).cmp(&(&b.at, &b.by, &b.text)));
    notes.dedup();
    notes
}

/// Reads tasks, one a line.
pub(crate) fn read(input: impl BufRead, setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    lines::objects(input, setting, sink, |line, fields, sink| {
        object(line, fields, setting, sink)
    })
}

fn object(
    line: usize,
    mut fields: Fields,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if fields.word("cleo") == Some("tasks") {
        return header(line, &fields, setting, sink);
    }
    let Some(id) = fields.text("id").filter(|id| id.parse::<TaskId>().is_ok()) else {
        return sink(no_id(setting, line, &fields));
    };
    let parents = fields
        .text("parent")
        .iter()
        .map(|id| Reference::to(&normal(id)))
        .collect();
    let depends = unique(fields.ids("depends"));
    let depends = depends
        .iter()
        .map(|id| Reference::to(&normal(id)))
        .collect();
    let mut task = task(&mut fields);
    task.uid = match fields.text("uid") {
        None => id::derive_uid(&task.created_at, &["cleo", &normal(&id)]),
        Some(uid) => id::parse_uid(&uid).unwrap_or_else(|| {
            fields.faults.push(format!("its uid `{uid}` is no ULID"));
            uid
        }),
    };
    let faults = Faults::take(&mut fields);
    let mut record = Record {
        place: setting.place(line),
        key: normal(&id),
        id: normal(&id),
        alias: None,
        repeats: false,
        task,
        parents,
        depends,
        // What such a line does not hold is empty.
        silent: Silent::default(),
    };
    super::keep_rest(&mut record.task, Format::Cleo, fields.rest());
    emit(record, &faults, Format::Cleo, setting, sink)
}

/// Writes an id in its one form; anything else stays as it is.
fn normal(id: &str) -> String {
    id.parse::<TaskId>()
        .map_or_else(|_| id.to_string(), |id| id.to_string())
}

fn header(line: usize, fields: &Fields, setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    match fields.get("version").and_then(Value::as_u64) {
        Some(version) if version <= VERSION => Ok(()),
        version => sink(Item::Fault(Fault {
            place: setting.place(line),
            id: None,
            message: format!(
                "the file has version {}; this cleo knows versions up to {VERSION}",
                version.map_or("none".to_string(), |version| version.to_string())
            ),
        })),
    }
}

fn task(fields: &mut Fields) -> Task {
    let mut task = blank();
    task.title = fields.text("title").unwrap_or_default();
    task.description = fields.text("description").unwrap_or_default();
    task.kind = parsed(fields, "type").unwrap_or_default();
    task.status = parsed(fields, "status").unwrap_or(Status::Pending);
    task.priority = parsed(fields, "priority").unwrap_or(Priority::Medium);
    task.size = parsed(fields, "size");
    task.labels = fields.set("labels");
    task.phase = fields.slug("phase");
    task.files = fields.set("files");
    task.acceptance = fields.set("acceptance");
    task.deliverables = fields.set("deliverables");
    task.notes = notes(fields);
    task.assigned_agent = fields.name("assignedAgent");
    task.due = fields.time("due");
    task.estimate = estimate(fields);
    task.feature = fields.name("feature");
    task.key = fields.name("key");
    task.created_at = fields.time("createdAt").unwrap_or_default();
    task.updated_at = fields
        .time("updatedAt")
        .unwrap_or_else(|| task.created_at.clone());
    task.started_at = fields.time("startedAt");
    task.completed_at = fields.time("completedAt");
    task.cancelled_at = fields.time("cancelledAt");
    task.archived_at = fields.time("archivedAt");
    if fields.get("extra").is_some_and(Value::is_object)
        && let Some(Value::Object(extra)) = fields.take("extra")
    {
        task.extra = extra;
    }
    task
}

/// Takes a word of a set; one that is not in it is a fault.
fn parsed<T: std::str::FromStr<Err = String>>(fields: &mut Fields, name: &str) -> Option<T> {
    let word = fields.text(name)?;
    word.parse()
        .map_err(|message| fields.faults.push(message))
        .ok()
}

fn notes(fields: &mut Fields) -> Vec<Note> {
    if fields.get("notes").is_some_and(|notes| !notes.is_array()) {
        fields.faults.push("notes is no list of notes".to_string());
    }
    fields.items("notes", |each| Note::deserialize(each).ok())
}

fn estimate(fields: &mut Fields) -> Option<f64> {
    let hours = fields.get("estimate").and_then(Value::as_f64)?;
    let hours = crate::task::rules::check_estimate(Some(hours)).ok()?;
    fields.drop(&["estimate"]);
    hours
}

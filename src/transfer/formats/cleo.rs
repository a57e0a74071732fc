//! cleo's own JSON lines: one task a line, made for version control. A changed task is a changed
//! line, and what is empty is not written.

use foldhash::fast::FixedState;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::id::{self, TaskId};
use crate::task::fields::Patch;
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, unique};
use crate::transfer::{Reading, Record, Reference, lines};

/// The first line of a file.
pub(crate) const HEADER: &str = "{\"cleo\":\"tasks\",\"version\":1}";
/// Version of the lines.
const VERSION: u64 = 1;

/// Writes a task as its line, without the end of the line. Notes are sorted, because two copies of a
/// task get theirs in different orders.
pub(crate) fn line(mut task: Task) -> serde_json::Result<String> {
    task.notes = merge_notes(&[], task.notes);
    let line = serde_json::to_string(&task)?;
    // The fields in the order of `Task`.
    let mut fields: IndexMap<&str, &RawValue, FixedState> = serde_json::from_str(&line)?;
    fields.retain(|_, value| !["null", "\"\"", "[]", "{}"].contains(&value.get()));
    serde_json::to_string(&fields)
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
pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    lines::read_objects(lines::split(bytes), reading, read_task);
}

fn read_task(reading: &mut Reading, line: usize, mut fields: Fields) {
    if fields.word("cleo") == Some("tasks") {
        let version = fields.get("version").and_then(Value::as_u64);
        if version.is_none_or(|version| version > VERSION) {
            let version = version.map_or("none".to_string(), |version| version.to_string());
            let message =
                format!("the file has version {version}; this cleo knows versions up to {VERSION}");
            reading.fault(line, None, message);
        }
        return;
    }
    let Some(id) = fields.text("id").filter(|id| id.parse::<TaskId>().is_ok()) else {
        return reading.no_id(line, &fields);
    };
    let mut record = Record::new(reading, line, normalize(&id), &fields);
    let parent = fields.text("parent");
    let depends = unique(fields.references("depends", id_of));
    let reference = |id: &String| Reference::to(&normalize(id));
    record.parents = parent.iter().map(reference).collect();
    record.depends = depends.iter().map(reference).collect();
    fill(&mut record.task, &mut fields);
    record.task.uid = match fields.text("uid") {
        None => id::derive_uid(&record.task.created_at, &["cleo", &record.id]),
        Some(uid) => id::parse_uid(&uid).unwrap_or_else(|| {
            fields.faults.push(format!("its uid `{uid}` is no ULID"));
            uid
        }),
    };
    reading.add(record, fields);
}

/// Writes an id in its one form; anything else stays as it is.
fn normalize(id: &str) -> String {
    id.parse::<TaskId>()
        .map_or_else(|_| id.to_string(), |id| id.to_string())
}

fn fill(task: &mut Task, fields: &mut Fields) {
    task.title = fields.text("title").unwrap_or_default();
    task.description = fields.text("description").unwrap_or_default();
    task.kind = take_word(fields, "type").unwrap_or_default();
    task.status = take_word(fields, "status").unwrap_or(Status::Pending);
    task.priority = take_word(fields, "priority").unwrap_or(Priority::Medium);
    task.size = take_word(fields, "size");
    task.labels = fields.set("labels");
    task.phase = fields.slug("phase");
    task.files = fields.set("files");
    task.acceptance = fields.set("acceptance");
    task.deliverables = fields.set("deliverables");
    if fields.get("notes").is_some_and(|notes| !notes.is_array()) {
        fields.faults.push("notes is no list of notes".to_string());
    }
    task.notes = fields.items("notes", |each| Note::deserialize(each).ok());
    task.assigned_agent = fields.name("assignedAgent");
    task.due = fields.time("due");
    task.feature = fields.name("feature");
    task.key = fields.name("key");
    fields.take_times(task, "createdAt", "updatedAt");
    task.started_at = fields.time("startedAt");
    task.completed_at = fields.time("completedAt");
    task.cancelled_at = fields.time("cancelledAt");
    task.archived_at = fields.time("archivedAt");
    if fields.get("extra").is_some_and(Value::is_object)
        && let Some(Value::Object(extra)) = fields.take("extra")
    {
        task.extra = extra;
    }
    // What has no rule of its own is set as people set it; what they could not set stays as it is.
    fields.take_where(|name, value| {
        let is_plain = !value.is_null() && !value.is_array() && !value.is_object();
        let patch = is_plain.then(|| Patch::deserialize(json!({name: value})));
        let patch = patch.and_then(Result::ok);
        patch.is_some_and(|patch| patch.apply(task, "", "").is_ok())
    });
}

/// Takes a word of a set; one that is not in it is a fault.
fn take_word<T: std::str::FromStr<Err = String>>(fields: &mut Fields, name: &str) -> Option<T> {
    let word = fields.text(name)?;
    word.parse()
        .map_err(|message| fields.faults.push(message))
        .ok()
}

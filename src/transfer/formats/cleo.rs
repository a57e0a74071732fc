//! cleo's own JSON lines, for version control: one task a line, without empty fields.

use serde::de::Deserialize;
use serde_json::{Value, json};

use crate::document;
use crate::id::{self, TaskId};
use crate::task::fields::Patch;
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, remove_duplicates};
use crate::transfer::{Reading, Record, Reference, lines};

/// The first line of a file.
pub(crate) const HEADER: &str = "{\"cleo\":\"tasks\",\"version\":1}";
/// Bytes of most lines with their empty fields.
const CAPACITY: usize = 2_000;
/// Ends of fields that are empty. In a text, a backslash comes before each quote.
const EMPTY: [&str; 4] = ["\":null", "\":\"\"", "\":[]", "\":{}"];
const VERSION: u64 = 1;

/// Writes a task as its line, with the end of the line. Notes are sorted, because two copies of a task get theirs
/// in different orders.
pub(crate) fn write_line(mut task: Task, text: &mut String) -> serde_json::Result<()> {
    task.notes = merge_notes(&[], task.notes);
    let mut line = Vec::with_capacity(CAPACITY);
    document::append_json(&task, &mut line)?;
    let line = str::from_utf8(&line).map_err(serde::ser::Error::custom)?;
    // Fields keep the order of `Task`.
    let mut rest = line.strip_prefix('{').unwrap_or_default();
    let mut separator = "{";
    while !rest.is_empty() {
        let (field, after) = rest.split_at(find_value_end(rest.as_bytes()));
        if !EMPTY.iter().any(|value| field.ends_with(value)) {
            text.push_str(separator);
            text.push_str(field);
            separator = ",";
        }
        rest = after.get(1..).unwrap_or_default();
    }
    text.push_str("}\n");
    Ok(())
}

/// Finds where the first value of compact JSON ends: at a comma, at the end of what it is in, or at the end. A name and
/// its value count as one.
fn find_value_end(json: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = json.len() - document::after_text(&json[at + 1..]).len() - 1,
            b',' | b']' | b'}' if depth == 0 => break,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Merges the notes of two copies of a task, sorted.
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
            reading.add_fault(line, None, message);
        }
        return;
    }
    let Some(id) = fields.text("id").filter(|id| id.parse::<TaskId>().is_ok()) else {
        return reading.no_id(line, &fields);
    };
    let mut record = Record::new(reading, line, normalize(&id), &fields);
    let parent = fields.text("parent");
    let depends = remove_duplicates(fields.references("depends", id_of));
    let reference = |id: &String| Reference::to_id(&normalize(id));
    record.parents = parent.iter().map(reference).collect();
    record.depends = depends.iter().map(reference).collect();
    let uid = fields.text("uid");
    fill_task(&mut record.task, &mut fields);
    record.task.uid = match uid {
        None => id::derive_uid(&record.task.created_at, &["cleo", &record.id]),
        Some(uid) => id::parse_uid(&uid).unwrap_or_else(|| {
            fields.faults.push(format!("its uid `{uid}` is not a ULID"));
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

fn fill_task(task: &mut Task, fields: &mut Fields) {
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
        fields
            .faults
            .push("notes is not a list of notes".to_string());
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
    // Other fields are set by the rules of `update`; those that it refuses stay.
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

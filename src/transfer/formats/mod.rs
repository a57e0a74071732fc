//! One reader for each kind of file. A reader adds every task to a [`Reading`], in the order of the
//! file, and keeps what cleo has no field for under `extra.<format>`.

pub(crate) mod backlog;
pub(crate) mod beads;
mod cleaned;
pub(crate) mod cleo;
mod front;
pub(crate) mod taskmaster;
pub(crate) mod taskwarrior;
pub(crate) mod todo;

use serde_json::Value;

use super::fields::{Fields, make_note, remove_duplicates};
use super::report::Remark;
use super::{Reading, Record};
use crate::document::{NESTING_MAX, depth_of};
use crate::error::{Code, Error, Result};
use crate::task::Task;
use crate::task::rules::{TEXT_MAX, check_lines, check_title};

impl Record {
    /// Returns a record whose key is its id and that no other repeats.
    fn new(reading: &Reading, line: usize, id: String, fields: &Fields) -> Record {
        Record {
            place: reading.line_place(line),
            key: id.clone(),
            id,
            alias: None,
            repeats: false,
            task: Task::default(),
            parents: Vec::new(),
            depends: Vec::new(),
            has_priority: fields.get("priority").is_some(),
            has_labels: fields.get("labels").or(fields.get("tags")).is_some(),
        }
    }
}

impl Reading {
    /// Adds a task, or reports its faults.
    fn add(&mut self, mut record: Record, fields: Fields) {
        let line = record.place.line;
        for message in &fields.loose {
            self.add_fault(line, Some(&record.id), message);
        }
        let changed = cleaned::clean(&mut record.task);
        let fault = fields.faults.first().cloned();
        let mut rest = fields.into_rest();
        // Criteria that are too long or too many are kept in `extra`.
        for (name, list) in [
            ("acceptance", &mut record.task.acceptance),
            ("deliverables", &mut record.task.deliverables),
        ] {
            if check_lines(name, list).is_err() {
                rest.insert(name.to_string(), std::mem::take(list).into());
            }
        }
        if !rest.is_empty() {
            let name = self.format.word().to_string();
            record.task.extra.insert(name, Value::Object(rest));
        }
        let broken = || check(&record.task).err().map(|error| error.message);
        if let Some(message) = fault.or_else(broken) {
            return self.add_fault(line, Some(&record.id), message);
        }
        if let Some(reason) = changed {
            self.report.changed.add(|| Remark {
                id: record.id.clone(),
                reason: reason.to_string(),
            });
        }
        self.records.push(record);
    }

    /// Reports an object without an id.
    fn no_id(&mut self, line: usize, fields: &Fields) {
        let message = fields.faults.first().map_or("it has no id", String::as_str);
        self.add_fault(line, None, message);
    }
}

/// Keeps references that are not dependencies.
fn keep_relations(task: &mut Task, relations: Vec<Value>) {
    if !relations.is_empty() {
        let name = "relations".to_string();
        task.extra.insert(name, Value::Array(relations));
    }
}

/// Adds a note with the reason why a task is blocked.
fn note_block(task: &mut Task, by: &str, reason: Option<&str>) {
    let text = reason.map(|reason| format!("Blocked: {reason}"));
    let note = text.and_then(|text| make_note(&task.updated_at, by, text));
    task.notes.extend(note);
}

fn join_paragraphs(texts: [Option<String>; 2]) -> String {
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Reads the items of a list, `- text` with or without a box, and which boxes are checked. Other lines continue the
/// item before.
fn read_items(text: &str) -> Vec<(String, bool)> {
    let mut items: Vec<(String, bool)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(item), _) => {
                let boxes = ["[ ]", "[x]", "[X]"];
                let mark = boxes.into_iter().find(|mark| item.starts_with(mark));
                let text = item[mark.map_or(0, str::len)..].trim_start();
                items.push((text.to_string(), mark.is_some_and(|mark| mark != "[ ]")));
            }
            (None, Some((last, _))) => *last += &format!(" {line}"),
            (None, None) => items.push((line.to_string(), false)),
        }
    }
    items
}

/// Checks the other texts by the rules of `add`. Nothing is cut.
fn check(task: &Task) -> Result<()> {
    check_title(task.title.trim())?;
    let notes = task.notes.iter().map(|note| &note.text);
    if notes
        .chain([&task.description])
        .any(|text| text.len() > TEXT_MAX)
    {
        let message = format!("its description or a note has more than {TEXT_MAX} bytes");
        return Err(Error::new(Code::TextTooLong, message));
    }
    check_lines("labels", &task.labels)?;
    check_lines("files", &task.files)?;
    let depth = 1 + task.extra.values().map(depth_of).max().unwrap_or(0);
    if depth > NESTING_MAX {
        let message =
            format!("a field of it is nested {depth} levels deep; {NESTING_MAX} are allowed");
        return Err(Error::new(Code::TaskInvalid, message));
    }
    Ok(())
}

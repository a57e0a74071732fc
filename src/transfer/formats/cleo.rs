//! cleo's own JSON lines: one task a line, made for version control. A changed task is a changed
//! line, and what is empty is not written.

use std::io::BufRead;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Faults, blank, emit, no_id};
use crate::error::Result;
use crate::id::TaskId;
use crate::task::{Note, Priority, Size, Status, Task, TaskType};
use crate::transfer::fields::{Fields, unique};
use crate::transfer::silent::Silent;
use crate::transfer::{Fault, Format, Item, Record, Reference, Setting, Sink, lines};

/// The first line of a file.
pub(crate) const HEADER: &str = "{\"cleo\":\"tasks\",\"version\":1}";
/// Version of the lines.
const VERSION: u64 = 1;

/// A task as it stands on its line. Keys come in this order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: TaskId,
    title: &'a str,
    #[serde(rename = "type")]
    kind: &'a TaskType,
    status: Status,
    priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<TaskId>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    depends: &'a [TaskId],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    labels: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<Size>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    acceptance: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    deliverables: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [Note],
    #[serde(skip_serializing_if = "Option::is_none")]
    assigned_agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    created_at: &'a str,
    updated_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: &'a Map<String, Value>,
}

/// Writes a task as its line, without the end of the line.
pub(crate) fn line(task: &Task) -> String {
    // A field that is added to a task and forgotten here does not compile.
    let Task {
        id,
        title,
        description,
        kind,
        status,
        parent,
        depends,
        labels,
        priority,
        phase,
        size,
        files,
        acceptance,
        deliverables,
        notes,
        assigned_agent,
        due,
        estimate,
        feature,
        key,
        extra,
        created_at,
        updated_at,
        started_at,
        completed_at,
        cancelled_at,
        archived_at,
    } = task;
    let row = Row {
        id: *id,
        title,
        kind,
        status: *status,
        priority: *priority,
        parent: *parent,
        depends,
        labels,
        phase: phase.as_deref(),
        size: *size,
        description,
        acceptance,
        files,
        deliverables,
        notes,
        assigned_agent: assigned_agent.as_deref(),
        due: due.as_deref(),
        estimate: *estimate,
        feature: feature.as_deref(),
        key: key.as_deref(),
        created_at,
        updated_at,
        started_at: started_at.as_deref(),
        completed_at: completed_at.as_deref(),
        cancelled_at: cancelled_at.as_deref(),
        archived_at: archived_at.as_deref(),
        extra,
    };
    serde_json::to_string(&row).unwrap_or_default()
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
    let task = task(&mut fields);
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

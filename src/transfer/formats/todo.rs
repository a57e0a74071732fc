//! CLEO `todo.json`, its archive, packages (`*.cleo-export.json`) and exports of 2026.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::keep_relations;
use crate::phase::{Phase, PhaseStatus};
use crate::task::rules::{TEXT_MAX, check_word, clean_text, is_slug};
use crate::task::{Note, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, make_note, remove_duplicates, text_of};
use crate::transfer::{Reading, Record, Reference, lines, moment};

const PHASES_MAX: usize = 1_000;
const POSITION_MAX: u32 = 1_000_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(borrow, default)]
    tasks: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    archived_tasks: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    project: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    let bytes = lines::strip_mark(bytes);
    let Some(document) = lines::parse_document::<Document<'_>>(bytes, reading) else {
        return;
    };
    // In an archive the project is a text.
    let project = document
        .project
        .filter(|project| project.get().starts_with('{'));
    let project = lines::with_lines(bytes, project.as_slice());
    lines::read_objects(project, reading, |reading, _, fields| {
        reading.phases.extend(read_phases(&fields));
    });
    // Criteria that repeat a child are dropped only when the child is in the document.
    let all = document.tasks.iter().chain(&document.archived_tasks);
    let named = all.filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok());
    let ids: HashSet<String> = named.map(|named| named.id).collect();
    let is_archive = reading.is_archive;
    for (list, is_archived) in [(&document.tasks, false), (&document.archived_tasks, true)] {
        reading.is_archive = is_archive || is_archived;
        let objects = lines::with_lines(bytes, list);
        lines::read_objects(objects, reading, |reading, line, fields| {
            read_task(reading, line, fields, &ids);
        });
    }
    reading.is_archive = is_archive;
}

/// Reads the phases of the project, in their order. An invalid phase is skipped: the
/// tasks in it keep its name among what cleo has no field for.
fn read_phases(project: &Fields) -> Vec<Phase> {
    let phases = project.get("phases").and_then(Value::as_object);
    let named = phases.into_iter().flatten().take(PHASES_MAX);
    let mut phases: Vec<Phase> = named
        .filter_map(|(slug, each)| read_phase(slug, each))
        .collect();
    phases.sort_by(|a, b| (a.position, &a.slug).cmp(&(b.position, &b.slug)));
    phases
}

fn read_phase(slug: &str, each: &Value) -> Option<Phase> {
    let text = |name: &str| each[name].as_str().unwrap_or_default().to_string();
    let time = |name: &str| each[name].as_str().and_then(moment::read);
    let order = each["order"].as_u64().and_then(|it| u32::try_from(it).ok());
    let named = Some(text("name")).filter(|name| check_word("name", Some(name)).is_ok());
    let description = text("description");
    let phase = Phase {
        name: named.unwrap_or_else(|| slug.to_string()),
        description: clean_text(&description).unwrap_or(description),
        status: text("status").parse().unwrap_or(PhaseStatus::Pending),
        started_at: time("startedAt"),
        completed_at: time("completedAt"),
        ..Phase::new(slug, order.unwrap_or(u32::MAX).clamp(1, POSITION_MAX))
    };
    (is_slug(slug) && phase.description.len() <= TEXT_MAX).then_some(phase)
}

fn read_task(reading: &mut Reading, line: usize, mut fields: Fields, ids: &HashSet<String>) {
    let Some(id) = fields.text("id").filter(|id| !id.is_empty()) else {
        return reading.no_id(line, &fields);
    };
    let mut record = Record::new(reading, line, id, &fields);
    let reference = |id: &String| Reference::to_id(id);
    record.parents = fields.text("parentId").iter().map(reference).collect();
    let depends = fields.references("depends", id_of);
    record.depends = depends.iter().map(reference).collect();
    let task = &mut record.task;
    task.title = fields.text("title").unwrap_or_default();
    task.description = fields.text("description").unwrap_or_default();
    match fields.text("type").as_deref() {
        Some("saga") => {
            fields.put_back("type", "saga");
            task.kind = "epic".parse().unwrap_or_default();
        }
        kind => task.kind = kind.unwrap_or("task").parse().unwrap_or_default(),
    }
    task.labels = fields.set("labels");
    task.files = fields.files("files");
    task.phase = fields.slug("phase");
    task.size = fields.parse_word("size");
    task.priority = fields.parse_word("priority").unwrap_or(task.priority);
    fields.take_times(task, "createdAt", "updatedAt");
    task.acceptance = take_acceptance(&mut fields, ids);
    set_status(task, &mut fields, reading.is_archive);
    task.notes = take_notes(&mut fields, task);
    let relations = fields.items("relates", |each| {
        let mut relation = json!({"type": each.get("type")?, "id": each.get("taskId")?});
        if let Some(reason) = each["reason"].as_str() {
            relation["reason"] = reason.into();
        }
        Some(relation)
    });
    keep_relations(task, relations);
    reading.add(record, fields);
}

/// Reads a text, or the first of some texts in an object.
fn text_in(value: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| value.get(name)?.as_str());
    text_of(value).or_else(|| texts.map(str::to_string).next())
}

/// Takes the criteria. An object, which says more than its text, stays as well; what the tool adds for each child
/// by itself goes.
fn take_acceptance(fields: &mut Fields, ids: &HashSet<String>) -> Vec<String> {
    let all = fields.get("acceptance").cloned().unwrap_or_default();
    let mut texts = fields.items("acceptance", |criterion| {
        text_in(criterion, &["text", "description", "criterion"])
    });
    if all
        .as_array()
        .is_some_and(|all| all.iter().any(Value::is_object))
    {
        fields.put_back("acceptance", all);
    }
    texts.retain(|text| {
        let rest = text.strip_prefix("Complete child ");
        let child = rest.and_then(|rest| rest.split_once(':'));
        child.is_none_or(|(id, _)| !ids.contains(id))
    });
    remove_duplicates(texts)
}

/// Sets the status, with the times that belong to it.
fn set_status(task: &mut Task, fields: &mut Fields, is_archive: bool) {
    let word = fields.text("status").unwrap_or_default();
    task.status = match word.as_str() {
        "archived" => Status::Done,
        word => word.parse().unwrap_or(Status::Pending),
    };
    if task.status.word() != word {
        fields.put_back("status", word.as_str());
    }
    // The tool writes one of two times of an end. The one that does not fit the status stays in `extra`.
    match task.status {
        Status::Done => task.completed_at = fields.time("completedAt"),
        Status::Cancelled => {
            let cancelled = fields.time("cancelledAt");
            let completed = fields.word("completedAt").and_then(moment::read);
            task.cancelled_at = match cancelled.is_none() || cancelled == completed {
                true => fields.time("completedAt").or(cancelled),
                false => cancelled,
            };
        }
        _ => {}
    }
    let archive = fields.get("_archive");
    if word == "archived" || is_archive || archive.is_some() {
        let at = archive.and_then(|archive| archive["archivedAt"].as_str());
        let updated = Some(task.updated_at.clone()).filter(|at| !at.is_empty());
        task.archived_at = at.and_then(moment::read).or(updated);
    }
}

fn take_notes(fields: &mut Fields, task: &Task) -> Vec<Note> {
    let updated = task.updated_at.as_str();
    let mut notes = fields.items("notes", |each| {
        let at = each["timestamp"].as_str().and_then(moment::read);
        let text = text_in(each, &["content", "note", "text"])?;
        make_note(at.as_deref().unwrap_or(updated), "todo", text)
    });
    for (name, head) in [
        ("blockedBy", "Blocked"),
        ("cancellationReason", "Cancelled"),
        ("cancelReason", "Cancelled"),
    ] {
        let reason = fields.word(name).map(|reason| format!("{head}: {reason}"));
        notes.extend(reason.and_then(|text| make_note(updated, "todo", text)));
    }
    notes
}

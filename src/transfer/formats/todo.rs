//! CLEO `todo.json`, its archive, packages (`*.cleo-export.json`) and exports of 2026.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Faults, blank, emit, keep_relations, keep_rest, kind, no_id};
use crate::error::Result;
use crate::phase::{Phase, PhaseStatus};
use crate::task::rules::{TEXT_MAX, check_word, cleaned_line, cleaned_text, is_slug};
use crate::task::{Note, Status, Task};
use crate::transfer::fields::{Fields, note, text_of, unique};
use crate::transfer::silent::{Part, Silent, Told};
use crate::transfer::{Fault, Format, Item, Read, Record, Reference, Setting, Sink, lines, moment};

/// Most phases that a project has.
const PHASES_MAX: usize = 1_000;
/// Last place that a phase can ask for.
const POSITION_MAX: u32 = 1_000_000;

/// Fields that tell what not every task has.
const TOLD: &Told = &[
    (Part::Parent, &["parentId"]),
    (Part::Description, &["description"]),
    (Part::Kind, &["type"]),
    (Part::Priority, &["priority"]),
    (Part::Labels, &["labels"]),
    (Part::Files, &["files"]),
    (Part::Acceptance, &["acceptance"]),
];

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

/// Reads a document.
pub(crate) fn read(bytes: &[u8], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let bytes = lines::unmarked(bytes);
    let document: Document<'_> = match serde_json::from_slice(bytes) {
        Ok(document) => document,
        Err(cause) => return sink(lines::no_document(setting, &cause)),
    };
    if let Some(project) = document.project {
        match phases(project) {
            Ok(phases) => phases
                .into_iter()
                .try_for_each(|phase| sink(Item::Phase(Box::new(phase))))?,
            Err(message) => sink(Item::Fault(Fault {
                place: setting.place(lines::line_of(bytes, project)),
                id: None,
                message,
            }))?,
        }
    }
    let ids = ids(&document);
    for (list, archived) in [(&document.tasks, false), (&document.archived_tasks, true)] {
        let setting = Setting {
            archived: archived || setting.archived,
            ..*setting
        };
        for raw in list {
            object(raw, lines::line_of(bytes, raw), &ids, &setting, sink)?;
        }
    }
    Ok(())
}

/// Reads the phases of the project, in their order. One that cannot be a phase here is left out: the
/// tasks in it keep its name among what cleo has no field for. In an archive the project is a text.
fn phases(project: &RawValue) -> Read<Vec<Phase>> {
    if !project.get().starts_with('{') {
        return Ok(Vec::new());
    }
    let project = lines::parse(project.get().as_bytes())?;
    let Some(Value::Object(all)) = project.get("phases") else {
        return Ok(Vec::new());
    };
    let named = all.iter().take(PHASES_MAX);
    let mut phases: Vec<Phase> = named.filter_map(|(slug, each)| phase(slug, each)).collect();
    phases.sort_by(|a, b| (a.position, &a.slug).cmp(&(b.position, &b.slug)));
    Ok(phases)
}

fn phase(slug: &str, each: &Value) -> Option<Phase> {
    let order = each["order"]
        .as_u64()
        .and_then(|order| u32::try_from(order).ok());
    let text = |name: &str| each[name].as_str().unwrap_or_default().to_string();
    let time = |name: &str| each[name].as_str().and_then(moment::read);
    let (name, description) = (text("name"), text("description"));
    let name = cleaned_line(&name).unwrap_or(name);
    let fits = check_word("name", Some(&name)).is_ok();
    Some(Phase {
        name: if fits { name } else { slug.to_string() },
        description: cleaned_text(&description).unwrap_or(description),
        status: text("status").parse().unwrap_or(PhaseStatus::Pending),
        started_at: time("startedAt"),
        completed_at: time("completedAt"),
        ..Phase::new(slug, order.unwrap_or(u32::MAX).clamp(1, POSITION_MAX))
    })
    .filter(|phase| is_slug(slug) && phase.description.len() <= TEXT_MAX)
}

/// Returns the ids of the document: criteria that repeat a child are dropped only when it is here.
fn ids(document: &Document<'_>) -> HashSet<String> {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    let all = document.tasks.iter().chain(&document.archived_tasks);
    all.filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok())
        .map(|named| named.id)
        .collect()
}

fn object(
    raw: &RawValue,
    line: usize,
    ids: &HashSet<String>,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut fields = match lines::parse(raw.get().as_bytes()) {
        Ok(fields) => fields,
        Err(message) => {
            return sink(Item::Fault(Fault {
                place: setting.place(line),
                id: None,
                message,
            }));
        }
    };
    let Some(id) = fields.text("id").filter(|id| !id.is_empty()) else {
        return sink(no_id(setting, line, &fields));
    };
    let is_root = fields.has_null("parentId");
    let silent = Silent::of(&fields, TOLD).unless(Part::Parent, is_root);
    let parents = fields
        .text("parentId")
        .iter()
        .map(|id| Reference::to(id))
        .collect();
    let depends = fields.ids("depends");
    let depends = depends.iter().map(|id| Reference::to(id)).collect();
    let mut task = task(&mut fields, ids, setting);
    keep_relations(&mut task, relations(&mut fields));
    let faults = Faults::take(&mut fields);
    keep_rest(&mut task, Format::Todo, fields.rest());
    let record = Record {
        place: setting.place(line),
        key: id.clone(),
        id,
        alias: None,
        repeats: false,
        task,
        parents,
        depends,
        silent,
    };
    emit(record, &faults, Format::Todo, setting, sink)
}

fn task(fields: &mut Fields, ids: &HashSet<String>, setting: &Setting<'_>) -> Task {
    let mut task = blank();
    task.title = fields.text("title").unwrap_or_default();
    task.description = fields.text("description").unwrap_or_default();
    task.kind = match fields.text("type").as_deref() {
        Some("saga") => {
            fields.keep("type", "saga");
            kind("epic")
        }
        word => kind(word.unwrap_or("task")),
    };
    task.labels = fields.set("labels");
    task.files = fields.files("files");
    task.phase = fields.slug("phase");
    if let Some(Ok(size)) = fields.word("size").map(str::parse) {
        task.size = Some(size);
        fields.drop(&["size"]);
    }
    if let Some(Ok(priority)) = fields.word("priority").map(str::parse) {
        task.priority = priority;
        fields.drop(&["priority"]);
    }
    task.created_at = fields.time("createdAt").unwrap_or_default();
    task.updated_at = fields
        .time("updatedAt")
        .unwrap_or_else(|| task.created_at.clone());
    let acceptance = acceptance(fields, ids);
    task.acceptance = acceptance;
    stand(&mut task, fields, setting);
    task.notes = notes(fields, &task);
    task
}

/// Says where the work stands, with the times that belong to it.
fn stand(task: &mut Task, fields: &mut Fields, setting: &Setting<'_>) {
    let word = fields.text("status").unwrap_or_default();
    let status = word.parse().unwrap_or(match word.as_str() {
        "archived" => Status::Done,
        _ => Status::Pending,
    });
    if status.word() != word {
        fields.keep("status", word.as_str());
    }
    task.status = status;
    end(task, fields);
    if word == "archived" || setting.archived || fields.get("_archive").is_some() {
        let at = fields
            .get("_archive")
            .and_then(|archive| archive["archivedAt"].as_str());
        let at = at.and_then(moment::read);
        task.archived_at = at.or_else(|| Some(task.updated_at.clone()).filter(|at| !at.is_empty()));
    }
}

/// Takes the time of an end, of which the tool writes one of two. One that is not of the status stays
/// where it is.
fn end(task: &mut Task, fields: &mut Fields) {
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
}

/// Takes the criteria. An object gives its text; what the tool adds for each child by itself goes.
fn acceptance(fields: &mut Fields, ids: &HashSet<String>) -> Vec<String> {
    let named = |criterion: &Value| {
        let mut names = ["text", "description", "criterion"].iter();
        names.find_map(|name| criterion.get(name)?.as_str().map(str::to_string))
    };
    let text = |criterion: &Value| text_of(criterion).or_else(|| named(criterion));
    let whole = fields.get("acceptance").cloned();
    let all = fields.items("acceptance", text);
    // An object says more than its text.
    let says_more = |whole: &Value| {
        let mut criteria = whole.as_array().into_iter().flatten();
        criteria.any(Value::is_object)
    };
    if let Some(whole) = whole.filter(says_more) {
        fields.keep("acceptance", whole);
    }
    let derived = |text: &String| {
        let child = text
            .strip_prefix("Complete child ")
            .and_then(|rest| rest.split_once(':'));
        child.is_some_and(|(id, _)| ids.contains(id))
    };
    unique(all.into_iter().filter(|text| !derived(text)).collect())
}

fn notes(fields: &mut Fields, task: &Task) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(fields.items("notes", |each| a_note(each, &task.updated_at)));
    let reasons = ["blockedBy", "cancellationReason", "cancelReason"];
    for (name, head) in reasons
        .into_iter()
        .zip(["Blocked", "Cancelled", "Cancelled"])
    {
        let reason = fields.word(name).map(|reason| format!("{head}: {reason}"));
        notes.extend(reason.and_then(|text| note(&task.updated_at, "todo", text)));
    }
    notes
}

fn a_note(each: &Value, at: &str) -> Option<Note> {
    match each {
        Value::String(text) => note(at, "todo", text.as_str()),
        Value::Number(number) => note(at, "todo", number.to_string()),
        Value::Object(object) => {
            let text = ["content", "note", "text"]
                .iter()
                .find_map(|name| object.get(*name)?.as_str());
            let time = object
                .get("timestamp")
                .and_then(Value::as_str)
                .and_then(moment::read);
            note(time.as_deref().unwrap_or(at), "todo", text?)
        }
        _ => None,
    }
}

fn relations(fields: &mut Fields) -> Vec<Value> {
    let relation = |each: &Value| {
        let mut relation = json!({"type": each.get("type")?, "id": each.get("taskId")?});
        if let Some(reason) = each["reason"].as_str() {
            relation["reason"] = reason.into();
        }
        Some(relation)
    };
    fields.items("relates", relation)
}

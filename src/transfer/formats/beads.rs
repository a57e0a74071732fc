//! beads: one issue a line.

use serde_json::{Value, json};

use super::{join_paragraphs, keep_relations, note_block, read_items};
use crate::task::rules::{check_estimate, normalize_inside};
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, make_note, remove_duplicates, text_of};
use crate::transfer::{Reading, Record, Reference, lines, moment};

/// Fields that are derived from others, or that name the machine.
const DERIVED: [&str; 5] = [
    "dependency_count",
    "dependent_count",
    "comment_count",
    "parent",
    "source_repo_path",
];

/// Reads issues, one a line.
pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    lines::read_objects(lines::split(bytes), reading, read_issue);
}

fn read_issue(reading: &mut Reading, line: usize, mut fields: Fields) {
    if fields.get("_schema").is_some() {
        return;
    }
    if fields.word("_type") == Some("memory") {
        let id = fields.id("key").unwrap_or_default();
        return reading.report_left_out(&id, "a memory is not a task");
    }
    let Some(id) = fields.text("id").filter(|id| !id.is_empty()) else {
        return reading.no_id(line, &fields);
    };
    if fields.word("status") == Some("tombstone") {
        return reading.report_left_out(&id, "deleted");
    }
    fields.drop(&DERIVED);
    if fields.word("_type") == Some("issue") {
        fields.drop(&["_type"]);
    }
    let mut record = Record::new(reading, line, id, &fields);
    record.repeats = true;
    let relations = take_references(&mut record, &mut fields);
    fill_task(&mut record.task, &mut fields, &reading.now);
    keep_relations(&mut record.task, relations);
    reading.add(record, fields);
}

/// Takes what an issue depends on and is part of; returns references of other kinds.
fn take_references(record: &mut Record, fields: &mut Fields) -> Vec<Value> {
    let mut relations = Vec::new();
    let named = |edge: &Value| Some((id_of(edge.get("depends_on_id")?)?, edge.clone()));
    for (target, edge) in fields.references("dependencies", named) {
        let is_external = target.starts_with("external:");
        let mut relation = json!({"type": edge["type"], "id": target});
        let metadata = edge["metadata"].as_str();
        if let Some(metadata) = metadata.filter(|it| !["", "{}"].contains(it)) {
            relation["metadata"] = metadata.into();
        }
        let reference = Reference::to_id(&target);
        match edge["type"].as_str().unwrap_or("blocks") {
            "parent-child" => record.parents.push(reference),
            _ if is_external => relations.push(relation),
            "blocks" => record.depends.push(reference),
            "waits-for" => {
                record.depends.push(reference);
                relations.push(relation);
            }
            _ => relations.push(relation),
        }
    }
    // Of two parents the one counts that the dotted id names.
    let above = record.id.rsplit_once('.').map(|(above, _)| above);
    record
        .parents
        .sort_by_key(|parent| Some(parent.given.as_str()) != above);
    relations
}

fn fill_task(task: &mut Task, fields: &mut Fields, now: &str) {
    task.title = fields.text("title").unwrap_or_default();
    let design = fields.word("design").filter(|design| !design.is_empty());
    let design = design.map(|design| format!("## Design\n\n{design}"));
    task.description = join_paragraphs([fields.text("description"), design]);
    fields.take_times(task, "created_at", "updated_at");
    task.started_at = fields.time("started_at");
    task.due = fields.time("due_at");
    task.labels = fields.set("labels");
    match fields.word("issue_type") {
        Some("epic") => task.kind = "epic".parse().unwrap_or_default(),
        None | Some("task" | "") => {}
        Some(word) if task.labels.iter().any(|label| label == word) => {}
        Some(word) => task.labels.push(word.to_string()),
    }
    task.priority = match fields.get("priority").and_then(Value::as_u64) {
        Some(0) => Priority::Critical,
        Some(1) => Priority::High,
        Some(2) | None => Priority::Medium,
        Some(_) => Priority::Low,
    };
    task.assigned_agent = fields.name("assignee");
    task.acceptance = match fields.word("acceptance_criteria") {
        Some(text) if text.trim_start().starts_with("- ") => {
            remove_duplicates(read_items(text).into_iter().map(|(item, _)| item).collect())
        }
        text => remove_duplicates(text.map(str::to_string).into_iter().collect()),
    };
    let files = fields.get("metadata").and_then(|it| it["files"].as_array());
    let files = files.into_iter().flatten();
    task.files = remove_duplicates(
        files
            .filter_map(|file| normalize_inside(&text_of(file)?))
            .collect(),
    );
    let minutes = fields.get("estimated_minutes").and_then(Value::as_f64);
    task.estimate = check_estimate(minutes.map(|minutes| minutes / 60.0)).unwrap_or_default();
    task.notes = take_notes(fields, task);
    set_status(task, fields, now);
}

fn take_notes(fields: &mut Fields, task: &Task) -> Vec<Note> {
    let author = fields.word("created_by").unwrap_or("beads").to_string();
    let text = fields.text("notes").unwrap_or_default();
    let comments = fields.get("comments").and_then(Value::as_array);
    let comments = comments.into_iter().flatten().filter_map(|comment| {
        let at = comment["created_at"].as_str().and_then(moment::read);
        let by = comment["author"].as_str().unwrap_or("beads");
        make_note(&at.unwrap_or_default(), by, comment["text"].as_str()?)
    });
    let reason = fields.word("close_reason").filter(|why| !why.is_empty());
    let reason = reason.map(|why| format!("Closed: {why}"));
    let notes = make_note(&task.updated_at, &author, text).into_iter();
    let notes = notes.chain(comments);
    let reason = reason.and_then(|text| make_note(&task.updated_at, "beads", text));
    notes.chain(reason).collect()
}

/// Sets the status. The tool's own word is kept where ours says less.
fn set_status(task: &mut Task, fields: &mut Fields, now: &str) {
    let word = fields.word("status").unwrap_or("open").to_string();
    let until = fields.word("defer_until").and_then(moment::read);
    let until = until.filter(|until| until.as_str() > now);
    let is_template = fields.get("is_template") == Some(&Value::Bool(true));
    let (status, reason) = match (word.as_str(), until) {
        ("open" | "deferred", Some(until)) => {
            (Status::Blocked, Some(format!("deferred until {until}")))
        }
        ("deferred" | "pinned", _) => (Status::Blocked, Some(word.clone())),
        ("in_progress" | "hooked", _) => (Status::Active, None),
        ("blocked", _) => (Status::Blocked, None),
        ("closed", _) => (Status::Done, None),
        _ if is_template => (Status::Blocked, Some("a template".to_string())),
        _ => (Status::Pending, None),
    };
    task.status = status;
    note_block(task, "beads", reason.as_deref());
    let closed = fields.time("closed_at");
    task.completed_at = closed.filter(|_| status == Status::Done);
    if matches!(word.as_str(), "open" | "in_progress" | "blocked" | "closed") {
        fields.drop(&["status"]);
    }
}

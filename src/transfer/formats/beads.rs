//! beads: one issue a line.

use std::io::BufRead;

use serde_json::{Value, json};

use super::{Faults, blank, emit, keep_relations, keep_rest, kind, no_id};
use crate::error::Result;
use crate::task::rules::inside;
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, note, text_of, unique};
use crate::transfer::silent::{Part, Silent, Told};
use crate::transfer::{Format, Item, Record, Reference, Setting, Sink, lines};

/// Fields that are derived from others, or that name the machine.
const DERIVED: [&str; 5] = [
    "dependency_count",
    "dependent_count",
    "comment_count",
    "parent",
    "source_repo_path",
];

/// Fields that tell what not every issue has.
const TOLD: &Told = &[
    (Part::Parent, &["dependencies"]),
    (Part::Description, &["description", "design"]),
    (Part::Kind, &["issue_type"]),
    (Part::Priority, &["priority"]),
    (Part::Labels, &["labels"]),
    (Part::Acceptance, &["acceptance_criteria"]),
];

/// Reads issues, one a line.
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
    if fields.get("_schema").is_some() {
        return Ok(());
    }
    if fields.word("_type") == Some("memory") {
        let id = fields.id("key").unwrap_or_default();
        let reason = "a memory is no task";
        return sink(Item::LeftOut { id, reason });
    }
    let Some(id) = fields.text("id").filter(|id| !id.is_empty()) else {
        return sink(no_id(setting, line, &fields));
    };
    if fields.word("status") == Some("tombstone") {
        let reason = "deleted";
        return sink(Item::LeftOut { id, reason });
    }
    fields.drop(&DERIVED);
    if fields.word("_type") == Some("issue") {
        fields.drop(&["_type"]);
    }
    let files = fields.get("metadata").map(|metadata| &metadata["files"]);
    let tells_files = files.is_some_and(Value::is_array);
    let silent = Silent::of(&fields, TOLD).unless(Part::Files, tells_files);
    let edges = Edges::take(&mut fields, &id);
    let mut task = task(&mut fields, setting);
    keep_relations(&mut task, edges.relations);
    let faults = Faults::take(&mut fields);
    keep_rest(&mut task, Format::Beads, fields.rest());
    let record = Record {
        place: setting.place(line),
        key: id.clone(),
        id,
        alias: None,
        repeats: true,
        task,
        parents: edges.parents,
        depends: edges.depends,
        silent,
    };
    emit(record, &faults, Format::Beads, setting, sink)
}

#[derive(Default)]
struct Edges {
    parents: Vec<Reference>,
    depends: Vec<Reference>,
    relations: Vec<Value>,
}

impl Edges {
    fn take(fields: &mut Fields, id: &str) -> Edges {
        let mut edges = Edges::default();
        if fields
            .get("dependencies")
            .is_some_and(|all| !all.is_array())
        {
            fields.faults.push("dependencies is no list".to_string());
        }
        let named = |edge: &Value| Some((id_of(edge.get("depends_on_id")?)?, edge.clone()));
        for (target, edge) in fields.items("dependencies", named) {
            edges.add(&target, &edge);
        }
        let odd = fields.get("dependencies").and_then(Value::as_array);
        let told = odd.into_iter().flatten();
        let told: Vec<String> = told
            .map(|_| "a dependency names no depends_on_id".to_string())
            .collect();
        fields.loose.extend(told);
        // Of two parents the one counts that the dotted id names.
        let above = id.rsplit_once('.').map(|(above, _)| above);
        edges
            .parents
            .sort_by_key(|parent| Some(parent.given.as_str()) != above);
        edges
    }

    fn add(&mut self, target: &str, edge: &Value) {
        match edge["type"].as_str().unwrap_or("blocks") {
            "parent-child" => self.parents.push(Reference::to(target)),
            _ if target.starts_with("external:") => self.relate(target, edge),
            "blocks" => self.depends.push(Reference::to(target)),
            "waits-for" => {
                self.depends.push(Reference::to(target));
                self.relate(target, edge);
            }
            _ => self.relate(target, edge),
        }
    }

    fn relate(&mut self, target: &str, edge: &Value) {
        let mut relation = json!({"type": edge["type"], "id": target});
        match edge["metadata"].as_str() {
            None | Some("" | "{}") => {}
            Some(metadata) => relation["metadata"] = metadata.into(),
        }
        self.relations.push(relation);
    }
}

fn task(fields: &mut Fields, setting: &Setting<'_>) -> Task {
    let mut task = blank();
    task.title = fields.text("title").unwrap_or_default();
    task.description = description(fields);
    task.created_at = fields.time("created_at").unwrap_or_default();
    task.updated_at = fields
        .time("updated_at")
        .unwrap_or_else(|| task.created_at.clone());
    task.started_at = fields.time("started_at");
    task.due = fields.time("due_at");
    task.labels = fields.set("labels");
    match fields.word("issue_type") {
        Some("epic") => task.kind = kind("epic"),
        None | Some("task" | "") => {}
        Some(word) => task.labels.push(word.to_string()),
    }
    task.labels = unique(std::mem::take(&mut task.labels));
    task.priority = priority(fields);
    task.assigned_agent = fields.name("assignee");
    task.acceptance = acceptance(fields);
    task.files = files(fields);
    task.estimate = estimate(fields);
    task.notes = notes(fields, &task);
    stand(&mut task, fields, setting);
    task
}

fn description(fields: &mut Fields) -> String {
    let text = fields.text("description").unwrap_or_default();
    match fields.word("design").filter(|design| !design.is_empty()) {
        Some(design) if text.is_empty() => format!("## Design\n\n{design}"),
        Some(design) => format!("{text}\n\n## Design\n\n{design}"),
        None => text,
    }
}

fn priority(fields: &mut Fields) -> Priority {
    match fields.get("priority").and_then(Value::as_u64) {
        Some(0) => Priority::Critical,
        Some(1) => Priority::High,
        Some(2) | None => Priority::Medium,
        Some(_) => Priority::Low,
    }
}

/// Splits the one text into criteria where it is a list.
fn acceptance(fields: &mut Fields) -> Vec<String> {
    let Some(text) = fields.word("acceptance_criteria") else {
        return Vec::new();
    };
    let criteria = unique(items(text).unwrap_or_else(|| vec![text.to_string()]));
    match super::too_much("acceptance", &criteria) {
        None => criteria,
        // Too long for a criterion: it stays whole in `extra`.
        Some(_) => Vec::new(),
    }
}

/// Reads a list; a line that begins no item goes on with the one before.
fn items(text: &str) -> Option<Vec<String>> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("- ") {
            Some(item) => items.push(without_box(item).to_string()),
            None => {
                let last = items.last_mut()?;
                last.push(' ');
                last.push_str(line);
            }
        }
    }
    Some(items)
}

fn without_box(item: &str) -> &str {
    let rest = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| item.strip_prefix(mark));
    rest.unwrap_or(item).trim_start()
}

fn files(fields: &Fields) -> Vec<String> {
    let files = fields
        .get("metadata")
        .and_then(|metadata| metadata["files"].as_array());
    let files = files.into_iter().flatten();
    unique(files.filter_map(|file| inside(&text_of(file)?)).collect())
}

fn estimate(fields: &mut Fields) -> Option<f64> {
    let minutes = fields.get("estimated_minutes").and_then(Value::as_f64)?;
    let hours = minutes / 60.0;
    crate::task::rules::check_estimate(Some(hours)).ok()?;
    Some(hours)
}

fn notes(fields: &mut Fields, task: &Task) -> Vec<Note> {
    let author = fields.word("created_by").unwrap_or("beads").to_string();
    let text = fields.text("notes").unwrap_or_default();
    let mut notes: Vec<Note> = note(&task.updated_at, &author, text).into_iter().collect();
    if let Some(Value::Array(comments)) = fields.get("comments") {
        let comment = |comment: &Value| {
            let at = comment["created_at"]
                .as_str()
                .and_then(crate::transfer::moment::read);
            let by = comment["author"].as_str().unwrap_or("beads");
            note(
                at.as_deref().unwrap_or_default(),
                by,
                comment["text"].as_str()?,
            )
        };
        notes.extend(comments.iter().filter_map(comment));
    }
    let reason = fields
        .word("close_reason")
        .filter(|reason| !reason.is_empty());
    let closed =
        reason.and_then(|reason| note(&task.updated_at, "beads", format!("Closed: {reason}")));
    notes.extend(closed);
    notes
}

/// Says where the work stands. The tool's own word is kept where ours says less.
fn stand(task: &mut Task, fields: &mut Fields, setting: &Setting<'_>) {
    let word = fields.word("status").unwrap_or("open").to_string();
    let until = fields
        .word("defer_until")
        .and_then(crate::transfer::moment::read);
    let until = until.filter(|until| until.as_str() > setting.now);
    let (status, reason) = match (word.as_str(), until) {
        ("open", Some(until)) => (
            Status::Blocked,
            Some(format!("Blocked: deferred until {until}")),
        ),
        ("deferred", Some(until)) => (
            Status::Blocked,
            Some(format!("Blocked: deferred until {until}")),
        ),
        ("deferred", None) => (Status::Blocked, Some("Blocked: deferred".to_string())),
        ("pinned", _) => (Status::Blocked, Some("Blocked: pinned".to_string())),
        ("in_progress" | "hooked", _) => (Status::Active, None),
        ("blocked", _) => (Status::Blocked, None),
        ("closed", _) => (Status::Done, None),
        _ if fields.get("is_template") == Some(&Value::Bool(true)) => {
            (Status::Blocked, Some("Blocked: a template".to_string()))
        }
        _ => (Status::Pending, None),
    };
    task.status = status;
    task.notes
        .extend(reason.and_then(|text| note(&task.updated_at, "beads", text)));
    let closed = fields.time("closed_at");
    if status == Status::Done {
        task.completed_at = closed;
    }
    if matches!(word.as_str(), "open" | "in_progress" | "blocked" | "closed") {
        fields.drop(&["status"]);
    }
}

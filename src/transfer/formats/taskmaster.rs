//! Task Master `tasks.json`: tags with tasks, tasks with subtasks. Ids are unique in a tag only,
//! and a plain number in a subtask can mean a sibling or a task.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Faults, blank, emit, keep_rest, kind, no_id};
use crate::document::Parts;
use crate::error::Result;
use crate::task::rules::inside;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, id, note, unique};
use crate::transfer::silent::{Part, Silent, Told};
use crate::transfer::{Fault, Format, Item, Record, Reference, Setting, Sink, lines};

/// The tag of a file without tags.
const ONLY_TAG: &str = "master";

/// Fields that tell what not every task has.
const TOLD: &Told = &[
    (Part::Description, &["description", "details"]),
    (Part::Priority, &["priority"]),
    (Part::Labels, &["tags"]),
    (Part::Files, &["relevantFiles"]),
    (Part::Acceptance, &["acceptanceCriteria", "testStrategy"]),
];

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    tasks: Vec<&'a RawValue>,
}

/// Reads a document, with tags or without.
pub(crate) fn read(bytes: &[u8], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let bytes = lines::unmarked(bytes);
    let parts = match serde_json::from_slice(bytes) {
        Ok(Parts(parts)) => parts,
        Err(cause) => return sink(lines::no_document(setting, &cause)),
    };
    if parts
        .get("tasks")
        .is_some_and(|tasks| tasks.get().starts_with('['))
    {
        return match serde_json::from_slice(bytes) {
            Ok(tag) => tasks(ONLY_TAG, &tag, bytes, setting, sink),
            Err(cause) => sink(lines::no_document(setting, &cause)),
        };
    }
    for (name, raw) in &parts {
        match serde_json::from_str::<Tag<'_>>(raw.get()) {
            Ok(tag) => tasks(name, &tag, bytes, setting, sink)?,
            Err(cause) => sink(Item::Fault(Fault {
                place: setting.place(lines::line_of(bytes, raw)),
                id: Some(name.clone()),
                message: match cause.to_string().starts_with("duplicate field") {
                    true => "the field `tasks` is there twice".to_string(),
                    false => "the tag holds no list of tasks".to_string(),
                },
            }))?,
        }
    }
    Ok(())
}

/// What is known around a task while it is read.
struct Around<'a> {
    tag: &'a str,
    /// Ids of the tasks of the tag.
    tasks: &'a HashSet<String>,
    /// For a subtask its task, and the ids of all subtasks of it.
    above: Option<(&'a str, &'a [String])>,
    /// Whether an earlier subtask has the same id.
    again: bool,
}

fn tasks(
    name: &str,
    tag: &Tag<'_>,
    bytes: &[u8],
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    #[derive(Deserialize)]
    struct Named {
        id: Value,
    }
    let named = tag
        .tasks
        .iter()
        .filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok());
    let ids: HashSet<String> = named.filter_map(|named| id(&named.id)).collect();
    for raw in &tag.tasks {
        let line = lines::line_of(bytes, raw);
        match lines::parse(raw.get().as_bytes()) {
            Ok(fields) => whole(name, &ids, line, fields, setting, sink)?,
            Err(message) => sink(Item::Fault(Fault {
                place: setting.place(line),
                id: None,
                message,
            }))?,
        }
    }
    Ok(())
}

/// Reads a task with its subtasks.
fn whole(
    tag: &str,
    tasks: &HashSet<String>,
    line: usize,
    mut fields: Fields,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let Some(own) = fields.id("id") else {
        return sink(no_id(setting, line, &fields));
    };
    let parts = fields.items("subtasks", |part| part.as_object().cloned());
    if fields.get("subtasks").is_some() {
        let message = "subtasks holds what is no task";
        fields.loose.push(message.to_string());
    }
    let around = Around {
        tag,
        tasks,
        above: None,
        again: false,
    };
    let priority = one(&around, &own, Priority::Medium, line, fields, setting, sink)?;
    let siblings: Vec<String> = parts
        .iter()
        .filter_map(|part| id(part.get("id")?))
        .collect();
    let mut seen = HashSet::new();
    for part in parts {
        let mut fields = Fields::new(part);
        let Some(sub) = fields.id("id") else {
            sink(no_id(setting, line, &fields))?;
            continue;
        };
        let around = Around {
            above: Some((&own, &siblings)),
            again: !seen.insert(sub.clone()),
            ..around
        };
        one(&around, &sub, priority, line, fields, setting, sink)?;
    }
    Ok(())
}

/// Reads one task or subtask and returns its priority, which its subtasks have too.
fn one(
    around: &Around<'_>,
    own: &str,
    above: Priority,
    line: usize,
    mut fields: Fields,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<Priority> {
    // A task alone can be an epic here, or a part of one; what is below a task cannot.
    let is_part = around.above.is_some();
    let silent = Silent::of(&fields, TOLD)
        .unless(Part::Kind, is_part)
        .unless(Part::Parent, is_part);
    let depends = depends(around, own, &mut fields);
    let task = task(around, above, &mut fields);
    let faults = Faults::take(&mut fields);
    let id = around.full(own);
    let parents = around.above.iter().map(|(task, _)| Reference {
        given: (*task).to_string(),
        readings: vec![format!("{}/{task}", around.tag)],
    });
    let mut record = Record {
        place: setting.place(line),
        key: id.clone(),
        id,
        alias: None,
        repeats: false,
        task,
        parents: parents.collect(),
        depends,
        silent,
    };
    let priority = record.task.priority;
    keep_rest(&mut record.task, Format::Taskmaster, fields.rest());
    emit(record, &faults, Format::Taskmaster, setting, sink)?;
    Ok(priority)
}

impl Around<'_> {
    fn full(&self, own: &str) -> String {
        match self.above {
            Some((task, _)) => format!("{}/{task}.{own}", self.tag),
            None => format!("{}/{own}", self.tag),
        }
    }

    /// Returns what a reference can mean, the likeliest first. A number in a subtask means the
    /// sibling, a text the task: that is how the tool writes both.
    fn readings(&self, own: &str, target: &str, is_number: bool) -> Vec<String> {
        let task = format!("{}/{target}", self.tag);
        let Some((above, siblings)) = self.above.filter(|_| !target.contains('.')) else {
            return vec![task];
        };
        let is_itself = target == own && !self.again;
        if is_itself || !siblings.iter().any(|id| id == target) {
            return vec![task];
        }
        let sibling = format!("{}/{above}.{target}", self.tag);
        match is_number || !self.tasks.contains(target) {
            true => vec![sibling, task],
            false => vec![task, sibling],
        }
    }
}

/// Takes what must be done first. What is no id is told; a number such as 5.1 could be one, so
/// the task waits until somebody has looked at it.
fn depends(around: &Around<'_>, own: &str, fields: &mut Fields) -> Vec<Reference> {
    let all = match fields.take("dependencies") {
        None => return Vec::new(),
        Some(Value::Array(all)) => all,
        Some(_) => {
            fields.faults.push("dependencies is no list".to_string());
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for each in &all {
        if let Some(target) = id(each) {
            found.push(Reference {
                readings: around.readings(own, target.trim(), each.is_number()),
                given: target,
            });
            continue;
        }
        fields.loose.push(format!(
            "the dependency {each} is no id; a subtask is written as a text such as \"5.10\""
        ));
        let number = each.as_f64().map(|_| Reference::to(&each.to_string()));
        match number {
            Some(number) => found.push(number),
            None => fields.keep_items("dependencies", vec![each.clone()]),
        }
    }
    found
}

fn task(around: &Around<'_>, above: Priority, fields: &mut Fields) -> Task {
    let mut task = blank();
    task.title = fields.text("title").unwrap_or_default();
    let parts = [fields.text("description"), fields.text("details")];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    task.description = parts.join("\n\n");
    if around.above.is_some() {
        task.kind = kind("subtask");
        fields.drop(&["parentId", "parentTaskId"]);
    }
    let priority = fields.word("priority").map(str::parse);
    task.priority = match priority {
        Some(Ok(priority)) => {
            fields.drop(&["priority"]);
            priority
        }
        _ => above,
    };
    task.labels = vec![format!("tag:{}", around.tag)];
    task.labels.extend(fields.texts("tags"));
    task.labels = unique(std::mem::take(&mut task.labels));
    task.assigned_agent = fields.name("assignee");
    task.created_at = fields.time("createdAt").unwrap_or_default();
    task.updated_at = fields.time("updatedAt").unwrap_or_default();
    task.acceptance = acceptance(fields);
    let files = fields.get("relevantFiles").and_then(Value::as_array);
    let files = files
        .into_iter()
        .flatten()
        .filter_map(|file| inside(file["path"].as_str()?));
    task.files = unique(files.collect());
    stand(&mut task, fields);
    task
}

fn acceptance(fields: &mut Fields) -> Vec<String> {
    let mut criteria = fields.texts("acceptanceCriteria");
    criteria.extend(fields.word("acceptanceCriteria").map(str::to_string));
    let strategy = fields.word("testStrategy").map(str::to_string);
    // What is too long for a criterion stays whole in `extra`.
    let fits = |text: &String| super::too_much("acceptance", std::slice::from_ref(text)).is_none();
    if strategy.as_ref().is_none_or(fits) {
        fields.drop(&["testStrategy"]);
        criteria.extend(strategy);
    }
    let (criteria, long): (Vec<_>, Vec<_>) = criteria.into_iter().partition(fits);
    // A single text that is too long still stands there.
    if fields.word("acceptanceCriteria").is_none() {
        fields.keep_items(
            "acceptanceCriteria",
            long.into_iter().map(Value::from).collect(),
        );
    }
    unique(criteria)
}

fn stand(task: &mut Task, fields: &mut Fields) {
    let word = fields.word("status").unwrap_or("pending").to_lowercase();
    task.status = match word.as_str() {
        "in-progress" | "in_progress" | "review" => Status::Active,
        "deferred" => Status::Blocked,
        word => word.parse().unwrap_or(Status::Pending),
    };
    if word == "deferred" {
        task.notes
            .extend(note(&task.updated_at, "taskmaster", "Blocked: deferred"));
    }
    let exact = fields
        .word("status")
        .is_none_or(|exact| exact == task.status.word());
    if exact {
        fields.drop(&["status"]);
    }
}

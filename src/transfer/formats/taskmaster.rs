//! Task Master `tasks.json`: tags with tasks, tasks with subtasks. Ids are unique in a tag only,
//! and a plain number in a subtask can mean a sibling or a task.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{join_paragraphs, note_block, too_much};
use crate::document::Parts;
use crate::task::rules::inside;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, unique};
use crate::transfer::{Reading, Record, Reference, lines};

/// The tag of a file without tags.
const ONLY_TAG: &str = "master";

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    tasks: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    id: Value,
}

/// Reads a document, with tags or without.
pub(crate) fn read(bytes: &[u8], reading: &mut Reading) {
    let bytes = lines::strip_mark(bytes);
    let Some(Parts(parts)) = lines::parse_document::<Parts<'_>>(bytes, reading) else {
        return;
    };
    if parts
        .get("tasks")
        .is_some_and(|it| it.get().starts_with('['))
    {
        if let Some(tag) = lines::parse_document(bytes, reading) {
            read_tag(ONLY_TAG, &tag, bytes, reading);
        }
        return;
    }
    for (name, raw) in &parts {
        match serde_json::from_str::<Tag<'_>>(raw.get()) {
            Ok(tag) => read_tag(name, &tag, bytes, reading),
            Err(cause) => {
                let line = lines::with_lines(bytes, &[*raw])[0].0;
                let what = match cause.to_string().starts_with("duplicate field") {
                    true => "the field `tasks` is there twice",
                    false => "the tag holds no list of tasks",
                };
                reading.fault(line, Some(name), what);
            }
        }
    }
}

fn read_tag(name: &str, tag: &Tag<'_>, bytes: &[u8], reading: &mut Reading) {
    let named = tag.tasks.iter();
    let named = named.filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok());
    let ids: HashSet<String> = named.filter_map(|named| id_of(&named.id)).collect();
    lines::read_list(bytes, &tag.tasks, reading, |reading, line, fields| {
        read_with_parts(name, &ids, line, fields, reading);
    });
}

/// What is known around a task while it is read.
struct Around<'a> {
    tag: &'a str,
    line: usize,
    /// Ids of the tasks of the tag.
    tasks: &'a HashSet<String>,
    /// For a subtask its task, and the ids of all subtasks of it.
    above: Option<(&'a str, &'a [String])>,
    /// Whether an earlier subtask has the same id.
    is_repeated: bool,
}

fn read_with_parts(
    tag: &str,
    tasks: &HashSet<String>,
    line: usize,
    mut fields: Fields,
    reading: &mut Reading,
) {
    let Some(own) = fields.id("id") else {
        return reading.no_id(line, &fields);
    };
    let parts = fields.items("subtasks", |part| part.as_object().cloned());
    if fields.get("subtasks").is_some() {
        let message = "subtasks holds what is no task";
        fields.loose.push(message.to_string());
    }
    let mut around = Around {
        tag,
        line,
        tasks,
        above: None,
        is_repeated: false,
    };
    let priority = read_task(&around, &own, Priority::Medium, fields, reading);
    let ids = parts.iter().filter_map(|part| id_of(part.get("id")?));
    let siblings: Vec<String> = ids.collect();
    around.above = Some((&own, &siblings));
    let mut seen = HashSet::new();
    for part in parts {
        let mut fields = Fields::new(part);
        let Some(own) = fields.id("id") else {
            reading.no_id(line, &fields);
            continue;
        };
        around.is_repeated = !seen.insert(own.clone());
        read_task(&around, &own, priority, fields, reading);
    }
}

/// Reads one task or subtask and returns its priority, which its subtasks have too.
fn read_task(
    around: &Around<'_>,
    own: &str,
    priority: Priority,
    mut fields: Fields,
    reading: &mut Reading,
) -> Priority {
    let tag = around.tag;
    let id = match around.above {
        Some((task, _)) => format!("{tag}/{task}.{own}"),
        None => format!("{tag}/{own}"),
    };
    let mut record = Record::new(reading, around.line, id);
    record.told = fields.find_parts(&[
        ("description", "description"),
        ("description", "details"),
        ("priority", "priority"),
        ("labels", "tags"),
        ("files", "relevantFiles"),
        ("acceptance", "acceptanceCriteria"),
        ("acceptance", "testStrategy"),
    ]);
    let task = &mut record.task;
    if let Some((above, _)) = around.above {
        // A task alone can be an epic here, or a part of one; what is below a task cannot.
        record.told.extend(["type", "parent"]);
        task.kind = "subtask".parse().unwrap_or_default();
        record.parents.push(Reference {
            given: above.to_string(),
            readings: vec![format!("{tag}/{above}")],
        });
        fields.drop(&["parentId", "parentTaskId"]);
    }
    record.depends = take_depends(around, own, &mut fields);
    task.title = fields.text("title").unwrap_or_default();
    task.description = join_paragraphs([fields.text("description"), fields.text("details")]);
    task.priority = fields.parsed("priority").unwrap_or(priority);
    let priority = task.priority;
    let labels = std::iter::once(format!("tag:{tag}"));
    task.labels = unique(labels.chain(fields.texts("tags")).collect());
    task.assigned_agent = fields.name("assignee");
    task.created_at = fields.time("createdAt").unwrap_or_default();
    task.updated_at = fields.time("updatedAt").unwrap_or_default();
    task.acceptance = take_acceptance(&mut fields);
    let files = fields.get("relevantFiles").and_then(Value::as_array);
    let files = files.into_iter().flatten();
    let files = files.filter_map(|file| inside(file["path"].as_str()?));
    task.files = unique(files.collect());
    set_status(task, &mut fields);
    reading.add(record, fields);
    priority
}

impl Around<'_> {
    /// Returns what a reference can mean, the likeliest first. A number in a subtask means the
    /// sibling, a text the task: that is how the tool writes both.
    fn readings(&self, own: &str, target: &str, is_number: bool) -> Vec<String> {
        let task = format!("{}/{target}", self.tag);
        let Some((above, siblings)) = self.above.filter(|_| !target.contains('.')) else {
            return vec![task];
        };
        let is_itself = target == own && !self.is_repeated;
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

/// Takes what must be done first. What is no id is reported; a number such as 5.1 could be one, so
/// the task waits until somebody has looked at it.
fn take_depends(around: &Around<'_>, own: &str, fields: &mut Fields) -> Vec<Reference> {
    let all = match fields.take("dependencies") {
        None => return Vec::new(),
        Some(Value::Array(all)) => all,
        Some(_) => {
            fields.faults.push("dependencies is no list".to_string());
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for each in all {
        if let Some(given) = id_of(&each) {
            let readings = around.readings(own, given.trim(), each.is_number());
            found.push(Reference { given, readings });
            continue;
        }
        fields.loose.push(format!(
            "the dependency {each} is no id; a subtask is written as a text such as \"5.10\""
        ));
        match each.is_number() {
            true => found.push(Reference::to(&each.to_string())),
            false => fields.keep_items("dependencies", vec![each]),
        }
    }
    found
}

/// Takes the criteria; what is too long for one stays whole in `extra`.
fn take_acceptance(fields: &mut Fields) -> Vec<String> {
    let mut criteria = fields.texts("acceptanceCriteria");
    let single = fields.word("acceptanceCriteria").map(str::to_string);
    let is_single = single.is_some();
    criteria.extend(single);
    let fits = |text: &String| too_much("acceptance", std::slice::from_ref(text)).is_none();
    let strategy = fields.word("testStrategy").map(str::to_string);
    if strategy.as_ref().is_none_or(fits) {
        fields.drop(&["testStrategy"]);
        criteria.extend(strategy);
    }
    let (criteria, long): (Vec<_>, Vec<_>) = criteria.into_iter().partition(fits);
    if !is_single {
        let long = long.into_iter().map(Value::from);
        fields.keep_items("acceptanceCriteria", long.collect());
    }
    unique(criteria)
}

fn set_status(task: &mut Task, fields: &mut Fields) {
    let word = fields.word("status").unwrap_or("pending").to_string();
    task.status = match word.to_lowercase().as_str() {
        "in-progress" | "in_progress" | "review" => Status::Active,
        "deferred" => Status::Blocked,
        word => word.parse().unwrap_or(Status::Pending),
    };
    if word.eq_ignore_ascii_case("deferred") {
        note_block(task, "taskmaster", Some("deferred"));
    }
    if word == task.status.word() {
        fields.drop(&["status"]);
    }
}

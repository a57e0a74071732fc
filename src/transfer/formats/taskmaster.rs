//! Task Master `tasks.json`: tags with tasks, tasks with subtasks. Ids are unique in a tag only,
//! and a plain number in a subtask can mean a sibling or a task.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{join_paragraphs, note_block};
use crate::document::Parts;
use crate::task::rules::normalize_inside;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, remove_duplicates, text_of};
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
    let tasks = parts.get("tasks");
    if tasks.is_some_and(|it| it.get().starts_with('[')) {
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
                let message = format!("the tag holds no list of tasks: {cause}");
                reading.add_fault(line, Some(name), message);
            }
        }
    }
}

fn read_tag(name: &str, tag: &Tag<'_>, bytes: &[u8], reading: &mut Reading) {
    let named = tag.tasks.iter();
    let named = named.filter_map(|raw| serde_json::from_str::<Named>(raw.get()).ok());
    let around = Around {
        tag: name,
        tasks: &named.filter_map(|named| id_of(&named.id)).collect(),
        above: None,
    };
    let objects = lines::with_lines(bytes, &tag.tasks);
    lines::read_objects(objects, reading, |reading, line, mut fields| {
        let parts = fields.references("subtasks", |part| part.as_object().cloned());
        let Some((own, priority)) = around.read_task(Priority::Medium, line, fields, reading)
        else {
            return;
        };
        let ids = parts.iter().filter_map(|part| id_of(part.get("id")?));
        let ids: Vec<String> = ids.collect();
        for part in parts {
            let around = Around {
                above: Some((&own, &ids)),
                ..around
            };
            around.read_task(priority, line, Fields::new(part), reading);
        }
    });
}

/// The surroundings of a task in the file.
#[derive(Clone, Copy)]
struct Around<'a> {
    tag: &'a str,
    /// Ids of the tasks of the tag.
    tasks: &'a HashSet<String>,
    /// For a subtask its task, and the ids of all subtasks of it.
    above: Option<(&'a str, &'a [String])>,
}

impl Around<'_> {
    /// Reads one task or subtask and returns its id and its priority, which its subtasks have too.
    fn read_task(
        &self,
        priority: Priority,
        line: usize,
        mut fields: Fields,
        reading: &mut Reading,
    ) -> Option<(String, Priority)> {
        let Some(own) = fields.id("id") else {
            reading.no_id(line, &fields);
            return None;
        };
        let tag = self.tag;
        let id = match self.above {
            Some((task, _)) => format!("{tag}/{task}.{own}"),
            None => format!("{tag}/{own}"),
        };
        let mut record = Record::new(reading, line, id, &fields);
        let task = &mut record.task;
        if let Some((above, _)) = self.above {
            // A task alone can be an epic here, or a part of one; what is below a task cannot.
            task.kind = "subtask".parse().unwrap_or_default();
            record.parents.push(Reference {
                given: above.to_string(),
                readings: vec![format!("{tag}/{above}")],
            });
            fields.drop(&["parentId", "parentTaskId"]);
        }
        record.depends = self.take_depends(&own, &mut fields);
        task.title = fields.text("title").unwrap_or_default();
        task.description = join_paragraphs([fields.text("description"), fields.text("details")]);
        task.priority = fields.parse_word("priority").unwrap_or(priority);
        let priority = task.priority;
        task.labels = fields.set("tags");
        task.labels.insert(0, format!("tag:{tag}"));
        task.assigned_agent = fields.name("assignee");
        task.created_at = fields.time("createdAt").unwrap_or_default();
        task.updated_at = fields.time("updatedAt").unwrap_or_default();
        task.acceptance = fields.items("acceptanceCriteria", text_of);
        let strategy = fields.items("testStrategy", text_of);
        task.acceptance.extend(strategy);
        task.acceptance = remove_duplicates(std::mem::take(&mut task.acceptance));
        let files = fields.get("relevantFiles").and_then(Value::as_array);
        let files = files.into_iter().flatten();
        let files = files.filter_map(|file| normalize_inside(file["path"].as_str()?));
        task.files = remove_duplicates(files.collect());
        set_status(task, &mut fields);
        reading.add(record, fields);
        Some((own, priority))
    }

    /// Takes the dependencies. An invalid id may be meant as one, such as the number 5.1: the task waits until
    /// somebody has looked at it.
    fn take_depends(&self, own: &str, fields: &mut Fields) -> Vec<Reference> {
        let given = |each: &Value| Some((id_of(each)?, each.is_number()));
        let given = fields.references("dependencies", given).into_iter();
        let given = given.map(|(given, is_number)| Reference {
            readings: self.possible_meanings(own, given.trim(), is_number),
            given,
        });
        let odd = fields.get("dependencies").and_then(Value::as_array);
        let odd = odd.into_iter().flatten();
        given
            .chain(odd.map(|odd| Reference::to_id(&odd.to_string())))
            .collect()
    }

    /// Returns what a reference can mean, the likeliest first. A number in a subtask means the
    /// sibling, a text the task: that is how the tool writes both.
    fn possible_meanings(&self, own: &str, target: &str, is_number: bool) -> Vec<String> {
        let task = format!("{}/{target}", self.tag);
        let is_sibling = |(_, ids): &(&str, &[String])| {
            !target.contains('.') && target != own && ids.iter().any(|id| id == target)
        };
        let Some((above, _)) = self.above.filter(is_sibling) else {
            return vec![task];
        };
        let sibling = format!("{}/{above}.{target}", self.tag);
        match is_number || !self.tasks.contains(target) {
            true => vec![sibling, task],
            false => vec![task, sibling],
        }
    }
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

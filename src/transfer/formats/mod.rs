//! One reader for each kind of file. A reader hands every task to a sink, in the order of the file,
//! and keeps what cleo has no field for under `extra.<format>`.

pub(crate) mod backlog;
pub(crate) mod beads;
mod cleaned;
pub(crate) mod cleo;
pub(crate) mod taskmaster;
pub(crate) mod taskwarrior;
pub(crate) mod todo;

use serde_json::{Map, Value};

use super::fields::Fields;
use super::{Fault, Format, Item, Record, Setting, Sink};
use crate::document::{NESTING_MAX, depth_of};
use crate::error::Result;
use crate::id::TaskId;
use crate::task::rules::{ITEM_MAX, ITEMS_MAX, TEXT_MAX, TITLE_MAX};
use crate::task::{Task, TaskType};

/// A task without anything in it.
fn blank() -> Task {
    Task::new(TaskId(0), "", "")
}

/// Returns the word as a type of tasks that is surely one.
fn kind(word: &str) -> TaskType {
    word.parse().unwrap_or_default()
}

/// Keeps under `extra.<format>` what nobody took.
fn keep_rest(task: &mut Task, format: Format, rest: Map<String, Value>) {
    if !rest.is_empty() {
        let name = format.word().to_string();
        task.extra.insert(name, Value::Object(rest));
    }
}

/// Keeps references that do not hold a task up.
fn keep_relations(task: &mut Task, relations: Vec<Value>) {
    if !relations.is_empty() {
        task.extra
            .insert("relations".to_string(), Value::Array(relations));
    }
}

/// Says what makes a task unfit: limits of our own only ever refuse, nothing is cut.
fn unfit(task: &Task) -> Option<String> {
    if task.title.trim().is_empty() {
        return Some("it has no title".to_string());
    }
    let long = |what: &str, length: usize, max: usize| {
        (length > max).then(|| format!("its {what} has {length} characters; {max} are allowed"))
    };
    let depth = 1 + task.extra.values().map(depth_of).max().unwrap_or(0);
    if depth > NESTING_MAX {
        return Some(format!(
            "a field of it is nested {depth} levels deep; {NESTING_MAX} are allowed"
        ));
    }
    let title = if task.title.len() > TITLE_MAX {
        task.title.chars().count()
    } else {
        0
    };
    let lists = [
        ("labels", &task.labels),
        ("files", &task.files),
        ("acceptance", &task.acceptance),
        ("deliverables", &task.deliverables),
    ];
    long("title", title, TITLE_MAX)
        .or_else(|| long("description", task.description.len(), TEXT_MAX))
        .or_else(|| {
            let notes = task.notes.iter().map(|note| note.text.len()).max();
            long("longest note", notes.unwrap_or(0), TEXT_MAX)
        })
        .or_else(|| {
            lists
                .into_iter()
                .find_map(|(name, list)| too_much(name, list))
        })
}

fn too_much(name: &str, list: &[String]) -> Option<String> {
    let longest = list.iter().map(|line| line.chars().count()).max();
    if longest.unwrap_or(0) > ITEM_MAX {
        return Some(format!(
            "a line of its {name} has more than {ITEM_MAX} characters"
        ));
    }
    (list.len() > ITEMS_MAX).then(|| format!("its {name} has more than {ITEMS_MAX} lines"))
}

/// What is wrong with an object.
struct Faults {
    /// What costs the task.
    whole: Vec<String>,
    /// What costs no more than a part of it.
    loose: Vec<String>,
}

impl Faults {
    fn take(fields: &mut Fields) -> Faults {
        Faults {
            whole: std::mem::take(&mut fields.faults),
            loose: std::mem::take(&mut fields.loose),
        }
    }
}

/// Hands a record on, or its faults.
fn emit(
    mut record: Record,
    faults: &Faults,
    format: Format,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let stood = cleaned::clean(&mut record.task);
    let fault = faults.whole.first().cloned();
    let fault = fault.or_else(|| unfit(&record.task));
    for message in &faults.loose {
        sink(Item::Fault(Fault {
            place: setting.place(record.place.line),
            id: Some(record.id.clone()),
            message: message.clone(),
        }))?;
    }
    let Some(message) = fault else {
        if !stood.is_empty() {
            let id = record.id.clone();
            let reason = cleaned::reason(&cleaned::keep(&mut record.task, format, stood));
            sink(Item::Changed { id, reason })?;
        }
        return sink(Item::Record(Box::new(record)));
    };
    sink(Item::Fault(Fault {
        place: setting.place(record.place.line),
        id: Some(record.id),
        message,
    }))
}

/// The fault of an object without an id.
fn no_id(setting: &Setting<'_>, line: usize, fields: &Fields) -> Item {
    let message = fields.faults.first().cloned();
    Item::Fault(Fault {
        place: setting.place(line),
        id: None,
        message: message.unwrap_or_else(|| "it has no id".to_string()),
    })
}

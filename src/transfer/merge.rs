//! Two versions of a task and the one that both come from: field by field, and the later change
//! wins where both changed the same field.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::id::TaskId;
use crate::task::Task;

/// Fields that only make sense together: where the work stands, and since when.
const STAND: [&str; 4] = ["status", "startedAt", "completedAt", "cancelledAt"];
/// Fields that are sets of words: what either side added or took away counts.
const SETS: [&str; 5] = ["depends", "labels", "files", "acceptance", "deliverables"];
/// Fields that are settled otherwise.
const SETTLED: [&str; 5] = ["id", "createdAt", "updatedAt", "notes", "extra"];

/// One of the two sides.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The store.
    Here,
    /// The file.
    File,
}

/// A field that both sides changed, or something else that both cannot have.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conflict {
    /// The task.
    pub id: TaskId,
    /// The field, or `task` for a change on one side and a deletion on the other.
    pub field: String,
    /// What it is here.
    pub here: Value,
    /// What it is in the file.
    pub file: Value,
    /// Whose value was taken.
    pub taken: Side,
    /// Why, where the later change is not what decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// What two versions of a task both come from.
#[derive(Clone, Copy, Debug)]
pub enum Base<'a> {
    /// This version.
    Known(&'a Task),
    /// Nothing: they were never merged. What one side alone has is new there.
    Nothing,
    /// A version that is not known any more. Every difference may be a change on both sides.
    Forgotten,
}

impl<'a> Base<'a> {
    fn known(self) -> Option<&'a Task> {
        match self {
            Base::Known(task) => Some(task),
            Base::Nothing | Base::Forgotten => None,
        }
    }
}

/// A field of the three versions.
struct Three<'a> {
    base: Option<&'a Value>,
    here: Option<&'a Value>,
    file: Option<&'a Value>,
}

/// Joins two versions of a task. What is lost is among the conflicts.
pub fn merge(base: Base<'_>, here: &Task, file: &Task) -> (Task, Vec<Conflict>) {
    let later = later(here, file);
    let is_forgotten = matches!(base, Base::Forgotten);
    let base = base.known();
    let mut merger = Merger {
        id: here.id,
        later,
        is_forgotten,
        conflicts: Vec::new(),
    };
    let base_fields = base.map(fields);
    let (mut merged, file_fields) = (fields(here), fields(file));
    let here_fields = merged.clone();
    let three = |name: &str| Three {
        base: base_fields.as_ref().and_then(|fields| fields.get(name)),
        here: here_fields.get(name),
        file: file_fields.get(name),
    };
    let mut names: Vec<&String> = here_fields.keys().chain(file_fields.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let name = name.as_str();
        if SETTLED.contains(&name) || STAND.contains(&name) {
            continue;
        }
        let value = if SETS.contains(&name) {
            if !has_same_members(&three(name)) {
                merger.forgotten(name, &three(name));
            }
            Some(set(three(name)))
        } else {
            merger.field(name, three(name))
        };
        put(&mut merged, name, value);
    }
    merger.stand(&three, &mut merged);
    merger.extra(base, here, file, &mut merged);
    put(&mut merged, "notes", Some(notes(here, file)));
    put(&mut merged, "createdAt", Some(created(here, file)));
    put(&mut merged, "updatedAt", Some(updated(base, here, file)));
    let task = serde_json::from_value(Value::Object(merged)).unwrap_or_else(|_| here.clone());
    (task, merger.conflicts)
}

/// Says which version was changed later. At the same time it is the greater text, on either side.
fn later(here: &Task, file: &Task) -> Side {
    let text = |task: &Task| super::formats::cleo::line(task);
    let order = here
        .updated_at
        .cmp(&file.updated_at)
        .then_with(|| text(here).cmp(&text(file)));
    if order.is_lt() {
        Side::File
    } else {
        Side::Here
    }
}

/// Says when the joined version was made: two copies may each have given a moment to a line without one,
/// and the earlier one counts for both.
fn created(here: &Task, file: &Task) -> Value {
    let moments = [&here.created_at, &file.created_at];
    let known = moments.into_iter().filter(|moment| !moment.is_empty());
    known.min().map_or("", String::as_str).into()
}

/// Says when the joined version was changed. Where one side alone says another time it counts, also
/// when it is an earlier one: whoever took a time that lies ahead for now would else be corrected by
/// everybody who believes it, and they would never come to rest.
fn updated(base: Option<&Task>, here: &Task, file: &Task) -> Value {
    let (here, file) = (&here.updated_at, &file.updated_at);
    let updated = match base.map(|base| &base.updated_at) {
        Some(base) if base == here => file,
        Some(base) if base == file => here,
        _ => here.max(file),
    };
    updated.as_str().into()
}

fn fields(task: &Task) -> Map<String, Value> {
    match serde_json::to_value(task) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => fields.insert(name.to_string(), value),
        None => fields.remove(name),
    };
}

struct Merger {
    id: TaskId,
    later: Side,
    /// Whether there was a base that is not known any more.
    is_forgotten: bool,
    conflicts: Vec<Conflict>,
}

impl Merger {
    /// Joins a field; a change on both sides to different values is a conflict.
    fn field(&mut self, name: &str, three: Three<'_>) -> Option<Value> {
        let side = self.side(name, &three);
        let value = match side {
            Side::Here => three.here,
            Side::File => three.file,
        };
        value.cloned()
    }

    /// Lists what differs, if nobody knows who has changed it; says whether it was listed.
    fn forgotten(&mut self, name: &str, three: &Three<'_>) -> bool {
        let is_listed = self.is_forgotten && three.here != three.file;
        if is_listed {
            self.list(name, three);
        }
        is_listed
    }

    fn list(&mut self, name: &str, three: &Three<'_>) {
        self.conflicts.push(Conflict {
            id: self.id,
            field: name.to_string(),
            here: three.here.cloned().unwrap_or_default(),
            file: three.file.cloned().unwrap_or_default(),
            taken: self.later,
            why: None,
        });
    }

    fn side(&mut self, name: &str, three: &Three<'_>) -> Side {
        if self.forgotten(name, three) {
            return self.later;
        }
        if three.here == three.file || three.file == three.base {
            return Side::Here;
        }
        // Without a base, nobody knows that the side that has nothing took it away.
        let is_empty = |value: Option<&Value>| match value {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            _ => false,
        };
        if three.here == three.base || (three.base.is_none() && is_empty(three.here)) {
            return Side::File;
        }
        if three.base.is_none() && is_empty(three.file) {
            return Side::Here;
        }
        self.list(name, three);
        self.later
    }

    /// Joins status and times: all of one side.
    fn stand<'a>(&mut self, three: &impl Fn(&str) -> Three<'a>, merged: &mut Map<String, Value>) {
        let all = |pick: fn(&Three<'a>) -> Option<&'a Value>| {
            let values = STAND
                .iter()
                .map(|name| (*name, pick(&three(name)).cloned()));
            Value::Object(
                values
                    .filter_map(|(name, value)| Some((name.to_string(), value?)))
                    .collect(),
            )
        };
        let (here, file, base) = (
            all(|three| three.here),
            all(|three| three.file),
            all(|three| three.base),
        );
        let has_base = base.as_object().is_some_and(|base| !base.is_empty());
        let side = self.side(
            "status",
            &Three {
                base: Some(&base).filter(|_| has_base),
                here: Some(&here),
                file: Some(&file),
            },
        );
        let taken = if side == Side::Here { here } else { file };
        for name in STAND {
            put(merged, name, taken.get(name).cloned());
        }
    }

    /// Joins what other tools know, name by name.
    fn extra(
        &mut self,
        base: Option<&Task>,
        here: &Task,
        file: &Task,
        merged: &mut Map<String, Value>,
    ) {
        let mut extra = Map::new();
        let mut names: Vec<&String> = here.extra.keys().chain(file.extra.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let three = Three {
                base: base.and_then(|base| base.extra.get(name)),
                here: here.extra.get(name),
                file: file.extra.get(name),
            };
            if let Some(value) = self.field(&format!("extra.{name}"), three) {
                extra.insert(name.clone(), value);
            }
        }
        put(merged, "extra", Some(Value::Object(extra)));
    }
}

/// Says whether both sides hold the same words, in whichever order.
fn has_same_members(three: &Three<'_>) -> bool {
    let members = |value: Option<&Value>| -> Vec<String> {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        let mut members: Vec<String> = list.map(Value::to_string).collect();
        members.sort_unstable();
        members
    };
    members(three.here) == members(three.file)
}

/// Joins two sets: what the base had and both still have, then what either added.
fn set(three: Three<'_>) -> Value {
    let list = |value: Option<&Value>| match value {
        Some(Value::Array(list)) => list.clone(),
        _ => Vec::new(),
    };
    let (base, here, file) = (list(three.base), list(three.here), list(three.file));
    if three.here == three.file || three.file == three.base {
        return Value::Array(here);
    }
    if three.here == three.base {
        return Value::Array(file);
    }
    let mut joined: Vec<Value> = Vec::new();
    for value in here.iter().chain(&file) {
        let both = here.contains(value) && file.contains(value);
        if (both || !base.contains(value)) && !joined.contains(value) {
            joined.push(value.clone());
        }
    }
    Value::Array(joined)
}

/// Joins notes: none is ever lost.
fn notes(here: &Task, file: &Task) -> Value {
    let mut notes = here.notes.clone();
    for note in &file.notes {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    if here.notes.starts_with(&file.notes) {
        notes.clone_from(&here.notes);
    } else if file.notes.starts_with(&here.notes) {
        notes.clone_from(&file.notes);
    } else {
        notes.sort_by(|one, other| one.at.cmp(&other.at));
    }
    serde_json::to_value(notes).unwrap_or_default()
}

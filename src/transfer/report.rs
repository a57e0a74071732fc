//! The report of an import.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Fault, Format};
use crate::id::TaskId;
use crate::task::Task;

/// Maximum number of examples of one kind in a report.
const SHOWN: usize = 100;

/// Items of one kind: their number, and the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Sample<T> {
    pub(crate) total: usize,
    pub(crate) shown: Vec<T>,
}

impl<T> Default for Sample<T> {
    fn default() -> Sample<T> {
        Sample {
            total: 0,
            shown: Vec::new(),
        }
    }
}

impl<T> Sample<T> {
    /// Counts an item; `make` is called while there is room for it.
    pub(crate) fn add(&mut self, make: impl FnOnce() -> T) {
        self.total += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(make());
        }
    }
}

/// A task that was skipped or changed, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Remark {
    /// Its id in the file.
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// A task that differs from the file.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Difference {
    /// Its id here.
    pub(crate) id: TaskId,
    pub(crate) fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// The phases of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Phases {
    pub(crate) added: Vec<String>,
    /// Known already, and unchanged.
    pub(crate) unchanged: Vec<String>,
    /// Active in the file and pending here, because another phase is active here.
    pub(crate) not_begun: Vec<String>,
}

/// A reference that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Loose {
    /// The task, by its id in the file.
    pub(crate) id: String,
    pub(crate) on: String,
}

/// The dependencies of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Edges {
    pub(crate) kept: usize,
    pub(crate) repeated: usize,
    /// Onto a skipped task that is done, so no task waits for it.
    pub(crate) satisfied: usize,
    /// Onto a missing task: kept in `extra.danglingDepends`, so the task is not ready.
    pub(crate) dangling: Sample<Loose>,
    /// Onto a skipped task that is deleted or cancelled: kept in the same list.
    pub(crate) on_deleted: Sample<Loose>,
    /// From a part onto its whole, which cannot be done before its parts: kept as a relation, and for an open task
    /// also in that list.
    pub(crate) on_whole: Sample<Loose>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Parents {
    pub(crate) kept: usize,
    /// Missing: the task has no parent now.
    pub(crate) dangling: Sample<Loose>,
    /// A second parent, kept as a relation.
    pub(crate) second: Sample<Loose>,
    /// The task itself.
    pub(crate) itself: Sample<String>,
}

/// Tasks that wait for each other.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Circle {
    /// Their ids in the file.
    pub(crate) members: Vec<String>,
}

/// A task with a new id.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Renamed {
    /// Its id in the file.
    pub(crate) from: String,
    /// Its id here.
    pub(crate) to: TaskId,
}

/// The results of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) format: Format,
    pub(crate) read: usize,
    pub(crate) added: usize,
    /// Known tasks that changed.
    pub(crate) updated: usize,
    /// Known tasks that are the same.
    pub(crate) unchanged: usize,
    /// Tasks that were changed here later than in the file, and stay unchanged.
    pub(crate) newer_here: Sample<String>,
    /// Updated tasks, each with the fields that were replaced.
    pub(crate) replaced: Sample<Difference>,
    /// Fields that stay unchanged although the file differs.
    pub(crate) kept: Sample<Difference>,
    pub(crate) left_out: Sample<Remark>,
    /// Tasks whose texts were changed.
    pub(crate) changed: Sample<Remark>,
    pub(crate) phases: Phases,
    /// Imported tasks, by status.
    pub(crate) by_status: BTreeMap<&'static str, usize>,
    pub(crate) edges: Edges,
    pub(crate) parents: Parents,
    /// Tasks that wait for each other.
    pub(crate) cycles: Sample<Circle>,
    /// Tasks that could not keep their id.
    pub(crate) renamed: Sample<Renamed>,
    /// Duplicate ids: the place of the later one, and the decision about it.
    pub(crate) repeated_ids: Sample<Fault>,
    /// Unknown fields, which `extra` keeps, with the number of tasks that have them.
    pub(crate) extra_fields: BTreeMap<String, usize>,
    /// Tasks without a time of creation, which now have that of the import.
    pub(crate) without_created: usize,
    /// Faults of the file.
    pub(crate) faults: Sample<Fault>,
    /// True if nothing was written.
    pub(crate) dry_run: bool,
}

impl Report {
    pub(crate) fn new(format: Format) -> Report {
        Report {
            format,
            ..Report::default()
        }
    }

    pub(crate) fn add_left_out(&mut self, id: &str, reason: &str) {
        self.left_out.add(|| Remark {
            id: id.to_string(),
            reason: reason.to_string(),
        });
    }

    /// Counts the unknown fields of a task.
    pub(crate) fn count(&mut self, task: &Task) {
        if task.created_at.is_empty() {
            self.without_created += 1;
        }
        if let Some(Value::Object(kept)) = task.extra.get(self.format.word()) {
            for name in kept.keys() {
                // A hostile file could have a new name on each line.
                let counts = &mut self.extra_fields;
                if counts.len() < 200 || counts.contains_key(name) {
                    *counts.entry(name.clone()).or_insert(0) += 1;
                }
            }
        }
    }
}

//! What an import took over, changed and left out.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Fault, Format};
use crate::id::TaskId;
use crate::task::Task;

/// How many examples of one thing a report names.
const SHOWN: usize = 100;

/// Things of one kind: how many there are, and the first of them.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Counts a thing; `make` is asked only when there is room for it.
    pub(crate) fn add(&mut self, make: impl FnOnce() -> T) {
        self.total += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(make());
        }
    }
}

/// What an import did with a task, and why.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Remark {
    /// Its id in the file.
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// A task of which the file says something else than was here.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// Its id here.
    pub(crate) id: TaskId,
    pub(crate) fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// What became of the phases of the project.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Phases {
    pub(crate) added: Vec<String>,
    /// Here already, and as they were.
    pub(crate) unchanged: Vec<String>,
    /// Begun in the file and pending here, because the project is in another phase.
    pub(crate) not_begun: Vec<String>,
}

/// An edge that leads somewhere it cannot be followed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Loose {
    /// The task, by its id in the file.
    pub(crate) id: String,
    pub(crate) on: String,
}

/// What became of references that hold tasks up.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Edges {
    pub(crate) kept: usize,
    pub(crate) repeated: usize,
    /// Onto something done that was left out, so nothing waits for it.
    pub(crate) satisfied: usize,
    /// Onto something that is not there: kept in `extra.danglingDepends`, so the task is not ready.
    pub(crate) dangling: Sample<Loose>,
    /// Onto something deleted or given up that was left out: kept in the same place.
    pub(crate) on_deleted: Sample<Loose>,
    /// From a part onto its whole, which cannot be done before its parts: kept as a relation, and
    /// for an open task also among those that are not there.
    pub(crate) on_whole: Sample<Loose>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Parents {
    pub(crate) kept: usize,
    /// Not there: the task is no part of anything now.
    pub(crate) dangling: Sample<Loose>,
    /// A second parent, kept as a relation.
    pub(crate) second: Sample<Loose>,
    /// A task that named itself.
    pub(crate) itself: Sample<String>,
}

/// Tasks that wait for each other.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Circle {
    /// Their ids in the file.
    pub(crate) members: Vec<String>,
}

/// A task that has another id now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Renamed {
    /// Its id in the file.
    pub(crate) from: String,
    /// Its id here.
    pub(crate) to: TaskId,
}

/// What an import did, or would do.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) format: Format,
    pub(crate) read: usize,
    pub(crate) added: usize,
    /// Tasks that an earlier import had brought and that have changed since.
    pub(crate) updated: usize,
    /// Tasks that were here already and are the same.
    pub(crate) unchanged: usize,
    /// Tasks that were changed here later than in the file, and stay as they are here.
    pub(crate) newer_here: Sample<String>,
    /// Updated tasks, each with the fields that were replaced.
    pub(crate) replaced: Sample<Difference>,
    /// What stays as it is here although the file says otherwise.
    pub(crate) kept: Sample<Difference>,
    pub(crate) left_out: Sample<Remark>,
    /// Tasks that were taken over with a change of their texts.
    pub(crate) changed: Sample<Remark>,
    pub(crate) phases: Phases,
    /// Tasks that were taken over, by status.
    pub(crate) by_status: BTreeMap<&'static str, usize>,
    pub(crate) edges: Edges,
    pub(crate) parents: Parents,
    /// Tasks that wait for each other.
    pub(crate) cycles: Sample<Circle>,
    /// Tasks that could not keep their id.
    pub(crate) renamed: Sample<Renamed>,
    /// Ids that stand twice: where the later one stands, and what was done about it.
    pub(crate) repeated_ids: Sample<Fault>,
    /// Fields that cleo has no place for and keeps in `extra`, with the number of tasks that have them.
    pub(crate) extra_fields: BTreeMap<String, usize>,
    /// Tasks without a time of creation, which have that of the import now.
    pub(crate) without_created: usize,
    /// What cannot be taken over as it stands.
    pub(crate) faults: Sample<Fault>,
    /// True when nothing was written.
    pub(crate) dry_run: bool,
}

impl Report {
    pub(crate) fn new(format: Format) -> Report {
        Report {
            format,
            ..Report::default()
        }
    }

    pub(crate) fn leave_out(&mut self, id: &str, reason: &str) {
        self.left_out.add(|| Remark {
            id: id.to_string(),
            reason: reason.to_string(),
        });
    }

    /// Counts the fields of a task that cleo has no place for.
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

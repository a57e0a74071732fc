//! The store: what is kept of tasks, agents and runs, and the types of its queries. [`sqlite`] has the queries, whose
//! rules are in `conformance`.

#[cfg(test)]
mod conformance;
mod graph;
pub(crate) mod left_out;
mod literal;
pub(crate) mod log;
pub(crate) mod records;
pub(crate) mod sqlite;

use crate::id::TaskId;
use crate::task::Task;
use crate::task::graph::Missing;
pub(crate) use crate::task::{Archived, Filter};
pub(crate) use graph::{Counts, Outline, Outlines, Page, ReadyPage, ReadyTask, TaskTally};
pub(crate) use log::{Change, Operation, OperationFilter, Recorded, Removed};
use serde::{Deserialize, Serialize};
pub(crate) use sqlite::{Store, Transaction};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The command, such as `orchestrator.spawn`.
    pub(crate) command: &'static str,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Author: `CLEO_AGENT`, else user and host.
    pub(crate) by: String,
}

/// Name in `extra` of dependencies that an import found no task for: a list of texts.
pub(crate) const DANGLING: &str = "danglingDepends";

pub(crate) fn dangling(task: &Task) -> Vec<String> {
    let names = task
        .extra
        .get(DANGLING)
        .and_then(serde_json::Value::as_array);
    let text = |name: &serde_json::Value| match name.as_str() {
        Some(text) => text.to_string(),
        None => name.to_string(),
    };
    names
        .map(|names| names.iter().map(text).collect())
        .unwrap_or_default()
}

/// Name in `extra` of those of them that were left out because they closed a circle.
pub(crate) const CIRCULAR: &str = "circularDepends";

pub(crate) fn missing(task: &Task) -> Vec<Missing> {
    let circular = task.extra.get(CIRCULAR).and_then(|names| names.as_array());
    let is_circular = |name: &String| {
        let mut names = circular.into_iter().flatten();
        names.any(|circular| circular.as_str() == Some(name))
    };
    let missing = |name: String| Missing {
        circular: is_circular(&name),
        name,
    };
    dangling(task).into_iter().map(missing).collect()
}

/// A task and a manifest entry that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    pub(crate) task: TaskId,
    /// Id of the manifest entry.
    pub(crate) entry: String,
    /// When they were linked, RFC 3339 in UTC.
    pub(crate) at: String,
}

fn origin(task: &Task) -> Option<(&str, &str)> {
    let origin = task.extra.get("origin")?;
    Some((origin.get("format")?.as_str()?, origin.get("id")?.as_str()?))
}

/// One prepared spawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpawnRecord {
    pub(crate) task: TaskId,
    /// Id of the manifest entry that the agent is to append.
    pub(crate) manifest_id: String,
    /// Output file, relative to the workspace root.
    pub(crate) output_file: String,
    /// When it was prepared, RFC 3339 in UTC.
    pub(crate) at: String,
    /// The receipt: everything that went in, with digests.
    pub(crate) receipt: serde_json::Value,
    /// When the output was last found to hold.
    pub(crate) verified_at: Option<String>,
    /// Digest of the output file at that moment.
    pub(crate) output_digest: Option<String>,
    /// The author and the time of a completion that was forced without verification.
    pub(crate) forced: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpawnVerdict {
    pub(crate) is_verified: bool,
    /// Whether somebody completed the task although it did not.
    pub(crate) is_forced: bool,
}

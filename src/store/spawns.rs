//! Prepared prompts and their receipts.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::id::TaskId;

pub(crate) trait Spawns {
    /// Reads the spawns of a task; the one that was written last stands last.
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>>;

    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>>;

    /// Reads what came of the latest spawns of tasks, whose ids are sorted.
    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnVerdict>>;

    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>>;

    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>>;

    /// Writes a spawn, or changes the one of the same task and manifest id, which becomes the latest.
    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()>;
}

/// One prepared spawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpawnRecord {
    /// The task.
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
    /// Who completed the task although it did not verify, and when.
    pub(crate) forced: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpawnVerdict {
    pub(crate) is_verified: bool,
    /// Whether somebody completed the task although it did not.
    pub(crate) is_forced: bool,
}

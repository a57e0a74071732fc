//! What checks of spawned tasks have found, kept for counting.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::id::TaskId;

/// What was found each time that a spawned task was checked.
pub trait Verifications {
    /// Records a check.
    fn put_verification(&mut self, verification: &Verification) -> Result<()>;

    /// Reads all checks; those of one task oldest first.
    fn verifications(&self) -> Result<Vec<Verification>>;

    /// Reads the checks of one task, oldest first.
    fn verifications_of(&self, task: TaskId) -> Result<Vec<Verification>>;
}

/// One check of what an agent left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The task.
    pub task: TaskId,
    /// Id of the manifest entry that the spawn asked for.
    pub manifest_id: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Who had it checked.
    pub by: String,
    /// The skill in the prompt.
    pub skill: String,
    /// The program that a run had work on it, else who held the task, else the kind of agent that did the
    /// work, else who had it checked.
    pub agent: String,
    /// True when nothing was wrong.
    pub passed: bool,
    /// The rules that were broken, each once: `OUT-001`, `GATES`, …
    pub violations: Vec<String>,
}

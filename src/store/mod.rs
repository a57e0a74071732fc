//! Where tasks, spawns and links are kept. The traits say what a backend can do; [`sqlite`] is the
//! one that workspaces use, [`memory`] its twin for tests. `conformance` proves both.

pub mod agency;
#[cfg(test)]
mod agreement;
mod claims;
#[cfg(test)]
mod conformance;
pub mod log;
pub mod memory;
mod overview;
mod phases;
mod sessions;
pub mod sqlite;
mod verifications;

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::task::graph::{Missing, Node};
use crate::task::{Priority, Status, Task, TaskType};

pub use claims::Claims;
pub use log::{Change, Log, Operation, OperationFilter, Recorded, Removed};
pub use overview::{Counts, Overview, TaskTally};
pub use phases::Phases;
pub use sessions::Sessions;
pub use verifications::{Verification, Verifications};

/// A store that can begin transactions.
pub trait Store {
    /// Begins a transaction that only reads. It sees one state and never waits for a writer.
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>>;

    /// Begins a transaction that may write; one at a time, others wait. What it did becomes
    /// visible and durable at once when it commits, and never if it is dropped before. What it
    /// changes is recorded as one operation under the stamp.
    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>>;

    /// Returns a number that stays the same until somebody else has committed something. Asking
    /// costs next to nothing.
    fn version(&self) -> Result<u64>;
}

/// Who changes something, when and by which command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The command, such as `orchestrator.spawn`.
    pub command: &'static str,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Who: `CLEO_AGENT`, else user and host.
    pub by: String,
}

/// Everything that can be read and written in one transaction.
pub trait Transaction:
    Tasks
    + Graph
    + Overview
    + Spawns
    + Links
    + TaskGates
    + Verifications
    + Claims
    + Sessions
    + Phases
    + Log
    + Suggestions
    + SyncBases
{
    /// Makes the changes visible and durable.
    fn commit(self: Box<Self>) -> Result<()>;
}

/// Tasks, their edges and their words.
pub trait Tasks {
    /// Reads a task.
    fn task(&self, id: TaskId) -> Result<Option<Task>>;

    /// Reads where a task stands, without the task.
    fn status(&self, id: TaskId) -> Result<Option<Status>>;

    /// Reads the parent of a task.
    fn parent(&self, id: TaskId) -> Result<Option<TaskId>>;

    /// Reads what a task depends on, in the order given.
    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Reads the tasks that depend on a task, by id.
    fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Reads the children of a task, by id.
    fn children(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Finds the task that was added with a key.
    fn task_by_key(&self, key: &str) -> Result<Option<TaskId>>;

    /// Finds the task that an import brought from a task of another tool, by its id there.
    fn task_by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>>;

    /// Finds the tasks that any import brought from a task with this id, by id.
    fn tasks_by_origin(&self, id: &str) -> Result<Vec<TaskId>>;

    /// Reads at most `limit` tasks with ids after `after` (0: from the first), by id.
    fn tasks_after(&self, after: TaskId, limit: u32) -> Result<Vec<Task>>;

    /// Reads the tasks that pass the filter, by id, and how many there are in all.
    fn list(&self, filter: &Filter) -> Result<Page>;

    /// Finds tasks whose title or description holds all words (or words that start so), best first.
    fn find(&self, words: &str, archived: Archived, limit: u32) -> Result<Page>;

    /// Reads the graph nodes of all tasks below `root`, to any depth; without root, of all tasks.
    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>>;

    /// Hands out the next id. Ids are never handed out twice, also after a delete.
    fn next_id(&mut self) -> Result<TaskId>;

    /// Sees to it that no id up to this one is handed out any more.
    fn reserve_id(&mut self, id: TaskId) -> Result<()>;

    /// Writes a task, new or changed, whole.
    fn put(&mut self, task: &Task) -> Result<()>;

    /// Writes a task that is not there yet, without a look at what was there before.
    fn insert(&mut self, task: &Task) -> Result<()>;

    /// Deletes a task with its own edges, spawns and links. Edges of others onto it go too.
    fn delete(&mut self, id: TaskId) -> Result<()>;

    /// Brings a deleted task back under its id, with everything that went with it. Edges of others
    /// onto it are changes of those others. There must be no task of this id.
    fn restore(&mut self, removed: &Removed) -> Result<()>;
}

/// What copies of the tasks in files looked like when they were last merged.
pub trait SyncBases {
    /// Reads the ids of the tasks that a file held, by id.
    fn base_ids(&self, file: &str) -> Result<Vec<TaskId>>;

    /// Reads what a task looked like in a file.
    fn base(&self, file: &str, task: TaskId) -> Result<Option<String>>;

    /// Writes what a task looks like in a file now; none forgets it.
    fn put_base(&mut self, file: &str, task: TaskId, base: Option<&str>) -> Result<()>;
}

/// What is known of the graph of tasks without reading all of it.
pub trait Graph {
    /// Reads one node.
    fn node(&self, id: TaskId) -> Result<Option<Node>>;

    /// Reads the tasks that can start now, at most `limit`: pending, everything that they depend on
    /// done and known, no epic and without open children. By priority, then by the longest chain
    /// that waits, then by id. Of all tasks below `root`, to any depth; without root of all tasks.
    fn ready(&self, root: Option<TaskId>, limit: Option<u32>) -> Result<ReadyPage>;

    /// Reads an active task as one that can start, if it could were it pending: its lease may be
    /// over.
    fn active_ready(&self, id: TaskId) -> Result<Option<ReadyTask>>;

    /// Says whether a task can start now.
    fn is_ready(&self, id: TaskId) -> Result<bool>;

    /// Reads the tasks that can start once `id` is done, and not before, by id.
    fn unblocked_by(&self, id: TaskId) -> Result<Vec<TaskId>>;

    /// Reads open tasks that depend on something that does not come by itself, by id, at most
    /// `limit`: a name that nobody knows, a cancelled task, an epic without open children. Of all
    /// tasks below `root`, to any depth; without root of all tasks.
    fn hindered(&self, root: Option<TaskId>, limit: u32) -> Result<Vec<TaskId>>;

    /// Reads what is shown of tasks; `ids` are sorted.
    fn outlines(&self, ids: &[TaskId]) -> Result<Outlines>;
}

/// A task that can start now.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadyTask {
    /// The task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub status: Status,
    /// How urgent it is.
    pub priority: Priority,
    /// How many tasks the longest chain has that waits for it, at most
    /// [`BOUND`](crate::task::graph::below::BOUND).
    pub below: u32,
}

/// Tasks that can start now, and how many there are without limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadyPage {
    /// The tasks.
    pub tasks: Vec<ReadyTask>,
    /// How many there are.
    pub total: u64,
}

/// What is shown of a task in the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Its title.
    pub title: String,
    /// Files that the work touches.
    pub files: Vec<String>,
    /// Estimated hours.
    pub estimate: Option<f64>,
}

/// What is shown of tasks, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlines(Vec<(TaskId, Outline)>);

impl Outlines {
    /// Finds what is shown of a task.
    pub fn get(&self, id: TaskId) -> Option<&Outline> {
        let place = id::place(&self.0, id, |(id, _)| *id)?;
        Some(&self.0[place].1)
    }

    /// Returns the files that a task declares; none of one that is not among them.
    pub fn files(&self, id: TaskId) -> &[String] {
        let outline = self.get(id);
        outline.map_or(&[], |outline| outline.files.as_slice())
    }
}

impl FromIterator<(TaskId, Outline)> for Outlines {
    /// Takes outlines that come by id; one that comes twice counts once.
    fn from_iter<I: IntoIterator<Item = (TaskId, Outline)>>(outlines: I) -> Outlines {
        let mut outlines: Vec<(TaskId, Outline)> = outlines.into_iter().collect();
        outlines.dedup_by_key(|(id, _)| *id);
        Outlines(outlines)
    }
}

/// Name in `extra` of dependencies that an import found no task for: a list of texts.
pub const DANGLING: &str = "danglingDepends";

/// Returns the names of dependencies that no task was found for.
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
pub const CIRCULAR: &str = "circularDepends";

/// Returns the dependencies that no task was found for, or that were left out.
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

/// Prepared spawns and what became of them.
pub trait Spawns {
    /// Reads the spawns of a task; the one that was written last stands last.
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>>;

    /// Reads the latest spawn of a task.
    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>>;

    /// Reads what came of the latest spawns of tasks, whose ids are sorted.
    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnVerdict>>;

    /// Finds the task that an output file was given to.
    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>>;

    /// Reads the ids of the entries that were asked for by spawns of other tasks.
    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>>;

    /// Writes a spawn, or changes the one of the same task and manifest id, which becomes the latest.
    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()>;
}

/// Links between tasks and manifest entries, beside those that entries carry themselves.
pub trait Links {
    /// Reads the entries that a task is linked to, in the order of linking.
    fn links(&self, task: TaskId) -> Result<Vec<Link>>;

    /// Reads the tasks that an entry is linked to, in the order of linking.
    fn linked_to(&self, entry: &str) -> Result<Vec<Link>>;

    /// Links a task and an entry; says whether that is new.
    fn link(&mut self, link: &Link) -> Result<bool>;

    /// Takes a link away; says whether it was there.
    fn unlink(&mut self, link: &Link) -> Result<bool>;
}

/// The verification gates of tasks.
pub trait TaskGates {
    /// Reads the gates of a task; none set is the default.
    fn gates(&self, task: TaskId) -> Result<Gates>;

    /// Reads the gates of tasks, whose ids are sorted; those that have none set are left out.
    fn gates_of(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Gates>>;

    /// Writes the gates of a task; what that changes is recorded in the log.
    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()>;
}

/// What a half-typed word may become.
pub trait Suggestions {
    /// Reads ids and titles of the tasks whose numbers lie in a range, the largest first.
    fn titles(&self, ids: RangeInclusive<u32>, limit: u32) -> Result<Vec<(TaskId, String)>>;

    /// Reads the labels in use, normalized, from `from` on in the order of their bytes.
    fn label_words(&self, from: &str, limit: u32) -> Result<Vec<String>>;

    /// Reads the phases in use from `from` on in the order of their bytes.
    fn phase_words(&self, from: &str, limit: u32) -> Result<Vec<String>>;
}

/// One prepared spawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpawnRecord {
    /// The task.
    pub task: TaskId,
    /// Id of the manifest entry that the agent is to append.
    pub manifest_id: String,
    /// Output file, relative to the workspace root.
    pub output_file: String,
    /// When it was prepared, RFC 3339 in UTC.
    pub at: String,
    /// The receipt: everything that went in, with digests.
    pub receipt: serde_json::Value,
    /// When the output was last found to hold.
    pub verified_at: Option<String>,
    /// Digest of the output file at that moment.
    pub output_digest: Option<String>,
    /// Who completed the task although it did not verify, and when.
    pub forced: Option<String>,
}

/// What came of a spawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpawnVerdict {
    /// Whether its output was found to hold.
    pub is_verified: bool,
    /// Whether somebody completed the task although it did not.
    pub is_forced: bool,
}

/// A task and a manifest entry that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The task.
    pub task: TaskId,
    /// Id of the manifest entry.
    pub entry: String,
    /// When they were linked, RFC 3339 in UTC.
    pub at: String,
}

/// Which tasks to list. Empty parts let everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// One of these statuses.
    pub statuses: Vec<Status>,
    /// All of these labels, compared after normalization.
    pub labels: Vec<String>,
    /// One of these types.
    pub kinds: Vec<TaskType>,
    /// Children of this task.
    pub parent: Option<TaskId>,
    /// One of these priorities.
    pub priorities: Vec<Priority>,
    /// In this phase.
    pub phase: Option<String>,
    /// Assigned to this agent.
    pub agent: Option<String>,
    /// Assigned to any agent.
    pub assigned: bool,
    /// Of this feature.
    pub feature: Option<String>,
    /// Due before this moment, RFC 3339 in UTC.
    pub due_before: Option<String>,
    /// Due at this moment or later, RFC 3339 in UTC.
    pub due_after: Option<String>,
    /// Claimed by somebody, also when the lease is over.
    pub claimed: bool,
    /// Claimed by this holder.
    pub holder: Option<String>,
    /// Archived or not.
    pub archived: Archived,
    /// Done or cancelled before this moment, RFC 3339 in UTC.
    pub closed_before: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Without the first so many.
    pub offset: u32,
}

/// Whether tasks that are archived pass a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Archived {
    /// They do not.
    #[default]
    Hidden,
    /// Only they do.
    Only,
    /// They pass like all others.
    Shown,
}

/// Tasks, and how many there are without limit and offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// How many fit in all.
    pub total: u64,
}

/// Returns the format and the id that an import noted in a task.
fn origin(task: &Task) -> Option<(&str, &str)> {
    let origin = task.extra.get("origin")?;
    Some((origin.get("format")?.as_str()?, origin.get("id")?.as_str()?))
}

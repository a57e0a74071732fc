//! Traits of the store; [`sql`] implements them, `conformance` tests that.

#[cfg(test)]
mod conformance;
mod copy;
mod database;
mod graph;
pub(crate) mod left_out;
mod literal;
pub(crate) mod log;
pub(crate) mod postgres;
pub(crate) mod records;
mod sql;
pub(crate) mod sqlite;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::error::{Code, Result};
use crate::gate::Gates;
use crate::id::TaskId;
use crate::phase::Phase;
use crate::session::{Session, SessionId, SessionStatus};
use crate::task::graph::{Missing, Node};
pub(crate) use crate::task::{Archived, Filter};
use crate::task::{Status, Task};
pub(crate) use copy::copy;
pub(crate) use database::Database;
pub(crate) use graph::{
    Availability, Counts, Graph, Outline, Outlines, Overview, Page, ReadyPage, ReadyTask, TaskTally,
};
pub(crate) use log::{Change, Log, Operation, OperationFilter, Recorded, Removed};

pub(crate) trait Store {
    /// Begins a transaction that only reads. It sees one state and never waits for a writer.
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>>;

    /// Begins a write transaction; one at a time, others wait. Its changes become visible and durable on
    /// commit, are lost if it is dropped before, and are recorded as one operation under the stamp.
    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>>;

    /// Begins a write transaction on what the log of operations does not tell: agents, runs, conversations and
    /// what the chat works on. A change of a task in it is an error.
    fn write_records(&mut self) -> Result<Box<dyn Transaction + '_>>;

    /// Returns a number that changes with each commit of another process. Cheap.
    fn version(&self) -> Result<u64>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The command, such as `orchestrator.spawn`.
    pub(crate) command: &'static str,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Author: `CLEO_AGENT`, else user and host.
    pub(crate) by: String,
}

pub(crate) trait Transaction:
    Tasks
    + Graph
    + Overview
    + Spawns
    + Links
    + TaskGates
    + Claims
    + Sessions
    + Phases
    + Log
    + Suggestions
    + records::Agents
    + records::Runs
    + records::Conversations
    + records::Chats
    + records::Components
{
    /// Commits and returns the number of the operation, or `None` where nothing was recorded.
    fn commit(self: Box<Self>) -> Result<Option<u64>>;

    /// Returns the only user whose rows the database shows it.
    fn restricted_to(&self) -> Option<&str>;
}

pub(crate) trait Tasks {
    fn task(&self, id: TaskId) -> Result<Option<Task>>;

    /// Reads the tasks with these ids. Damaged ones are left out, which is noted in [`left_out`].
    fn readable(&self, ids: &[TaskId]) -> Result<Vec<Task>>;

    /// Reads a task as far as it can be read: what is damaged has the value of a new task.
    fn salvage(&self, id: TaskId) -> Result<Option<Task>>;

    fn status(&self, id: TaskId) -> Result<Option<Status>>;

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>>;

    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>>;

    fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>>;

    fn children(&self, id: TaskId) -> Result<Vec<TaskId>>;

    fn task_by_uid(&self, uid: &str) -> Result<Option<TaskId>>;

    fn task_by_key(&self, key: &str) -> Result<Option<TaskId>>;

    fn task_by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>>;

    fn tasks_by_origin(&self, id: &str) -> Result<Vec<TaskId>>;

    /// Reads at most `limit` tasks with ids after `after` (0: from the first), by id.
    fn tasks_after(&self, after: TaskId, limit: u32) -> Result<Vec<Task>>;

    /// Returns the last of at most `limit` ids after `after`, also where its task is damaged.
    fn last_of_piece(&self, after: TaskId, limit: u32) -> Result<Option<TaskId>>;

    /// Reads the tasks that pass the filter, by id, and how many there are in all.
    fn list(&self, filter: &Filter) -> Result<Page>;

    /// Finds tasks whose title or description holds all words (or words that start so), best first.
    fn find(&self, words: &str, archived: Archived, limit: u32) -> Result<Page>;

    /// Reads the graph nodes of all tasks below `root`, to any depth; without root, of all tasks.
    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>>;

    /// Returns the id from which on none was ever handed out.
    fn first_unused_id(&self) -> Result<TaskId>;

    /// Hands out the next id. Ids are never handed out twice, also after a delete.
    fn next_id(&mut self) -> Result<TaskId>;

    fn reserve_id(&mut self, id: TaskId) -> Result<()>;

    fn put(&mut self, task: &Task) -> Result<()>;

    /// Reads the tasks that are there with all that [`Tasks::put_over`] needs; `ids` are sorted.
    fn tasks_to_change(&self, ids: &[TaskId]) -> Result<Vec<Task>>;

    /// Writes a task as [`Tasks::put`] does, over what was read in this transaction.
    fn put_over(&mut self, before: Option<&Task>, after: &Task) -> Result<()>;

    /// Writes a task that is not there yet, without a look at what was there before.
    fn insert(&mut self, task: &Task) -> Result<()>;

    /// Deletes a task with its own edges, spawns and links. Edges of others onto it go too.
    fn delete(&mut self, id: TaskId) -> Result<()>;

    /// Restores a deleted task under its id with everything that was deleted with it. Edges of others onto it
    /// are changes of those. No task may have this id.
    fn restore(&mut self, removed: &Removed) -> Result<()>;
}

/// Name in `extra` of dependencies that an import found no task for: a list of texts.
pub(crate) const DANGLING: &str = "danglingDepends";

pub(crate) fn dangling(task: &Task) -> Vec<String> {
    let names = task.extra.get(DANGLING);
    let names = names.and_then(serde_json::Value::as_array);
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

pub(crate) trait Links {
    fn links(&self, task: TaskId) -> Result<Vec<Link>>;

    fn list_links_to(&self, entry: &str) -> Result<Vec<Link>>;

    fn link(&mut self, link: &Link) -> Result<bool>;

    fn unlink(&mut self, link: &Link) -> Result<bool>;
}

pub(crate) trait TaskGates {
    /// Reads the gates of a task; none set is the default.
    fn gates(&self, task: TaskId) -> Result<Gates>;

    /// Reads the gates of tasks, whose ids are sorted; those that have none set are left out.
    fn gates_of(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Gates>>;

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()>;
}

pub(crate) trait Suggestions {
    fn titles(&self, ids: RangeInclusive<u32>, limit: u32) -> Result<Vec<(TaskId, String)>>;

    /// Reads the labels in use, normalized, from `from` on in the order of their bytes.
    fn label_words(&self, from: &str, limit: u32) -> Result<Vec<String>>;
}

/// A task and a manifest entry that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

pub(crate) trait Claims {
    /// Reads the last claim of a task, also one that was given back.
    fn claim(&self, task: TaskId) -> Result<Option<Claim>>;

    /// Reads the last claims of tasks, whose ids are sorted.
    fn last_claims(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Claim>>;

    fn put_claim(&mut self, claim: &Claim) -> Result<()>;

    /// Reads held claims whose lease has expired at `now` (RFC 3339 in UTC), the longest expired first.
    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>>;

    /// Reads the claims that somebody holds, by task, also those whose lease is over.
    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>>;

    /// Reads up to `limit` claims with a running lease at `now` (RFC 3339 in UTC), the last to expire first.
    fn running_claims(&self, now: &str, limit: u32) -> Result<Vec<Claim>>;
}

/// Sessions. They are never deleted.
pub(crate) trait Sessions {
    fn session(&self, id: SessionId) -> Result<Option<Session>>;

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>>;

    /// Returns the id for the next session; it is taken when that is written.
    fn next_session(&self) -> Result<SessionId>;

    fn put_session(&mut self, session: &Session) -> Result<()>;
}

pub(crate) trait Phases {
    fn phases(&self) -> Result<Vec<Phase>>;

    fn put_phase(&mut self, phase: &Phase) -> Result<()>;

    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>>;
}

pub(crate) trait Spawns {
    /// Reads the spawns of a task; the one that was written last stands last.
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>>;

    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>>;

    /// Reads the latest spawn of a task to show it. A damaged one is left out with a warning.
    fn latest_spawn_to_show(&self, task: TaskId) -> Result<Option<SpawnRecord>> {
        match self.latest_spawn(task) {
            Err(error) if error.code == Code::RowDamaged => {
                // Notes the damage. An earlier spawn would pass for the latest.
                self.spawns(task)?;
                Ok(None)
            }
            read => read,
        }
    }

    /// Reads what came of the latest spawns of tasks, whose ids are sorted: without file, time and receipt.
    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnRecord>>;

    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>>;

    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>>;

    /// Writes a spawn, or changes the one of the same task and manifest id, which becomes the latest.
    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()>;
}

/// One prepared spawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// The mark of the user whose cleo verified it.
    pub(crate) mark: Option<String>,
}

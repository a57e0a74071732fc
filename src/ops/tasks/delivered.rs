//! Output that came back for the last prompts of tasks, and what is to be done about it.

use serde::Serialize;

use super::merged::find_unmerged;
use crate::clock::is_older;
use crate::error::Result;
use crate::gate::Criterion;
use crate::id::TaskId;
use crate::manifest::{Status, log};
use crate::ops::require;
use crate::store::{SpawnRecord, Transaction};
use crate::workspace::Workspace;

/// A task with the output that came back for its last prompt.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivered {
    pub(crate) id: TaskId,
    pub(crate) output_file: String,
    /// The command that brings it nearer to its end.
    #[serde(skip)]
    pub(crate) command: String,
}

impl Delivered {
    pub(crate) fn describe(&self) -> String {
        let (id, file, command) = (self.id, &self.output_file, &self.command);
        format!("{id} has output in {file}: run `{command}`")
    }
}

/// Returns whether the output file of a prompt was written since.
pub(in crate::ops) fn is_delivered(workspace: &Workspace, record: &SpawnRecord) -> bool {
    let path = workspace.confine(&record.output_file).ok();
    let there = path.and_then(|path| path.metadata().ok());
    there.is_some_and(|there| !is_older(there.modified().ok(), &record.at))
}

/// Finds output that came back for some tasks, unless its agent calls it partial or blocked: another prompt continues it.
pub(in crate::ops) fn find_delivered(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    ids: &[TaskId],
) -> Result<Vec<Delivered>> {
    let mut spawned = Vec::new();
    for id in ids {
        let latest = transaction.latest_spawn_to_show(*id)?;
        spawned.extend(latest.filter(|record| is_delivered(workspace, record)));
    }
    if spawned.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = spawned.iter().map(|it| it.manifest_id.as_str()).collect();
    let found = log::find_all(&workspace.manifest()?, &wanted)?;
    let mut delivered = Vec::new();
    for record in &spawned {
        let entry = found
            .get(&record.manifest_id)
            .and_then(|it| it.entry.as_ref());
        let status = entry.map(|(_, entry)| entry.status);
        if status.is_none_or(|status| status == Status::Complete) {
            delivered.push(Delivered {
                id: record.task,
                output_file: record.output_file.clone(),
                command: choose_command(workspace, transaction, record, status.is_some())?,
            });
        }
    }
    Ok(delivered)
}

/// Chooses the command for output: to merge it, to see what it lacks, to run what proves it, or to complete its task.
fn choose_command(
    workspace: &Workspace,
    transaction: &dyn Transaction,
    record: &SpawnRecord,
    has_entry: bool,
) -> Result<String> {
    let id = record.task;
    if let Some(merge) = find_unmerged(workspace, record)?.and_then(|error| error.fix) {
        return Ok(merge);
    }
    let gates = transaction.gates_of(&[id])?.remove(&id).unwrap_or_default();
    let is_unproven = |line: &String| {
        let has_passed = gates.criteria.get(line).is_some_and(|record| record.passed);
        !has_passed && Criterion::read(line).command.is_some()
    };
    let criteria = require(transaction, id)?.acceptance;
    Ok(match criteria.iter().any(is_unproven) {
        _ if !has_entry => format!("cleo verify output {id}"),
        true => format!("cleo verify {id} --run-all"),
        false if gates.has_gates() && !gates.open().is_empty() => format!("cleo verify {id}"),
        false => format!("cleo complete {id}"),
    })
}

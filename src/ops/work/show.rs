//! One task for `cleo show`, with its neighbors, claim and proof.

use serde::Serialize;

use crate::error::Result;
use crate::id::TaskId;
use crate::ops::proof::{Summary, gates_to_show};
use crate::ops::tasks::delivered::is_delivered;
use crate::ops::tasks::{HeldClaim, ListedTask, One, waiting_for};
use crate::ops::trust::{Trust, is_foreign, is_verified};
use crate::ops::{Context, require};
use crate::store::{OperationFilter, Transaction};
use crate::task::{Status, Task};
use crate::tree;

/// Maximum number of children, and of tasks that it waits for, that are named.
const NAMED: usize = 20;
/// Number of changes after its completion up to which a task names who completed it.
const LATEST: u32 = 50;

/// A task with its parent, parts, claim and proof.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    pub(crate) task: Task,
    /// Whether it can start now: it is pending, and waits for nothing.
    pub(crate) ready: bool,
    pub(crate) children: Vec<TaskId>,
    /// The first of its children and of the tasks that it waits for, without the damaged ones.
    #[serde(skip)]
    pub(crate) named: Vec<ListedTask>,
    /// Tasks that depend on it.
    pub(crate) dependents: Vec<TaskId>,
    /// Dependencies that are not done.
    pub(crate) waiting_for: Vec<TaskId>,
    /// Its claim, if it has a holder.
    pub(crate) claim: Option<HeldClaim>,
    /// Its gates and criteria, when anything is known of them or can be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Summary>,
    /// The output that its last prompt asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<ShownOutput>,
    /// Author of its completion, if it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_by: Option<String>,
}

impl Shown {
    /// Returns whether the task is done, and nothing was asked for that could be verified.
    pub(crate) fn has_no_proof(&self) -> bool {
        self.task.status == Status::Done && self.output.is_none() && self.verification.is_none()
    }
}

/// The output that a prompt asks for.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownOutput {
    /// The file, relative to the workspace root.
    pub(crate) file: String,
    pub(crate) manifest_id: String,
    /// Whether the file is there.
    pub(crate) is_delivered: bool,
    /// When it was last verified for this user.
    pub(crate) verified_at: Option<String>,
    /// Whether the file was changed or removed since it was verified.
    pub(crate) is_changed: bool,
    /// Author and time of a completion that was forced without verification.
    pub(crate) forced: Option<String>,
    /// Whether it was verified in another folder, or for another user, which proves nothing here.
    #[serde(skip)]
    pub(crate) is_foreign: bool,
}

pub(crate) fn show(context: &mut Context, One { task: id }: One) -> Result<Shown> {
    let verification = gates_to_show(context, id)?.summary();
    let now = context.now();
    let key = Trust::new(&context.surroundings, &context.workspace).read_key();
    let workspace = context.workspace.clone();
    context.read(|tasks| {
        let task = require(tasks, id)?;
        let output = tasks.latest_spawn_to_show(id)?.map(|record| {
            let is_delivered = is_delivered(&workspace, &record);
            let is_verified = is_verified(key.as_ref(), &record);
            let file = workspace.confine(&record.output_file).ok();
            let digest = file.and_then(|file| tree::file_digest(&file));
            ShownOutput {
                is_changed: is_verified && record.output_digest != digest,
                is_delivered,
                is_foreign: is_foreign(key.as_ref(), &record),
                file: record.output_file,
                manifest_id: record.manifest_id,
                verified_at: record.verified_at.filter(|_| is_verified),
                forced: record.forced,
            }
        });
        let (children, dependents) = (tasks.children(id)?, tasks.dependents(id)?);
        let (claim, waiting_for) = (tasks.claim(id)?, waiting_for(tasks, &task)?);
        let parts = children.iter().take(NAMED);
        let mut ids: Vec<TaskId> = parts
            .chain(waiting_for.iter().take(NAMED))
            .copied()
            .collect();
        ids.push(id);
        ids.sort_unstable();
        ids.dedup();
        let mut availability = tasks.availability(&ids)?;
        let ready = availability.remove(&id).is_some_and(|own| own.ready);
        ids.retain(|other| *other != id);
        let named = tasks.readable(&ids)?.into_iter().map(|task| ListedTask {
            availability: availability.remove(&task.id).unwrap_or_default(),
            task,
        });
        Ok(Shown {
            completed_by: find_completer(tasks, &task)?,
            ready,
            named: named.collect(),
            waiting_for,
            task,
            children,
            dependents,
            claim: claim.and_then(|claim| HeldClaim::new(claim, &now)),
            verification,
            output,
        })
    })
}

/// Finds the author of the latest change of a task that is done which completed it.
fn find_completer(tasks: &dyn Transaction, task: &Task) -> Result<Option<String>> {
    if task.status != Status::Done {
        return Ok(None);
    }
    let (latest, _) = tasks.operations(&OperationFilter {
        task: Some(task.id),
        limit: Some(LATEST),
        ..OperationFilter::default()
    })?;
    // An operation is recorded at its end.
    let since = latest
        .into_iter()
        .take_while(|operation| Some(&operation.at) >= task.completed_at.as_ref());
    Ok(since.last().map(|operation| operation.by))
}

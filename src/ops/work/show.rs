//! One task for `cleo show`, with its neighbors, claim and proof.

use serde::Serialize;

use crate::error::Result;
use crate::id::TaskId;
use crate::ops::proof::{Summary, gates_to_show};
use crate::ops::tasks::{HeldClaim, One, waiting_for};
use crate::ops::{Context, require};
use crate::task::Task;

/// A task with its parent, parts, claim and proof.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    pub(crate) task: Task,
    pub(crate) children: Vec<TaskId>,
    /// Tasks that depend on it.
    pub(crate) dependents: Vec<TaskId>,
    /// Dependencies that are not done.
    pub(crate) waiting_for: Vec<TaskId>,
    /// Its claim, if it has a holder.
    pub(crate) claim: Option<HeldClaim>,
    /// Its gates and criteria, when anything is known of them or can be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Summary>,
}

pub(crate) fn show(context: &mut Context, One { task: id }: One) -> Result<Shown> {
    let verification = gates_to_show(context, id)?.summary();
    let now = context.now();
    context.read(|tasks| {
        let task = require(tasks, id)?;
        let (children, dependents) = (tasks.children(id)?, tasks.dependents(id)?);
        let claim = tasks.claim(id)?;
        Ok(Shown {
            waiting_for: waiting_for(tasks, &task)?,
            task,
            children,
            dependents,
            claim: claim.and_then(|claim| HeldClaim::new(claim, &now)),
            verification,
        })
    })
}

//! How much there is of everything.

use serde::Serialize;

use super::Context;
use super::agents::load_in;
use crate::error::Result;
use crate::run::RunStatus;
use crate::store::records::{ConversationFilter, Tally};
use crate::store::{Filter, Store};
use crate::task::Status;

/// How much there is of everything.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    /// Tasks that are neither done nor cancelled.
    pub(crate) open_tasks: u64,
    /// Number of ready tasks.
    pub(crate) ready_tasks: u64,
    /// Runs in progress, of the user or of all.
    pub(crate) live_runs: u64,
    /// Agents that the user sees.
    pub(crate) agents: u64,
    /// Open tasks that are assigned to an agent.
    pub(crate) open_agent_tasks: u64,
    /// Conversations of the user or of all.
    pub(crate) conversations: u64,
}

/// Counts everything; what is a user's, of that user or of all.
pub(crate) fn counts(context: &mut Context, user: Option<&str>) -> Result<Counts> {
    let now = context.now();
    let is_open = |status| !matches!(status, Status::Done | Status::Cancelled);
    let (open_tasks, ready_tasks, open_agent_tasks) = context.read(|tasks| {
        let by_status = tasks.counts(None)?.into_iter();
        let open = by_status.filter(|(status, _)| is_open(*status));
        let assigned = Filter {
            assigned: Some(true),
            ..Filter::default()
        };
        let assigned = tasks.tally(&assigned, &now)?.into_iter();
        let assigned = assigned.filter(|tally| is_open(tally.status));
        let ready = tasks.ready(None, Some(1))?.total;
        let open = open.map(|(_, tasks)| tasks).sum();
        Ok((open, ready, assigned.map(|tally| tally.tasks).sum()))
    })?;
    let transaction = context.store.read()?;
    let is_live = |tally: &&Tally| matches!(tally.status, RunStatus::Pending | RunStatus::Running);
    let tallies = transaction.tallies(user)?;
    let conversations = transaction.conversations(user, &ConversationFilter::default())?;
    drop(transaction);
    let agents = load_in(&context.workspace)?.keep_visible(user).agents.len() as u64;
    Ok(Counts {
        open_tasks,
        ready_tasks,
        live_runs: tallies.iter().filter(is_live).map(|tally| tally.runs).sum(),
        agents,
        open_agent_tasks,
        conversations: conversations.total,
    })
}

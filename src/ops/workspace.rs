//! Numbers of all things in a workspace.

use serde::Serialize;

use super::Context;
use super::agents::load_in;
use super::work::{count_ready, list_at_work};
use crate::error::Result;
use crate::run::RunStatus;
use crate::store::records::ConversationFilter;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    /// Tasks that are neither done nor cancelled.
    pub(crate) open_tasks: u64,
    /// Tasks that can start, without those that failed or that a live run is going to begin.
    pub(crate) ready_tasks: u64,
    /// Runs in progress, of the user or of all.
    pub(crate) live_runs: u64,
    /// Agents at work, of the user or of all: attempts of runs, executions, and claims outside of runs.
    pub(crate) at_work: u64,
    /// Agents that the user sees.
    pub(crate) agents: u64,
    /// Conversations of the user or of all.
    pub(crate) conversations: u64,
}

/// Counts tasks, and the agents, runs and conversations of a user or of all.
pub(crate) fn counts(context: &mut Context, user: Option<&str>) -> Result<Counts> {
    let agents = load_in(&context.workspace)?.keep_visible(user).agents.len() as u64;
    let at_work = list_at_work(context)?.len() as u64;
    let ready_tasks = count_ready(context)?;
    context.read(|transaction| {
        let by_status = transaction.counts(None)?.into_iter();
        let tallies = transaction.tallies(user)?.into_iter();
        let live = [RunStatus::Pending, RunStatus::Running];
        let live = tallies.filter(|tally| live.contains(&tally.status));
        let conversations = ConversationFilter::default();
        Ok(Counts {
            open_tasks: by_status
                .filter(|(status, _)| !status.is_closed())
                .map(|(_, tasks)| tasks)
                .sum(),
            ready_tasks,
            live_runs: live.map(|tally| tally.runs).sum(),
            at_work,
            agents,
            conversations: transaction.conversations(user, &conversations)?.total,
        })
    })
}

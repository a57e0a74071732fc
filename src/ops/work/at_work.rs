//! The agents at work: attempts of runs, steps of plans and queries, executions, and claims.

use std::sync::Arc;

use serde::Serialize;

use super::tracks::lock;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::runs::open;
use crate::run::coordination::Coordination;
use crate::run::{Run, RunKind, RunProjection, RunStatus, StepState};
use crate::store::Store;
use crate::store::records::RunFilter;
use crate::task::Status;

/// Most runs of a status that are read.
const RUNS_MAX: u32 = 100;
/// Most claims that are read.
const CLAIMS_MAX: u32 = 500;
/// Longest text of a line, in characters.
const TEXT_MAX: usize = 300;

/// An agent at work: an attempt of a live run, an execution, a step of a plan or query (or its coordinator), or a claim
/// of a task outside of runs.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct AtWork {
    pub(crate) run: Option<String>,
    pub(crate) task: Option<TaskId>,
    pub(crate) title: String,
    /// The runner, the agent, or the holder of the claim.
    pub(crate) agent: Option<String>,
    pub(crate) attempt: Option<u32>,
    /// Whether its agent has ended and cleo verifies the work.
    pub(crate) verifying: bool,
    pub(crate) since: String,
    /// The last line of its log, else its current action.
    pub(crate) line: Option<String>,
}

/// Lists all agents at work that the caller sees.
pub(crate) fn list_at_work(context: &mut Context) -> Result<Vec<AtWork>> {
    let (user, now) = (context.visible_user(), context.now());
    let cache = Arc::clone(&context.cache);
    let transaction = open(context)?.read()?;
    let mut tracks = lock(&cache.tracks);
    let mut all = Vec::new();
    for status in [RunStatus::Running, RunStatus::Pending] {
        for run in transaction
            .runs(user.as_deref(), &RunFilter::by_status(status, RUNS_MAX))?
            .runs
        {
            match run.kind {
                RunKind::Epic | RunKind::Tasks => {
                    let track = tracks.update(&*transaction, &run.id, &[])?;
                    all.extend(list_attempts(&run, track));
                }
                RunKind::Plan | RunKind::Query => {
                    let Coordination { state, asked, .. } =
                        &tracks.update(&*transaction, &run.id, &[])?.coordination;
                    let asked = asked
                        .iter()
                        .map(|(step, agent)| (agent, format!("step {step}")));
                    let asked =
                        asked.map(|(agent, line)| describe_run(&run, Some(agent), Some(line)));
                    let before = all.len();
                    all.extend(asked);
                    if all.len() == before {
                        all.push(describe_run(&run, None, Some(state.to_string())));
                    }
                }
                RunKind::Execution => all.push(describe_run(&run, run.agent.as_ref(), None)),
            }
        }
    }
    for claim in transaction.running_claims(&now, CLAIMS_MAX)? {
        // The holder of a task of a run is that run.
        let holder = claim.holder.as_deref().unwrap_or_default();
        if transaction.status(claim.task)? != Some(Status::Active)
            || transaction.run(holder)?.is_some()
        {
            continue;
        }
        // A damaged one has a finding of its own.
        let Some(task) = transaction.readable(&[claim.task])?.pop() else {
            continue;
        };
        all.push(AtWork {
            run: None,
            task: Some(claim.task),
            title: task.title,
            agent: claim.holder,
            attempt: None,
            verifying: false,
            since: claim.since,
            line: task.notes.last().map(|note| cut(&note.text)),
        });
    }
    all.sort_by(|a, b| (&a.since, a.task).cmp(&(&b.since, b.task)));
    Ok(all)
}

fn describe_run(run: &Run, agent: Option<&String>, line: Option<String>) -> AtWork {
    AtWork {
        title: cut(run.input.lines().next().unwrap_or_default()),
        run: Some(run.id.clone()),
        task: None,
        agent: agent.or(Some(&run.supervisor)).cloned(),
        attempt: None,
        verifying: false,
        since: run.started_at.clone(),
        line,
    }
}

fn list_attempts(run: &Run, track: &RunProjection) -> Vec<AtWork> {
    let tasks = track.tasks().iter();
    let tasks = tasks.filter(|task| task.state.is_under_way() && !task.planned.is_epic);
    let attempts = tasks.map(|task| AtWork {
        run: Some(run.id.clone()),
        task: Some(task.planned.task_id),
        title: task.planned.title.clone(),
        agent: task.setup.runner.clone(),
        attempt: task.history.last().map(|last| last.attempt),
        verifying: task.state == StepState::Verifying,
        since: (task.history.last().map(|last| &last.started_at))
            .unwrap_or(&run.started_at)
            .clone(),
        line: task.doing.as_deref().map(cut),
    });
    attempts.collect()
}

pub(super) fn cut(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

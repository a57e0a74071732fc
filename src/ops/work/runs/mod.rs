//! Runs as people look at them: one with all that happened in it, lists, pages of events and logs, what proves
//! an attempt, why a run is in its state, and files for others.

pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod listing;
mod log_lines;
pub(crate) mod logs;
pub(crate) mod pages;
pub(crate) mod proof;
pub(crate) mod why;
pub(crate) mod words;

use std::sync::Arc;

use clap::Args;
use serde::Deserialize;

use super::tracks::lock;
use crate::error::Result;
use crate::ops::Context;
use crate::ops::runs::{liveness, no_run};
use crate::run::view::RunView;
use crate::run::{RunKind, RunProjection};
use crate::store::Store;

/// Most events of a run that are shown.
const EVENTS_MAX: u32 = 10_000;

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneRun {
    /// Id of the run
    #[arg(value_name = "RUN")]
    pub(crate) id: String,
}

pub(crate) fn show(context: &mut Context, id: &str) -> Result<RunView> {
    view(context, id, true)?.ok_or_else(|| no_run(id))
}

/// Shows a run without its events, for callers that stream them.
pub(crate) fn watch(context: &mut Context, which: OneRun) -> Result<RunView> {
    view(context, &which.id, false)?.ok_or_else(|| no_run(&which.id))
}

/// Reads a run of the caller, or of any user where the caller sees all.
pub(crate) fn view(context: &mut Context, id: &str, has_events: bool) -> Result<Option<RunView>> {
    let (workspace, clock) = (context.workspace.clone(), context.surroundings.clock);
    let user = context.visible_user();
    let cache = Arc::clone(&context.cache);
    let store = &mut context.store;
    let run = store.read()?.run(id)?;
    if run.is_some_and(|run| !run.is_over()) {
        liveness::mark_interrupted_runs(store, &workspace, &clock)?;
    }
    let transaction = store.read()?;
    let run = transaction.run(id)?;
    let Some(run) = run.filter(|run| user.is_none_or(|user| user == run.user)) else {
        return Ok(None);
    };
    let events = match has_events || run.kind == RunKind::Execution {
        true => transaction.events(Some(id), 0, EVENTS_MAX)?,
        false => Vec::new(),
    };
    let now = clock.timestamp();
    let mut view = match run.kind {
        // Executions are many and short: none evicts a run that is watched.
        RunKind::Execution => RunView::new(run, &RunProjection::read(&events), &events, now),
        _ => {
            let mut tracks = lock(&cache.tracks);
            let track = tracks.update(&*transaction, id, &events)?;
            RunView::new(run, track, &events, now)
        }
    };
    view.messages = transaction.run_messages(id)?;
    view.events = has_events.then_some(events);
    Ok(Some(view))
}

//! What the graph says: dependencies, what is ready, what comes next, waves, the longest way; and what
//! was done.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, Query};
use super::super::route::Route;
use super::task;
use crate::error::Result;
use crate::http::call::bounded;
use crate::id::TaskId;
use crate::ops::log::{self, Logged};
use crate::ops::tasks::{self, Analysis, Dependencies, Next, Ready, Waves};
use crate::store::OperationFilter;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/tasks/{id}/deps", deps)
            .about("Shows what a task depends on and what depends on it"),
        Route::get("/api/work/ready", ready).about("Lists what can start now, most urgent first"),
        Route::get("/api/work/next", next).about("Shows the task to take next, and why"),
        Route::get("/api/work/waves", waves)
            .about("Shows open tasks in waves, from 0, as a run would take them"),
        Route::get("/api/work/analysis", analysis)
            .about("Shows how a graph is doing: totals, the longest way, where it is narrow"),
        Route::get("/api/work/log", logged).about("Lists what was done to tasks, newest first"),
    ]
}

/// A part of the graph.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Part {
    /// Only what is below this task.
    epic: Option<TaskId>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 1000)))]
    limit: Option<u32>,
}

/// A part of the graph.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Below {
    /// Only what is below this task.
    pub(super) epic: Option<TaskId>,
}

/// Which operations.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LogQuery {
    /// Only those that changed this task.
    task: Option<TaskId>,
    /// Only those before the one of this number.
    before: Option<u64>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 500)))]
    limit: Option<u32>,
}

fn deps(call: &Call) -> Result<Json<Dependencies>> {
    let id = task(call)?;
    Ok(Json(tasks::deps(&mut *call.context("deps")?, id)?))
}

fn ready(call: &Call, Query(part): Query<Part>) -> Result<Json<Ready>> {
    let limit = bounded(part.limit, 50, 1_000)?;
    let context = &mut *call.context("orchestrator.ready")?;
    Ok(Json(tasks::ready(context, part.epic, Some(limit))?))
}

fn next(call: &Call, Query(part): Query<Below>) -> Result<Json<Next>> {
    Ok(Json(tasks::next(&mut *call.context("next")?, part.epic)?))
}

fn waves(call: &Call, Query(part): Query<Part>) -> Result<Json<Waves>> {
    let limit = bounded(part.limit, 100, 1_000)?;
    let context = &mut *call.context("orchestrator.waves")?;
    Ok(Json(tasks::waves(context, part.epic, Some(limit))?))
}

fn analysis(call: &Call, Query(part): Query<Part>) -> Result<Json<Analysis>> {
    let limit = bounded(part.limit, 10, 1_000)?;
    let context = &mut *call.context("orchestrator.analyze")?;
    Ok(Json(tasks::analyze(context, part.epic, limit)?))
}

fn logged(call: &Call, Query(query): Query<LogQuery>) -> Result<Json<Logged>> {
    let filter = OperationFilter {
        task: query.task,
        before: query.before,
        limit: Some(bounded(query.limit, 50, 500)?),
        ..OperationFilter::default()
    };
    Ok(Json(log::log(&mut *call.context("log")?, &filter)?))
}

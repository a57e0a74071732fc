//! Runs: listed, watched, begun, ended, gone on with. Those that run commands go on in a process of
//! their own, so that they outlive this one.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::call::bounded;
use super::extract::{Json, OptionalJson, Query, Reply, StrictJson};
use super::route::Route;
use crate::coordinator;
use crate::coordinator::detached::{self, Begun, Wish};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::runs::listing::{self, Rows, RunRow, Wanted};
use crate::ops::runs::pages::{self, EventPage, LogPage, LogWanted, PromptText};
use crate::ops::runs::proof::{self, Proof};
use crate::ops::runs::timeline::{self, Watched};
use crate::ops::runs::written;
use crate::ops::tokens::Scope;
use crate::store::agency::Agency;

/// What the page of a run may do in a browser: nothing but be looked at.
const SEALED: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::get("/api/runs", list).about("Lists what agents carried out, newest first"),
        Route::post("/api/runs", begin)
            .about("Has tasks carried out by agents, in a process of its own")
            .scope(Scope::Admin)
            .answers::<Started>(202)
            .answers::<serde_json::Value>(200),
        Route::get("/api/runs/{id}", show).about("Shows a run with its timeline"),
        Route::get("/api/runs/{id}/events", events)
            .about("Lists what happened in a run after a cursor"),
        Route::get("/api/runs/{id}/log", log).about("Shows lines of what an agent wrote"),
        Route::get(
            "/api/runs/{id}/tasks/{task}/attempts/{attempt}/prompt",
            prompt,
        )
        .about("Shows the prompt of a try"),
        Route::get("/api/runs/{id}/proof", shown_proof)
            .about("Shows what an agent said of a try, and what cleo found"),
        Route::get("/api/runs/{id}/report", report)
            .about("Writes a run as one page that needs nothing else")
            .sends(200, "text/html; charset=utf-8"),
        Route::post("/api/runs/{id}/cancel", cancel)
            .about("Asks for the end of a run, and waits a while for it"),
        Route::post("/api/runs/{id}/resume", resume)
            .about("Goes on with a run that was interrupted, failed or was cancelled")
            .scope(Scope::Admin),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("runs")).collect()
}

/// Which events.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventQuery {
    /// Cursor after which to begin.
    since: Option<u64>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 1000)))]
    limit: Option<u32>,
    task: Option<TaskId>,
}

/// Which try.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProofQuery {
    task: TaskId,
    attempt: Option<u32>,
}

/// An empty object.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

/// A run that was begun, or goes on.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Started {
    run: RunRow,
    /// What somebody would type for the same.
    command: String,
}

/// A run that is to end.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Asked {
    run: RunRow,
}

fn list(call: &Call, Query(mut wanted): Query<Wanted>) -> Result<Json<Rows>> {
    bounded(Some(wanted.limit), 50, 500)?;
    wanted.user = call.only().map(String::from);
    let surroundings = call.surroundings("runs.list");
    Ok(Json(listing::rows(
        &surroundings,
        &mut call.memory(),
        &wanted,
    )?))
}

fn watched(call: &Call) -> Result<Watched> {
    let surroundings = call.surroundings("runs.show");
    timeline::watched(
        &surroundings,
        &mut call.memory(),
        call.part("id"),
        call.only(),
    )
}

fn show(call: &Call) -> Result<Json<Watched>> {
    watched(call).map(Json)
}

fn events(call: &Call, Query(query): Query<EventQuery>) -> Result<Json<EventPage>> {
    let limit = bounded(query.limit, 200, 1_000)?;
    let (surroundings, since) = (call.surroundings("runs.logs"), query.since.unwrap_or(0));
    let id = call.part("id");
    Ok(Json(pages::events(
        &surroundings,
        id,
        call.only(),
        query.task,
        since,
        limit,
    )?))
}

fn log(call: &Call, Query(wanted): Query<LogWanted>) -> Result<Json<LogPage>> {
    bounded(Some(wanted.limit), 500, 2_000)?;
    let surroundings = call.surroundings("runs.logs");
    let id = call.part("id");
    Ok(Json(pages::log(
        &surroundings,
        &mut call.memory(),
        id,
        call.only(),
        &wanted,
    )?))
}

fn prompt(call: &Call) -> Result<Json<PromptText>> {
    let task = call.id("task")?;
    let attempt = call.part("attempt").parse::<u32>().map_err(|_| {
        let message = "the number of a try is a number from 1";
        Error::new(Code::InputInvalid, message)
    })?;
    let surroundings = call.surroundings("runs.logs");
    Ok(Json(pages::prompt(
        &surroundings,
        call.part("id"),
        call.only(),
        task,
        attempt,
    )?))
}

fn shown_proof(call: &Call, Query(query): Query<ProofQuery>) -> Result<Json<Proof>> {
    let context = &mut *call.context("runs.show")?;
    let (memory, id) = (&mut call.memory(), call.part("id"));
    Ok(Json(proof::proof(
        context,
        memory,
        id,
        call.only(),
        query.task,
        query.attempt,
    )?))
}

fn report(call: &Call) -> Result<Answer> {
    let id = call.part("id");
    let page = written::html(&call.surroundings("runs.show"), id, call.only())?;
    let name = format!("attachment; filename=\"{id}.html\"");
    Ok(Answer::bytes("text/html; charset=utf-8", page)
        .header(CONTENT_SECURITY_POLICY, SEALED)
        .header(CONTENT_DISPOSITION, &name))
}

fn begin(call: &Call, StrictJson(wish): StrictJson<Wish>) -> Result<Answer> {
    let surroundings = call.surroundings("run");
    if wish.dry_run {
        return Answer::ok(&detached::rehearse(&surroundings, &wish)?);
    }
    started(call, detached::begin(&surroundings, &wish)?)?.answer()
}

fn resume(
    call: &Call,
    OptionalJson(Nothing {}): OptionalJson<Nothing>,
) -> Result<Json<Started, 202>> {
    owned(call)?;
    let begun = detached::resume(&call.surroundings("runs.resume"), call.part("id"))?;
    started(call, begun)
}

fn owned(call: &Call) -> Result<()> {
    let mut agency = call.agency()?;
    let transaction = agency.read()?;
    listing::owned(&*transaction, call.part("id"), call.only()).map(drop)
}

pub(super) fn started(call: &Call, begun: Begun) -> Result<Json<Started, 202>> {
    let surroundings = call.surroundings("runs.show");
    let run = timeline::watched(&surroundings, &mut call.memory(), &begun.run, None)?;
    Ok(Json(Started {
        run: run.run.row,
        command: begun.command,
    }))
}

fn cancel(
    call: &Call,
    OptionalJson(Nothing {}): OptionalJson<Nothing>,
) -> Result<Json<Asked, 202>> {
    owned(call)?;
    coordinator::cancel(&call.surroundings("runs.cancel"), call.part("id"))?;
    let run = watched(call)?.run.row;
    Ok(Json(Asked { run }))
}

//! Starts, cancels, resumes and exports runs. Runs that execute commands have their own process, so
//! that they outlive this one.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use serde::Serialize;

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::coordinator;
use crate::coordinator::detached::{self, format_command};
use crate::coordinator::request::RunRequest;
use crate::error::Result;
use crate::ops::operation::Nothing;
use crate::ops::runs::{no_run, require_run};
use crate::ops::tokens::Scope;
use crate::ops::work::runs::{self, export};
use crate::run::view::RunRow;

/// Content security policy of a run page: no scripts, no requests.
const SEALED: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::post("/api/runs", begin)
            .about("Runs tasks with agents, in its own process")
            .scope(Scope::Admin)
            .takes::<RunRequest>()
            .answers::<Started>(202)
            .answers::<serde_json::Value>(200),
        Route::get("/api/runs/{id}/report", report)
            .about("Exports a run as a self-contained HTML page")
            .sends(200, "text/html; charset=utf-8"),
        Route::post("/api/runs/{id}/cancel", cancel)
            .about("Cancels a run, and waits a while for its end")
            .takes::<Nothing>()
            .or_nothing()
            .answers::<Started>(202),
        Route::post("/api/runs/{id}/resume", resume)
            .about("Resumes an interrupted, failed or cancelled run")
            .takes::<Nothing>()
            .or_nothing()
            .answers::<Started>(202)
            .scope(Scope::Admin),
    ];
    routes.map(|route| route.tag("runs")).into()
}

/// A run that was started, resumed or cancelled.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Started {
    run: RunRow,
    /// Command line that starts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

fn report(call: &Call) -> Result<Answer> {
    let id = call.path_segment("id");
    let page = export::html(&mut *call.context("runs.show")?, id)?;
    let name = format!("attachment; filename=\"{id}.html\"");
    Ok(Answer::bytes("text/html; charset=utf-8", page)
        .header(CONTENT_SECURITY_POLICY, SEALED)
        .header(CONTENT_DISPOSITION, &name))
}

fn begin(call: &Call) -> Result<Answer> {
    let (surroundings, request) = (call.surroundings("run"), call.body::<RunRequest>()?);
    if request.dry_run {
        return Answer::ok(&detached::rehearse(&surroundings, &request)?);
    }
    let words = request.words()?;
    let run = detached::begin(&surroundings, &words, None)?;
    answer_started(call, &run, format_command(&words))
}

fn resume(call: &Call) -> Result<Answer> {
    call.refuse_body()?;
    check_owner(call)?;
    let words = ["runs", "resume", call.path_segment("id")].map(String::from);
    let run = detached::begin(&call.surroundings("runs.resume"), &words, None)?;
    answer_started(call, &run, format_command(&words))
}

fn check_owner(call: &Call) -> Result<()> {
    let mut context = call.context("runs.show")?;
    context.read(|transaction| {
        require_run(transaction, call.path_segment("id"), call.visible_user()).map(drop)
    })
}

pub(super) fn answer_started(call: &Call, run: &str, command: String) -> Result<Answer> {
    let started = Started {
        run: row(call, run)?,
        command: Some(command),
    };
    Answer::json(StatusCode::ACCEPTED, &started)
}

fn row(call: &Call, id: &str) -> Result<RunRow> {
    let shown = runs::view(&mut *call.context("runs.show")?, id, false)?;
    shown.map(|shown| shown.run).ok_or_else(|| no_run(id))
}

fn cancel(call: &Call) -> Result<Answer> {
    call.refuse_body()?;
    check_owner(call)?;
    coordinator::cancel(&call.surroundings("runs.cancel"), call.path_segment("id"))?;
    let run = row(call, call.path_segment("id"))?;
    Answer::json(StatusCode::ACCEPTED, &Started { run, command: None })
}

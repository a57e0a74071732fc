//! Tasks in and out as texts. No file of this machine is read or written for it. What goes out and comes in
//! says to which agents tasks are assigned, also to those that not every user sees.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::extract::{Query, StrictJson, Verdict};
use super::super::route::Route;
use super::context_as;
use crate::error::Result;
use crate::ops::tokens::Scope;
use crate::ops::transfer::{self, Request, Target};
use crate::transfer::report::Report;

/// JSON lines, as they are called in headers.
const LINES: &str = "application/x-ndjson";
/// A page for people, as it is called in headers.
const PAGE: &str = "text/markdown; charset=utf-8";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/work/import", import)
            .about("Takes over the tasks of a text of cleo's or another tool's, all or none")
            .scope(Scope::Admin),
        Route::get("/api/work/export", export)
            .about("Writes all tasks as JSON lines, which can be imported, or as Markdown")
            .scope(Scope::Admin)
            .sends(200, LINES)
            .sends(200, PAGE),
    ]
}

/// As what to write tasks.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportQuery {
    /// JSON lines unless told.
    format: Option<Target>,
}

fn import(call: &Call, StrictJson(request): StrictJson<Request>) -> Result<Verdict<Report>> {
    let context = &mut *context_as(call, "import", request.agent.as_deref())?;
    let imported = transfer::import_text(context, request)?;
    Ok(Verdict(imported.report, imported.error))
}

fn export(call: &Call, Query(query): Query<ExportQuery>) -> Result<Answer> {
    let target = query.format.unwrap_or(Target::Jsonl);
    let mime = match target {
        Target::Markdown => PAGE,
        Target::Jsonl => LINES,
    };
    let exported = transfer::export(&mut *call.context("export")?, target, None)?;
    Ok(Answer::bytes(mime, exported.text.unwrap_or_default()))
}

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
use crate::transfer::Format;
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

/// What to take over.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToImport {
    /// Who acts.
    agent: Option<String>,
    /// The text of the file.
    text: String,
    /// What it is, instead of finding out. Folders (backlog) are imported by the command only.
    from: Option<Format>,
    /// Report what would be taken over, and write nothing.
    #[serde(default)]
    dry_run: bool,
    /// Leave out what is done or cancelled.
    #[serde(default)]
    open_only: bool,
    /// Go on without lines, references and edges that cannot be taken over; all are reported.
    #[serde(default)]
    drop_faults: bool,
}

/// As what to write tasks.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportQuery {
    /// JSON lines unless told.
    format: Option<Target>,
}

fn import(call: &Call, StrictJson(wanted): StrictJson<ToImport>) -> Result<Verdict<Report>> {
    let request = Request {
        from: wanted.from,
        dry_run: wanted.dry_run,
        open_only: wanted.open_only,
        drop_faults: wanted.drop_faults,
        ..Request::default()
    };
    let context = &mut *context_as(call, "import", wanted.agent.as_deref())?;
    let imported = transfer::import_text(context, wanted.text, request)?;
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

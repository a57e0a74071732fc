//! Tasks in and out as texts. No file of this machine is read or written for it. What goes out and comes in
//! says to which agents tasks are assigned, also to those that not every user sees.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::extract::Query;
use super::super::route::Route;
use crate::error::Result;
use crate::ops::tokens::Scope;
use crate::ops::transfer::{self, Target};

/// JSON lines, as they are called in headers.
const LINES: &str = "application/x-ndjson";
/// A page for people, as it is called in headers.
const PAGE: &str = "text/markdown; charset=utf-8";

pub(super) fn routes() -> Vec<Route> {
    vec![
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

fn export(call: &Call, Query(query): Query<ExportQuery>) -> Result<Answer> {
    let target = query.format.unwrap_or(Target::Jsonl);
    let mime = match target {
        Target::Markdown => PAGE,
        Target::Jsonl => LINES,
    };
    let exported = transfer::export(&mut *call.context("export")?, target, None)?;
    Ok(Answer::bytes(mime, exported.text.unwrap_or_default()))
}

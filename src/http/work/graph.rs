//! The graph as it is drawn, and rows of lists and boards.

use axum::http::StatusCode;
use axum::http::header::{ETAG, IF_NONE_MATCH};
use serde::Deserialize;

use super::super::answer::{Answer, JSON};
use super::super::call::Call;
use super::super::extract::{Json, Query};
use super::super::route::Route;
use crate::error::Result;
use crate::http::call::bounded;
use crate::id::{TaskId, digest};
use crate::ops::work::{self, Choice, Dir, GraphShown, GraphWanted, Order, RowsShown, RowsWanted};
use crate::store::agency::Agency;
use crate::task::layout::Folding;
use crate::task::{Priority, State, Status};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/graph", graph)
            .about("Draws the graph of an epic, or of everything: waves from left to right")
            .answers::<GraphShown>(200)
            .sends(304, ""),
        Route::get("/api/work/rows", rows)
            .about("Lists tasks as they stand, counted, filtered and sorted"),
    ]
}

/// Which graph.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GraphQuery {
    /// Only what is below this task.
    epic: Option<TaskId>,
    /// Whether finished waves are folded; they are unless told.
    collapse_done: Option<bool>,
    /// Keys of lanes and stacks that are not folded, between commas.
    #[serde(default)]
    unfold: Vec<String>,
    /// Only tasks that stand at one of these, between commas.
    #[serde(default)]
    only: Vec<State>,
}

fn graph(call: &Call, Query(query): Query<GraphQuery>) -> Result<Answer> {
    let (context, agency) = (&mut *call.context("graph")?, &mut *call.agency()?);
    let asked = call.uri.query().unwrap_or_default();
    let cursors = (
        context.read(|transaction| transaction.last_cursor())?,
        agency.read()?.last_event()?,
    );
    let tag = tag(cursors, asked, call.only());
    let known = call.header(IF_NONE_MATCH.as_str())?;
    if known.is_some_and(|known| known.trim() == "*" || known.contains(&tag)) {
        let same = Answer::bytes(JSON, "").under(StatusCode::NOT_MODIFIED);
        return Ok(same.header(ETAG, &tag));
    }
    let wanted = GraphWanted {
        epic: query.epic,
        only: query.only,
        folding: Folding {
            done: query.collapse_done.unwrap_or(true),
            open: query.unfold.into_iter().collect(),
        },
    };
    let shown = work::graph(
        context,
        Some(agency),
        &mut call.memory(),
        call.only(),
        &wanted,
    )?;
    Ok(Answer::ok(&shown)?.header(ETAG, &tag))
}

/// Names a version of a graph: what was read, and what was asked for by whom.
fn tag((changes, events): (u64, u64), asked: &str, user: Option<&str>) -> String {
    let asked = digest(format!("{user:?} {asked}").as_bytes());
    format!(
        "\"{changes}-{events}-{}\"",
        asked.get(7..15).unwrap_or_default()
    )
}

/// Which rows.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RowsQuery {
    /// Only what is below this task.
    epic: Option<TaskId>,
    /// Only tasks that stand at one of these, between commas.
    #[serde(default)]
    state: Vec<State>,
    /// Only tasks with one of these statuses, between commas.
    #[serde(default)]
    status: Vec<Status>,
    /// Only tasks with one of these priorities, between commas.
    #[serde(default)]
    priority: Vec<Priority>,
    /// Words to look for in title and id.
    q: Option<String>,
    sort: Option<Order>,
    dir: Option<Dir>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 500)))]
    limit: Option<u32>,
    offset: Option<u32>,
}

fn rows(call: &Call, Query(query): Query<RowsQuery>) -> Result<Json<RowsShown>> {
    let wanted = RowsWanted {
        epic: query.epic,
        choice: Choice {
            states: query.state,
            statuses: query.status,
            priorities: query.priority,
            words: query.q.unwrap_or_default(),
            order: query.sort.unwrap_or_default(),
            dir: query.dir.unwrap_or_default(),
        },
        limit: bounded(query.limit, 100, 500)? as usize,
        offset: query.offset.unwrap_or(0) as usize,
    };
    let (context, agency) = (&mut *call.context("list")?, &mut *call.agency()?);
    Ok(Json(work::rows(
        context,
        Some(agency),
        &mut call.memory(),
        call.only(),
        &wanted,
    )?))
}

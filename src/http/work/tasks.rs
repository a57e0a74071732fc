//! A task with all that is known of it.

use super::super::call::Call;
use super::super::extract::Json;
use super::super::route::Route;
use super::task;
use crate::error::Result;
use crate::ops::work::{self, TaskPage};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/tasks/{id}", show).about("Shows a task with all that is known of it"),
    ]
}

fn show(call: &Call) -> Result<Json<TaskPage>> {
    let id = task(call)?;
    let (context, agency) = (&mut *call.context("show")?, &mut *call.agency()?);
    Ok(Json(work::page(
        context,
        Some(agency),
        &mut call.memory(),
        call.only(),
        id,
    )?))
}

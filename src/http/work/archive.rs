//! Closed tasks, put away and taken out again.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, StrictJson};
use super::super::route::Route;
use super::{Done, context_as, last_operation};
use crate::clock::{Clock, parse_past};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::{self, Archival, Selection};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/work/archive", archive)
            .about("Puts closed tasks away: those named, or all that were closed before a moment"),
        Route::post("/api/work/unarchive", unarchive)
            .about("Takes tasks out of the archive, each with everything below it"),
    ]
}

/// What to put away.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ToArchive {
    /// Who acts.
    agent: Option<String>,
    /// These tasks, each with everything below it.
    tasks: Vec<TaskId>,
    /// All that were done or cancelled before this date or time, or longer ago than an age such as 30d.
    done_before: Option<String>,
    /// Only this task and what is below it; alone, all of it.
    epic: Option<TaskId>,
    /// Only say what would be put away.
    dry_run: bool,
}

/// What to take out.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToUnarchive {
    /// Who acts.
    agent: Option<String>,
    /// These tasks, each with everything below it.
    tasks: Vec<TaskId>,
    /// Only say what would be taken out.
    #[serde(default)]
    dry_run: bool,
}

impl ToArchive {
    fn selection(&self, clock: Clock) -> Result<Selection> {
        if self.epic.is_some() && !self.tasks.is_empty() {
            return Err(refused("`epic` cannot stand beside `tasks`"));
        }
        let moment = self.done_before.as_deref();
        let closed_before = moment
            .map(|text| {
                let can_be =
                    "`doneBefore` can be a date such as 2026-01-26, a time, or an age such as 30d";
                parse_past(text, clock.now()).ok_or_else(|| refused(can_be))
            })
            .transpose()?;
        let alone = self.epic.filter(|_| closed_before.is_none());
        let tasks: Vec<TaskId> = self.tasks.iter().copied().chain(alone).collect();
        if tasks.is_empty() && closed_before.is_none() {
            return Err(refused(
                "say what to archive: `tasks`, `doneBefore` or `epic`",
            ));
        }
        Ok(Selection {
            tasks,
            closed_before,
            epic: self.epic,
        })
    }
}

fn refused(message: &str) -> Error {
    Error::new(Code::InputInvalid, message)
}

fn archive(call: &Call, StrictJson(wanted): StrictJson<ToArchive>) -> Result<Json<Done<Archival>>> {
    let context = &mut *context_as(call, "archive", wanted.agent.as_deref())?;
    let selection = wanted.selection(context.surroundings.clock)?;
    let archival = tasks::archive(context, &selection, wanted.dry_run)?;
    answered(context, archival)
}

fn unarchive(
    call: &Call,
    StrictJson(wanted): StrictJson<ToUnarchive>,
) -> Result<Json<Done<Archival>>> {
    if wanted.tasks.is_empty() {
        let message = "say what to take out of the archive: `tasks`";
        return Err(refused(message));
    }
    let context = &mut *context_as(call, "unarchive", wanted.agent.as_deref())?;
    let archival = tasks::unarchive(context, &wanted.tasks, wanted.dry_run)?;
    answered(context, archival)
}

/// All tasks were moved by one operation, which is the last on each.
fn answered(context: &mut Context, archival: Archival) -> Result<Json<Done<Archival>>> {
    let operation = match archival.tasks.first() {
        Some(id) if !archival.dry_run => last_operation(context, *id)?,
        _ => None,
    };
    Ok(Done::reply(archival, Vec::new(), operation))
}

//! Tasks: listed, shown, added, changed, deleted.

use serde::{Deserialize, Serialize};

use super::super::answer::Answer;
use super::super::assigned;
use super::super::call::Call;
use super::super::extract::{Json, Query, StrictJson};
use super::super::route::Route;
use super::{Done, change_task, task, words};
use crate::error::{Code, Error, Result};
use crate::http::call::bounded;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::{self, Added, Deleted, Listed, Patch};
use crate::ops::tokens::Scope;
use crate::ops::trust::{Item, Trust, vouch};
use crate::ops::work::{self, TaskPage};
use crate::store::{Archived, Filter};
use crate::task::Task;
use crate::task::draft::Draft;

pub(super) fn routes() -> Vec<Route> {
    let one = "/api/work/tasks/{id}";
    vec![
        Route::get("/api/work/tasks", list).about("Lists tasks by id"),
        Route::post("/api/work/tasks", add)
            .about("Adds a task; one whose key is known adds nothing")
            .takes::<Draft>()
            .answers::<Done<Added>>(200)
            .answers::<Done<Added>>(201),
        Route::get(one, show).about("Shows a task with all that is known of it"),
        Route::patch(one, change).about("Changes fields of a task; what is left out stays"),
        Route::delete(one, delete).about("Deletes a task"),
    ]
}

/// Which tasks; lists are words between commas.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListQuery {
    status: Option<String>,
    r#type: Option<String>,
    label: Option<String>,
    priority: Option<String>,
    parent: Option<TaskId>,
    phase: Option<String>,
    agent: Option<String>,
    feature: Option<String>,
    holder: Option<String>,
    claimed: Option<bool>,
    archived: Option<Archived>,
    /// Words to look for in title and description.
    q: Option<String>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 500)))]
    limit: Option<u32>,
    offset: Option<u32>,
}

fn list(call: &Call, Query(query): Query<ListQuery>) -> Result<Json<Listed>> {
    let limit = bounded(query.limit, 50, 500)?;
    let archived = query.archived.unwrap_or_default();
    let context = &mut *call.context("list")?;
    if let Some(words) = query.q.as_deref().filter(|words| !words.trim().is_empty()) {
        return Ok(Json(tasks::find(context, words, archived, limit)?));
    }
    let labels: Vec<String> = words(query.label.as_deref())?;
    let filter = Filter {
        statuses: words(query.status.as_deref())?,
        labels,
        kinds: words(query.r#type.as_deref())?,
        parent: query.parent,
        priorities: words(query.priority.as_deref())?,
        phase: query.phase,
        agent: assigned::sought(call, query.agent)?,
        feature: query.feature,
        claimed: query.claimed.unwrap_or(false),
        holder: query.holder,
        archived,
        limit: Some(limit),
        offset: query.offset.unwrap_or(0),
        ..Filter::default()
    };
    Ok(Json(tasks::list(context, &filter)?))
}

fn add(call: &Call) -> Result<Answer> {
    // Asked for its type only: the reader of drafts has better words for what is wrong.
    let _: serde::de::IgnoredAny = call.body()?;
    let draft = Draft::from_json(&call.body)?.checked()?;
    let context = &mut *call.context("add")?;
    assigned::check(call, context, draft.assigned_agent.as_deref())?;
    let commands = given_commands(call, context, &draft.acceptance)?;
    let added = tasks::add(context, vec![draft])?.pop();
    let added = added.ok_or_else(|| Error::new(Code::Internal, "no task was added"))?;
    let is_new = added.created;
    let warnings = match is_new {
        true => vouch(&context.surroundings, &context.workspace, &commands),
        false => Vec::new(),
    };
    let operation = match is_new {
        true => super::last_operation(context, added.task.id)?,
        false => None,
    };
    let done = Done {
        result: added,
        warnings,
        operation,
    };
    match is_new {
        true => Answer::created(&done),
        false => Answer::ok(&done),
    }
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

/// A task that was changed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Kept {
    task: Task,
}

fn change(call: &Call, StrictJson(mut patch): StrictJson<Patch>) -> Result<Json<Done<Kept>>> {
    let agent = patch.agent.take();
    if patch.is_empty() {
        let id = task(call)?;
        let message = format!("nothing to change in {id}: no field was given");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let update = |context: &mut Context, id| {
        assigned::check(call, context, patch.assigned_agent.as_deref())?;
        let commands = given_commands(call, context, &patch.add_acceptance)?;
        let (task, mut warnings) = tasks::update(context, id, patch)?;
        warnings.extend(vouch(&context.surroundings, &context.workspace, &commands));
        Ok((Kept { task }, warnings))
    };
    let ((kept, warnings), operation) = change_task(call, "update", agent.as_deref(), update)?;
    Ok(Done::reply(kept, warnings, operation))
}

/// Returns the commands of criteria that a caller gives. Only an admin, who may have them run, may give
/// one that this user has not trusted here before.
fn given_commands(call: &Call, context: &Context, lines: &[String]) -> Result<Vec<Item>> {
    let items = Item::criteria(TaskId(0), lines);
    let trust = Trust::new(&context.surroundings, &context.workspace);
    if items.iter().all(|item| trust.is_trusted(item)) {
        return Ok(Vec::new());
    }
    call.require(Scope::Admin)?;
    Ok(items)
}

/// How to delete a task.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DeleteQuery {
    /// With its parts.
    cascade: Option<bool>,
    /// Also when others depend on it, or somebody holds it.
    force: Option<bool>,
    /// Only say what would go.
    dry_run: Option<bool>,
}

fn delete(call: &Call, Query(query): Query<DeleteQuery>) -> Result<Json<Done<Deleted>>> {
    let is = |word: Option<bool>| word.unwrap_or(false);
    let (cascade, force, dry_run) = (is(query.cascade), is(query.force), is(query.dry_run));
    let delete = |context: &mut _, id| tasks::delete(context, id, cascade, force, dry_run);
    let (result, operation) = change_task(call, "delete", None, delete)?;
    Ok(Done::reply(result, Vec::new(), operation))
}

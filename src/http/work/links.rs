//! What earlier work found for a task, and the rules that its prompt carries.

use serde::{Deserialize, Serialize};

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::extract::{Json, StrictJson};
use super::super::route::Route;
use super::{context_as, task};
use crate::error::Result;
use crate::ops::research::{self, Linked, Links};
use crate::ops::spawn;

pub(super) fn routes() -> Vec<Route> {
    let links = "/api/work/tasks/{id}/links";
    vec![
        Route::get(links, list)
            .about("Lists the entries that a task is linked to, and where each link stands"),
        Route::post(links, link)
            .about("Links a task and an entry of the manifest; doing it again changes nothing")
            .answers::<Linked>(200)
            .answers::<Linked>(201),
        Route::get("/api/work/tasks/{id}/block", block_for)
            .about("Writes the protocol block for a task, to be appended to a prompt"),
        Route::get("/api/work/block", block)
            .about("Writes the protocol block with its tokens as they are")
            .answers::<ProtocolBlock>(200),
    ]
}

/// What to link a task to.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToLink {
    /// Who acts.
    agent: Option<String>,
    /// Id of the entry.
    entry: String,
}

/// The rules for agents.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct ProtocolBlock {
    block: String,
}

fn list(call: &Call) -> Result<Json<Links>> {
    let id = task(call)?;
    Ok(Json(research::links(
        &mut *call.context("research.links")?,
        id,
    )?))
}

fn link(call: &Call, StrictJson(wanted): StrictJson<ToLink>) -> Result<Answer> {
    let id = task(call)?;
    let context = &mut *context_as(call, "research.link", wanted.agent.as_deref())?;
    let linked = research::link(context, id, &wanted.entry)?;
    match linked.created {
        true => Answer::created(&linked),
        false => Answer::ok(&linked),
    }
}

fn block_for(call: &Call) -> Result<Json<ProtocolBlock>> {
    let id = task(call)?;
    let block = spawn::block_for(&mut *call.context("research.inject")?, id)?;
    Ok(Json(ProtocolBlock { block }))
}

fn block(_: &Call) -> Result<Json<ProtocolBlock>> {
    let block = spawn::block()?;
    Ok(Json(ProtocolBlock { block }))
}

//! What is around tasks: skills, the manifest, search, and whether everything is in order.

use serde::{Deserialize, Serialize};

use super::call::Call;
use super::call::bounded;
use super::extract::{Json, Query};
use super::route::Route;
use super::work::words;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::Entry;
use crate::ops::answers::allows_private;
use crate::ops::doctor::{self, Examined, Patient};
use crate::ops::tokens::Scope;
use crate::ops::work::{Found, Sought, search};
use crate::ops::workers::{self, Checked};
use crate::ops::{manifest, skills};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/skills", list_skills)
            .about("Lists the skills in reach")
            .tag("skills"),
        Route::get("/api/skills/{name}", show_skill)
            .about("Shows a skill with its text")
            .tag("skills"),
        Route::get("/api/manifest", list_entries)
            .about("Lists entries of the manifest, newest last")
            .tag("manifest"),
        Route::post("/api/manifest", append)
            .about("Appends an entry to the manifest; every fault of it is named")
            .tag("manifest")
            .takes::<Entry>(),
        Route::get("/api/manifest/{id}", show_entry)
            .about("Shows an entry of the manifest")
            .tag("manifest"),
        Route::get("/api/search", found)
            .about("Finds tasks, runs, agents and conversations by words")
            .tag("search"),
        Route::get("/api/doctor", examined)
            .about("Looks whether everything is in order")
            .tag("server")
            .scope(Scope::Admin),
        Route::get("/api/workers/check", checked)
            .about("Asks all workers whether they are there")
            .tag("agents")
            .scope(Scope::Admin)
            .asks(|_| true),
    ]
}

/// Which skills.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SkillQuery {
    tier: Option<u8>,
}

/// Which entries.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EntryQuery {
    task: Option<TaskId>,
    /// complete, partial, blocked or archived.
    status: Option<String>,
    topic: Option<String>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 500)))]
    limit: Option<u32>,
}

/// What to look for.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchQuery {
    /// The words; none: what was touched last.
    q: Option<String>,
    /// Only these kinds, between commas: task, run, agent, conversation.
    kinds: Option<String>,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 50)))]
    limit: Option<u32>,
}

/// Entries and lines that are none.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Entries {
    entries: Vec<Entry>,
    total: usize,
    warnings: Vec<String>,
}

/// An entry.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct OneEntry {
    entry: Entry,
    /// Number of its line; none of one that was just appended.
    line: Option<usize>,
    warnings: Vec<String>,
}

fn list_skills(call: &Call, Query(query): Query<SkillQuery>) -> Result<Json<skills::Listed>> {
    Ok(Json(skills::list(
        &call.surroundings("skills.list"),
        query.tier,
    )?))
}

fn show_skill(call: &Call) -> Result<Json<skills::Shown>> {
    Ok(Json(skills::show(
        &call.surroundings("skills.show"),
        call.part("name"),
    )?))
}

fn list_entries(call: &Call, Query(query): Query<EntryQuery>) -> Result<Json<Entries>> {
    let statuses: Vec<crate::manifest::Status> = words(query.status.as_deref())?;
    let filter = manifest::Filter {
        task: query.task,
        status: statuses.into_iter().next(),
        topic: query.topic,
        limit: Some(bounded(query.limit, 100, 500)? as usize),
    };
    let listed = manifest::list(&mut *call.context("manifest.list")?, &filter)?;
    Ok(Json(Entries {
        entries: listed.entries,
        total: listed.total,
        warnings: listed.warnings,
    }))
}

fn show_entry(call: &Call) -> Result<Json<OneEntry>> {
    let shown = manifest::show(&*call.context("manifest.show")?, call.part("id"))?;
    Ok(Json(OneEntry {
        entry: shown.entry,
        line: Some(shown.line),
        warnings: shown.warnings,
    }))
}

fn append(call: &Call) -> Result<Json<OneEntry, 201>> {
    let _: serde::de::IgnoredAny = call.body()?;
    let text = std::str::from_utf8(&call.body)
        .map_err(|cause| Error::new(Code::InputInvalid, "the body is no UTF-8").because(cause))?;
    let context = &mut *call.context("manifest.append")?;
    let appended = manifest::append(context, text, None, false)?;
    Ok(Json(OneEntry {
        entry: appended.entry,
        line: None,
        warnings: appended.warnings,
    }))
}

fn found(call: &Call, Query(query): Query<SearchQuery>) -> Result<Json<Found>> {
    let sought = Sought {
        words: query.q.unwrap_or_default(),
        kinds: words(query.kinds.as_deref())?,
        limit: bounded(query.limit, 50, 50)? as usize,
        user: call.only().map(String::from),
    };
    let (context, agency) = (&mut *call.context("find")?, &mut *call.agency()?);
    let found = search(context, Some(agency), &mut call.memory(), &sought)?;
    Ok(Json(found))
}

fn examined(call: &Call) -> Result<Json<Examined>> {
    let patient = Patient {
        surroundings: call.surroundings("doctor"),
        settings: Ok(call.server.settings.clone()),
        variable: |name| std::env::var_os(name),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    Ok(Json(doctor::examine(patient).0))
}

fn checked(call: &Call) -> Result<Json<Checked>> {
    let surroundings = call.surroundings("agents.check");
    let allow_private = allows_private(&call.server.settings);
    Ok(Json(workers::check(&surroundings, &[], allow_private)?))
}

//! What is around tasks: skills, the manifest, search, and whether everything is in order.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::call::bounded;
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
            .tag("skills")
            .query::<SkillQuery>()
            .answers::<skills::Listed>(200),
        Route::get("/api/skills/{name}", show_skill)
            .about("Shows a skill with its text")
            .tag("skills")
            .answers::<skills::Shown>(200),
        Route::get("/api/manifest", list_entries)
            .about("Lists entries of the manifest, newest last")
            .tag("manifest")
            .query::<EntryQuery>()
            .answers::<Entries>(200),
        Route::post("/api/manifest", append)
            .about("Appends an entry to the manifest; every fault of it is named")
            .tag("manifest")
            .takes::<Entry>()
            .answers::<OneEntry>(201),
        Route::get("/api/manifest/{id}", show_entry)
            .about("Shows an entry of the manifest")
            .tag("manifest")
            .answers::<OneEntry>(200),
        Route::get("/api/search", found)
            .about("Finds tasks, runs, agents and conversations by words")
            .tag("search")
            .query::<SearchQuery>()
            .answers::<Found>(200),
        Route::get("/api/doctor", examined)
            .about("Looks whether everything is in order")
            .tag("server")
            .scope(Scope::Admin)
            .answers::<Examined>(200),
        Route::get("/api/workers/check", checked)
            .about("Asks all workers whether they are there")
            .tag("agents")
            .scope(Scope::Admin)
            .answers::<Checked>(200)
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

fn list_skills(call: &Call) -> Result<Answer> {
    let query: SkillQuery = call.query()?;
    Answer::ok(&skills::list(
        &call.surroundings("skills.list"),
        query.tier,
    )?)
}

fn show_skill(call: &Call) -> Result<Answer> {
    Answer::ok(&skills::show(
        &call.surroundings("skills.show"),
        call.part("name"),
    )?)
}

fn list_entries(call: &Call) -> Result<Answer> {
    let query: EntryQuery = call.query()?;
    let statuses: Vec<crate::manifest::Status> = words(query.status.as_deref())?;
    let filter = manifest::Filter {
        task: query.task,
        status: statuses.into_iter().next(),
        topic: query.topic,
        limit: Some(bounded(query.limit, 100, 500)? as usize),
    };
    let listed = manifest::list(&mut *call.context("manifest.list")?, &filter)?;
    Answer::ok(&Entries {
        entries: listed.entries,
        total: listed.total,
        warnings: listed.warnings,
    })
}

fn show_entry(call: &Call) -> Result<Answer> {
    let shown = manifest::show(&*call.context("manifest.show")?, call.part("id"))?;
    Answer::ok(&OneEntry {
        entry: shown.entry,
        line: Some(shown.line),
        warnings: shown.warnings,
    })
}

fn append(call: &Call) -> Result<Answer> {
    let _: serde::de::IgnoredAny = call.body()?;
    let text = std::str::from_utf8(&call.body)
        .map_err(|cause| Error::new(Code::InputInvalid, "the body is no UTF-8").because(cause))?;
    let context = &mut *call.context("manifest.append")?;
    let appended = manifest::append(context, text, None, false)?;
    Answer::created(&OneEntry {
        entry: appended.entry,
        line: None,
        warnings: appended.warnings,
    })
}

fn found(call: &Call) -> Result<Answer> {
    let query: SearchQuery = call.query()?;
    let sought = Sought {
        words: query.q.unwrap_or_default(),
        kinds: words(query.kinds.as_deref())?,
        limit: bounded(query.limit, 50, 50)? as usize,
        user: call.only().map(String::from),
    };
    let (context, agency) = (&mut *call.context("find")?, &mut *call.agency()?);
    let found = search(context, Some(agency), &mut call.memory(), &sought)?;
    Answer::ok(&found)
}

fn examined(call: &Call) -> Result<Answer> {
    let patient = Patient {
        surroundings: call.surroundings("doctor"),
        settings: Ok(call.server.settings.clone()),
        variable: |name| std::env::var_os(name),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    Answer::ok(&doctor::examine(patient).0)
}

fn checked(call: &Call) -> Result<Answer> {
    let surroundings = call.surroundings("agents.check");
    let allow_private = allows_private(&call.server.settings);
    Answer::ok(&workers::check(&surroundings, &[], allow_private)?)
}

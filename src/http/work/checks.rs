//! Checks of what is sent, and of the manifest: of prompts, last messages, entries, skills.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, StrictJson, Verdict};
use super::super::route::Route;
use super::Warned;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::manifest::{self, Compaction};
use crate::ops::skills::{self, Validated};
use crate::ops::tokens::Scope;
use crate::ops::verify::{self, ManifestVerdict, MessageVerdict};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/work/verify/prompt", prompt)
            .about("Checks that a prompt carries the subagent protocol")
            .scope(Scope::Read),
        Route::post("/api/work/verify/message", message)
            .about("Checks that an agent's last message is one of the allowed sentences")
            .scope(Scope::Read),
        Route::post("/api/work/verify/manifest", entries)
            .about("Checks the manifest, or one entry of it")
            .scope(Scope::Read),
        Route::post("/api/work/skills/validate", skill)
            .about("Judges the text of a SKILL.md by the Agent Skills standard")
            .scope(Scope::Read),
        Route::get("/api/work/manifest/validate", lines).about("Checks every line of the manifest"),
        Route::post("/api/work/manifest/compact", compact).about(
            "Moves torn, foreign and repeated lines out of the manifest, into a file beside it",
        ),
    ]
}

/// A prompt to check.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PromptSent {
    /// The prompt.
    text: String,
    /// The task that it is for; else the one that it names.
    task: Option<TaskId>,
    /// Also demand that the protocol is word for word a known version.
    #[serde(default)]
    strict: bool,
}

/// A message to check.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessageSent {
    /// The message, to the letter.
    message: String,
}

/// What to check of the manifest.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct EntryAsked {
    /// Id of an entry; all lines without one.
    entry: Option<String>,
}

/// A skill to judge.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SkillSent {
    /// Name of the folder that it is to lie in, which the standard wants to be its own.
    name: String,
    /// The text of its SKILL.md.
    text: String,
}

/// How to clean the manifest.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Compacting {
    /// Only say what would be moved.
    dry_run: bool,
}

fn prompt(
    call: &Call,
    StrictJson(sent): StrictJson<PromptSent>,
) -> Result<Verdict<Warned<verify::Verdict>>> {
    let surroundings = call.surroundings("verify.prompt");
    let mut result = verify::prompt(&surroundings, &sent.text, sent.task, sent.strict)?;
    let warnings = std::mem::take(&mut result.warnings);
    let error = result.error("the prompt");
    Ok(Verdict(Warned { result, warnings }, error))
}

fn message(_: &Call, StrictJson(sent): StrictJson<MessageSent>) -> Result<Verdict<MessageVerdict>> {
    let result = verify::message(&sent.message);
    let error = result.verdict.error("the message");
    Ok(Verdict(result, error))
}

fn entries(
    call: &Call,
    OptionalJson(asked): OptionalJson<EntryAsked>,
) -> Result<Verdict<ManifestVerdict>> {
    let context = &mut *call.context("verify.manifest")?;
    let mut result = match &asked.entry {
        Some(id) => verify::entry(context, id)?,
        None => verify::manifest(context)?,
    };
    let error = result.error.take();
    Ok(Verdict(result, error))
}

fn skill(_: &Call, StrictJson(sent): StrictJson<SkillSent>) -> Result<Verdict<Validated>> {
    let result = skills::validate_text(&sent.name, &sent.text);
    let error = result.faults.first().map(|fault| {
        let message = format!("{}:{}: {}", fault.line, fault.column, fault.message);
        Error::new(Code::SkillInvalid, message)
    });
    Ok(Verdict(result, error))
}

fn lines(call: &Call) -> Result<Verdict<manifest::Validated>> {
    let mut result = manifest::validate(&mut *call.context("manifest.validate")?)?;
    let error = result.error.take();
    Ok(Verdict(result, error))
}

fn compact(call: &Call, OptionalJson(how): OptionalJson<Compacting>) -> Result<Json<Compaction>> {
    let context = &*call.context("manifest.compact")?;
    Ok(Json(manifest::compact(context, how.dry_run)?))
}

//! Checks of what is sent, and of the manifest: of prompts, last messages, entries, skills.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{Warned, answer_verdict, optional};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::manifest::{self, Compaction};
use crate::ops::skills::{self, Validated};
use crate::ops::tokens::Scope;
use crate::ops::verify::{self, ManifestVerdict, MessageVerdict, Verdict};

pub(super) fn routes() -> Vec<Route> {
    let check = |path, handler, about| {
        let route = Route::post(path, handler).about(about);
        route.scope(Scope::Read)
    };
    vec![
        check(
            "/api/work/verify/prompt",
            prompt,
            "Checks that a prompt carries the subagent protocol",
        )
        .takes::<PromptSent>()
        .answers::<Warned<Verdict>>(200),
        check(
            "/api/work/verify/message",
            message,
            "Checks that an agent's last message is one of the allowed sentences",
        )
        .takes::<MessageSent>()
        .answers::<MessageVerdict>(200),
        check(
            "/api/work/verify/manifest",
            entries,
            "Checks the manifest, or one entry of it",
        )
        .may_take::<EntryAsked>()
        .answers::<ManifestVerdict>(200),
        check(
            "/api/work/skills/validate",
            skill,
            "Judges the text of a SKILL.md by the Agent Skills standard",
        )
        .takes::<SkillSent>()
        .answers::<Validated>(200),
        Route::get("/api/work/manifest/validate", lines)
            .about("Checks every line of the manifest")
            .answers::<manifest::Validated>(200),
        Route::post("/api/work/manifest/compact", compact)
            .about(
                "Moves torn, foreign and repeated lines out of the manifest, into a file beside it",
            )
            .may_take::<Compacting>()
            .answers::<Compaction>(200),
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

fn prompt(call: &Call) -> Result<Answer> {
    let sent: PromptSent = call.body()?;
    let surroundings = call.surroundings("verify.prompt");
    let mut result = verify::prompt(&surroundings, &sent.text, sent.task, sent.strict)?;
    let warnings = std::mem::take(&mut result.warnings);
    let error = result.error("the prompt");
    answer_verdict(&Warned { result, warnings }, error)
}

fn message(call: &Call) -> Result<Answer> {
    let sent: MessageSent = call.body()?;
    let result = verify::message(&sent.message);
    let error = result.verdict.error("the message");
    answer_verdict(&result, error)
}

fn entries(call: &Call) -> Result<Answer> {
    let asked: EntryAsked = optional(call)?;
    let context = &mut *call.context("verify.manifest")?;
    let mut result = match &asked.entry {
        Some(id) => verify::entry(context, id)?,
        None => verify::manifest(context)?,
    };
    let error = result.error.take();
    answer_verdict(&result, error)
}

fn skill(call: &Call) -> Result<Answer> {
    let sent: SkillSent = call.body()?;
    let result = skills::validate_text(&sent.name, &sent.text);
    let error = result.faults.first().map(|fault| {
        let message = format!("{}:{}: {}", fault.line, fault.column, fault.message);
        Error::new(Code::SkillInvalid, message)
    });
    answer_verdict(&result, error)
}

fn lines(call: &Call) -> Result<Answer> {
    let mut result = manifest::validate(&mut *call.context("manifest.validate")?)?;
    let error = result.error.take();
    answer_verdict(&result, error)
}

fn compact(call: &Call) -> Result<Answer> {
    let how: Compacting = optional(call)?;
    let context = &*call.context("manifest.compact")?;
    Answer::ok(&manifest::compact(context, how.dry_run)?)
}

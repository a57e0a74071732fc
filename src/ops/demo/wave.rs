//! Working through the waves: prepare, check, play, verify, complete.

use std::path::Path;

use serde::Serialize;

use super::Step;
use super::agent::{Honesty, play};
use crate::claim::Lease;
use crate::error::{Code, Error, Result};
use crate::file::write_whole;
use crate::id::TaskId;
use crate::ops::spawn::{self, Spawned, spawn};
use crate::ops::verify::{self, Violation};
use crate::ops::{Context, complete, tasks};
use crate::task::Status;

/// The wave, counted from 0, in which the first agent lies at first.
const LIE: usize = 2;

/// What happened to a task.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Played {
    /// The task.
    pub(crate) task_id: TaskId,
    /// Its prompt.
    pub(crate) prompt: Checked,
    /// What its agent did, first try first.
    pub(crate) attempts: Vec<Attempt>,
    /// Tasks that became ready by it.
    pub(crate) unblocked: Vec<TaskId>,
}

/// A prompt that was prepared and checked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    /// Where it was written to, relative to the folder.
    pub(crate) file: String,
    /// The skill in it.
    pub(crate) skill: String,
    /// The protocols in it.
    pub(crate) protocols: Vec<String>,
    /// Estimated tokens.
    pub(crate) tokens: usize,
    /// `pass` or `fail`.
    pub(crate) verdict: &'static str,
}

/// One try of an agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    /// What it said at the end.
    pub(crate) message: String,
    /// True when that is one of the sentences that an agent may end with.
    pub(crate) message_allowed: bool,
    /// What `cleo verify output` says of what it left: `pass` or `fail`.
    pub(crate) verdict: &'static str,
    /// Exit code of `cleo verify output`.
    pub(crate) exit_code: u8,
    /// Everything that is wrong.
    pub(crate) violations: Vec<Violation>,
    /// Why `cleo complete` refused, if it did.
    pub(crate) refused: Option<String>,
    /// Where the task stands after it.
    pub(crate) status: Status,
}

/// Plays wave after wave until nothing is ready any more.
pub(super) fn play_all(context: &mut Context, program: &Path, epic: TaskId) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for number in 0.. {
        let ready = tasks::ready(context, Some(epic), None)?.tasks;
        if ready.is_empty() {
            break;
        }
        let mut spawned = Vec::new();
        for task in &ready {
            spawned.push(prepare(context, task.id)?);
        }
        let mut played = Vec::new();
        for (index, (spawned, prompt)) in spawned.into_iter().enumerate() {
            let lies = number == LIE && index == 0;
            played.push(play_task(context, program, &spawned, prompt, lies)?);
        }
        steps.push(Step::Wave {
            number,
            tasks: played,
        });
    }
    Ok(steps)
}

/// Prepares a prompt, checks it as strictly as can be, and writes it down to be looked at.
fn prepare(context: &mut Context, id: TaskId) -> Result<(Spawned, Checked)> {
    let spawned = spawn(context, id, &spawn::Options::default())?;
    let verdict = verify::prompt(
        &context.surroundings,
        &spawned.prompt,
        Some(spawned.task_id),
        true,
    )?;
    if let Some(error) = verdict.error(&format!("the prompt of {id}")) {
        return Err(error);
    }
    let file = format!("prompts/{id}.md");
    write_whole(&context.workspace.root.join(&file), &spawned.prompt)?;
    let checked = Checked {
        file,
        skill: spawned.skill.clone(),
        protocols: spawned.protocols.clone(),
        tokens: spawned.token_estimate.total,
        verdict: verdict.verdict,
    };
    Ok((spawned, checked))
}

fn play_task(
    context: &mut Context,
    program: &Path,
    spawned: &Spawned,
    prompt: Checked,
    lies: bool,
) -> Result<Played> {
    let id = spawned.task_id;
    tasks::start(context, id, Lease::default(), None)?;
    let mut attempts = Vec::new();
    let mut unblocked = Vec::new();
    let tries: &[Honesty] = match lies {
        true => &[Honesty::Lying, Honesty::Honest],
        false => &[Honesty::Honest],
    };
    for honesty in tries {
        let message = play(&context.workspace, program, spawned, *honesty)?;
        let (attempt, freed) = judge(context, id, message)?;
        let expected = if *honesty == Honesty::Honest {
            "pass"
        } else {
            "fail"
        };
        if attempt.verdict != expected {
            let message = format!("{id} was to {expected}, but it did not");
            return Err(Error::new(Code::Internal, message).fix("cleo demo"));
        }
        attempts.push(attempt);
        unblocked = freed;
    }
    Ok(Played {
        task_id: id,
        prompt,
        attempts,
        unblocked,
    })
}

/// Checks what the agent left behind and completes the task, if that is allowed.
fn judge(context: &mut Context, id: TaskId, message: String) -> Result<(Attempt, Vec<TaskId>)> {
    let found = verify::output(context, id, None)?.verdict;
    let exit_code = found
        .violations
        .first()
        .map_or(0, |first| first.code.exit_code());
    let (refused, unblocked) = match complete::complete(context, id, None, false) {
        Ok(moved) => (None, moved.unblocked),
        Err(error) if error.code == Code::NotVerified => (Some(error.message), Vec::new()),
        Err(error) => return Err(error),
    };
    let attempt = Attempt {
        message_allowed: verify::message(&message).status.is_some(),
        message,
        verdict: found.verdict,
        exit_code,
        violations: found.violations,
        refused,
        status: tasks::show(context, id)?.task.status,
    };
    Ok((attempt, unblocked))
}

//! The check that a prompt has the protocol, and that it does not come from a task or an entry.

use clap::Args;
use serde::Deserialize;

use super::{Report, violation};
use crate::catalogue::{Catalogue, list_known_protocols};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::log;
use crate::ops::{Context, Notes, Surroundings, require};
use crate::protocol::ProtocolFile;
use crate::protocol::block::{self, find_task};
use crate::store::{Archived, Transaction};
use crate::template::{Bindings, inject};

// A doc comment would become the help of the command.
#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptSent {
    /// The prompt
    #[arg(skip)]
    #[schemars(regex(pattern = crate::task::schema::SEEN))]
    pub(crate) text: String,

    /// Task that the protocol block must name [default: the task that the prompt names]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskId>,

    /// Also require that the protocol is a known version, word for word
    #[arg(long)]
    #[serde(default)]
    pub(crate) strict: bool,
}

/// Checks that a prompt has the protocol. A block that equals a known one counts wherever it comes from; any other
/// only where no task and no entry holds one. The ids in a known block must be those of `task`, or of the task that
/// the prompt names. An unknown `task` is refused before the prompt is checked.
pub(crate) fn prompt(
    surroundings: &Surroundings,
    notes: &mut Notes,
    sent: PromptSent,
) -> Result<Report> {
    let PromptSent { text, task, strict } = sent;
    let text = text.as_str();
    if let Some(task) = task {
        // Outside of a workspace the tasks are unknown.
        if let Ok(mut context) = Context::open(surroundings.clone()) {
            context.read(|transaction| require(transaction, task).map(drop))?;
        }
    }
    if text.trim().is_empty() {
        let error = Error::new(Code::InputInvalid, "the prompt is empty");
        return Err(match task {
            Some(task) => error.fix(format!("cleo spawn {task} --format text")),
            None => error,
        });
    }
    let known = list_known_protocols()?;
    let strictly = block::check_strictly(text, &known);
    let mut found = match strict {
        true => strictly.clone(),
        false => block::check(text),
    };
    if strict {
        found.extend(find_unresolved(text));
    }
    if let Some(change) = strictly.first().filter(|_| found.is_empty()) {
        match find_origin(surroundings, text)? {
            Origin::Project => {}
            Origin::Unknown => notes.warn([block::describe_edit(change)]),
            Origin::Forged => found.push(block::Violation {
                rule: "MARKER".to_string(),
                message: "the block is not a known one, and a task or an entry holds text that looks like it"
                    .to_string(),
            }),
        }
    }
    let task = task.or_else(|| find_task(text));
    let other = task.filter(|_| found.is_empty());
    let other = other.and_then(|task| check_task_of_prompt(text, task, &known));
    let hint = match other
        .as_ref()
        .and(task)
        .or_else(|| find_task_of_reply(text))
    {
        Some(id) => (
            "print its own prompt",
            format!("cleo spawn {id} --format text"),
        ),
        None => {
            let named = task.map(|id| format!(" {id}")).unwrap_or_default();
            let print = format!("cleo research inject{named} --format text");
            ("print the block to append it", print)
        }
    };
    found.extend(other);
    let missing =
        |found: block::Violation| violation(Code::ProtocolMissing, &found.rule, found.message);
    let report = Report::new(found.into_iter().map(missing).collect());
    let error = report.error("the prompt");
    notes.failure = error.map(|error| error.or(hint.0, hint.1));
    Ok(report)
}

/// Finds the task of the reply of `spawn`, which answers in JSON where its output is not a terminal.
fn find_task_of_reply(text: &str) -> Option<TaskId> {
    let reply: serde_json::Value = serde_json::from_str(text).ok()?;
    reply["result"]["taskId"].as_str()?.parse().ok()
}

/// Finds tokens that were not replaced. Below `## Task` stands the text of a task, which may speak of tokens, except in
/// its first line.
fn find_unresolved(text: &str) -> Vec<block::Violation> {
    let (mut is_task, mut is_first) = (false, false);
    // A task may speak of another block.
    let begins = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| block::is_begin(line));
    let block = begins.last().map_or(0, |(_, number)| number);
    let lines = text.lines().zip(1..).filter(|(line, number)| {
        let is_heading = line.trim_end() == "## Task";
        let is_of_cleo = is_first && line.starts_with("Id: ");
        is_task = is_heading || is_task && *number != block;
        is_first = is_heading || is_first && line.is_empty();
        !is_task || is_of_cleo
    });
    let tokens = lines.flat_map(|(line, number)| {
        let names = inject(line, &Bindings::default()).unresolved.into_iter();
        names.map(move |name| block::Violation {
            rule: "TOKEN".to_string(),
            message: format!("line {number} has the token {{{{{name}}}}}, which was not replaced"),
        })
    });
    tokens.collect()
}

fn check_task_of_prompt(
    text: &str,
    task: TaskId,
    known: &[ProtocolFile],
) -> Option<block::Violation> {
    let message = match find_task(text).filter(|named| *named != task) {
        Some(named) => format!("the prompt is for {named}, not for {task}"),
        None if block::is_for(text, known, &task.to_string())? => return None,
        None => format!("the block carries the id of another task, and the prompt is for {task}"),
    };
    Some(block::Violation {
        rule: "TASK".to_string(),
        message,
    })
}

/// The origin of a block that differs from all built-in ones.
enum Origin {
    /// The protocols or the skills of the project.
    Project,
    /// Perhaps a task or an entry: one of them holds text that looks like a block.
    Forged,
    /// Perhaps an edit.
    Unknown,
}

fn find_origin(surroundings: &Surroundings, text: &str) -> Result<Origin> {
    let Ok(mut context) = Context::open(surroundings.clone()) else {
        return Ok(Origin::Unknown);
    };
    if is_of_project(&context, text) {
        return Ok(Origin::Project);
    }
    let manifest = context.workspace.manifest()?;
    let is_in_task = context.read(|transaction| is_in_task(transaction, text))?;
    Ok(
        match is_in_task || log::contains_text(&manifest, block::has_block_start)? {
            true => Origin::Forged,
            false => Origin::Unknown,
        },
    )
}

fn is_of_project(context: &Context, text: &str) -> bool {
    let places = context.surroundings.places(Some(&context.workspace));
    // Files that cannot be read make no block.
    let Ok(catalogue) = Catalogue::load(&places) else {
        return false;
    };
    let mut own = vec![catalogue.base];
    own.extend(catalogue.protocols);
    let mut skills = catalogue.skills.iter().filter(|skill| skill.own_protocol);
    block::check_strictly(text, &own).is_empty()
        || skills.any(|skill| block::is_of_template(text, skill.body()))
}

fn is_in_task(transaction: &dyn Transaction, text: &str) -> Result<bool> {
    let words = "BEGIN SUBAGENT PROTOCOL";
    let mut tasks = transaction.find(words, Archived::Shown, u32::MAX)?.tasks;
    tasks.extend(find_task(text).map_or(Ok(None), |id| transaction.task(id))?);
    let mut words = tasks.iter().flat_map(|task| {
        let lists = task
            .acceptance
            .iter()
            .chain(&task.deliverables)
            .chain(&task.files);
        let notes = task.notes.iter().map(|note| &note.text);
        let texts = [&task.title, &task.description].into_iter();
        texts.chain(lists).chain(notes)
    });
    Ok(words.any(|own| block::has_block_start(own)))
}

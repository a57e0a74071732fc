//! How much of what an orchestrator should read it has read. Everything that is counted is there to
//! be counted: prompts, files, answers. How it is counted is said.

use serde::Serialize;

use super::budget::{Budget, CRITICAL, State};
use super::start;
use crate::error::{Code, Error, Result};
use crate::estimate;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::spawn::{Options, spawn};

/// Something to count.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// So many tokens, counted by the caller, with the name under which they are given.
    Given(&'static str, usize),
    /// A text, with the name of where it comes from.
    Text(String, String),
    /// The prompt for a task, as `spawn` would prepare it now.
    Prompt(TaskId),
    /// What `orchestrator start` answers.
    Start(Option<TaskId>),
}

/// What was counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    /// All of it.
    #[serde(flatten)]
    pub(crate) budget: Budget,
    /// Each part.
    pub(crate) parts: Vec<Part>,
    /// The verdict as an error, when it is critical.
    #[serde(skip)]
    pub(crate) error: Option<Error>,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// A part of what was counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    /// What it is.
    pub(crate) of: String,
    pub(crate) tokens: usize,
    /// How they were counted.
    pub(crate) method: &'static str,
}

/// Counts the tokens of all sources against a limit. `open` opens the workspace, which only some of
/// them need.
pub(crate) fn measure(
    sources: Vec<Source>,
    epic: Option<TaskId>,
    limit: usize,
    mut open: impl FnMut() -> Result<Context>,
) -> Result<Measured> {
    let mut parts = Vec::new();
    for source in sources {
        parts.push(part(source, limit, &mut open)?);
    }
    let tokens = parts
        .iter()
        .map(|part| part.tokens)
        .fold(0, usize::saturating_add);
    let is_given = parts.iter().all(|part| part.method == GIVEN);
    let method = if is_given { GIVEN } else { estimate::METHOD };
    let budget = Budget::of(tokens, limit, method);
    let said = format!(
        "{tokens} of {limit} tokens ({} percent) are used",
        budget.percent
    );
    let (mut error, mut warnings) = (None, Vec::new());
    match budget.state {
        State::Ok => {}
        State::Warning => warnings.push(format!("{said}; hand over before {CRITICAL} percent")),
        State::Critical => error = Some(critical(said, epic)),
    }
    Ok(Measured {
        budget,
        parts,
        error,
        warnings,
    })
}

const GIVEN: &str = "as given";

fn part(source: Source, limit: usize, open: &mut impl FnMut() -> Result<Context>) -> Result<Part> {
    let estimated = |of: String, tokens: usize| Part {
        of,
        tokens,
        method: estimate::METHOD,
    };
    Ok(match source {
        Source::Given(of, tokens) => Part {
            of: of.to_string(),
            tokens,
            method: GIVEN,
        },
        Source::Text(of, text) => estimated(of, estimate::tokens(&text)),
        Source::Prompt(task) => {
            let options = Options {
                dry_run: true,
                ..Options::default()
            };
            let prompt = spawn(&mut open()?, task, &options)?.prompt;
            estimated(format!("prompt for {task}"), estimate::tokens(&prompt))
        }
        Source::Start(epic) => {
            let answer = start(&mut open()?, epic, limit)?;
            estimated("orchestrator start".to_string(), answer.budget.tokens)
        }
    })
}

fn critical(said: String, epic: Option<TaskId>) -> Error {
    let scope = epic
        .map(|epic| format!(" --epic {epic}"))
        .unwrap_or_default();
    Error::new(Code::ContextCritical, format!("{said}, which is critical")).fix(format!(
        "cleo orchestrator brief{scope} --output HANDOVER.md"
    ))
}

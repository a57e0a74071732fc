//! How much of what an orchestrator should read it has read. Everything that is counted is there to
//! be counted: prompts, files, answers. How it is counted is said.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, CRITICAL, State};
use super::overview::start;
use crate::error::{Code, Error, Result};
use crate::estimate;
use crate::id::TaskId;
use crate::ops::spawn::{self, Options};
use crate::ops::tasks::Below;
use crate::ops::{Context, Notes, Surroundings};

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) budget: Budget,
    pub(crate) parts: Vec<Part>,
}

/// A part of what was counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) of: String,
    pub(crate) tokens: usize,
    pub(crate) method: &'static str,
}

/// Most texts, and most prompts, that are counted at once.
const SOURCES_MAX: usize = 100;

// What an agent has read. Without anything, the answer of `orchestrator start` is counted. A doc comment would become
// the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Args, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ToCount {
    /// Number of tokens, counted by the caller
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<usize>,

    /// These texts, at most 100
    #[arg(skip)]
    #[cfg_attr(feature = "schemas", schemars(length(max = SOURCES_MAX)))]
    texts: Vec<String>,

    /// Texts with the names of where they come from.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) named: Vec<(String, String)>,

    /// Also count the prompt that `spawn` prepares for this task
    #[arg(long = "task", value_name = "TASK")]
    #[cfg_attr(feature = "schemas", schemars(length(max = SOURCES_MAX)))]
    tasks: Vec<TaskId>,

    /// Also count the reply of `orchestrator start` for this epic
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,
}

/// Counts the tokens of all that an agent has read, and fails where they are critically many. Only prompts and answers
/// need a workspace.
pub(crate) fn measure(
    surroundings: &Surroundings,
    notes: &mut Notes,
    request: ToCount,
) -> Result<Measured> {
    if request.texts.len().max(request.tasks.len()) > SOURCES_MAX {
        let message = format!("there can be {SOURCES_MAX} texts and {SOURCES_MAX} tasks");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let limit = surroundings.defaults.context_tokens;
    let parts = parts(surroundings, &request)?;
    let tokens = parts.iter().map(|part| part.tokens);
    let tokens = tokens.fold(0, usize::saturating_add);
    let is_given = parts.iter().all(|part| part.method == GIVEN);
    let method = if is_given { GIVEN } else { estimate::METHOD };
    let budget = Budget::compare(tokens, limit, method);
    let percent = budget.percent;
    let said = format!("{tokens} of {limit} tokens ({percent} percent) are used");
    match budget.state {
        State::Ok => {}
        State::Warning => notes.warn([format!("{said}; hand over before {CRITICAL} percent")]),
        State::Critical => notes.failure = Some(critical(said, request.epic)),
    }
    Ok(Measured { budget, parts })
}

const GIVEN: &str = "as given";

fn parts(surroundings: &Surroundings, request: &ToCount) -> Result<Vec<Part>> {
    let open = || Context::open(surroundings.clone());
    let estimated = |of: String, tokens: usize| Part {
        of,
        tokens,
        method: estimate::METHOD,
    };
    let given = request.tokens.map(|tokens| Part {
        of: "tokens".to_string(),
        tokens,
        method: GIVEN,
    });
    let mut parts: Vec<Part> = given.into_iter().collect();
    let named = request.named.iter();
    parts.extend(named.map(|(name, text)| estimated(name.clone(), estimate::tokens(text))));
    let texts = (1_usize..).zip(&request.texts);
    parts.extend(texts.map(|(n, text)| estimated(format!("text {n}"), estimate::tokens(text))));
    for task in request.tasks.iter().copied() {
        let options = Options {
            task,
            ..Options::default()
        };
        let prompt = spawn::rehearse(&mut open()?, options)?.prepared.prompt;
        let of = format!("prompt for {task}");
        parts.push(estimated(of, estimate::tokens(&prompt)));
    }
    if parts.is_empty() || request.epic.is_some() {
        let part = Below { epic: request.epic };
        let budget = start(&mut open()?, part)?.budget;
        let of = "orchestrator start".to_string();
        parts.push(estimated(of, budget.map_or(0, |budget| budget.tokens)));
    }
    Ok(parts)
}

fn critical(said: String, epic: Option<TaskId>) -> Error {
    let scope = epic
        .map(|epic| format!(" --epic {epic}"))
        .unwrap_or_default();
    Error::new(Code::ContextCritical, format!("{said}, which is critical")).fix(format!(
        "cleo orchestrator brief{scope} --output HANDOVER.md"
    ))
}

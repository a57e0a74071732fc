//! The token budget of an orchestrating agent: texts, prompts and answers, counted against its limit.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::overview::start;
use crate::error::{Code, Error, Result};
use crate::estimate;
use crate::id::TaskId;
use crate::ops::spawn::{self, Options};
use crate::ops::tasks::Below;
use crate::ops::{Context, Notes, Surroundings};

/// Percentages of the limit that give a warning, and a failure.
const WARNING: usize = 70;
const CRITICAL: usize = 80;
/// Maximum number of texts, and of prompts, that are counted at once.
const SOURCES_MAX: usize = 100;
/// The method of a number that the caller counted.
const GIVEN: &str = "as given";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Less than 70 percent.
    Ok,
    /// From 70 percent on.
    Warning,
    /// From 80 percent on: hand over.
    Critical,
}

/// Tokens against the limit of an orchestrating agent.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Budget {
    pub(crate) tokens: usize,
    /// Maximum number of tokens for an orchestrator.
    pub(crate) limit: usize,
    /// Percentage of the limit, rounded down.
    pub(crate) percent: usize,
    pub(crate) state: State,
    /// How the tokens were counted.
    pub(crate) method: &'static str,
}

impl Budget {
    pub(super) fn new(tokens: usize, limit: usize, method: &'static str) -> Budget {
        let percent = tokens.saturating_mul(100) / limit.max(1);
        let state = match percent {
            CRITICAL.. => State::Critical,
            WARNING.. => State::Warning,
            _ => State::Ok,
        };
        Budget {
            tokens,
            limit,
            percent,
            state,
            method,
        }
    }
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Measurement {
    #[serde(flatten)]
    pub(crate) budget: Budget,
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Part {
    pub(crate) of: String,
    pub(crate) tokens: usize,
    pub(crate) method: &'static str,
}

// The texts that an agent has read; without any, the answer of `orchestrator start`.
#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Sources {
    /// Number of tokens, counted by the caller
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<usize>,

    /// These texts, at most 100
    #[arg(skip)]
    #[schemars(length(max = SOURCES_MAX))]
    texts: Vec<String>,

    /// Texts with the names of their sources.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) named: Vec<(String, String)>,

    /// Also count the prompt that `spawn` prepares for this task
    #[arg(long = "task", value_name = "TASK")]
    #[schemars(length(max = SOURCES_MAX))]
    tasks: Vec<TaskId>,

    /// Also count the reply of `orchestrator start` for this epic
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,
}

/// Counts the tokens that an agent has read, and fails from 80 percent of the limit on. Only prompts and answers
/// need a workspace.
pub(crate) fn measure(
    surroundings: &Surroundings,
    notes: &mut Notes,
    request: Sources,
) -> Result<Measurement> {
    if request.texts.len().max(request.tasks.len()) > SOURCES_MAX {
        let message = format!("there can be {SOURCES_MAX} texts and {SOURCES_MAX} tasks");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let epic = request.epic;
    let parts = count(surroundings, request)?;
    let tokens = parts.iter().map(|part| part.tokens);
    let tokens = tokens.fold(0, usize::saturating_add);
    let is_given = parts.iter().all(|part| part.method == GIVEN);
    let method = if is_given { GIVEN } else { estimate::METHOD };
    let budget = Budget::new(tokens, surroundings.defaults.context_tokens, method);
    let used = format!(
        "{tokens} of {} tokens ({} percent) are used",
        budget.limit, budget.percent
    );
    match budget.state {
        State::Ok => {}
        State::Warning => notes.warn([format!("{used}; hand over before {CRITICAL} percent")]),
        State::Critical => {
            let option = epic
                .map(|epic| format!(" --epic {epic}"))
                .unwrap_or_default();
            let fix = format!("cleo orchestrator brief{option} --output HANDOVER.md");
            let message = format!("{used}, which is critical");
            notes.failure = Some(Error::new(Code::ContextCritical, message).fix(fix));
        }
    }
    Ok(Measurement { budget, parts })
}

fn count(surroundings: &Surroundings, request: Sources) -> Result<Vec<Part>> {
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
    let texts = (1..).zip(request.texts);
    let texts = texts.map(|(n, text)| (format!("text {n}"), text));
    let texts = request.named.into_iter().chain(texts);
    parts.extend(texts.map(|(name, text)| estimated(name, estimate::tokens(&text))));
    for task in request.tasks {
        let options = Options {
            task,
            ..Options::default()
        };
        let prompt = spawn::rehearse(&mut open()?, options)?.prepared.prompt;
        parts.push(estimated(
            format!("prompt for {task}"),
            estimate::tokens(&prompt),
        ));
    }
    if parts.is_empty() || request.epic.is_some() {
        let part = Below { epic: request.epic };
        let budget = start(&mut open()?, part)?.budget;
        let tokens = budget.map_or(0, |budget| budget.tokens);
        parts.push(estimated("orchestrator start".to_string(), tokens));
    }
    Ok(parts)
}

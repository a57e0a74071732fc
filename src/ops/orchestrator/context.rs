//! How much of what an orchestrator should read it has read. Everything that is counted is there to
//! be counted: prompts, files, answers. How it is counted is said.

use serde::{Deserialize, Serialize};

use super::budget::{Budget, CRITICAL, State};
use super::start;
use crate::error::{Code, Error, Result};
use crate::estimate;
use crate::id::TaskId;
use crate::ops::spawn::{self, Options};
use crate::ops::tasks::Below;
use crate::ops::{Context, Notes, Surroundings};

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

/// Most texts, and most prompts, that are counted at once.
const SOURCES_MAX: usize = 100;

/// What an agent has read. Without anything, the answer of `GET /api/work/start` is counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ToCount {
    /// Tokens that the caller has counted itself.
    tokens: Option<usize>,
    /// These texts, at most 100.
    texts: Vec<String>,
    /// The prompts of these tasks, at most 100.
    tasks: Vec<TaskId>,
    /// The answer of `GET /api/work/start` for this epic, besides.
    epic: Option<TaskId>,
}

impl ToCount {
    fn sources(self) -> Result<Vec<Source>> {
        if self.texts.len().max(self.tasks.len()) > SOURCES_MAX {
            let message = format!("there can be {SOURCES_MAX} texts and {SOURCES_MAX} tasks");
            return Err(Error::new(Code::InputInvalid, message));
        }
        let given = self.tokens.map(|tokens| Source::Given("tokens", tokens));
        let mut sources: Vec<Source> = given.into_iter().collect();
        let texts = (1_usize..).zip(self.texts);
        sources.extend(texts.map(|(number, text)| Source::Text(format!("text {number}"), text)));
        sources.extend(self.tasks.into_iter().map(Source::Prompt));
        if sources.is_empty() || self.epic.is_some() {
            sources.push(Source::Start(self.epic));
        }
        Ok(sources)
    }
}

/// Counts what a request holds.
pub(crate) fn measure_texts(
    surroundings: &Surroundings,
    notes: &mut Notes,
    request: ToCount,
) -> Result<Measured> {
    let epic = request.epic;
    measure(surroundings, notes, request.sources()?, epic)
}

/// Counts the tokens of all sources, and fails where they are critically many. Only prompts and answers need a
/// workspace.
pub(crate) fn measure(
    surroundings: &Surroundings,
    notes: &mut Notes,
    sources: Vec<Source>,
    epic: Option<TaskId>,
) -> Result<Measured> {
    let limit = surroundings.defaults.context_tokens;
    let mut parts = Vec::new();
    for source in sources {
        parts.push(part(surroundings, source)?);
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
    match budget.state {
        State::Ok => {}
        State::Warning => notes.warn([format!("{said}; hand over before {CRITICAL} percent")]),
        State::Critical => notes.failure = Some(critical(said, epic)),
    }
    Ok(Measured { budget, parts })
}

const GIVEN: &str = "as given";

fn part(surroundings: &Surroundings, source: Source) -> Result<Part> {
    let open = || Context::open(surroundings.clone());
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
                task,
                ..Options::default()
            };
            let prompt = spawn::rehearse(&mut open()?, options)?.prepared.prompt;
            estimated(format!("prompt for {task}"), estimate::tokens(&prompt))
        }
        Source::Start(epic) => {
            let answer = start(&mut open()?, Below { epic })?;
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

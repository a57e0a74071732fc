//! Commands of the user in the place of a rule: one makes the plans, another says when the goal is
//! reached. Each gets JSON on its standard input and answers with JSON on its standard output; no
//! shell is between, its time and its answer are bounded.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::plan::{Decomposed, Outcome, Planner, Policy, Source, Wish, message};
use crate::runner::{child, process};
use crate::worker::{ANSWER_MAX, read_printed};

/// How long such a command may take.
const LIMIT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub(crate) struct External {
    words: Vec<String>,
    folder: PathBuf,
    /// Names of the user's variables that it gets besides those that every program needs.
    passed: Vec<String>,
}

#[derive(Deserialize)]
struct Verdict {
    satisfied: bool,
}

impl External {
    /// Takes a command line, split as a shell would, to be run in a folder without one, with the
    /// variables of the user that are named.
    pub(crate) fn new(line: &str, folder: PathBuf, passed: Vec<String>) -> Result<External> {
        let words = shlex::split(line).filter(|words| !words.is_empty());
        match words {
            Some(words) => Ok(External {
                words,
                folder,
                passed,
            }),
            None => {
                let message =
                    format!("`{line}` is not a command: it is empty, or has a quote without end");
                Err(Error::new(Code::InputInvalid, message))
            }
        }
    }

    pub(crate) fn ask(&self, question: &Value) -> Result<Vec<u8>> {
        let environment = child::answer_environment(&self.passed);
        let mut command = child::command(&self.words[0], &self.folder, environment);
        command.args(&self.words[1..]);
        let input = question.to_string().into_bytes();
        let captured = process::run_with_input(command, input, LIMIT, ANSWER_MAX as usize)?;
        let printed = read_printed(captured, &self.words[0], LIMIT);
        printed.map_err(|fault| Error::new(Code::AgentFailed, fault.message))
    }

    pub(crate) fn error(&self, why: &str) -> Error {
        error!(AgentFailed, "`{}` {why}", self.words[0])
    }
}

impl Planner for External {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed> {
        let asked = message::write_message(wish.goal, wish.agents, wish.previous);
        let answer = self.ask(&asked)?;
        let text = String::from_utf8_lossy(&answer);
        let (plan, faults) = message::read_answer(&text, wish.goal);
        if let Some(first) = faults.first() {
            return Err(self.error(&format!("made no plan: {first}")));
        }
        Ok(Decomposed::new(plan, Source::Command))
    }
}

impl Policy for External {
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool> {
        let answer = self.ask(&json!(outcome))?;
        match serde_json::from_slice::<Verdict>(&answer) {
            Ok(verdict) => Ok(verdict.satisfied),
            Err(fault) => {
                let why = format!("said nothing like {{\"satisfied\":true}}: {fault}");
                Err(self.error(&why))
            }
        }
    }
}

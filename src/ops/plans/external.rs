//! Commands of the user in the place of a rule: one makes the plans, another says when the goal is
//! reached. Each gets JSON on its standard input and answers with JSON on its standard output; no
//! shell is between, its time and its answer are bounded.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::plan::check::Fault;
use crate::plan::{Decomposed, Outcome, PLAN_MAX, Planner, Policy, Source, Wish, message, read};
use crate::runner::child;
use crate::runner::process::{self, Captured};

/// How long such a command may take.
const LIMIT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub(crate) struct External {
    words: Vec<String>,
    folder: PathBuf,
    /// Names of the user's variables that it gets besides those that every program needs.
    passed: Vec<String>,
}

/// What a policy answers.
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
                    format!("`{line}` is no command: it is empty, or has a quote without end");
                Err(Error::new(Code::InputInvalid, message))
            }
        }
    }

    pub(crate) fn ask(&self, question: &Value) -> Result<Vec<u8>> {
        let environment = child::answer_environment(&self.passed);
        let mut command = child::command(&self.words[0], &self.folder, environment);
        command.args(&self.words[1..]);
        let input = question.to_string().into_bytes();
        let captured = process::converse(command, input, LIMIT, PLAN_MAX as usize)?;
        self.judged(captured)
    }

    fn judged(&self, captured: Captured) -> Result<Vec<u8>> {
        let last = captured.complaints.last();
        let last = last.map(|line| format!(": {line}")).unwrap_or_default();
        let why = match (captured.finished.timed_out, captured.finished.exit_code) {
            _ if captured.is_cut => format!("answered with more than {PLAN_MAX} bytes"),
            (true, _) => format!("did not end within {} s", LIMIT.as_secs()),
            (_, Some(0)) => return Ok(captured.stdout),
            (_, Some(code)) => format!("ended with exit code {code}{last}"),
            (_, None) => "was ended by a signal".to_string(),
        };
        Err(self.error(&why))
    }

    pub(crate) fn error(&self, why: &str) -> Error {
        let message = format!("`{}` {why}", self.words[0]);
        Error::new(Code::AgentFailed, message)
    }
}

impl Planner for External {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed> {
        let told = message::told(wish.goal, wish.agents, wish.previous);
        let told = serde_json::from_str(&told).unwrap_or_else(|_| json!({}));
        let answer = self.ask(&told)?;
        let text = String::from_utf8_lossy(&answer);
        let (mut plan, faults) = message::answered(&text, wish.goal);
        // What is no JSON may be YAML, which can leave the goal out as well.
        let faults = match serde_json::from_slice::<Value>(&answer) {
            Ok(_) => faults,
            Err(_) => {
                let (other, faults) = read(&answer);
                plan = other;
                faults
            }
        };
        refuse(self, &faults)?;
        Ok(Decomposed {
            plan,
            source: Source::Command,
            skills: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

fn refuse(command: &External, faults: &[Fault]) -> Result<()> {
    let Some(first) = faults.first() else {
        return Ok(());
    };
    let more = match faults.len() {
        1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    let why = format!("made no plan: {first}{more}");
    Err(command.error(&why))
}

impl Policy for External {
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool> {
        let answer = self.ask(&json!({
            "goal": outcome.goal, "pass": outcome.pass, "step": outcome.step, "agent": outcome.agent,
            "reply": outcome.reply, "metadata": outcome.metadata, "aggregate": outcome.aggregate,
        }))?;
        let verdict = serde_json::from_slice::<Verdict>(&answer);
        let verdict = verdict.map_err(|fault| {
            self.error(&format!(
                "said nothing like {{\"satisfied\":true}}: {fault}"
            ))
        });
        verdict.map(|verdict| verdict.satisfied)
    }
}

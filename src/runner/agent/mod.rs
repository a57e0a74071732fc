//! Programs that drive an agent: each a [`Runner`], which knows how it is called and what it writes.
//! A runner starts nothing and reads no file; `drive` does. What an agent says here is told on and
//! believed in nothing: whether its work is done is for the caller to find out.

pub(crate) mod choice;
mod claude;
mod codex;
mod command;
mod copilot;
mod drive;
mod event;
mod gemini;
mod log;
mod opencode;
mod settings;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::run::{Outcome, Spent, Usage};
pub(crate) use crate::runner::pipes::wake;
pub(crate) use command::CommandLine;
pub(crate) use drive::drive;
pub(crate) use event::used;
pub(crate) use settings::{GateVariables, Runners, all, needs, no_command};

#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// The prompt; goes to its standard input.
    pub(crate) prompt: String,
    /// Where the prompt lies as a file too, for programs that read none on standard input.
    pub(crate) prompt_file: PathBuf,
    pub(crate) output_file: PathBuf,
    pub(crate) folder: PathBuf,
    /// Variables that it gets besides those that its program needs, such as `CLEO_TASK_ID`.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) passed: Vec<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
    pub(crate) resume: Option<String>,
    /// What that conversation has come to; nothing for a new one.
    pub(crate) before: Spent,
    /// Tools that it may use without asking, in the words of Claude Code; empty for those that the runner
    /// gives by itself.
    pub(crate) tools: Vec<String>,
    /// Where its program is, if that is not the one that the PATH leads to.
    pub(crate) program: Option<String>,
    pub(crate) limits: Limits,
    /// Where every line that it writes is kept, in `<raw>.log`.
    pub(crate) raw: PathBuf,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// After so long.
    pub(crate) time: Option<Duration>,
    /// After so long without a sign of it.
    pub(crate) idle: Option<Duration>,
    /// After so many turns, where its program counts them.
    pub(crate) turns: Option<u32>,
    /// After so many US dollars, where its program counts them.
    pub(crate) cost: Option<f64>,
    /// What everything may cost of which that is left: what is named when it is spent.
    pub(crate) budget: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Names of the user's variables that this program needs, such as that of its key; a name may
    /// end with `*`.
    pub(crate) passed: Vec<String>,
    /// True when the prompt goes to its standard input.
    pub(crate) reads_prompt: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AgentEvent {
    /// It runs, in the process group of this number, which began then.
    Started(u32, Option<String>),
    /// It is in a conversation that can be gone on with under this name.
    Conversation(String),
    /// It does something, in a few words, such as `Write src/lib.rs`.
    Doing(String),
    /// So much was used until now.
    Used(Usage),
}

impl AgentEvent {
    fn is_of_work(&self) -> bool {
        match self {
            AgentEvent::Started(..) | AgentEvent::Conversation(_) => false,
            AgentEvent::Doing(_) => true,
            AgentEvent::Used(usage) => usage.total_tokens.is_some_and(|tokens| tokens > 0),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ended {
    /// How it ended. `Ok` means in good order here, and that nothing is checked yet.
    pub(crate) outcome: Option<Outcome>,
    /// Why, when it is not `Ok`.
    pub(crate) reason: Option<String>,
    /// The last message of the agent.
    pub(crate) message: Option<String>,
    pub(crate) conversation: Option<String>,
    /// Tokens that were used, as far as the program tells.
    pub(crate) usage: Option<Usage>,
    /// What it cost in US dollars, as far as the program tells.
    pub(crate) cost: Option<f64>,
    /// How many turns it took, as far as the program tells.
    pub(crate) turns: Option<u32>,
    /// What it was not allowed, such as `Write`.
    pub(crate) denied: Vec<String>,
    /// When to try again after too many requests, in milliseconds.
    pub(crate) retry_after_ms: Option<u64>,
    /// Its exit code; none when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: u64,
    /// The last lines of its standard error.
    pub(crate) complaints: Vec<String>,
    /// True while its program tries again and again because its model has too many requests: when it is
    /// ended then, that is why.
    #[serde(skip)]
    pub(crate) refused: bool,
    /// True when it was to go on with a conversation and its program failed before anything came of that: the
    /// conversation is not there.
    #[serde(skip)]
    pub(crate) not_resumed: bool,
    /// What the conversation had come to before: some programs count it in.
    #[serde(skip)]
    pub(crate) before: Spent,
    /// What the runner needs to remember between two lines.
    #[serde(skip)]
    pub(crate) seen: Option<String>,
    /// What its lines were signs of, until the caller takes them.
    #[serde(skip)]
    pub(crate) signs: Vec<AgentEvent>,
}

/// Knows one program: how it is called, and what its lines mean.
pub(crate) trait Runner: Send + Sync {
    /// Its name, such as `claude`.
    fn name(&self) -> &'static str;

    fn invocation(&self, job: &Job) -> Invocation;

    /// Takes a line of its standard output: notes in `ended` what it tells of the end and what it is a sign
    /// of. Most programs write events.
    fn read_line(&self, line: &str, ended: &mut Ended) {
        if let Ok(event @ Value::Object(_)) = serde_json::from_str(line) {
            let kind = event::text(&event, "/type").unwrap_or_default();
            self.read_event(kind, &event, ended);
        }
    }

    /// Takes an event of the kind that its field `type` names. Kinds that it does not know mean nothing.
    fn read_event(&self, _kind: &str, _event: &Value, _ended: &mut Ended) {}

    /// Takes a line of its standard error, on which most programs say nothing that counts.
    fn read_error(&self, _line: &str, _ended: &mut Ended) {}

    fn judge(&self, ended: &mut Ended) {
        event::judge(ended);
    }

    fn resumes(&self) -> bool {
        true
    }

    /// Returns whether every message of its agent is told: then one that is not there was not said.
    fn tells_messages(&self) -> bool {
        true
    }
}

const DENIED_MAX: usize = 20;

impl Ended {
    /// Notes a failure. Without a reason, it is how the program ended and what it complained of.
    pub(super) fn fail(&mut self, outcome: Outcome, reason: Option<String>) {
        self.outcome = Some(outcome);
        self.reason = Some(reason.unwrap_or_else(|| self.exit()));
    }

    pub(super) fn deny(&mut self, tool: Option<&str>) {
        let tool = tool.unwrap_or("a tool");
        if self.denied.len() < DENIED_MAX && !self.denied.iter().any(|it| it == tool) {
            self.denied.push(tool.to_string());
        }
    }

    /// Notes what was used until now.
    fn use_tokens(&mut self, usage: Usage) {
        self.usage = Some(usage);
        self.signs.push(AgentEvent::Used(usage));
    }

    /// Notes that a turn has begun.
    fn begin_turn(&mut self) {
        self.turns = Some(self.turns.unwrap_or(0).saturating_add(1));
    }

    fn is_silent_failure(&self) -> bool {
        let failed = self.outcome == Some(Outcome::AgentError) && self.exit_code.is_some();
        failed && self.message.is_none()
    }

    fn exit(&self) -> String {
        let exit = match self.exit_code {
            Some(code) => format!("it ended with exit code {code}"),
            None => "a signal ended it".to_string(),
        };
        match self.complaints.last() {
            Some(complaint) => format!("{exit}: {complaint}"),
            None => exit,
        }
    }
}

fn split_words(words: &str) -> Vec<String> {
    words.split_whitespace().map(String::from).collect()
}

/// Returns the options for the model and for the conversation to go on with.
fn choices<'a>(job: &'a Job, resume: &'a str) -> impl Iterator<Item = String> + 'a {
    let model = job.model.iter().map(|model| format!("--model={model}"));
    model.chain(
        job.resume
            .iter()
            .map(move |name| format!("--{resume}={name}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn job() -> Job {
        Job {
            prompt: "Do it.".to_string(),
            prompt_file: "/w/a {cwd}.prompt".into(),
            output_file: "/w/$(out).md".into(),
            folder: "/w".into(),
            raw: "/w/.cleo/runs/1/T1-1".into(),
            ..Job::default()
        }
    }
}

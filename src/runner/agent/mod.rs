//! Programs that drive an agent: each is a [`Runner`], which knows its command line and its output. A runner starts
//! nothing and reads no file; `drive` does. Claims of an agent are only passed on: the caller verifies its work.

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

use serde_json::Value;

use crate::run::event::AgentEnd;
use crate::run::{Outcome, Spent, TaskEvent, Usage};
pub(crate) use command::CommandLine;
pub(crate) use drive::drive;
pub(crate) use event::read_spent;
pub(crate) use settings::{Runners, all, list_needed_options, no_command, read_gate_variables};

#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// The prompt; goes to its standard input.
    pub(crate) prompt: String,
    pub(crate) output_file: PathBuf,
    pub(crate) folder: PathBuf,
    /// Variables that it gets besides those that its program needs, such as `CLEO_TASK_ID`.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) passed: Vec<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
    pub(crate) resume: Option<String>,
    /// Tokens and cost of that conversation; nothing for a new one.
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

impl Job {
    /// Returns where the prompt lies as a file too, for programs that read none on standard input.
    pub(crate) fn prompt_file(&self) -> PathBuf {
        self.raw.with_extension("prompt.md")
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// After so long.
    pub(crate) time: Option<Duration>,
    /// After so long without output.
    pub(crate) idle: Option<Duration>,
    /// After so many turns, where its program counts them.
    pub(crate) turns: Option<u32>,
    /// After so many US dollars, where its program counts them.
    pub(crate) cost: Option<f64>,
    /// The cost limit of the run of which `cost` is the rest: named in messages.
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

/// The result of an attempt as far as its output was read, and the state of reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OutputState {
    pub(crate) end: AgentEnd,
    /// True while its program retries because its model has too many requests: if it is stopped then, that is the
    /// reason.
    pub(crate) refused: bool,
    /// Tokens and cost of the conversation before: some programs include them.
    pub(crate) before: Spent,
    /// State that the runner keeps between two lines.
    pub(crate) seen: Option<String>,
    /// Events in its lines, until the caller takes them.
    pub(crate) events: Vec<TaskEvent>,
}

/// One program that drives an agent.
pub(crate) trait Runner: Send + Sync {
    /// Its name, such as `claude`.
    fn name(&self) -> &'static str;

    fn invocation(&self, job: &Job) -> Invocation;

    /// Reads a line of its standard output. Most programs write events as JSON.
    fn read_line(&self, line: &str, state: &mut OutputState) {
        if let Ok(event @ Value::Object(_)) = serde_json::from_str(line) {
            let kind = event::text(&event, "/type").unwrap_or_default();
            self.read_event(kind, &event, state);
        }
    }

    /// Reads an event of the kind that its field `type` names; unknown kinds are ignored.
    fn read_event(&self, _kind: &str, _event: &Value, _ended: &mut OutputState) {}

    /// Reads a line of its standard error, which most programs use for nothing relevant.
    fn read_error(&self, _line: &str, _ended: &mut OutputState) {}

    fn judge(&self, state: &mut OutputState) {
        event::judge_exit(state);
    }

    /// Returns true if the program reports every message of its agent, and resumes its conversations.
    fn has_conversations(&self) -> bool {
        true
    }
}

const DENIED_MAX: usize = 20;

impl OutputState {
    /// Notes a failure. Without a reason, it is how the program ended and what it complained of.
    pub(super) fn fail(&mut self, outcome: Outcome, reason: Option<String>) {
        self.end.outcome = Some(outcome);
        self.end.reason = Some(reason.unwrap_or_else(|| self.describe_exit()));
    }

    pub(super) fn add_denied_tool(&mut self, tool: Option<&str>) {
        let tool = tool.unwrap_or("a tool");
        if self.end.denied_tools.len() < DENIED_MAX
            && !self.end.denied_tools.iter().any(|it| it == tool)
        {
            self.end.denied_tools.push(tool.to_string());
        }
    }

    /// Adds tokens to those that were used until now.
    fn add_tokens(&mut self, new: Usage) {
        self.end.usage = Some(self.end.usage.map_or(new, |before| before.plus(new)));
    }

    fn begin_turn(&mut self) {
        self.end.turns = Some(self.end.turns.unwrap_or(0).saturating_add(1));
    }

    fn is_silent_failure(&self) -> bool {
        let failed = self.end.outcome == Some(Outcome::AgentError) && self.end.exit_code.is_some();
        let has_used = self
            .end
            .usage
            .is_some_and(|usage| usage.total_tokens > Some(0));
        failed && self.end.message.is_none() && !has_used
    }

    fn describe_exit(&self) -> String {
        let exit = match self.end.exit_code {
            Some(code) => format!("it ended with exit code {code}"),
            None => "a signal ended it".to_string(),
        };
        match self.end.stderr_tail.last() {
            Some(line) => format!("{exit}: {line}"),
            None => exit,
        }
    }
}

fn split_words(words: &str) -> Vec<String> {
    words.split_whitespace().map(String::from).collect()
}

fn model_and_resume_options(job: &Job, resume: &str) -> Vec<String> {
    let model = job.model.iter().map(|model| format!("--model={model}"));
    let resume = job.resume.iter().map(|name| format!("--{resume}={name}"));
    model.chain(resume).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn job() -> Job {
        Job {
            prompt: "Do it.".to_string(),
            output_file: "/w/$(out).md".into(),
            folder: "/w".into(),
            raw: "/w/a {cwd}/T1-1".into(),
            ..Job::default()
        }
    }
}

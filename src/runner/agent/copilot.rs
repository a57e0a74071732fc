//! GitHub Copilot CLI. It tells of no tokens, and of what it was not allowed only where a tool fails.

use serde_json::Value;

use super::event::{conversation, doing, number, text, trouble};
use super::{Ended, Invocation, Job, Runner, choices, event, split_words, tools};
use crate::run::Outcome;

pub(super) struct Copilot;

/// What allows its kinds of tools; it reads without asking.
const KINDS: [(&str, &str); 4] = [
    ("Bash", "--allow-tool=shell"),
    ("Edit", "--allow-tool=write"),
    ("WebFetch", "--allow-all-urls"),
    ("Write", "--allow-tool=write"),
];

impl Runner for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = split_words(
            "copilot --output-format=json --allow-all-paths --disable-builtin-mcps \
                 --no-auto-update",
        );
        match job.tools.is_empty() {
            true => words.push("--allow-all-tools".to_string()),
            false => {
                let kinds = tools::known_as(job, &KINDS).into_iter();
                words.extend(kinds.map(String::from));
            }
        }
        words.extend(choices(job, "resume"));
        Invocation {
            words,
            environment: Vec::new(),
            passed: split_words("COPILOT_* GH_TOKEN GITHUB_TOKEN"),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, ended: &mut Ended) {
        match kind {
            "assistant.turn_start" => ended.begin_turn(),
            "assistant.message" => {
                let content = text(event, "/data/content").filter(|it| !it.is_empty());
                ended.message = content.map(String::from).or(ended.message.take());
            }
            "tool.execution_start" => {
                let tool = text(event, "/data/toolName");
                doing(tool, event.pointer("/data/arguments"), ended);
                // Its end does not name the tool again, so it is remembered.
                let call = text(event, "/data/toolCallId").unwrap_or_default();
                ended.seen = tool.map(|tool| format!("{call} {tool}"));
            }
            "tool.execution_complete" if text(event, "/data/error/code") == Some("denied") => {
                let call = text(event, "/data/toolCallId").unwrap_or_default();
                let seen = ended.seen.take().unwrap_or_default();
                let tool = seen.strip_prefix(call).map(str::trim);
                ended.deny(tool.filter(|tool| !tool.is_empty()));
            }
            "assistant.turn_retry" => event::read_retry(text(event, "/data/reason"), None, ended),
            "session.error" => {
                let message = text(event, "/data/message").unwrap_or("its session failed");
                trouble(message, number(event, "/data/statusCode"), ended);
            }
            // Its result is a success then.
            "abort" => ended.fail(Outcome::AgentError, Some("it was interrupted".to_string())),
            "result" => result(event, ended),
            _ => {}
        }
    }
}

fn result(event: &Value, ended: &mut Ended) {
    match number(event, "/exitCode") {
        _ if ended.outcome.is_some() => {}
        Some(0) => ended.outcome = Some(Outcome::Ok),
        _ => {
            let said = ended.reason.take().unwrap_or_default();
            trouble(&said, None, ended);
        }
    }
    conversation(text(event, "/sessionId"), ended);
}

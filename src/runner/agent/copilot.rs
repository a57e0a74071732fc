//! GitHub Copilot CLI. It tells of no tokens, and of what it was not allowed only where a tool fails.

use serde_json::Value;

use super::event::{conversation, doing, number, read, text, trouble};
use super::{Ended, Invocation, Job, Runner, Sign, event, own, tools};
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
        let mut words = own(&[
            "copilot",
            "--output-format=json",
            "--allow-all-paths",
            "--disable-builtin-mcps",
            "--no-auto-update",
        ]);
        match job.tools.is_empty() {
            true => words.push("--allow-all-tools".to_string()),
            false => {
                let kinds = tools::known_as(job, &KINDS).into_iter();
                words.extend(kinds.map(String::from));
            }
        }
        words.extend(job.model.iter().map(|it| format!("--model={it}")));
        words.extend(job.resume.iter().map(|it| format!("--resume={it}")));
        Invocation {
            words,
            environment: Vec::new(),
            passed: own(&["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"]),
            reads_prompt: true,
        }
    }

    fn hear(&self, line: &str, ended: &mut Ended) -> Vec<Sign> {
        let Some(event) = read(line) else {
            return Vec::new();
        };
        match text(&event, "/type") {
            Some("assistant.turn_start") => {
                ended.turns = Some(ended.turns.unwrap_or(0).saturating_add(1));
                Vec::new()
            }
            Some("assistant.message") => {
                let content = text(&event, "/data/content").filter(|it| !it.is_empty());
                ended.message = content.map(String::from).or(ended.message.take());
                Vec::new()
            }
            Some("tool.execution_start") => {
                // Its end does not name the tool again, so it is remembered.
                let tool = text(&event, "/data/toolName").unwrap_or("a tool");
                let call = text(&event, "/data/toolCallId").unwrap_or_default();
                ended.seen = Some(format!("{call} {tool}"));
                vec![doing(tool, event.pointer("/data/arguments"))]
            }
            Some("tool.execution_complete") => {
                if text(&event, "/data/error/code") == Some("denied") {
                    let call = text(&event, "/data/toolCallId").unwrap_or_default();
                    let seen = ended.seen.take().unwrap_or_default();
                    let tool = seen.strip_prefix(call).map(str::trim);
                    ended.deny(tool.filter(|tool| !tool.is_empty()));
                }
                Vec::new()
            }
            Some("assistant.turn_retry") => {
                let why = text(&event, "/data/reason").unwrap_or_default();
                event::retried(why, None, ended);
                ended.reason = Some(why.to_string()).filter(|why| !why.is_empty());
                Vec::new()
            }
            Some("session.error") => {
                let message = text(&event, "/data/message").unwrap_or("its session failed");
                trouble(message, number(&event, "/data/statusCode"), ended);
                Vec::new()
            }
            // Its result is a success then.
            Some("abort") => {
                ended.fail(Outcome::AgentError, Some("it was interrupted".to_string()));
                Vec::new()
            }
            Some("result") => result(&event, ended),
            _ => Vec::new(),
        }
    }
}

fn result(event: &Value, ended: &mut Ended) -> Vec<Sign> {
    match number(event, "/exitCode") {
        _ if ended.outcome.is_some() => {}
        Some(0) => ended.outcome = Some(Outcome::Ok),
        _ => {
            let said = ended.reason.take().unwrap_or_default();
            trouble(&said, None, ended);
        }
    }
    conversation(text(event, "/sessionId"), ended)
}

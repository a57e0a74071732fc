//! GitHub Copilot CLI. It reports no tokens, and denials only where a tool fails.

use serde_json::Value;

use super::event::{fail_with, note_conversation, number, text, use_tool};
use super::{
    Invocation, Job, OutputState, Runner, event, model_and_resume_options, split_words, tools,
};
use crate::run::Outcome;

pub(super) struct Copilot;

/// Options that allow its kinds of tools; it reads without asking.
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
                let kinds = tools::translate_allowed(job, &KINDS).into_iter();
                words.extend(kinds.map(String::from));
            }
        }
        words.extend(model_and_resume_options(job, "resume"));
        Invocation {
            words,
            environment: Vec::new(),
            passed: split_words("COPILOT_* GH_TOKEN GITHUB_TOKEN"),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, state: &mut OutputState) {
        match kind {
            "assistant.turn_start" => state.begin_turn(),
            "assistant.message" => {
                let content = text(event, "/data/content").filter(|it| !it.is_empty());
                state.end.message = content.map(String::from).or(state.end.message.take());
            }
            "tool.execution_start" => {
                let tool = text(event, "/data/toolName");
                use_tool(tool, event.pointer("/data/arguments"), state);
                // Its end does not name the tool again, so it is remembered.
                let call = text(event, "/data/toolCallId").unwrap_or_default();
                state.seen = tool.map(|tool| format!("{call} {tool}"));
            }
            "tool.execution_complete" if text(event, "/data/error/code") == Some("denied") => {
                let call = text(event, "/data/toolCallId").unwrap_or_default();
                let seen = state.seen.take().unwrap_or_default();
                let tool = seen.strip_prefix(call).map(str::trim);
                state.add_denied_tool(tool.filter(|tool| !tool.is_empty()));
            }
            "assistant.turn_retry" => event::read_retry(text(event, "/data/reason"), None, state),
            "session.error" => {
                let message = text(event, "/data/message").unwrap_or("its session failed");
                fail_with(message, number(event, "/data/statusCode"), state);
            }
            // Its result is a success then.
            "abort" => state.fail(Outcome::AgentError, Some("it was interrupted".to_string())),
            "result" => result(event, state),
            _ => {}
        }
    }
}

fn result(event: &Value, state: &mut OutputState) {
    match number(event, "/exitCode") {
        _ if state.end.outcome.is_some() => {}
        Some(0) => state.end.outcome = Some(Outcome::Ok),
        _ => {
            let said = state.end.reason.take().unwrap_or_default();
            fail_with(&said, None, state);
        }
    }
    note_conversation(text(event, "/sessionId"), state);
}

//! Codex: `codex exec`. An `error` in its stream may be followed by success; only `turn.failed` and
//! a stream without `turn.completed` are failures.

use serde_json::Value;

use super::event::{fail_with, note_conversation, number, text, usage, use_tool};
use super::{Invocation, Job, OutputState, Runner, event, split_words, tools};
use crate::run::Outcome;

pub(super) struct Codex;

const SANDBOX: [&str; 2] = ["Read-only file system", "Operation not permitted"];

impl Runner for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = split_words("codex exec --json --skip-git-repo-check");
        // It has one tool for everything; its sandbox is the only limit.
        let sandbox = match tools::writes(job) {
            true => "--sandbox=workspace-write",
            false => "--sandbox=read-only",
        };
        words.push(sandbox.to_string());
        words.push(format!("--cd={}", job.folder.display()));
        words.extend(job.model.iter().map(|it| format!("--model={it}")));
        if let Some(conversation) = &job.resume {
            words.extend(split_words(&format!("resume {conversation}")));
        }
        words.push("-".to_string());
        Invocation {
            words,
            environment: Vec::new(),
            passed: split_words("CODEX_API_KEY CODEX_HOME OPENAI_*"),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, state: &mut OutputState) {
        match kind {
            "thread.started" => note_conversation(text(event, "/thread_id"), state),
            "item.started" => item_started(&event["item"], state),
            "item.completed" => item_completed(&event["item"], state),
            "turn.completed" => {
                state.end.outcome = Some(Outcome::Ok);
                state.end.reason = None;
                let read = number(event, "/usage/input_tokens");
                if let Some(all) = usage(read, number(event, "/usage/output_tokens")) {
                    // The total includes earlier attempts of the conversation.
                    state.end.usage = Some(state.before.new_usage(all));
                }
            }
            "turn.failed" => {
                let message = text(event, "/error/message").unwrap_or("its turn failed");
                fail_with(message, None, state);
            }
            // It may continue after that.
            "error" => event::read_retry(text(event, "/message"), None, state),
            _ => {}
        }
    }
}

fn item_started(item: &Value, state: &mut OutputState) {
    match text(item, "/type") {
        Some("command_execution") => use_tool(Some("shell"), Some(item), state),
        Some("mcp_tool_call") => use_tool(text(item, "/tool"), item.get("arguments"), state),
        Some("web_search") => use_tool(Some("search"), Some(item), state),
        _ => {}
    }
}

fn item_completed(item: &Value, state: &mut OutputState) {
    match text(item, "/type") {
        Some("agent_message") => state.end.message = text(item, "/text").map(String::from),
        Some("command_execution") => {
            let output = text(item, "/aggregated_output").unwrap_or_default();
            let is_refused = SANDBOX.iter().any(|words| output.contains(words));
            if is_refused && text(item, "/status") == Some("failed") {
                state.add_denied_tool(Some("shell"));
            }
        }
        Some("file_change") => use_tool(Some("edit"), item.pointer("/changes/0"), state),
        _ => {}
    }
}

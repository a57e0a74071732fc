//! Codex: `codex exec`. An `error` in its stream may be followed by success; only `turn.failed` and
//! a stream without `turn.completed` are failures.

use serde_json::Value;

use super::event::{conversation, doing, number, text, trouble, usage};
use super::{Ended, Invocation, Job, Runner, event, split_words, tools};
use crate::run::Outcome;

pub(super) struct Codex;

const SANDBOX: [&str; 2] = ["Read-only file system", "Operation not permitted"];

impl Runner for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = split_words("codex exec --json --skip-git-repo-check");
        // It has one tool for everything, so what it may do is what its sandbox lets it do.
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

    fn read_event(&self, kind: &str, event: &Value, ended: &mut Ended) {
        match kind {
            "thread.started" => conversation(text(event, "/thread_id"), ended),
            "item.started" => item_started(&event["item"], ended),
            "item.completed" => item_completed(&event["item"], ended),
            "turn.completed" => {
                ended.outcome = Some(Outcome::Ok);
                ended.reason = None;
                let read = number(event, "/usage/input_tokens");
                if let Some(all) = usage(read, number(event, "/usage/output_tokens")) {
                    // It counts in what earlier tries of the conversation used.
                    ended.use_tokens(ended.before.new_usage(all));
                }
            }
            "turn.failed" => {
                let message = text(event, "/error/message").unwrap_or("its turn failed");
                trouble(message, None, ended);
            }
            // It may go on after that.
            "error" => event::read_retry(text(event, "/message"), None, ended),
            _ => {}
        }
    }
}

fn item_started(item: &Value, ended: &mut Ended) {
    match text(item, "/type") {
        Some("command_execution") => doing(Some("shell"), Some(item), ended),
        Some("mcp_tool_call") => doing(text(item, "/tool"), item.get("arguments"), ended),
        Some("web_search") => doing(Some("search"), Some(item), ended),
        _ => {}
    }
}

fn item_completed(item: &Value, ended: &mut Ended) {
    match text(item, "/type") {
        Some("agent_message") => ended.message = text(item, "/text").map(String::from),
        Some("command_execution") => {
            let output = text(item, "/aggregated_output").unwrap_or_default();
            let is_refused = SANDBOX.iter().any(|words| output.contains(words));
            if is_refused && text(item, "/status") == Some("failed") {
                ended.deny(Some("shell"));
            }
        }
        Some("file_change") => doing(Some("edit"), item.pointer("/changes/0"), ended),
        _ => {}
    }
}

//! Codex: `codex exec`. An `error` in its stream may be followed by success; only `turn.failed` and
//! a stream without `turn.completed` are failures.

use serde_json::Value;

use super::event::{conversation, doing, number, read, text, trouble, usage};
use super::{Ended, Invocation, Job, Runner, Sign, event, own, tools};
use crate::run::Outcome;

pub(super) struct Codex;

const SANDBOX: [&str; 2] = ["Read-only file system", "Operation not permitted"];

impl Runner for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = own(&["codex", "exec", "--json", "--skip-git-repo-check"]);
        // It has one tool for everything, so what it may do is what its sandbox lets it do.
        let sandbox = match tools::writes(job) {
            true => "--sandbox=workspace-write",
            false => "--sandbox=read-only",
        };
        words.push(sandbox.to_string());
        words.push(format!("--cd={}", job.folder.display()));
        words.extend(job.model.iter().map(|it| format!("--model={it}")));
        if let Some(conversation) = &job.resume {
            words.extend(own(&["resume", conversation]));
        }
        words.push("-".to_string());
        Invocation {
            words,
            environment: Vec::new(),
            passed: own(&["CODEX_API_KEY", "CODEX_HOME", "OPENAI_*"]),
            reads_prompt: true,
        }
    }

    fn hear(&self, line: &str, ended: &mut Ended) -> Vec<Sign> {
        let Some(event) = read(line) else {
            return Vec::new();
        };
        match text(&event, "/type") {
            Some("thread.started") => conversation(text(&event, "/thread_id"), ended),
            Some("item.started") => item_started(&event),
            Some("item.completed") => item_completed(&event, ended),
            Some("turn.completed") => turn_completed(&event, ended),
            Some("turn.failed") => {
                let message = text(&event, "/error/message").unwrap_or("its turn failed");
                trouble(message, None, ended);
                Vec::new()
            }
            // It may go on after that.
            Some("error") => {
                let why = text(&event, "/message").unwrap_or_default();
                event::retried(why, None, ended);
                ended.reason = Some(why.to_string()).filter(|why| !why.is_empty());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

fn item_started(event: &Value) -> Vec<Sign> {
    let item = &event["item"];
    match text(item, "/type") {
        Some("command_execution") => vec![doing("shell", Some(item))],
        Some("mcp_tool_call") => {
            let tool = text(item, "/tool").unwrap_or("a tool");
            vec![doing(tool, item.get("arguments"))]
        }
        Some("web_search") => vec![doing("search", Some(item))],
        _ => Vec::new(),
    }
}

fn item_completed(event: &Value, ended: &mut Ended) -> Vec<Sign> {
    match text(event, "/item/type") {
        Some("agent_message") => {
            ended.message = text(event, "/item/text").map(String::from);
            Vec::new()
        }
        Some("command_execution") => {
            let output = text(event, "/item/aggregated_output").unwrap_or_default();
            let is_refused = SANDBOX.iter().any(|words| output.contains(words));
            if is_refused && text(event, "/item/status") == Some("failed") {
                ended.deny(Some("shell"));
            }
            Vec::new()
        }
        Some("file_change") => vec![doing("edit", event.pointer("/item/changes/0"))],
        _ => Vec::new(),
    }
}

fn turn_completed(event: &Value, ended: &mut Ended) -> Vec<Sign> {
    ended.outcome = Some(Outcome::Ok);
    ended.reason = None;
    let read = number(event, "/usage/input_tokens");
    let all = usage(read, number(event, "/usage/output_tokens"));
    // It counts in what earlier tries of the conversation used.
    let own = all.map(|all| ended.before.new_usage(all));
    ended.usage = own.or(ended.usage);
    ended.usage.map(Sign::Used).into_iter().collect()
}

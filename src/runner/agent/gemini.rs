//! Gemini CLI. When it cannot even begin, its error is JSON on standard error, and its exit code is
//! the server's status cut to a byte (144 for 400), 41 for a bad key, 53 for too many turns.

use serde_json::Value;

use super::event::{fail_with, note_conversation, number, text, usage, use_tool};
use super::{
    Invocation, Job, OutputState, Runner, event, model_and_resume_options, split_words, tools,
};
use crate::run::Outcome;

pub(super) struct Gemini;

/// Value of `seen` while pieces of one message come; before the first it has the session.
const SPEAKING: &str = "speaking";

/// Its tools that it would ask for; it reads and searches without asking.
const TOOLS: [(&str, &str); 4] = [
    ("Bash", "run_shell_command"),
    ("Edit", "replace"),
    ("WebFetch", "web_fetch"),
    ("Write", "write_file"),
];

impl Runner for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = split_words("gemini --output-format=stream-json --skip-trust");
        match job.tools.is_empty() {
            true => words.push("--approval-mode=yolo".to_string()),
            false => {
                let names = tools::translate_allowed(job, &TOOLS).join(",");
                words.push("--approval-mode=default".to_string());
                words.extend((!names.is_empty()).then(|| format!("--allowed-tools={names}")));
            }
        }
        words.extend(model_and_resume_options(job, "resume"));
        Invocation {
            words,
            environment: Vec::new(),
            passed: split_words("GEMINI_* GOOGLE_*"),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, state: &mut OutputState) {
        if kind == "message" {
            return message(event, state);
        }
        match kind {
            "init" => return state.seen = text(event, "/session_id").map(String::from),
            "tool_use" => {
                note_session(state);
                use_tool(text(event, "/tool_name"), event.get("parameters"), state);
            }
            "error" => state.end.reason = text(event, "/message").map(String::from),
            "result" => result(event, state),
            _ => {}
        }
        stop_speaking(state);
    }

    fn read_error(&self, line: &str, state: &mut OutputState) {
        if line.starts_with("Attempt ") && line.contains(" failed") {
            event::note_retry(line, None, state);
        }
    }

    fn judge(&self, state: &mut OutputState) {
        if state.end.outcome.is_none() && state.end.reason.is_none() {
            state.end.reason = find_error_message(&state.end.stderr_tail);
        }
        if state.end.exit_code == Some(53) {
            state.fail(Outcome::Budget, Some("its turns ran out".to_string()));
        }
        event::judge_exit(state);
    }
}

/// Notes the session once the model answers: one without an answer cannot be resumed.
fn note_session(state: &mut OutputState) {
    let session = state.seen.take().filter(|seen| seen != SPEAKING);
    note_conversation(session.as_deref(), state);
}

fn stop_speaking(state: &mut OutputState) {
    state.seen.take_if(|seen| seen == SPEAKING);
}

fn message(event: &Value, state: &mut OutputState) {
    let content = text(event, "/content").filter(|_| text(event, "/role") == Some("assistant"));
    let Some(content) = content else {
        return stop_speaking(state);
    };
    if state.seen.as_deref() != Some(SPEAKING) {
        note_session(state);
    }
    let begun = state.end.message.take();
    let begun = begun.filter(|_| state.seen.as_deref() == Some(SPEAKING));
    state.end.message = Some(begun.unwrap_or_default() + content);
    let is_piece = event.get("delta").and_then(Value::as_bool) == Some(true);
    state.seen = is_piece.then(|| SPEAKING.to_string());
}

fn result(event: &Value, state: &mut OutputState) {
    let read = number(event, "/stats/input_tokens");
    if let Some(all) = usage(read, number(event, "/stats/output_tokens")) {
        state.end.usage = Some(all);
    }
    match text(event, "/status") {
        Some("success") => {
            note_session(state);
            state.end.outcome = Some(Outcome::Ok);
        }
        _ => {
            let said = text(event, "/error/message").map(String::from);
            let said = said.or(state.end.reason.take()).unwrap_or_default();
            fail_with(&said, None, state);
        }
    }
}

/// Finds the message in the JSON that it complains with, which goes over several lines.
fn find_error_message(lines: &[String]) -> Option<String> {
    let text_of = |line: &String| {
        let value = line.trim().strip_prefix("\"message\":")?;
        let value = value.trim().trim_end_matches(',');
        serde_json::from_str::<String>(value).ok()
    };
    lines.iter().rev().find_map(text_of)
}

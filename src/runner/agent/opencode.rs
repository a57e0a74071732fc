//! opencode: `opencode run`. Its stream has no last event; a step that stopped by itself is the end.

use serde_json::{Map, Value};

use super::event::{fail_with, money, note_conversation, number, sum, text, usage, use_tool};
use super::{
    Invocation, Job, OutputState, Runner, event, model_and_resume_options, split_words, tools,
};
use crate::run::Outcome;

pub(super) struct OpenCode;

/// Its names of kinds of tools; reading is always allowed.
const KINDS: [(&str, &str); 5] = [
    ("Bash", "bash"),
    ("Edit", "edit"),
    ("WebFetch", "webfetch"),
    ("WebSearch", "websearch"),
    ("Write", "edit"),
];

impl Runner for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        // It reports retries in its logs only.
        let mut words =
            split_words("opencode run --format=json --auto --print-logs --log-level=ERROR");
        words.extend(model_and_resume_options(job, "session"));
        let mut environment = vec![("OPENCODE_DISABLE_AUTOUPDATE".to_string(), "1".to_string())];
        environment.extend(permission(job).map(|it| ("OPENCODE_PERMISSION".to_string(), it)));
        Invocation {
            words,
            environment,
            passed: split_words(
                "ANTHROPIC_API_KEY GEMINI_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY \
                 OPENAI_API_KEY OPENCODE_* OPENROUTER_API_KEY",
            ),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, state: &mut OutputState) {
        note_conversation(text(event, "/sessionID"), state);
        match kind {
            "step_start" => state.begin_turn(),
            "text" => state.end.message = text(event, "/part/text").map(String::from),
            "tool_use" => {
                let input = event.pointer("/part/state/input");
                use_tool(text(event, "/part/tool"), input, state);
            }
            "step_finish" => finish_step(event, state),
            "error" => {
                let message = text(event, "/error/data/message").or(text(event, "/error/name"));
                let status = number(event, "/error/data/statusCode");
                fail_with(message.unwrap_or("it failed"), status, state);
            }
            _ => {}
        }
    }

    fn read_error(&self, line: &str, state: &mut OutputState) {
        if line.contains("message=\"stream error\"") {
            event::note_retry(line, None, state);
        }
    }
}

/// Returns the kinds of tools that it is denied, if the job names its tools: all others are allowed.
fn permission(job: &Job) -> Option<String> {
    let allowed = tools::translate_allowed(job, &KINDS);
    let denied = KINDS.iter().map(|(_, kind)| *kind);
    let denied = denied.filter(|kind| !allowed.contains(kind));
    let denied = denied.map(|kind| (kind.to_string(), "deny".into()));
    let denied: Map<String, Value> = crate::build_map(denied);
    (!denied.is_empty()).then(|| Value::Object(denied).to_string())
}

fn finish_step(event: &Value, state: &mut OutputState) {
    match text(event, "/part/reason") {
        Some("stop") => state.end.outcome = Some(Outcome::Ok),
        Some("length") => fail_with("the answer of its model was cut", None, state),
        _ => {}
    }
    if let Some(cost) = money(event, "/part/cost") {
        state.end.cost = Some(state.end.cost.unwrap_or(0.0) + cost);
    }
    let counts = &event["part"]["tokens"];
    let read = sum(counts, &["/input", "/cache/read", "/cache/write"]);
    if let Some(now) = usage(read, number(counts, "/output")) {
        state.add_tokens(now);
    }
}

//! opencode: `opencode run`. Its stream has no last event; a step that stopped by itself is the end.

use serde_json::{Map, Value};

use super::event::{conversation, doing, money, more, number, read, sum, text, trouble, usage};
use super::{Ended, Invocation, Job, Runner, Sign, event, own, tools};
use crate::run::Outcome;

pub(super) struct OpenCode;

/// What it calls its kinds of tools; reading is always allowed.
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
        let mut words = own(&[
            "opencode",
            "run",
            "--format=json",
            "--auto",
            // It tells nowhere else that it tries again.
            "--print-logs",
            "--log-level=ERROR",
        ]);
        words.extend(job.model.iter().map(|it| format!("--model={it}")));
        words.extend(job.resume.iter().map(|it| format!("--session={it}")));
        let mut environment = vec![("OPENCODE_DISABLE_AUTOUPDATE".to_string(), "1".to_string())];
        environment.extend(permission(job).map(|it| ("OPENCODE_PERMISSION".to_string(), it)));
        Invocation {
            words,
            environment,
            passed: own(&[
                "ANTHROPIC_API_KEY",
                "GEMINI_API_KEY",
                "GOOGLE_GENERATIVE_AI_API_KEY",
                "GROQ_API_KEY",
                "OPENAI_API_KEY",
                "OPENCODE_*",
                "OPENROUTER_API_KEY",
            ]),
            reads_prompt: true,
        }
    }

    fn hear(&self, line: &str, ended: &mut Ended) -> Vec<Sign> {
        let Some(event) = read(line) else {
            return Vec::new();
        };
        let mut signs = conversation(text(&event, "/sessionID"), ended);
        match text(&event, "/type") {
            Some("step_start") => ended.turns = Some(ended.turns.unwrap_or(0).saturating_add(1)),
            Some("text") => ended.message = text(&event, "/part/text").map(String::from),
            Some("tool_use") => {
                let name = text(&event, "/part/tool").unwrap_or("a tool");
                signs.push(doing(name, event.pointer("/part/state/input")));
            }
            Some("step_finish") => signs.extend(step_finished(&event, ended)),
            Some("error") => {
                let message = text(&event, "/error/data/message").or(text(&event, "/error/name"));
                let status = number(&event, "/error/data/statusCode");
                trouble(message.unwrap_or("it failed"), status, ended);
            }
            _ => {}
        }
        signs
    }

    fn overhear(&self, line: &str, ended: &mut Ended) {
        if line.contains("message=\"stream error\"") {
            event::retried(line, None, ended);
        }
    }
}

/// Returns what it is denied, where the job names its tools: what is not denied is allowed.
fn permission(job: &Job) -> Option<String> {
    let allowed = tools::known_as(job, &KINDS);
    let denied = KINDS.iter().map(|(_, kind)| *kind);
    let denied = denied.filter(|kind| !allowed.contains(kind));
    let denied = denied.map(|kind| (kind.to_string(), "deny".into()));
    let denied: Map<String, Value> = crate::build_map(denied);
    (!denied.is_empty()).then(|| Value::Object(denied).to_string())
}

fn step_finished(event: &Value, ended: &mut Ended) -> Option<Sign> {
    match text(event, "/part/reason") {
        Some("stop") => ended.outcome = Some(Outcome::Ok),
        Some("length") => trouble("the answer of its model was cut", None, ended),
        _ => {}
    }
    if let Some(cost) = money(event, "/part/cost") {
        ended.cost = Some(ended.cost.unwrap_or(0.0) + cost);
    }
    let counts = event.pointer("/part/tokens")?;
    let read = sum(counts, &["/input", "/cache/read", "/cache/write"]);
    let now = usage(read, number(counts, "/output"))?;
    let usage = more(ended.usage, now);
    ended.usage = Some(usage);
    Some(Sign::Used(usage))
}

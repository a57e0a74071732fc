//! opencode: `opencode run`. Its stream has no last event; a step that stopped by itself is the end.

use serde_json::Value;

use super::event::{conversation, doing, more, number, read, sum, text, trouble, usage};
use super::{Ended, Invocation, Job, Runner, Sign, event, own};
use crate::run::Outcome;

/// opencode.
pub(super) struct OpenCode;

impl Runner for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = own(&["opencode", "run", "--format=json", "--auto"]);
        words.extend(job.model.iter().map(|it| format!("--model={it}")));
        words.extend(job.resume.iter().map(|it| format!("--session={it}")));
        Invocation {
            words,
            environment: vec![("OPENCODE_DISABLE_AUTOUPDATE".into(), "1".into())],
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
            Some("tool_use") => signs.push(tool(&event)),
            Some("step_finish") => signs.extend(step_finished(&event, ended)),
            Some("error") => failed(&event, ended),
            _ => {}
        }
        signs
    }

    fn judge(&self, ended: &mut Ended) {
        event::judge(ended);
    }

    fn resumes(&self) -> bool {
        true
    }
}

fn tool(event: &Value) -> Sign {
    let name = text(event, "/part/tool").unwrap_or("a tool");
    doing(name, event.pointer("/part/state/input"))
}

fn step_finished(event: &Value, ended: &mut Ended) -> Option<Sign> {
    match text(event, "/part/reason") {
        Some("stop") => ended.outcome = Some(Outcome::Ok),
        Some("length") => trouble("the answer of its model was cut", None, ended),
        _ => {}
    }
    if let Some(cost) = event.pointer("/part/cost").and_then(Value::as_f64) {
        ended.cost = Some(ended.cost.unwrap_or(0.0) + cost);
    }
    let counts = event.pointer("/part/tokens")?;
    let read = sum(counts, &["/input", "/cache/read", "/cache/write"]);
    let now = usage(read, number(counts, "/output"))?;
    let usage = more(ended.usage, now);
    ended.usage = Some(usage);
    Some(Sign::Used(usage))
}

fn failed(event: &Value, ended: &mut Ended) {
    let message = text(event, "/error/data/message").or(text(event, "/error/name"));
    let status = number(event, "/error/data/statusCode");
    trouble(message.unwrap_or("it failed"), status, ended);
}

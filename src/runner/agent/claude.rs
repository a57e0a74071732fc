//! Claude Code: `claude -p`. It reports errors under `subtype: success`, and success although permissions were
//! denied.

use serde_json::Value;

use super::event::{fail_with, list, money, note_conversation, number, sum, text, usage, use_tool};
use super::{
    Invocation, Job, OutputState, Runner, event, model_and_resume_options, split_words, tools,
};
use crate::run::spent::round_dollars;
use crate::run::{Outcome, Usage};

pub(super) struct Claude;

/// Tools that it may use without asking, unless the job names some.
const TOOLS: &str = "Bash,Edit,Read,WebFetch,WebSearch,Write";

impl Runner for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let mut words = split_words(
            "claude -p --output-format=stream-json --verbose --permission-prompts=none \
                 --strict-mcp-config",
        );
        // Accepting edits would allow them whatever the tools are.
        let edits = tools::allows(job, "Edit") || tools::allows(job, "Write");
        let mode = if edits { "acceptEdits" } else { "default" };
        words.push(format!("--permission-mode={mode}"));
        let tools = match job.tools.is_empty() {
            true => TOOLS.to_string(),
            false => job.tools.join(","),
        };
        words.push(format!("--allowedTools={tools}"));
        words.extend(job.limits.turns.map(|it| format!("--max-turns={it}")));
        // Its budget includes the earlier cost of the conversation.
        let before = job.before.cost.unwrap_or(0.0);
        let budget = job.limits.cost.map(|left| round_dollars(before + left));
        words.extend(budget.map(|it| format!("--max-budget-usd={it}")));
        words.extend(model_and_resume_options(job, "resume"));
        Invocation {
            words,
            environment: vec![("DISABLE_AUTOUPDATER".into(), "1".into())],
            passed: split_words(
                "ANTHROPIC_* API_TIMEOUT_MS CLAUDE_CODE_MAX_OUTPUT_TOKENS \
                 CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK \
                 CLAUDE_CODE_USE_VERTEX CLAUDE_CONFIG_DIR",
            ),
            reads_prompt: true,
        }
    }

    fn read_event(&self, kind: &str, event: &Value, state: &mut OutputState) {
        match kind {
            "system" => system(event, state),
            "assistant" => assistant(event, state),
            "result" => result(event, state),
            _ => {}
        }
    }
}

fn system(event: &Value, state: &mut OutputState) {
    match text(event, "/subtype") {
        Some("permission_denied") => state.add_denied_tool(text(event, "/tool_name")),
        Some("api_retry") => {
            let status = number(event, "/error_status");
            event::read_retry(text(event, "/error"), status, state);
        }
        _ => {}
    }
    note_conversation(text(event, "/session_id"), state);
}

/// A message of the model. One with several parts comes once for each, with the same usage.
fn assistant(event: &Value, state: &mut OutputState) {
    for part in list(event, "/message/content") {
        match text(part, "/type") {
            Some("tool_use") => use_tool(text(part, "/name"), part.get("input"), state),
            // Messages of subagents are not its own.
            Some("text") if event.get("parent_tool_use_id").is_none_or(Value::is_null) => {
                state.end.message = text(part, "/text").map(String::from);
            }
            _ => {}
        }
    }
    let id = text(event, "/message/id").map(String::from);
    let now = read_usage(event, "/message/usage").filter(|_| id.is_some() && id != state.seen);
    if let Some(now) = now {
        state.seen = id;
        state.add_tokens(now);
    }
}

fn read_usage(event: &Value, place: &str) -> Option<Usage> {
    let counts = event.pointer(place)?;
    let read = [
        "/input_tokens",
        "/cache_creation_input_tokens",
        "/cache_read_input_tokens",
    ];
    usage(sum(counts, &read), number(counts, "/output_tokens"))
}

fn result(event: &Value, state: &mut OutputState) {
    note_conversation(text(event, "/session_id"), state);
    if let Some(message) = text(event, "/result") {
        state.end.message = Some(message.to_string());
    }
    let before = state.before;
    let usage = sum_models(event).map(|all| before.new_usage(all));
    if let Some(usage) = usage.or(read_usage(event, "/usage")) {
        state.end.usage = Some(usage);
    }
    state.end.cost = money(event, "/total_cost_usd").map(|all| before.new_cost(all));
    state.end.turns = number(event, "/num_turns").and_then(|turns| turns.try_into().ok());
    for denial in list(event, "/permission_denials") {
        state.add_denied_tool(text(denial, "/tool_name"));
    }
    set_outcome(event, state);
}

/// Tokens of all models, subagents and, like the cost, earlier attempts of the conversation included.
fn sum_models(event: &Value) -> Option<Usage> {
    let models = event.get("modelUsage")?.as_object()?.values();
    let read = [
        "/inputTokens",
        "/cacheCreationInputTokens",
        "/cacheReadInputTokens",
    ];
    let of_model = |model| usage(sum(model, &read), number(model, "/outputTokens"));
    models.filter_map(of_model).reduce(Usage::plus)
}

fn set_outcome(event: &Value, state: &mut OutputState) {
    let subtype = text(event, "/subtype").unwrap_or_default();
    let is_error = event.get("is_error").and_then(Value::as_bool);
    if is_error == Some(false) && subtype == "success" {
        state.end.outcome = Some(Outcome::Ok);
        return;
    }
    let error = list(event, "/errors").last().and_then(Value::as_str);
    let said = text(event, "/result").or(error).unwrap_or(subtype);
    match subtype {
        "error_max_turns" => state.fail(Outcome::Budget, Some("its turns ran out".into())),
        "error_max_budget_usd" => state.fail(Outcome::Budget, Some("its money ran out".into())),
        _ => fail_with(said, number(event, "/api_error_status"), state),
    }
}

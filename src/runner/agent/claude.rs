//! Claude Code: `claude -p`. Its result tells of errors under `subtype: success`, and permissions
//! that it lacked do not keep it from saying that it is done.

use serde_json::Value;

use super::event::{conversation, doing, list, money, more, number, sum, text, trouble, usage};
use super::{Ended, Invocation, Job, Runner, choices, event, split_words, tools};
use crate::run::spent::dollars;
use crate::run::{Outcome, Usage};

pub(super) struct Claude;

/// What it may use without asking when the job does not say.
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
        // It counts in what the conversation has cost before.
        let before = job.before.cost.unwrap_or(0.0);
        let budget = job.limits.cost.map(|left| dollars(before + left));
        words.extend(budget.map(|it| format!("--max-budget-usd={it}")));
        words.extend(choices(job, "resume"));
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

    fn read_event(&self, kind: &str, event: &Value, ended: &mut Ended) {
        match kind {
            "system" => system(event, ended),
            "assistant" => assistant(event, ended),
            "result" => result(event, ended),
            _ => {}
        }
    }
}

fn system(event: &Value, ended: &mut Ended) {
    match text(event, "/subtype") {
        Some("permission_denied") => ended.deny(text(event, "/tool_name")),
        Some("api_retry") => {
            let status = number(event, "/error_status");
            event::read_retry(text(event, "/error"), status, ended);
        }
        _ => {}
    }
    conversation(text(event, "/session_id"), ended);
}

/// A message of the model. One with several parts comes once for each, with the same usage.
fn assistant(event: &Value, ended: &mut Ended) {
    for part in list(event, "/message/content") {
        match text(part, "/type") {
            Some("tool_use") => doing(text(part, "/name"), part.get("input"), ended),
            // Words of an agent below it are not its own.
            Some("text") if event.get("parent_tool_use_id").is_none_or(Value::is_null) => {
                ended.message = text(part, "/text").map(String::from);
            }
            _ => {}
        }
    }
    let id = text(event, "/message/id").map(String::from);
    let now = used(event, "/message/usage").filter(|_| id.is_some() && id != ended.seen);
    if let Some(now) = now {
        ended.seen = id;
        ended.use_tokens(more(ended.usage, now));
    }
}

fn used(event: &Value, place: &str) -> Option<Usage> {
    let counts = event.pointer(place)?;
    let read = [
        "/input_tokens",
        "/cache_creation_input_tokens",
        "/cache_read_input_tokens",
    ];
    usage(sum(counts, &read), number(counts, "/output_tokens"))
}

fn result(event: &Value, ended: &mut Ended) {
    conversation(text(event, "/session_id"), ended);
    if let Some(message) = text(event, "/result") {
        ended.message = Some(message.to_string());
    }
    let before = ended.before;
    let usage = used_in_all(event).map(|all| before.new_usage(all));
    if let Some(usage) = usage.or(used(event, "/usage")) {
        ended.use_tokens(usage);
    }
    ended.cost = money(event, "/total_cost_usd").map(|all| before.new_cost(all));
    ended.turns = number(event, "/num_turns").and_then(|turns| turns.try_into().ok());
    for denial in list(event, "/permission_denials") {
        ended.deny(text(denial, "/tool_name"));
    }
    close(event, ended);
}

/// Tokens of all models, those of agents below it too, and like the cost those of earlier tries of the
/// conversation.
fn used_in_all(event: &Value) -> Option<Usage> {
    let models = event.get("modelUsage")?.as_object()?.values();
    let read = [
        "/inputTokens",
        "/cacheCreationInputTokens",
        "/cacheReadInputTokens",
    ];
    let of_model = |model| usage(sum(model, &read), number(model, "/outputTokens"));
    models
        .filter_map(of_model)
        .reduce(|before, now| more(Some(before), now))
}

fn close(event: &Value, ended: &mut Ended) {
    let subtype = text(event, "/subtype").unwrap_or_default();
    let is_error = event.get("is_error").and_then(Value::as_bool);
    if is_error == Some(false) && subtype == "success" {
        ended.outcome = Some(Outcome::Ok);
        return;
    }
    let error = list(event, "/errors").last().and_then(Value::as_str);
    let said = text(event, "/result").or(error).unwrap_or(subtype);
    match subtype {
        "error_max_turns" => ended.fail(Outcome::Budget, Some("its turns ran out".into())),
        "error_max_budget_usd" => ended.fail(Outcome::Budget, Some("its money ran out".into())),
        _ => trouble(said, number(event, "/api_error_status"), ended),
    }
}

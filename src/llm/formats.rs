//! The wire formats of model servers as pure functions: OpenAI's Chat Completions, which most servers speak, and
//! Anthropic's Messages.

use serde_json::{Value, json};

use super::reply::{error, fault, number, text, word};
use super::{Delta, Finish, Model, ProviderRequest, Request, Usage};

/// OpenAI's own server, whose newer models accept only the newer name of the token limit.
const OPENAI: &str = "https://api.openai.com/";

pub(crate) fn draft_openai_chat(model: &Model, request: &Request, stream: bool) -> ProviderRequest {
    let system = json!({"role": "system", "content": request.system});
    let system = (!request.system.is_empty()).then_some(system);
    let messages = request.messages.iter().map(|message| json!(message));
    let messages: Vec<Value> = system.into_iter().chain(messages).collect();
    let mut body = json!({"model": model.name_for(request), "messages": messages});
    let most = match model.base_url.starts_with(OPENAI) {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    body[most] = json!(request.max_tokens);
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(schema) = &request.schema {
        let schema = json!({"name": "answer", "strict": true, "schema": schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    if stream {
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true});
    }
    ProviderRequest {
        url: format!("{}/chat/completions", model.base_url),
        headers: Vec::new(),
        body,
    }
}

pub(crate) fn read_openai_chat(value: &Value, message: &str) -> Delta {
    let refusal = text(value, &format!("{message}/refusal"));
    let finish = word(value, "/choices/0/finish_reason");
    Delta {
        text: text(value, &format!("{message}/content")) + &refusal,
        finish: match refusal.is_empty() || finish.is_none() {
            true => finish.map(|word| Finish::read(&word)),
            false => Some(Finish::Refused),
        },
        usage: Usage {
            input_tokens: number(value, "/usage/prompt_tokens"),
            output_tokens: number(value, "/usage/completion_tokens"),
            total_tokens: None,
        },
        model: word(value, "/model"),
        error: fault(value),
    }
}

const VERSION: &str = "2023-06-01";

/// Writes a request. Temperatures end at 1 here.
pub(crate) fn draft_anthropic(model: &Model, request: &Request, stream: bool) -> ProviderRequest {
    let mut body = json!({
        "model": model.name_for(request),
        "messages": request.messages,
        "max_tokens": request.max_tokens,
    });
    // This version of the format has no schemas, so the prompt has it.
    let told = request.schema.as_ref();
    let told = told.map(|schema| format!("\n\nThe JSON Schema of the answer:\n{schema}"));
    let system = request.system.clone() + &told.unwrap_or_default();
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature.min(1.0));
    }
    if stream {
        body["stream"] = json!(true);
    }
    ProviderRequest {
        url: format!("{}/v1/messages", model.base_url),
        headers: vec![("anthropic-version", VERSION)],
        body,
    }
}

pub(crate) fn parse_anthropic_message(body: &Value) -> Delta {
    Delta {
        text: text(body, "/content"),
        error: fault(body),
        ..state_anthropic(body, "", "")
    }
}

pub(crate) fn delta_anthropic(event: &Value) -> Delta {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => state_anthropic(event, "/message", "/message"),
        "content_block_delta" => Delta {
            text: text(event, "/delta/text"),
            ..Delta::default()
        },
        "message_delta" => state_anthropic(event, "/delta", ""),
        "error" => Delta {
            error: error(event).or(Some("an error without a message".to_string())),
            ..Delta::default()
        },
        _ => Delta {
            error: fault(event),
            ..Delta::default()
        },
    }
}

/// Reads stop reason and usage. Input tokens include those written to and read from the cache.
fn state_anthropic(value: &Value, message: &str, counted: &str) -> Delta {
    let tokens = |name: &str| number(value, &format!("{counted}/usage/{name}"));
    let cache = ["cache_read_input_tokens", "cache_creation_input_tokens"];
    let cache = cache.iter().filter_map(|name| tokens(name));
    let input = tokens("input_tokens");
    Delta {
        finish: word(value, &format!("{message}/stop_reason")).map(|word| Finish::read(&word)),
        usage: Usage {
            input_tokens: input.map(|input| cache.fold(input, u64::saturating_add)),
            output_tokens: tokens("output_tokens"),
            total_tokens: None,
        },
        model: word(value, &format!("{message}/model")),
        ..Delta::default()
    }
}

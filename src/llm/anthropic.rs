//! Anthropic's Messages. Pure.

use serde_json::{Value, json};

use super::reply::{error, fault, number, text, word};
use super::{Delta, Draft, Finish, Model, Request, Usage};

/// The version of the format that is spoken here.
const VERSION: &str = "2023-06-01";

/// Writes a request. Temperatures end at 1 here.
pub fn draft(model: &Model, request: &Request, stream: bool) -> Draft {
    let mut body = json!({
        "model": model.name_for(request),
        "messages": request.messages,
        "max_tokens": request.max_tokens,
    });
    // This version of the format knows no schemas, so the model is told.
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
    Draft {
        url: format!("{}/v1/messages", model.base_url),
        headers: vec![("anthropic-version", VERSION)],
        body,
    }
}

/// Reads a whole answer.
pub fn whole(body: &Value) -> Delta {
    Delta {
        text: text(body, "/content"),
        error: fault(body),
        ..state(body, "", "")
    }
}

/// Reads one event.
pub fn delta(event: &Value) -> Delta {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => state(event, "/message", "/message"),
        "content_block_delta" => Delta {
            text: text(event, "/delta/text"),
            ..Delta::default()
        },
        "message_delta" => state(event, "/delta", ""),
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

/// Reads why an answer ended and what it took. What was read counts what was put into the cache and
/// what came from there.
fn state(value: &Value, message: &str, counted: &str) -> Delta {
    let tokens = |name: &str| number(value, &format!("{counted}/usage/{name}"));
    let cached = tokens("cache_read_input_tokens");
    let kept = tokens("cache_creation_input_tokens").unwrap_or(0);
    let input = tokens("input_tokens").map(|read| {
        read.saturating_add(kept)
            .saturating_add(cached.unwrap_or(0))
    });
    Delta {
        finish: word(value, &format!("{message}/stop_reason")).map(|word| Finish::read(&word)),
        usage: Usage {
            input,
            output: tokens("output_tokens"),
            cached,
        },
        model: word(value, &format!("{message}/model")),
        ..Delta::default()
    }
}

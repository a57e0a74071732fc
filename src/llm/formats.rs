//! The four wire formats of model servers as pure functions: OpenAI's Chat Completions, which most servers
//! speak, OpenAI's Responses, Anthropic's Messages, and Ollama's own.

use serde_json::{Value, json};

use super::reply::{error, fault, number, text, word};
use super::{Delta, Draft, Finish, Model, Request, Usage};

/// OpenAI's own server, whose newer models know only the newer name of the most tokens.
const OPENAI: &str = "https://api.openai.com/";

/// Returns the messages, led by what the model is told first where there is any.
fn messages(request: &Request) -> Vec<Value> {
    let system = json!({"role": "system", "content": request.system});
    let system = (!request.system.is_empty()).then_some(system);
    let messages = request.messages.iter().map(|message| json!(message));
    system.into_iter().chain(messages).collect()
}

pub(crate) fn draft_openai_chat(model: &Model, request: &Request, stream: bool) -> Draft {
    let mut body = json!({"model": model.name_for(request), "messages": messages(request)});
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
    Draft {
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
            input: number(value, "/usage/prompt_tokens"),
            output: number(value, "/usage/completion_tokens"),
            cached: number(value, "/usage/prompt_tokens_details/cached_tokens"),
        },
        model: word(value, "/model"),
        error: fault(value),
    }
}

/// Writes a request. The server is asked to keep nothing.
pub(crate) fn draft_openai_responses(model: &Model, request: &Request, stream: bool) -> Draft {
    let mut body = json!({
        "model": model.name_for(request),
        "input": request.messages,
        "max_output_tokens": request.max_tokens,
        "store": false,
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(schema) = &request.schema {
        let format =
            json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema});
        body["text"] = json!({"format": format});
    }
    if stream {
        body["stream"] = json!(true);
    }
    Draft {
        url: format!("{}/responses", model.base_url),
        headers: Vec::new(),
        body,
    }
}

pub(crate) fn whole_openai_responses(body: &Value) -> Delta {
    let items = body["output"].as_array().map_or(&[][..], Vec::as_slice);
    let messages = items.iter().filter(|item| item["type"] == "message");
    let refused = messages.clone().any(|item| {
        let mut parts = item["content"].as_array().into_iter().flatten();
        parts.any(|part| part["type"] == "refusal")
    });
    let ended = state_openai(body);
    Delta {
        text: messages.map(|item| text(item, "/content")).collect(),
        finish: ended
            .finish
            .map(|finish| if refused { Finish::Refused } else { finish }),
        ..ended
    }
}

/// Reads one event. Text comes only in its deltas: the last event repeats all of it.
pub(crate) fn delta_openai_responses(event: &Value) -> Delta {
    match event["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" => Delta {
            text: text(event, "/delta"),
            ..Delta::default()
        },
        "response.refusal.delta" => Delta {
            text: text(event, "/delta"),
            finish: Some(Finish::Refused),
            ..Delta::default()
        },
        "response.completed" | "response.incomplete" | "response.failed" => {
            let whole = whole_openai_responses(&event["response"]);
            Delta {
                text: String::new(),
                ..whole
            }
        }
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

fn state_openai(response: &Value) -> Delta {
    let status = word(response, "/status");
    let (finish, error) = match status.as_deref() {
        Some("incomplete") => (
            word(response, "/incomplete_details/reason").or(status),
            None,
        ),
        Some("failed") => (None, error(response).or(Some("it failed".to_string()))),
        Some("in_progress" | "queued") => (None, None),
        _ => (status, fault(response)),
    };
    Delta {
        text: String::new(),
        finish: finish.map(|word| Finish::read(&word)),
        usage: Usage {
            input: number(response, "/usage/input_tokens"),
            output: number(response, "/usage/output_tokens"),
            cached: number(response, "/usage/input_tokens_details/cached_tokens"),
        },
        model: word(response, "/model"),
        error,
    }
}

const VERSION: &str = "2023-06-01";

/// Writes a request. Temperatures end at 1 here.
pub(crate) fn draft_anthropic(model: &Model, request: &Request, stream: bool) -> Draft {
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

pub(crate) fn whole_anthropic(body: &Value) -> Delta {
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

pub(crate) fn draft_ollama(model: &Model, request: &Request, stream: bool) -> Draft {
    let mut options = json!({"num_predict": request.max_tokens});
    if let Some(temperature) = request.temperature {
        options["temperature"] = json!(temperature);
    }
    // Unless it is told, this server streams.
    let mut body = json!({
        "model": model.name_for(request),
        "messages": messages(request),
        "options": options,
        "stream": stream,
    });
    if let Some(schema) = &request.schema {
        body["format"] = schema.clone();
    }
    Draft {
        url: format!("{}/api/chat", model.base_url),
        headers: Vec::new(),
        body,
    }
}

/// Reads a piece of an answer; a whole one has the same form.
pub(crate) fn delta_ollama(line: &Value) -> Delta {
    let is_done = line["done"].as_bool().unwrap_or(false);
    let reason = word(line, "/done_reason").unwrap_or("stop".to_string());
    Delta {
        text: text(line, "/message/content"),
        finish: is_done.then(|| Finish::read(&reason)),
        usage: Usage {
            input: number(line, "/prompt_eval_count"),
            output: number(line, "/eval_count"),
            cached: None,
        },
        model: word(line, "/model"),
        error: fault(line),
    }
}

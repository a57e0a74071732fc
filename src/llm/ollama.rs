//! Ollama's own format. Pure.

use serde_json::{Value, json};

use super::reply::{fault, number, text, word};
use super::{Delta, Draft, Finish, Model, Request, Usage};

/// Writes a request.
pub fn draft(model: &Model, request: &Request, stream: bool) -> Draft {
    let system = json!({"role": "system", "content": request.system});
    let system = (!request.system.is_empty()).then_some(system);
    let messages: Vec<Value> = system
        .into_iter()
        .chain(request.messages.iter().map(|message| json!(message)))
        .collect();
    let mut options = json!({"num_predict": request.max_tokens});
    if let Some(temperature) = request.temperature {
        options["temperature"] = json!(temperature);
    }
    // Unless it is told, this server streams.
    let mut body = json!({
        "model": model.name_for(request),
        "messages": messages,
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
pub fn delta(line: &Value) -> Delta {
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

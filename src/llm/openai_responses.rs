//! OpenAI's Responses. Pure.

use serde_json::{Value, json};

use super::reply::{error, fault, number, text, word};
use super::{Delta, Draft, Finish, Model, Request, Usage};

/// Writes a request. The server is asked to keep nothing.
pub fn draft(model: &Model, request: &Request, stream: bool) -> Draft {
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

/// Reads a whole answer.
pub fn whole(body: &Value) -> Delta {
    let items = body["output"].as_array().map_or(&[][..], Vec::as_slice);
    let messages = items.iter().filter(|item| item["type"] == "message");
    let refused = messages.clone().any(|item| {
        let mut parts = item["content"].as_array().into_iter().flatten();
        parts.any(|part| part["type"] == "refusal")
    });
    let ended = state(body);
    Delta {
        text: messages.map(|item| text(item, "/content")).collect(),
        finish: ended
            .finish
            .map(|finish| if refused { Finish::Refused } else { finish }),
        ..ended
    }
}

/// Reads one event. Text comes only in its deltas: the last event repeats all of it.
pub fn delta(event: &Value) -> Delta {
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
            let whole = whole(&event["response"]);
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

/// Reads everything of an answer but its text.
fn state(response: &Value) -> Delta {
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

//! OpenAI's Chat Completions, which most servers speak. Pure.

use serde_json::{Value, json};

use super::reply::{fault, number, text, word};
use super::{Delta, Draft, Finish, Model, Request, Usage};

/// OpenAI's own server, whose newer models know only the newer name of the most tokens.
const OPENAI: &str = "https://api.openai.com/";

/// Writes a request.
pub fn draft(model: &Model, request: &Request, stream: bool) -> Draft {
    let system = json!({"role": "system", "content": request.system});
    let system = (!request.system.is_empty()).then_some(system);
    let messages: Vec<Value> = system
        .into_iter()
        .chain(request.messages.iter().map(|message| json!(message)))
        .collect();
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
    Draft {
        url: format!("{}/chat/completions", model.base_url),
        headers: Vec::new(),
        body,
    }
}

/// Reads a whole answer.
pub fn whole(body: &Value) -> Delta {
    read(body, "/choices/0/message")
}

/// Reads one event.
pub fn delta(event: &Value) -> Delta {
    read(event, "/choices/0/delta")
}

fn read(value: &Value, message: &str) -> Delta {
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

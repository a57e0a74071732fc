//! The wire formats of models: an answer as a whole, and as the events of a stream.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::Answer;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1beta/models/NAME:generateContent`, or `:streamGenerateContent`.
    Gemini,
}

/// Cost of every answer.
const TOKENS: (u32, u32) = (100, 20);
const MODEL: &str = "scripted-model";

impl Format {
    /// Tells the format by the path.
    pub(super) fn from_path(path: &str) -> Option<Format> {
        let ends = [
            ("/messages", Format::Anthropic),
            ("/responses", Format::Responses),
            ("/chat/completions", Format::Chat),
            ("enerateContent", Format::Gemini),
        ];
        let known = ends.into_iter().find(|(end, _)| path.ends_with(end));
        known.map(|(_, format)| format)
    }

    /// Returns whether a stream is asked for.
    pub(super) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Format::Gemini => path.contains(":stream"),
            _ => body["stream"] == true,
        }
    }

    /// Makes the body of an answer.
    pub(super) fn whole(self, answer: &Answer) -> Value {
        match self {
            Format::Anthropic => anthropic(answer),
            Format::Responses => response(answer),
            Format::Chat => chat(answer),
            Format::Gemini => gemini(answer),
        }
    }

    /// Makes the events of an answer.
    pub(super) fn events(self, answer: &Answer) -> String {
        match self {
            Format::Anthropic => anthropic_events(answer),
            Format::Responses => response_events(answer),
            Format::Chat => chat_events(answer),
            Format::Gemini => data(&gemini(answer)),
        }
    }
}

/// Makes an id that no other answer has.
fn id(kind: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("{kind}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn data(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// An event with its type on a line before it.
fn write_named(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or_default();
    format!("event: {kind}\n{}", data(event))
}

fn anthropic(answer: &Answer) -> Value {
    let (block, stop) = match answer {
        Answer::Text { text, is_cut } => (
            json!({"type": "text", "text": text}),
            if *is_cut { "max_tokens" } else { "end_turn" },
        ),
        Answer::Call { tool, input } => (
            json!({"type": "tool_use", "id": id("toolu"), "name": tool, "input": input}),
            "tool_use",
        ),
    };
    json!({
        "id": id("msg"), "type": "message", "role": "assistant", "model": MODEL,
        "content": [block], "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": TOKENS.0, "output_tokens": TOKENS.1,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    })
}

fn anthropic_events(answer: &Answer) -> String {
    let whole = anthropic(answer);
    let mut opened = whole.clone();
    opened["content"] = json!([]);
    opened["stop_reason"] = json!(null);
    opened["usage"]["output_tokens"] = json!(1);
    let mut block = whole["content"][0].clone();
    let delta = match block["type"].as_str() {
        Some("text") => json!({"type": "text_delta", "text": block["text"].take()}),
        _ => {
            let input = block["input"].take().to_string();
            json!({"type": "input_json_delta", "partial_json": input})
        }
    };
    match block["type"].as_str() {
        Some("text") => block["text"] = json!(""),
        _ => block["input"] = json!({}),
    }
    let stop = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    let events = [
        json!({"type": "message_start", "message": opened}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": stop, "usage": whole["usage"]}),
        json!({"type": "message_stop"}),
    ];
    events.iter().map(write_named).collect()
}

fn response(answer: &Answer) -> Value {
    let item = match answer {
        Answer::Text { text, .. } => json!({
            "type": "message", "id": id("msg"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Answer::Call { tool, input } => json!({
            "type": "function_call", "id": id("fc"), "call_id": id("call"), "name": tool,
            "arguments": input.to_string(), "status": "completed",
        }),
    };
    json!({
        "id": id("resp"), "object": "response", "created_at": 0, "status": "completed",
        "model": MODEL, "output": [item], "error": null, "incomplete_details": null,
        "usage": {"input_tokens": TOKENS.0, "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens": TOKENS.1, "output_tokens_details": {"reasoning_tokens": 0},
                  "total_tokens": TOKENS.0 + TOKENS.1},
    })
}

fn response_events(answer: &Answer) -> String {
    let whole = response(answer);
    let mut opened = whole.clone();
    opened["status"] = json!("in_progress");
    opened["output"] = json!([]);
    let item = &whole["output"][0];
    let events = [
        json!({"type": "response.created", "sequence_number": 1, "response": opened}),
        json!({"type": "response.output_item.added", "sequence_number": 2, "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "sequence_number": 3, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": 4, "response": whole}),
    ];
    events.iter().map(write_named).collect()
}

fn chat_message(answer: &Answer) -> (Value, &'static str) {
    match answer {
        Answer::Text { text, is_cut } => (
            json!({"role": "assistant", "content": text}),
            if *is_cut { "length" } else { "stop" },
        ),
        Answer::Call { tool, input } => {
            let function = json!({"name": tool, "arguments": input.to_string()});
            let call =
                json!({"index": 0, "id": id("call"), "type": "function", "function": function});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            (message, "tool_calls")
        }
    }
}

fn chat_body(object: &str, choices: &Value) -> Value {
    json!({
        "id": id("chatcmpl"), "object": object, "created": 0, "model": MODEL, "choices": choices,
        "usage": {"prompt_tokens": TOKENS.0, "completion_tokens": TOKENS.1,
                  "total_tokens": TOKENS.0 + TOKENS.1},
    })
}

fn chat(answer: &Answer) -> Value {
    let (message, reason) = chat_message(answer);
    let choice = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    chat_body("chat.completion", &choice)
}

fn chat_events(answer: &Answer) -> String {
    let (message, reason) = chat_message(answer);
    let chunk = |choices: Value| data(&chat_body("chat.completion.chunk", &choices));
    let delta = json!([{"index": 0, "delta": message, "finish_reason": null}]);
    let end = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
    [
        chunk(delta),
        chunk(end),
        chunk(json!([])),
        "data: [DONE]\n\n".to_string(),
    ]
    .concat()
}

fn gemini(answer: &Answer) -> Value {
    let (part, reason) = match answer {
        Answer::Text { text, is_cut } => (
            json!({"text": text}),
            if *is_cut { "MAX_TOKENS" } else { "STOP" },
        ),
        Answer::Call { tool, input } => (
            json!({"functionCall": {"id": id("fc"), "name": tool, "args": input}}),
            "STOP",
        ),
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": TOKENS.0, "candidatesTokenCount": TOKENS.1,
                          "totalTokenCount": TOKENS.0 + TOKENS.1},
        "modelVersion": MODEL, "responseId": id("gen"),
    })
}

//! What a model answers, whole or in pieces, in whatever format it came. Pure.

use serde::Serialize;
use serde_json::Value;

/// Longest message of a server that is repeated, in characters.
const MESSAGE_MAX: usize = 500;

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The answer.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// What it took.
    pub usage: Usage,
    /// The model that answered, as the server names it; else as it was asked for.
    pub model: String,
}

/// Tokens of an answer; none where the server did not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens that were read, those from a cache among them.
    pub input: Option<u64>,
    /// Tokens that were written.
    pub output: Option<u64>,
    /// Tokens that were read from the server's cache.
    pub cached: Option<u64>,
}

impl Usage {
    /// Adds what another answer took; what nobody counted adds nothing.
    pub fn add(&mut self, other: Usage) {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            _ => one.or(two),
        };
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);
        self.cached = sum(self.cached, other.cached);
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Finish {
    /// It was said.
    Stop,
    /// It reached the most tokens that it may have.
    Length,
    /// The model or its server would not answer.
    Refused,
    /// Something else, in the server's word.
    Other(String),
}

/// A piece of an answer. A whole answer is one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// More text.
    pub text: String,
    /// Why the answer ended, once it has.
    pub finish: Option<Finish>,
    /// What is known of its tokens; what comes later counts.
    pub usage: Usage,
    /// The model that answers.
    pub model: Option<String>,
    /// What the server says went wrong. May hold text from strangers.
    pub error: Option<String>,
}

impl Delta {
    /// Adds the next piece.
    pub fn add(&mut self, next: Delta) {
        self.text += &next.text;
        self.finish = next.finish.or(self.finish.take());
        self.usage = Usage {
            input: next.usage.input.or(self.usage.input),
            output: next.usage.output.or(self.usage.output),
            cached: next.usage.cached.or(self.usage.cached),
        };
        self.model = next.model.or(self.model.take());
        self.error = self.error.take().or(next.error);
    }

    /// Makes the answer; the error says why it is none.
    pub fn finished(self, asked: &str) -> Result<Reply, String> {
        let Some(finish) = self.finish else {
            return Err("it ended before its end".to_string());
        };
        if self.text.trim().is_empty() && finish != Finish::Refused {
            return Err("there is no text in it".to_string());
        }
        Ok(Reply {
            text: self.text,
            finish,
            usage: self.usage,
            model: self.model.unwrap_or_else(|| asked.to_string()),
        })
    }
}

impl Finish {
    /// Says why an answer is not all that would have been said; none of a whole one.
    pub fn lack(&self) -> Option<&'static str> {
        match self {
            Finish::Stop => None,
            Finish::Length => Some("it was cut off at the most tokens that it may have"),
            Finish::Refused => Some("the model would not answer"),
            Finish::Other(_) => Some("the model ended it for a reason of its own"),
        }
    }

    /// Reads the word of a server; the formats use different ones.
    pub(super) fn read(word: &str) -> Finish {
        match word {
            "stop" | "end_turn" | "stop_sequence" | "completed" => Finish::Stop,
            "length" | "max_tokens" | "max_output_tokens" => Finish::Length,
            "content_filter" | "refusal" => Finish::Refused,
            other => Finish::Other(other.chars().take(100).collect()),
        }
    }
}

/// Reads a word at a place; an empty one is none.
pub(super) fn word(value: &Value, place: &str) -> Option<String> {
    let word = value.pointer(place)?.as_str()?;
    Some(word.to_string()).filter(|word| !word.is_empty())
}

/// Reads the text at a place, which is a text or a list of parts that have some.
pub(super) fn text(value: &Value, place: &str) -> String {
    match value.pointer(place) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
        _ => String::new(),
    }
}

fn part(part: &Value) -> Option<&str> {
    let kind = part["type"].as_str().unwrap_or("text");
    let is_text = matches!(kind, "text" | "output_text" | "refusal");
    let text = part["text"].as_str().or(part["refusal"].as_str());
    text.filter(|_| is_text)
}

/// Reads a number at a place.
pub(super) fn number(value: &Value, place: &str) -> Option<u64> {
    value.pointer(place)?.as_u64()
}

/// Finds what a server says went wrong, in any of the usual places.
pub fn error(value: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let said = places.iter().filter_map(|place| word(value, place)).next();
    let said = said.or_else(|| {
        let error = value.get("error").filter(|error| !error.is_null())?;
        Some(error.to_string())
    })?;
    Some(said.chars().take(MESSAGE_MAX).collect())
}

/// Finds what went wrong in an answer that should be a good one: only an `error` counts.
pub(super) fn fault(value: &Value) -> Option<String> {
    value
        .get("error")
        .filter(|it| !it.is_null())
        .and_then(|_| error(value))
}

//! Answers of a model, whole or streamed as server-sent events. Pure.

use serde::Serialize;
use serde_json::Value;

use crate::run::Usage;

/// Most characters of a server's message that are repeated.
const MESSAGE_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    /// Without the total.
    pub(crate) usage: Usage,
    /// The model that answered, as the server names it; else as it was asked for.
    pub(crate) model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Finish {
    /// The answer is complete.
    Stop,
    /// It reached the most tokens that it may have.
    Length,
    /// The model or its server would not answer.
    Refused,
    /// Something else, in the server's word.
    Other(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) text: String,
    /// Why the answer ended, once it has.
    pub(crate) finish: Option<Finish>,
    /// Its tokens as far as they are known; a later count replaces an earlier one.
    pub(crate) usage: Usage,
    pub(crate) model: Option<String>,
    pub(crate) error: Option<String>,
}

impl Delta {
    pub(crate) fn add(&mut self, next: Delta) {
        self.text += &next.text;
        self.finish = next.finish.or(self.finish.take());
        self.usage = Usage {
            input_tokens: next.usage.input_tokens.or(self.usage.input_tokens),
            output_tokens: next.usage.output_tokens.or(self.usage.output_tokens),
            total_tokens: None,
        };
        self.model = next.model.or(self.model.take());
        self.error = self.error.take().or(next.error);
    }

    pub(crate) fn finish(self, asked: &str) -> Result<Reply, String> {
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
    /// Returns why an answer is incomplete; `None` if it is complete.
    pub(crate) fn explain_incomplete(&self) -> Option<&'static str> {
        match self {
            Finish::Stop => None,
            Finish::Length => Some("it was cut off at the most tokens that it may have"),
            Finish::Refused => Some("the model would not answer"),
            Finish::Other(_) => Some("the model ended it for a reason of its own"),
        }
    }

    /// Reads the word of any server.
    pub(super) fn read(word: &str) -> Finish {
        match word {
            "stop" | "end_turn" | "stop_sequence" => Finish::Stop,
            "length" | "max_tokens" => Finish::Length,
            "content_filter" | "refusal" => Finish::Refused,
            other => Finish::Other(other.chars().take(100).collect()),
        }
    }
}

pub(super) fn word(value: &Value, place: &str) -> Option<String> {
    let word = value.pointer(place)?.as_str()?;
    Some(word.to_string()).filter(|word| !word.is_empty())
}

pub(super) fn text(value: &Value, place: &str) -> String {
    match value.pointer(place) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
        _ => String::new(),
    }
}

fn part(part: &Value) -> Option<&str> {
    let kind = part["type"].as_str().unwrap_or("text");
    let is_text = matches!(kind, "text" | "refusal");
    let text = part["text"].as_str().or(part["refusal"].as_str());
    text.filter(|_| is_text)
}

pub(super) fn number(value: &Value, place: &str) -> Option<u64> {
    value.pointer(place)?.as_u64()
}

pub(crate) fn error(value: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let said = places.iter().filter_map(|place| word(value, place)).next();
    let said = said.or_else(|| {
        let error = value.get("error").filter(|error| !error.is_null())?;
        Some(error.to_string())
    })?;
    Some(said.chars().take(MESSAGE_MAX).collect())
}

/// Returns the error in an answer with a good status: only an `error` counts.
pub(super) fn fault(value: &Value) -> Option<String> {
    value
        .get("error")
        .filter(|it| !it.is_null())
        .and_then(|_| error(value))
}

/// Reads server-sent events line by line.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    data: Option<String>,
}

impl Reader {
    /// Takes a line, and returns the data of the event that it ends. Names, ids and comments are ignored.
    pub(crate) fn push(&mut self, line: &str) -> Option<String> {
        let line = line
            .trim_start_matches('\u{feff}')
            .trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return self.data.take();
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            self.data = Some(match self.data.take() {
                Some(data) => format!("{data}\n{value}"),
                None => value.to_string(),
            });
        }
        None
    }

    /// Returns the event that is open at the end of the text: some servers leave out its end.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.data.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut reader = Reader::default();
        let events = text
            .split_inclusive('\n')
            .filter_map(|line| reader.push(line));
        let mut events: Vec<String> = events.collect();
        events.extend(reader.finish());
        events
    }

    #[test]
    fn events_are_read_in_each_spelling() {
        for (text, events) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("event: x\nid: 7\n: comment\ndata:a\n\n", vec!["a"]),
            ("data: {\ndata: }\n\n", vec!["{\n}"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("\n\n: ping\n\n\n", vec![]),
            ("data: cut", vec!["cut"]),
            ("data: cut\n", vec!["cut"]),
            ("data\n\n", vec![""]),
            ("", vec![]),
        ] {
            assert_eq!(read(text), events, "{text:?}");
        }
    }
}

//! Answers of a model, whole or streamed as server-sent events. Pure.

use serde::Serialize;
use serde_json::Value;

/// Longest message of a server that is repeated, in characters.
const MESSAGE_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
    /// The model that answered, as the server names it; else as it was asked for.
    pub(crate) model: String,
}

/// Tokens of an answer; none where the server did not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Usage {
    /// Tokens that were read, those from a cache among them.
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    /// Tokens that were read from the server's cache.
    pub(crate) cached: Option<u64>,
}

impl Usage {
    pub(crate) fn add(&mut self, other: Usage) {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            _ => one.or(two),
        };
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);
        self.cached = sum(self.cached, other.cached);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) enum Finish {
    /// It was said.
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
    /// What is known of its tokens; what comes later counts.
    pub(crate) usage: Usage,
    pub(crate) model: Option<String>,
    pub(crate) error: Option<String>,
}

impl Delta {
    pub(crate) fn add(&mut self, next: Delta) {
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
    /// Returns why an answer is not all that would have been said; none of a whole one.
    pub(crate) fn lack(&self) -> Option<&'static str> {
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

/// Finds what went wrong in an answer that should be a good one: only an `error` counts.
pub(super) fn fault(value: &Value) -> Option<String> {
    value
        .get("error")
        .filter(|it| !it.is_null())
        .and_then(|_| error(value))
}

/// Longest event, in bytes.
pub(crate) const EVENT_MAX: usize = 1 << 20;

/// Reads events out of text that arrives in any pieces.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// What came of a line that has not ended.
    line: String,
    data: Option<String>,
}

/// An event was longer than [`EVENT_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Reader {
    pub(crate) fn push(&mut self, text: &str) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for part in text.split_inclusive('\n') {
            self.line += part;
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held > EVENT_MAX {
                return Err(TooLong);
            }
            if part.ends_with('\n') {
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    /// Returns the event that was open when the text ended: some servers leave out its end.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.data.take())
    }

    /// Takes a line; an empty one ends an event. Names, ids, comments and unknown fields say nothing here.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, size: usize) -> Vec<String> {
        let mut reader = Reader::default();
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters
            .chunks(size)
            .map(|piece| piece.iter().collect::<String>());
        let mut events: Vec<String> = pieces
            .flat_map(|piece| reader.push(&piece).unwrap())
            .collect();
        events.extend(reader.finish());
        events
    }

    #[test]
    fn events_are_read_however_they_are_written_and_arrive() {
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
            for size in 1..8 {
                assert_eq!(read(text, size), events, "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn an_event_without_end_is_refused_before_it_fills_the_memory() {
        let mut reader = Reader::default();
        let line = format!("data: {}\n", "x".repeat(1_000));
        let refused = (0..2_000).find_map(|_| reader.push(&line).err());
        assert_eq!(refused, Some(TooLong));
        let mut reader = Reader::default();
        assert_eq!(reader.push(&"x".repeat(EVENT_MAX + 1)), Err(TooLong));
    }
}

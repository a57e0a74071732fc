//! A message as somebody gives it, with the agent that is asked for.

use std::borrow::Cow;

use serde::Deserialize;

use super::Message;
use crate::agent::MESSAGE_MAX;
use crate::error::{Code, Error, Result};

/// A message that is to be routed.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The message as it was given.
    pub text: Cow<'a, str>,
    /// The message as the router reads it.
    pub message: Message,
    /// The agent that is asked for.
    pub agent: Option<String>,
}

/// A query as a JSON object; other fields may stand beside these.
#[derive(Deserialize)]
struct Fields {
    message: Option<String>,
    input: Option<String>,
    agent: Option<String>,
    #[serde(rename = "agentId", alias = "agent_id")]
    agent_id: Option<String>,
    metadata: Option<Wish>,
    context: Option<Wish>,
}

#[derive(Deserialize)]
struct Wish {
    requested_agent_id: Option<String>,
}

impl<'a> Query<'a> {
    /// Takes a message that says something and is not too long. No agent is asked for by a blank.
    pub fn new(text: impl Into<Cow<'a, str>>, agent: Option<String>) -> Result<Query<'a>> {
        let text = text.into();
        if text.len() > MESSAGE_MAX {
            let message = format!(
                "the message has {} bytes; at most {MESSAGE_MAX} are allowed",
                text.len()
            );
            return Err(invalid(message));
        }
        if text.trim().is_empty() {
            return Err(invalid("the message is empty"));
        }
        Ok(Query {
            message: Message::of(&text),
            agent: agent.filter(|id| !id.trim().is_empty()),
            text,
        })
    }

    /// Reads a line: a JSON object with `message` (or `input`) and `agent` (or `agentId`, or
    /// `requested_agent_id` in `metadata` or `context`), else the message itself.
    pub fn line(bytes: &'a [u8]) -> Result<Query<'a>> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.trim_ascii_start().starts_with(b"{") {
            return Query::object(bytes);
        }
        let text = std::str::from_utf8(bytes);
        Query::new(
            text.map_err(|_| invalid("the message is no text in UTF-8"))?,
            None,
        )
    }

    fn object(bytes: &[u8]) -> Result<Query<'a>> {
        let fields: Fields = serde_json::from_slice(bytes).map_err(|cause| {
            // The parser sees one line, so its number is not the one that is meant.
            let what = cause.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            invalid(format!("column {}: {what}", cause.column()))
        })?;
        let text = fields.message.or(fields.input);
        let text = text.ok_or_else(|| invalid("the message is missing"))?;
        let wish = |wish: Option<Wish>| wish.and_then(|wish| wish.requested_agent_id);
        let (metadata, context) = (wish(fields.metadata), wish(fields.context));
        let named = [fields.agent, fields.agent_id, metadata, context];
        let mut named = named.into_iter().flatten();
        Query::new(text, named.find(|id| !id.trim().is_empty()))
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InputInvalid, message).fix("cleo route 'Help me design a layout'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_objects() {
        for (line, text, agent) in [
            ("plain words\r", "plain words", None),
            ("\"quoted\"", "\"quoted\"", None),
            ("[1]", "[1]", None),
            (r#" {"message":"m","agent":"a","x":1}"#, "m", Some("a")),
            (
                r#"{"input":"m","agentId":"a","metadata":{"requested_agent_id":"b"}}"#,
                "m",
                Some("a"),
            ),
            (
                r#"{"input":"m","metadata":{"requested_agent_id":"b"}}"#,
                "m",
                Some("b"),
            ),
            (
                r#"{"input":"m","context":{"requested_agent_id":"c"},"metadata":{}}"#,
                "m",
                Some("c"),
            ),
            (r#"{"message":"m","agent":" ","metadata":null}"#, "m", None),
            (
                r#"{"message":"m","agent":"","agentId":" ","context":{"requested_agent_id":"c"}}"#,
                "m",
                Some("c"),
            ),
        ] {
            let query = Query::line(line.as_bytes()).unwrap();
            assert_eq!(
                (&*query.text, query.agent.as_deref()),
                (text, agent),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let long = "x".repeat(MESSAGE_MAX + 1);
        for (line, word) in [
            ("", "is empty"),
            ("  \t", "is empty"),
            (r#"{"message":" "}"#, "is empty"),
            ("{}", "is missing"),
            (r#"{"message":null}"#, "is missing"),
            (r#"{"message":7}"#, "column 12: invalid type"),
            (r#"{"message":"x""#, "column 14: EOF"),
            (r#"{"message":"x"} y"#, "column 17: trailing"),
            (&long, "1048577 bytes"),
        ] {
            let error = Query::line(line.as_bytes()).unwrap_err();
            assert!(error.message.contains(word), "{}", error.message);
            assert_eq!(error.code, Code::InputInvalid);
        }
        assert!(Query::line(b"caf\xe9").is_err());
        assert!(Query::line(&long.as_bytes()[1..]).is_ok());
    }
}

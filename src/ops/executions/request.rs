//! What is asked of agents.

use serde::Deserialize;

use crate::error::{Code, Error, Result};
use crate::route::Query;

/// A message, with the agent that is asked for and the conversation that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// The message.
    pub(crate) query: Query<'a>,
    /// The conversation, if any.
    pub(crate) conversation: Option<String>,
}

/// What an object says beside what the router reads.
#[derive(Deserialize)]
struct Place {
    #[serde(alias = "conversationId", alias = "conversation_id")]
    conversation: Option<String>,
}

impl<'a> Request<'a> {
    /// Reads a line: the message itself, or a JSON object as [`Query::line`] does, which may name a
    /// `conversation` too.
    pub(crate) fn line(bytes: &'a [u8]) -> Result<Request<'a>> {
        let query = Query::line(bytes)?;
        let place = place(bytes).transpose().map_err(|_| {
            let message = "the conversation must be named by its id";
            Error::new(Code::InputInvalid, message).fix("cleo conversations list")
        })?;
        Ok(Request {
            query,
            conversation: place.and_then(|place| place.conversation),
        })
    }

    /// Reads which conversation a line names, whatever else is right or wrong with it.
    pub(super) fn conversation(bytes: &[u8]) -> Option<String> {
        place(bytes)?.ok()?.conversation
    }
}

/// Reads what a line says beside the message, if it is an object.
fn place(bytes: &[u8]) -> Option<serde_json::Result<Place>> {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    is_object.then(|| serde_json::from_slice(bytes))
}

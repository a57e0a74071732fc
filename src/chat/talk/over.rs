//! What is no longer waited for: what came too late, and what another request left unanswered.

use super::waiting;
use crate::chat::message::SEAM;
use crate::chat::pending::{Ask, Chat};
use crate::chat::request::Request;
use crate::chat::value::{brief, label};
use crate::chat::vocabulary::QUESTIONS;
use crate::chat::{ChatAgent, clarifier, design, router};

/// Says whether a message asks for something by itself, whatever was waited for.
pub(super) fn is_own(message: &str) -> bool {
    let request = Request::read(message, None);
    let is_known = router::chosen(&request, None).reason != router::NO_RULE;
    let first = request.words.first().map_or("", String::as_str);
    let is_said = request.verb.is_some() || QUESTIONS.contains(&first);
    let names_client = request.names_client && request.words.is_empty();
    names_client
        || is_known && is_said
        || request.component.is_some()
        || !design::named(&request.words).is_empty()
        || clarifier::asks_for_help(message)
}

/// Says what waited too long: a call, or with `asked` an answer to a question.
pub(super) fn late(chat: &Chat, asked: bool) -> Option<String> {
    let ask = chat.ask.as_ref().filter(|_| asked);
    let what = match (&chat.pending, ask) {
        (Some(pending), _) => waiting(pending),
        (None, ask) => begun(ask?),
    };
    Some(format!(
        "That has waited too long and was dropped: {what}. Nothing was changed; please ask again.\n"
    ))
}

/// Says which question is left unanswered.
pub(super) fn left(ask: &Ask) -> String {
    let what = begun(ask);
    format!("I no longer wait for an answer about {what}. Nothing was changed.\n")
}

/// Quotes the request that a question is about.
fn begun(ask: &Ask) -> String {
    let said = ask.message.split(SEAM).next().unwrap_or_default();
    let said = match &ask.field {
        // The chat itself wrote this with the names that fields have in it.
        Some((ChatAgent::Editor, _)) => said.split(' ').map(label).collect::<Vec<_>>().join(" "),
        _ => said.trim().to_string(),
    };
    format!("\"{}\"", brief(&said))
}

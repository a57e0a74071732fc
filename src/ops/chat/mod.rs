//! The chat: one message, one reply. What a conversation remembers is read, and what a yes confirms is
//! taken and done, in one transaction, so that nothing is done twice and nothing on half the way.

mod advice;
mod forms;
mod held;
mod offer;
mod reply;
pub(crate) mod seed;
mod tools;
mod words;
mod writes;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Surroundings;
use super::conversations::keep_turn;
use crate::chat::answer::hear;
use crate::chat::model::Advice;
use crate::chat::{Called, Chat, Settled, Turn};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result};
use crate::run::{Detail, Speaker};
use crate::run::{ID_MAX, is_id};
use crate::store::agency::AgencyTransaction;
use crate::task::rules::check_text;
pub(crate) use advice::advise;
pub(crate) use held::{Held, Remark};
pub(crate) use seed::seed;

/// The conversation of those who name none.
pub(crate) const DEFAULT: &str = "default";

/// A message to the chat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) message: &'a str,
    pub(crate) conversation: &'a str,
    /// How long a question waits for its answer, in seconds.
    pub(crate) pending_ttl: u64,
    /// What a model makes of the message, where one was asked.
    pub(crate) advice: Option<&'a Advice>,
    /// What the caller holds of the conversation, where that is more than its name.
    pub(crate) held: Option<&'a Held>,
}

/// One message while it is answered.
struct Talk<'a> {
    transaction: &'a mut dyn AgencyTransaction,
    chat: Chat,
    /// The tools that were called.
    calls: Vec<Called>,
    /// What became of what waited before.
    settled: Option<Settled>,
    /// How the message was understood.
    reason: &'static str,
    /// Now, and when what begins to wait is forgotten, RFC 3339 in UTC.
    now: String,
    expires: String,
}

/// Answers a message.
pub(crate) fn turn(surroundings: &Surroundings, said: &Said<'_>) -> Result<Turn> {
    check(said)?;
    let workspace = surroundings.workspace()?;
    let now = surroundings.clock.now();
    let seconds = i64::try_from(said.pending_ttl).ok();
    let wait = seconds.and_then(TimeDelta::try_seconds).unwrap_or_default();
    let expires = now.checked_add_signed(wait).unwrap_or(now);
    super::agents::write(&workspace, |transaction| {
        let mut talk = Talk {
            chat: transaction.chat(said.conversation)?,
            transaction,
            calls: Vec::new(),
            settled: None,
            reason: "what waited is answered",
            now: timestamp(now),
            expires: timestamp(expires),
        };
        if let Some(held) = said.held {
            talk.join(held)?;
        }
        let heard = hear(&talk.chat, said.message, &talk.now, said.advice);
        let (agent, reply) = talk.answer(heard, said.message)?;
        talk.transaction
            .put_chat(said.conversation, &talk.chat, &talk.now)?;
        let turn = Turn {
            agent,
            reply,
            conversation_id: said.conversation.to_string(),
            tool_calls: talk.calls,
            pending: talk.chat.pending,
            settled: talk.settled,
            reason: talk.reason.to_string(),
        };
        record_turn(
            talk.transaction,
            said,
            &surroundings.actor,
            &talk.now,
            &turn,
        )?;
        Ok(turn)
    })
}

/// Keeps what was said where a conversation was begun for it.
fn record_turn(
    transaction: &mut dyn AgencyTransaction,
    said: &Said<'_>,
    user: &str,
    now: &str,
    turn: &Turn,
) -> Result<()> {
    let fields = json!({
        "agent": turn.agent, "tool_calls": turn.tool_calls, "pending": turn.pending,
        "settled": turn.settled, "reason": turn.reason, "sender": turn.agent,
    });
    let metadata = match fields {
        Value::Object(fields) => fields,
        _ => Detail::new(),
    };
    let asked = Detail::from_iter([("sender".to_string(), user.into())]);
    let both = [
        (Speaker::User, said.message, asked),
        (Speaker::Agent, turn.reply.as_str(), metadata),
    ];
    keep_turn(transaction, said.conversation, user, now, both)
}

/// Refuses a message that is none, and a name of a conversation that is none.
pub(crate) fn check(said: &Said<'_>) -> Result<()> {
    if said.message.trim().is_empty() {
        let error = Error::new(Code::InputInvalid, "the message is blank");
        return Err(error);
    }
    check_text("message", said.message)?;
    let id = said.conversation;
    if is_id(id) {
        return Ok(());
    }
    let message = format!(
        "the name of a conversation is 1 to {ID_MAX} of the characters a-z, A-Z, 0-9, \
         `-`, `_`, `.` and `:`"
    );
    Err(Error::new(Code::InputInvalid, message))
}

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

use self::reply::Wait;
use self::tools::Tools;
use super::Surroundings;
use super::conversations::keep_turn;
use crate::chat::answer::hear;
use crate::chat::model::Advice;
use crate::chat::{Chat, Turn};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result};
use crate::run::{Detail, Speaker};
use crate::run::{ID_MAX, is_id};
use crate::store::agency::AgencyTransaction;
use crate::task::rules::check_text;
pub(crate) use advice::advise;
pub(crate) use held::{Held, Operation, Remark};
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

/// Answers a message.
pub(crate) fn turn(surroundings: &Surroundings, said: &Said<'_>) -> Result<Turn> {
    check(said)?;
    let workspace = surroundings.workspace()?;
    let now = surroundings.clock.now();
    let wait = i64::try_from(said.pending_ttl)
        .ok()
        .and_then(TimeDelta::try_seconds);
    let expires = wait
        .and_then(|wait| now.checked_add_signed(wait))
        .unwrap_or(now);
    let (now, expires) = (timestamp(now), timestamp(expires));
    super::agents::write(&workspace, |transaction| {
        let mut chat = transaction.chat(said.conversation)?;
        if let Some(held) = said.held {
            held::join(
                transaction,
                &mut chat,
                held,
                (now.as_str(), expires.as_str()),
            )?;
        }
        let heard = hear(&chat, said.message, &now, said.advice);
        let is_over = is_over(&chat, &now);
        let mut tools = Tools {
            transaction: &mut *transaction,
            calls: Vec::new(),
        };
        let mut reply = reply::reply(&mut tools, &chat, heard, said.message, is_over)?;
        let tool_calls = tools.calls;
        let mut shown = None;
        if let Wait::Pending(pending) = &mut reply.wait {
            offer::describe(transaction, pending)?;
            shown = offer::fingerprint(transaction, pending)?;
        }
        chat.client = reply.client.take().or(chat.client);
        if !matches!(reply.wait, Wait::Kept) {
            chat.shown = shown;
        }
        remember(&mut chat, reply.wait, &now, &expires);
        transaction.put_chat(said.conversation, &chat, &now)?;
        let turn = Turn {
            agent: reply.agent,
            reply: reply.text,
            conversation_id: said.conversation.to_string(),
            tool_calls,
            pending: chat.pending,
            settled: reply.settled,
            reason: reply.reason.to_string(),
        };
        record_turn(transaction, said, &surroundings.actor, &now, &turn)?;
        Ok(turn)
    })
}

/// Whether something waited, but no longer does by its time.
fn is_over(chat: &Chat, now: &str) -> bool {
    let pending = chat
        .pending
        .as_ref()
        .map(|pending| pending.expires.as_str());
    let question = chat
        .question
        .as_ref()
        .map(|question| question.expires.as_str());
    pending.or(question).is_some_and(|expires| expires <= now)
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

fn remember(chat: &mut Chat, wait: Wait, now: &str, expires: &str) {
    if matches!(wait, Wait::Kept) {
        return;
    }
    if chat.pending.is_some() {
        chat.settled = Some(now.to_string());
    }
    (chat.pending, chat.question) = (None, None);
    match wait {
        Wait::Pending(mut pending) => {
            pending.created_at = now.to_string();
            pending.expires = expires.to_string();
            chat.pending = Some(*pending);
        }
        Wait::Question(mut question) => {
            question.expires = expires.to_string();
            chat.question = Some(question);
        }
        Wait::Nothing | Wait::Kept => {}
    }
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

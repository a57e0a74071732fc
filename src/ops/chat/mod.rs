//! The chat: one message, one reply. What a conversation remembers is read, and what a yes confirms is
//! taken and done, in one transaction, so that nothing is done twice and nothing on half the way.

mod advice;
mod held;
mod offer;
pub(crate) mod seed;
mod tool;
mod tools;
mod writes;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Surroundings;
use super::conversations::keep_turn;
use crate::chat::talk::Talk;
use crate::chat::{Called, Chat, ChatAgent, Saying, Step, Turn, Wait};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result};
use crate::run::{Detail, Speaker};
use crate::run::{ID_MAX, is_id};
use crate::store::agency::AgencyTransaction;
use crate::task::rules::check_text;
pub(crate) use advice::{Advice, advice};
pub(crate) use held::{Held, Operation, Remark};
pub(crate) use seed::seed;

/// The conversation of those who name none.
pub(crate) const DEFAULT: &str = "default";
/// Most tools that one message calls.
const STEPS_MAX: usize = 8;

/// A message to the chat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// The message.
    pub(crate) message: &'a str,
    /// The conversation that it belongs to.
    pub(crate) conversation: &'a str,
    /// How long a question waits for its answer, in seconds.
    pub(crate) pending_ttl: u64,
    /// The agent that a model chose, where one was asked.
    pub(crate) advice: Option<ChatAgent>,
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
        let talk = Talk::begin(&chat, said.message, &now, said.advice);
        let talk = still_so(transaction, talk, chat.shown.as_deref())?;
        let (mut saying, tool_calls) = worked(transaction, &talk)?;
        let mut shown = None;
        if let Wait::Pending(pending) = &mut saying.wait {
            offer::describe(transaction, pending)?;
            shown = offer::fingerprint(transaction, pending)?;
        }
        let (agent, reply, settled) = (saying.agent, saying.text.clone(), saying.settled);
        chat.client.clone_from(&talk.client);
        if !matches!(saying.wait, Wait::Kept) {
            chat.shown = shown;
        }
        remember(&mut chat, saying, &now, &expires);
        transaction.put_chat(said.conversation, &chat, &now)?;
        let turn = Turn {
            agent,
            reply,
            conversation_id: said.conversation.to_string(),
            tool_calls,
            pending: chat.pending,
            settled,
            reason: talk.reason.to_string(),
        };
        kept(transaction, said, &surroundings.actor, &now, &turn)?;
        Ok(turn)
    })
}

/// Keeps what was said where a conversation was begun for it.
fn kept(
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

/// Has a yes ask once more where what it confirms is no longer as it was shown.
fn still_so(
    transaction: &mut dyn AgencyTransaction,
    talk: Talk,
    shown: Option<&str>,
) -> Result<Talk> {
    let changes = match talk.confirmed() {
        Some(pending) => offer::outdated(transaction, pending, shown)?,
        None => None,
    };
    Ok(match changes {
        Some(changes) => talk.renewed(&changes),
        None => talk,
    })
}

/// Calls tools until the reply is there.
fn worked(transaction: &mut dyn AgencyTransaction, talk: &Talk) -> Result<(Saying, Vec<Called>)> {
    let (mut results, mut calls): (Vec<Value>, _) = (Vec::new(), Vec::new());
    while results.len() < STEPS_MAX {
        match talk.next(&results) {
            Step::Say(saying) => return Ok((saying, calls)),
            Step::Rehearse(call) => results.push(tools::run(transaction, &call, false)?),
            // Whatever an agent asks for, nothing is written without a yes to this very call.
            Step::Call(call) if call.tool.writes() && !talk.confirms(&call) => break,
            Step::Call(call) => {
                let result = tools::run(transaction, &call, true)?;
                results.push(result.clone());
                calls.push(Called {
                    name: call.tool,
                    args: call.args,
                    result,
                });
            }
        }
    }
    Err(Error::new(Code::Internal, "the chat came to no reply"))
}

fn remember(chat: &mut Chat, saying: Saying, now: &str, expires: &str) {
    if matches!(saying.wait, Wait::Kept) {
        return;
    }
    if chat.pending.is_some() {
        chat.settled = Some(now.to_string());
    }
    (chat.pending, chat.ask) = (None, None);
    match saying.wait {
        Wait::Pending(mut pending) => {
            pending.created_at = now.to_string();
            pending.expires = expires.to_string();
            chat.pending = Some(*pending);
        }
        Wait::Ask(mut ask) => {
            ask.expires = expires.to_string();
            chat.ask = Some(ask);
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

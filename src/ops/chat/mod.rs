//! The chat: one message, one reply. What a conversation remembers is read, and what a yes confirms is
//! taken and done, in one transaction, so that nothing is done twice and nothing on half the way.

mod held;
mod reply;
mod request;
pub(crate) mod seed;
mod tools;
mod words;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Surroundings;
use super::conversations::keep_turn;
use crate::chat::answer::{Heard, hear};
use crate::chat::model::{self, Advice};
use crate::chat::{Chat, Sentence, Turn};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result};
use crate::llm::client::Client;
use crate::llm::{Model, Request};
use crate::run::{Detail, ID_MAX, Speaker, is_id};
use crate::store::agency::AgencyTransaction;
use crate::task::rules::check_text;
pub(crate) use held::{Held, Remark};
pub(crate) use seed::seed;

/// The conversation of those who name none.
pub(crate) const DEFAULT: &str = "default";

/// Most tokens of the answer of a model.
const TOKENS_MAX: u32 = 1_000;

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
    said: &'a Said<'a>,
    transaction: &'a mut dyn AgencyTransaction,
    chat: Chat,
    /// The answer as far as it is known.
    turn: Turn,
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
            said,
            chat: transaction.chat(said.conversation)?,
            transaction,
            turn: Turn {
                conversation_id: said.conversation.to_string(),
                ..Turn::default()
            },
            now: timestamp(now),
            expires: timestamp(expires),
        };
        if let Some(held) = said.held {
            talk.join(held)?;
        }
        let heard = hear(&talk.chat, said.message, &talk.now);
        talk.answer(heard)?;
        talk.turn.pending = talk.chat.pending.clone();
        talk.transaction
            .put_chat(said.conversation, &talk.chat, &talk.now)?;
        talk.record(&surroundings.actor)?;
        Ok(talk.turn)
    })
}

impl Talk<'_> {
    /// Keeps what was said where a conversation was begun for it.
    fn record(&mut self, user: &str) -> Result<()> {
        let (said, turn) = (self.said, &self.turn);
        let fields = json!({
            "agent": turn.agent, "tool_calls": turn.tool_calls, "pending": turn.pending,
            "settled": turn.settled, "reason": turn.reason, "sender": turn.agent,
        });
        let metadata = fields.as_object().cloned().unwrap_or_default();
        let sender = Detail::from_iter([("sender".to_string(), Value::from(user))]);
        let both = [
            (Speaker::User, said.message, sender),
            (Speaker::Agent, turn.reply.as_str(), metadata),
        ];
        keep_turn(self.transaction, said.conversation, user, &self.now, both)
    }
}

/// Refuses a message that is none, and a name of a conversation that is none.
pub(crate) fn check(said: &Said<'_>) -> Result<()> {
    if said.message.trim().is_empty() {
        return Err(Error::new(Code::InputInvalid, "the message is blank"));
    }
    check_text("message", said.message)?;
    if is_id(said.conversation) {
        return Ok(());
    }
    let message = format!(
        "the name of a conversation is 1 to {ID_MAX} of the characters a-z, A-Z, 0-9, \
         `-`, `_`, `.` and `:`"
    );
    Err(Error::new(Code::InputInvalid, message))
}

/// Asks a model about a message that no form of the grammar fits and that answers nothing that waits; no
/// transaction is open meanwhile. Without an answer that can be used there is no advice, but a warning.
pub(crate) fn advise(
    surroundings: &Surroundings,
    conversation: &str,
    message: &str,
    model: &Model,
) -> Result<(Option<Advice>, Vec<String>)> {
    let workspace = surroundings.workspace()?;
    let chat = super::agents::write(&workspace, |transaction| transaction.chat(conversation))?;
    let now = timestamp(surroundings.clock.now());
    if hear(&chat, message, &now) != Heard::Unknown {
        return Ok((None, Vec::new()));
    }
    let sentence = Sentence::read(message);
    let client = sentence.client().or(chat.client.as_deref());
    let mut request = Request::once("gpt-4o-mini", &model::prompt(client), message);
    request.temperature = Some(0.0);
    request.max_tokens = TOKENS_MAX;
    request.schema = Some(model::schema());
    let reply = Client::open(model).and_then(|client| client.ask(&request, &mut |_| {}));
    let advice = reply
        .map_err(|error| error.message)
        .and_then(|reply| model::read(&reply.text, message, chat.client.as_deref()));
    Ok(match advice {
        Ok(advice) => (Some(advice), Vec::new()),
        Err(why) => {
            let warning = format!("the model gave no answer that can be used: {why}");
            (None, vec![warning])
        }
    })
}

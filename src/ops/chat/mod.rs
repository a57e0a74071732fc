//! The chat: one message, one reply. The state of the conversation is read, and a confirmed change is made, in one
//! transaction, so that nothing is done twice or in part.

mod reply;
mod request;
pub(crate) mod seed;
mod tools;

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Surroundings;
use super::conversations::record_turn;
use crate::chat::answer::interpret;
use crate::chat::model::{self, Advice};
use crate::chat::value::truncate;
use crate::chat::{Call, Chat, Meaning, Pending, PendingKind, Question, Sentence, Tool, Turn};
use crate::clock::{parse_moment, timestamp};
use crate::error::{Code, Error, Result};
use crate::llm::client::Client;
use crate::llm::{Model, Request};
use crate::run::{ID_MAX, Speaker, is_id};
use crate::store::Transaction;
use crate::task::rules::check_text;
use reply::choose_agent;
pub(crate) use seed::seed;
use tools::Stop;

/// The conversation of callers that name none.
pub(crate) const DEFAULT: &str = "default";

const TOKENS_MAX: u32 = 1_000;

/// Most messages of a conversation that are read, from the last one back.
const REMARKS_MAX: usize = 1_000;

#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
pub(crate) struct ClientMessage {
    #[serde(alias = "text", alias = "message")]
    content: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatRequest<'a> {
    pub(crate) message: &'a str,
    pub(crate) conversation: &'a str,
    /// How long a question waits for its answer, in seconds.
    pub(crate) pending_ttl: u64,
    /// Earlier messages, oldest first, and the pending call, as the caller stores them.
    pub(crate) remarks: &'a [ClientMessage],
    pub(crate) pending: Option<&'a Pending>,
}

struct TurnState<'a> {
    said: &'a ChatRequest<'a>,
    /// The call that a model proposes, if one was asked.
    advice: Option<&'a Advice>,
    transaction: &'a mut dyn Transaction,
    chat: Chat,
    turn: Turn,
    /// Now, and when a call that is pending from now on expires, RFC 3339 in UTC.
    now: String,
    expires: String,
}

/// Answers a message. A model is asked about a message that the grammar does not understand.
pub(crate) fn answer_message(
    surroundings: &Surroundings,
    said: &ChatRequest<'_>,
    model: Option<&Model>,
) -> Result<Turn> {
    check_request(said)?;
    let advice = model
        .map(|model| ask_model(surroundings, said, model))
        .transpose()?
        .flatten();
    let workspace = surroundings.workspace()?;
    let now = surroundings.clock.now();
    let seconds = i64::try_from(said.pending_ttl).ok();
    let wait = seconds.and_then(TimeDelta::try_seconds).unwrap_or_default();
    let expires = now.checked_add_signed(wait).unwrap_or(now);
    super::agents::write(&workspace, |transaction| {
        let mut talk = TurnState {
            said,
            advice: advice.as_ref(),
            chat: transaction.chat(said.conversation)?,
            transaction,
            turn: Turn {
                conversation_id: said.conversation.to_string(),
                ..Turn::default()
            },
            now: timestamp(now),
            expires: timestamp(expires),
        };
        talk.restore_from_caller()?;
        let heard = interpret(&talk.chat, said.message, &talk.now);
        talk.answer(heard)?;
        talk.turn.pending = talk.find_awaited();
        talk.transaction.put_chat(said.conversation, &talk.chat)?;
        talk.store_turn(&surroundings.actor)?;
        Ok(talk.turn)
    })
}

impl TurnState<'_> {
    /// Returns the call that waits, also for what is missing.
    fn find_awaited(&self) -> Option<Pending> {
        let question = self.chat.question.as_ref();
        let asked = question.map(|question| Pending {
            kind: question.kind,
            agent: choose_agent(&question.call),
            tool: question.call.tool,
            args: question.call.args.clone(),
            candidates: Vec::new(),
            options: Vec::new(),
            changes: Vec::new(),
            destructive: false,
            created_at: self.now.clone(),
            expires: question.expires.clone(),
            next: None,
        });
        self.chat.pending.clone().or(asked)
    }

    /// Stores the turn if the conversation was begun explicitly.
    fn store_turn(&mut self, user: &str) -> Result<()> {
        let (said, turn) = (self.said, &self.turn);
        let fields = json!({
            "agent": turn.agent, "tool_calls": turn.tool_calls, "pending": self.chat.pending,
            "settled": turn.settled, "reason": turn.reason, "sender": turn.agent,
        });
        let metadata = fields.as_object().cloned().unwrap_or_default();
        let sender = crate::build_map([("sender".to_string(), Value::from(user))]);
        let both = [
            (Speaker::User, said.message, sender),
            (Speaker::Agent, turn.reply.as_str(), metadata),
        ];
        record_turn(self.transaction, said.conversation, user, &self.now, both)
    }

    /// Adds what the caller stores of the conversation and the store does not have.
    fn restore_from_caller(&mut self) -> Result<()> {
        let client =
            |it: &ClientMessage| Some(Sentence::read(&it.content).client_or(None)?.to_string());
        let mut last = self.said.remarks.iter().rev().take(REMARKS_MAX);
        self.chat.client = self.chat.client.take().or_else(|| last.find_map(client));
        let Some(pending) = self.said.pending else {
            return Ok(());
        };
        if let Some(waiting) = self.chat.pending.take() {
            // An answer is for the call that the caller was shown, not for a later one of somebody else.
            self.chat.pending = Some(waiting).filter(|it| it.call() == pending.call());
            return Ok(());
        }
        let since = read_moment("created_at", &pending.created_at)?;
        let until = read_moment("expires", &pending.expires)?;
        // A call from before the last resolution was answered or dropped.
        if since.is_some() && since <= self.chat.settled {
            return Ok(());
        }
        if !matches!(pending.kind, PendingKind::Confirm | PendingKind::Select) {
            check_names(&pending.call())?;
            let asked = self.chat.question.take();
            self.chat.question = asked.or(Some(Question {
                call: pending.call(),
                expires: until.map_or(self.expires.clone(), |it| it.min(self.expires.clone())),
                kind: pending.kind,
            }));
            return Ok(());
        }
        self.ask_again(pending)?;
        if let (Some(kept), Some(until)) = (&mut self.chat.pending, until) {
            kept.expires = until.min(kept.expires.clone());
        }
        Ok(())
    }

    /// Repeats the request of a call that the caller stores, so that it is pending.
    fn ask_again(&mut self, pending: &Pending) -> Result<()> {
        let next = pending.next.clone();
        let next = next.filter(|_| pending.tool == Tool::SearchComponent);
        let call = next.unwrap_or(pending.call());
        check_names(&call)?;
        let turn = std::mem::take(&mut self.turn);
        if let Err(Stop::Error(error)) = self.perform(call) {
            return Err(error);
        }
        let asked = std::mem::replace(&mut self.turn, turn);
        let is_other = |it: &Pending| it.changes != pending.changes && !pending.changes.is_empty();
        match &self.chat.pending {
            Some(it) if it.candidates != pending.candidates || is_other(it) => {
                Err(refuse("it has changed since"))
            }
            Some(_) => Ok(()),
            None => Err(refuse(asked.reply)),
        }
    }
}

/// Refuses a blank message and an invalid name of a conversation.
fn check_request(said: &ChatRequest<'_>) -> Result<()> {
    if said.message.trim().is_empty() {
        return Err(Error::new(Code::InputInvalid, "the message is blank"));
    }
    check_text("message", said.message)?;
    if is_id(said.conversation) {
        return Ok(());
    }
    let message = format!("a conversation is named by 1 to {ID_MAX} of a-z, A-Z, 0-9 and `-_.:`");
    Err(Error::new(Code::InputInvalid, message))
}

/// Asks a model about a message that the grammar does not understand; no transaction is open meanwhile. An invalid answer
/// is reported in the reply.
fn ask_model(
    surroundings: &Surroundings,
    said: &ChatRequest<'_>,
    model: &Model,
) -> Result<Option<Advice>> {
    let (workspace, message) = (surroundings.workspace()?, said.message);
    let chat = super::agents::write(&workspace, |transaction| {
        transaction.chat(said.conversation)
    })?;
    let now = timestamp(surroundings.clock.now());
    if interpret(&chat, message, &now) != Meaning::Unknown {
        return Ok(None);
    }
    let sentence = Sentence::read(message);
    let client = sentence.client_or(chat.client.as_deref());
    let mut request = Request::single("gpt-4o-mini", &model::prompt(client), message);
    request.temperature = Some(0.0);
    request.max_tokens = TOKENS_MAX;
    request.schema = Some(model::schema());
    let reply = Client::open(model).and_then(|client| client.ask(&request, &mut |_| {}));
    let advice = reply
        .map_err(|error| error.message)
        .and_then(|reply| model::read(&reply.text, message, chat.client.as_deref()));
    let useless = |why| {
        format!("I did not understand that: the model gave no answer that can be used ({why}). ")
    };
    Ok(Some(advice.unwrap_or_else(|why| Err(useless(why)))))
}

/// Refuses arguments that the tool of a call does not take.
fn check_names(call: &Call) -> Result<()> {
    let Some(name) = call.args.keys().find(|name| !call.tool.takes(name)) else {
        return Ok(());
    };
    let (name, tool) = (truncate(name), call.tool.name());
    Err(refuse(format!("{name} is not what {tool} is given")))
}

fn read_moment(field: &str, text: &str) -> Result<Option<String>> {
    match parse_moment(text) {
        None if !text.is_empty() => Err(refuse(format!("{field} is not a time of RFC 3339"))),
        moment => Ok(moment),
    }
}

fn refuse(what: impl std::fmt::Display) -> Error {
    Error::new(Code::InputInvalid, format!("pendingOperation: {what}"))
}

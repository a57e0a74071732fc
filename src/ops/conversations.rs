//! Conversations with agents, which executions add to.

use serde::Serialize;

use super::{Surroundings, agents};
use crate::chat::Pending;
use crate::error::{Code, Error, Result};
use crate::id;
use crate::run::{CHAT, check_title};
use crate::run::{Conversation, ConversationStatus, Detail, Message, Speaker};
use crate::store::agency::{Agency, AgencyTransaction, ConversationFilter};
use crate::store::sqlite::SqliteAgency;

/// How many messages are shown unless told.
pub(crate) const MESSAGES: u32 = 50;

/// What is said of messages before one that a conversation does not have.
const NOT_SAID: &str =
    "before: the conversation has no such message; leave it out to see what was said last";

/// Conversations.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    /// The conversations, the one in which something was said last first.
    pub(crate) conversations: Vec<Conversation>,
    /// How many there are without the limit.
    pub(crate) total: u64,
}

/// A conversation with what was said last.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) conversation: Conversation,
    /// The last messages, in the order in which they were said.
    pub(crate) messages: Vec<Message>,
    /// How many messages the conversation has.
    pub(crate) total: u64,
}

/// Begins a conversation of whoever calls with an agent that a user sees, or with the agents of the
/// chat ([`CHAT`]).
pub(crate) fn begin(
    surroundings: &Surroundings,
    agent: &str,
    title: Option<&str>,
    user: Option<&str>,
) -> Result<Conversation> {
    let workspace = surroundings.workspace()?;
    let title = title.map(check_title).transpose()?.flatten();
    let agent = match agent {
        CHAT => CHAT.to_string(),
        id => agents::known_in(&workspace)?
            .seen_by(user)
            .require(id)?
            .id
            .clone(),
    };
    agents::write(&workspace, |transaction| {
        let now = surroundings.clock.timestamp();
        let count = transaction
            .conversations(&ConversationFilter::default())?
            .total;
        let conversation = Conversation {
            id: id::minted("conv", &surroundings.clock, count + 1),
            user: surroundings.actor.clone(),
            agent,
            title,
            status: ConversationStatus::Active,
            created_at: now.clone(),
            updated_at: now.clone(),
            last_message_at: now,
        };
        transaction.put_conversation(&conversation)?;
        Ok(conversation)
    })
}

pub(crate) fn list(surroundings: &Surroundings, filter: &ConversationFilter) -> Result<Listed> {
    let workspace = surroundings.workspace()?;
    let page = match SqliteAgency::open(&workspace.agency())? {
        Some(mut agency) => agency.read()?.conversations(filter)?,
        None => Default::default(),
    };
    Ok(Listed {
        conversations: page.conversations,
        total: page.total,
    })
}

pub(crate) fn show(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    limit: u32,
) -> Result<Shown> {
    let workspace = surroundings.workspace()?;
    let agency = SqliteAgency::open(&workspace.agency())?;
    let mut agency = agency.ok_or_else(|| no_conversation(id))?;
    page(&mut agency, id, user, None, limit)
}

/// Shows a conversation of a user, or of anybody, with its last messages before another, in a store
/// that is open.
pub(crate) fn page(
    agency: &mut SqliteAgency,
    id: &str,
    user: Option<&str>,
    before: Option<&str>,
    limit: u32,
) -> Result<Shown> {
    let transaction = agency.read()?;
    let conversation = require(&*transaction, id, user)?;
    let messages = match before {
        None => transaction.messages(id, limit)?,
        Some(before) => {
            let said = transaction.messages_before(id, before, limit)?;
            said.ok_or_else(|| Error::new(Code::InputInvalid, NOT_SAID))?
        }
    };
    Ok(Shown {
        conversation,
        total: transaction.message_count(id)?,
        messages,
    })
}

pub(crate) fn pending(
    agency: &mut SqliteAgency,
    conversation: &Conversation,
) -> Result<Option<Pending>> {
    match conversation.agent.as_str() {
        CHAT => Ok(agency.read()?.chat(&conversation.id)?.pending),
        _ => Ok(None),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) title: Option<String>,
    pub(crate) status: Option<ConversationStatus>,
}

pub(crate) fn update(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    change: &Change,
) -> Result<Conversation> {
    let workspace = surroundings.workspace()?;
    let title = change.title.as_deref().map(check_title).transpose()?;
    if SqliteAgency::open(&workspace.agency())?.is_none() {
        return Err(no_conversation(id));
    }
    agents::write(&workspace, |transaction| {
        let mut conversation = require(transaction, id, user)?;
        let before = conversation.clone();
        conversation.title = title.unwrap_or(conversation.title);
        conversation.status = change.status.unwrap_or(conversation.status);
        if conversation != before {
            conversation.updated_at = surroundings.clock.timestamp();
            transaction.put_conversation(&conversation)?;
        }
        Ok(conversation)
    })
}

/// Adds to a conversation, if there is one under this id that goes on, what somebody said to the chat
/// and what it replied. One of another user is refused.
pub(super) fn keep_turn(
    transaction: &mut dyn AgencyTransaction,
    id: &str,
    user: &str,
    now: &str,
    turn: [(Speaker, &str, Detail); 2],
) -> Result<()> {
    let Some(mut conversation) = transaction.conversation(id)? else {
        return Ok(());
    };
    require_open(transaction, id, Some(user))?;
    let count = transaction.message_count(id)?;
    for (number, (speaker, text, metadata)) in (count + 1..).zip(turn) {
        transaction.add_message(&Message {
            id: format!("msg_{id}_{number}"),
            conversation: Some(id.to_string()),
            run: None,
            speaker,
            content: text.to_string(),
            metadata,
            created_at: now.to_string(),
        })?;
    }
    now.clone_into(&mut conversation.updated_at);
    now.clone_into(&mut conversation.last_message_at);
    transaction.put_conversation(&conversation)
}

/// Reads a conversation that must be there and belong to a user, or to anybody.
pub(super) fn require(
    transaction: &dyn AgencyTransaction,
    id: &str,
    user: Option<&str>,
) -> Result<Conversation> {
    let found = transaction.conversation(id)?;
    let found = found.filter(|one| user.is_none_or(|user| user == one.user));
    found.ok_or_else(|| no_conversation(id))
}

pub(super) fn require_open(
    transaction: &dyn AgencyTransaction,
    id: &str,
    user: Option<&str>,
) -> Result<Conversation> {
    let conversation = require(transaction, id, user)?;
    if conversation.status == ConversationStatus::Active {
        return Ok(conversation);
    }
    let message = format!("the conversation `{id}` is archived: nothing can be added to it");
    Err(Error::new(Code::StatusRefused, message).fix("cleo conversations list --status active"))
}

fn no_conversation(id: &str) -> Error {
    let message = format!("there is no conversation `{id}`");
    Error::new(Code::ConversationNotFound, message).fix("cleo conversations list")
}

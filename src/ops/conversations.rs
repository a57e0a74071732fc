//! Conversations with agents, which executions add to.

use serde::Serialize;

use super::{Surroundings, agents};
use crate::agent::SUPERVISOR;
use crate::error::{Code, Error, Result};
use crate::id;
use crate::run::conversation::check_title;
use crate::run::{Conversation, ConversationStatus, Message};
use crate::store::agency::{Agency, AgencyTransaction, ConversationFilter};
use crate::store::sqlite::SqliteAgency;

/// How many messages are shown unless told.
pub const MESSAGES: u32 = 50;

/// Conversations.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The conversations, the one in which something was said last first.
    pub conversations: Vec<Conversation>,
    /// How many there are without the limit.
    pub total: u64,
}

/// A conversation after a command.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Kept {
    /// The conversation.
    pub conversation: Conversation,
}

/// A conversation with what was said last.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The conversation.
    pub conversation: Conversation,
    /// The last messages, in the order in which they were said.
    pub messages: Vec<Message>,
    /// How many messages the conversation has.
    pub total: u64,
}

/// Begins a conversation of whoever calls with an agent, or with the supervisor, which has each
/// message routed.
pub fn create(
    surroundings: &Surroundings,
    agent: Option<&str>,
    title: Option<&str>,
) -> Result<Kept> {
    let workspace = surroundings.workspace()?;
    let title = title.map(check_title).transpose()?.flatten();
    let known = agents::known_in(&workspace)?;
    let agent = known.require(agent.unwrap_or(SUPERVISOR))?.id.clone();
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
        Ok(Kept { conversation })
    })
}

/// Lists conversations.
pub fn list(surroundings: &Surroundings, filter: &ConversationFilter) -> Result<Listed> {
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

/// Shows a conversation of a user, or of anybody, with its last messages.
pub fn show(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    limit: u32,
) -> Result<Shown> {
    let workspace = surroundings.workspace()?;
    let agency = SqliteAgency::open(&workspace.agency())?;
    let mut agency = agency.ok_or_else(|| no_conversation(id))?;
    let transaction = agency.read()?;
    let conversation = require(&*transaction, id, user)?;
    let messages = transaction.messages(id, limit)?;
    Ok(Shown {
        conversation,
        total: transaction.message_count(id)?,
        messages,
    })
}

/// Ends a conversation of a user, or of anybody; it stays readable.
pub fn archive(surroundings: &Surroundings, id: &str, user: Option<&str>) -> Result<Kept> {
    let workspace = surroundings.workspace()?;
    if SqliteAgency::open(&workspace.agency())?.is_none() {
        return Err(no_conversation(id));
    }
    agents::write(&workspace, |transaction| {
        let mut conversation = require(transaction, id, user)?;
        if conversation.status != ConversationStatus::Archived {
            conversation.status = ConversationStatus::Archived;
            conversation.updated_at = surroundings.clock.timestamp();
            transaction.put_conversation(&conversation)?;
        }
        Ok(Kept { conversation })
    })
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

/// Reads a conversation to which something can be added.
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
    let create = format!("cleo conversations create --agent {}", conversation.agent);
    Err(Error::new(Code::StatusRefused, message).fix(create))
}

fn no_conversation(id: &str) -> Error {
    let message = format!("there is no conversation `{id}`");
    Error::new(Code::ConversationNotFound, message).fix("cleo conversations list")
}

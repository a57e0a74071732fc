//! Conversations with agents, which executions add to.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Surroundings, agents};
use crate::chat::Pending;
use crate::error::{Code, Error, Result};
use crate::id;
use crate::run::{
    CHAT, Conversation, ConversationKind, ConversationStatus, Detail, Message, Speaker, check_title,
};
use crate::store::records::ConversationFilter;
use crate::store::{Store, Transaction};

/// Fields that only cleo sets.
pub(crate) const OWN: &[&str] = &[
    "id",
    "userId",
    "kind",
    "createdAt",
    "updatedAt",
    "lastMessageAt",
];

/// A conversation as it is, or as a change made it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Kept {
    conversation: Conversation,
}

/// A conversation that is to begin.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beginning {
    /// The agent, `cleo-supervisor`, or `chat`.
    #[serde(alias = "agentId")]
    #[schemars(required)]
    agent_id: Option<String>,
    /// Its title, at most 200 characters.
    #[schemars(length(max = 200), regex(pattern = crate::task::schema::VISIBLE))]
    title: Option<String>,
}

/// Begins a conversation of the caller with an agent that the caller sees, or with the chat ([`CHAT`]).
pub(crate) fn begin(surroundings: &Surroundings, beginning: Beginning) -> Result<Kept> {
    let agent_id = beginning.agent_id.ok_or_else(|| {
        let message = "agent_id is required: with whom the conversation is";
        Error::new(Code::InputInvalid, message)
    })?;
    let workspace = surroundings.workspace()?;
    let title = beginning.title.as_deref().map(check_title);
    let title = title.transpose()?.flatten();
    let kind = match agent_id.as_str() {
        CHAT => ConversationKind::Chat,
        id => {
            let known = agents::load_in(&workspace)?.keep_visible(surroundings.visible_user());
            known.require(id)?;
            ConversationKind::Agent
        }
    };
    let conversation = agents::write(&workspace, |transaction| {
        let now = surroundings.clock.timestamp();
        let count = transaction
            .conversations(None, &ConversationFilter::default())?
            .total;
        let conversation = Conversation {
            id: id::make_id("conv", &surroundings.clock, count + 1),
            user_id: surroundings.actor.clone(),
            agent_id,
            title,
            kind,
            status: ConversationStatus::Active,
            created_at: now.clone(),
            updated_at: now.clone(),
            last_message_at: now,
        };
        transaction.put_conversation(&conversation)?;
        Ok(conversation)
    })?;
    Ok(Kept { conversation })
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The conversations, the last used one first.
    pub(crate) conversations: Vec<InList>,
    /// How many there are without the limit.
    pub(crate) total: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct InList {
    #[serde(flatten)]
    pub(crate) conversation: Conversation,
    /// Whether it waits for a confirmation, a choice or a missing value.
    waiting: bool,
}

pub(crate) fn list(surroundings: &Surroundings, filter: ConversationFilter) -> Result<Listed> {
    let mut listed = Listed::default();
    if let Some(mut store) = surroundings.workspace()?.store_if_there()? {
        let transaction = store.read()?;
        let page = transaction.conversations(surroundings.visible_user(), &filter)?;
        listed.total = page.total;
        for conversation in page.conversations {
            listed.conversations.push(InList {
                waiting: find_pending_call(&*transaction, &conversation)?.is_some(),
                conversation,
            });
        }
    }
    Ok(listed)
}

#[derive(Debug, Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// Id of the conversation
    #[arg(value_name = "CONVERSATION")]
    pub(crate) id: String,

    /// Maximum number of messages: the latest, oldest first
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,

    /// Only messages before this one
    #[arg(skip)]
    before: Option<String>,
}

/// A conversation with its last messages.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    pub(crate) conversation: Conversation,
    /// The last messages, oldest first.
    pub(crate) messages: Vec<Message>,
    /// How many messages the conversation has.
    total: u64,
    pending: Option<Pending>,
}

pub(crate) fn show(surroundings: &Surroundings, part: &Part) -> Result<Shown> {
    let id = part.id.as_str();
    let mut store = surroundings.workspace()?.open_store()?;
    let transaction = store.read()?;
    let conversation = require(&*transaction, id, surroundings.visible_user())?;
    let messages = transaction.messages(id, part.before.as_deref(), part.limit)?;
    let messages = messages.ok_or_else(|| {
        let message =
            "before: the conversation has no such message; leave it out to see the last ones";
        Error::new(Code::InputInvalid, message)
    })?;
    Ok(Shown {
        pending: find_pending_call(&*transaction, &conversation)?,
        conversation,
        messages,
        total: transaction.message_count(id)?,
    })
}

fn find_pending_call(
    transaction: &dyn Transaction,
    conversation: &Conversation,
) -> Result<Option<Pending>> {
    match conversation.kind {
        ConversationKind::Chat => Ok(transaction.chat(&conversation.id)?.pending),
        ConversationKind::Agent => Ok(None),
    }
}

/// A change of a conversation.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    id: String,
    /// Its agent, which cannot change.
    #[serde(alias = "agentId")]
    agent_id: Option<String>,
    /// Its title, at most 200 characters.
    #[schemars(length(max = 200), regex(pattern = crate::task::schema::VISIBLE))]
    title: Option<String>,
    /// `archived` ends it.
    status: Option<ConversationStatus>,
}

pub(crate) fn update(surroundings: &Surroundings, change: Change) -> Result<Kept> {
    let workspace = surroundings.workspace()?;
    let id = &change.id;
    let title = change.title.as_deref().map(check_title).transpose()?;
    let conversation = agents::write(&workspace, |transaction| {
        let mut conversation = require(transaction, id, surroundings.visible_user())?;
        let own = &conversation.agent_id;
        if change.agent_id.as_ref().is_some_and(|agent| agent != own) {
            let message =
                format!("agent_id: the conversation is with `{own}` and stays so; begin another");
            return Err(Error::new(Code::InputInvalid, message).in_field("agent_id"));
        }
        if change.title.is_none() && change.status.is_none() {
            return Err(error!(InputInvalid, "nothing was said that is to change"));
        }
        let before = conversation.clone();
        conversation.title = title.unwrap_or(conversation.title);
        conversation.status = change.status.unwrap_or(conversation.status);
        if conversation != before {
            conversation.updated_at = surroundings.clock.timestamp();
            transaction.put_conversation(&conversation)?;
        }
        Ok(conversation)
    })?;
    Ok(Kept { conversation })
}

/// Adds a message to the chat and its reply to the conversation with this id, if it exists. A conversation of another
/// user is refused.
pub(super) fn record_turn(
    transaction: &mut dyn Transaction,
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

/// Reads a conversation that must exist and belong to a user, or to anybody.
pub(crate) fn require(
    transaction: &dyn Transaction,
    id: &str,
    user: Option<&str>,
) -> Result<Conversation> {
    let found = transaction.conversation(id)?;
    let found = found.filter(|one| user.is_none_or(|user| user == one.user_id));
    found.ok_or_else(|| {
        let message = format!("there is no conversation `{id}`");
        Error::new(Code::ConversationNotFound, message).fix("cleo conversations list")
    })
}

pub(super) fn require_open(
    transaction: &dyn Transaction,
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

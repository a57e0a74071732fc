//! Conversations, in the form of the specification's tables.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::{Call, at_most};
use super::extract::{Json, Query};
use super::fault::Shape;
use super::route::Route;
use crate::chat::Pending;
use crate::error::{Code, Error, Result};
use crate::ops::conversations::{self, Change};
use crate::run::{CHAT, Conversation, ConversationStatus, Detail, Message, Speaker};
use crate::store::agency::ConversationFilter;

/// How many conversations or messages are listed unless told, and at most.
const LIMIT: (u32, u32) = (50, 500);

/// Columns that only the server says; the first two also of what is to begin.
const OWN: [&str; 7] = [
    "userId",
    "id",
    "agentId",
    "kind",
    "createdAt",
    "updatedAt",
    "lastMessageAt",
];

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::post("/api/conversations/create", create)
            .about("Begins a conversation with an agent, with the supervisor, or with the chat")
            .takes::<Beginning>(),
        Route::get("/api/conversations", list)
            .about("Lists conversations, the one in which something was said last first"),
        Route::get("/api/conversations/{id}", show)
            .about("Shows a conversation with what was said last, oldest first"),
        Route::put("/api/conversations/{id}", update)
            .about("Gives a conversation another title, or ends it")
            .takes::<Changed>(),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("conversations").errors(Shape::Success))
        .collect()
}

/// A conversation, as a row of the table.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    user_id: String,
    agent_id: String,
    title: Option<String>,
    /// `chat`: with the agents for designs and components; else `agent`.
    kind: &'static str,
    status: ConversationStatus,
    created_at: String,
    updated_at: String,
    last_message_at: String,
}

impl From<Conversation> for Row {
    fn from(one: Conversation) -> Row {
        Row {
            kind: if one.agent == CHAT { "chat" } else { "agent" },
            id: one.id,
            user_id: one.user,
            agent_id: one.agent,
            title: one.title,
            status: one.status,
            created_at: one.created_at,
            updated_at: one.updated_at,
            last_message_at: one.last_message_at,
        }
    }
}

/// A conversation that is to begin.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beginning {
    /// With whom: an agent, `cleo-supervisor` for the one that fits each message, or `chat`.
    #[serde(alias = "agentId")]
    agent_id: Option<String>,
    /// What it is about, at most 200 characters.
    title: Option<String>,
}

/// A conversation after a change.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Kept {
    success: bool,
    conversation: Row,
}

fn create(call: &Call) -> Result<Json<Kept, 201>> {
    let beginning: Beginning = call.filled(&OWN[..1])?;
    let agent = beginning.agent_id.ok_or_else(|| {
        Error::new(
            Code::InputInvalid,
            "agent_id is required: with whom the conversation is",
        )
    })?;
    let surroundings = call.surroundings("conversations.create");
    let title = beginning.title.as_deref();
    let kept = conversations::begin(&surroundings, &agent, title, call.only())?;
    Ok(Json(Kept {
        success: true,
        conversation: kept.into(),
    }))
}

/// Which conversations to list.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// At most so many; 50 unless told, and 500 where more are asked for.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1), with = "Option<u32>"))]
    #[serde(default, deserialize_with = "super::call::any")]
    limit: Option<u32>,
    /// With this agent.
    agent: Option<String>,
    /// With this status.
    status: Option<ConversationStatus>,
}

/// Conversations.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Listed {
    success: bool,
    conversations: Vec<InList>,
    total: u64,
}

/// A conversation in a list.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct InList {
    #[serde(flatten)]
    conversation: Row,
    /// Whether it waits for a yes, a choice, or what a request lacks.
    waiting: bool,
}

fn list(call: &Call, Query(wanted): Query<Wanted>) -> Result<Json<Listed>> {
    let filter = ConversationFilter {
        user: call.only().map(String::from),
        agent: wanted.agent,
        status: wanted.status,
        limit: at_most(wanted.limit, LIMIT.0, LIMIT.1)?,
    };
    let listed = conversations::list(&call.surroundings("conversations.list"), &filter)?;
    let mut agency = call.agency()?;
    let mut rows = Vec::with_capacity(listed.conversations.len());
    for conversation in listed.conversations {
        rows.push(InList {
            waiting: conversations::pending(&mut agency, &conversation)?.is_some(),
            conversation: conversation.into(),
        });
    }
    Ok(Json(Listed {
        success: true,
        conversations: rows,
        total: listed.total,
    }))
}

/// Which messages to show.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    /// At most so many; 50 unless told, and 500 where more are asked for.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1), with = "Option<u32>"))]
    #[serde(default, deserialize_with = "super::call::any")]
    limit: Option<u32>,
    /// Those before this message.
    before: Option<String>,
}

/// A conversation with what was said last.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Shown {
    success: bool,
    conversation: Row,
    messages: Vec<Said>,
    total: u64,
    /// What the chat waits for.
    pending: Option<Pending>,
}

fn show(call: &Call, Query(part): Query<Part>) -> Result<Json<Shown>> {
    let limit = at_most(part.limit, LIMIT.0, LIMIT.1)?;
    let mut agency = call.agency()?;
    let before = part.before.as_deref();
    let shown = conversations::page(&mut agency, call.part("id"), call.only(), before, limit)?;
    Ok(Json(Shown {
        success: true,
        pending: conversations::pending(&mut agency, &shown.conversation)?,
        conversation: shown.conversation.into(),
        messages: shown.messages.iter().map(said).collect(),
        total: shown.total,
    }))
}

/// What is to be changed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    /// What it is about, at most 200 characters.
    title: Option<String>,
    /// `archived` ends it.
    status: Option<ConversationStatus>,
}

fn check_agent(call: &Call) -> Result<()> {
    let given: Map<String, Value> = call.body()?;
    let mut agency = call.agency()?;
    let page = conversations::page(&mut agency, call.part("id"), call.only(), None, 1)?;
    let own = page.conversation.agent;
    let is_own = |agent: &Value| agent.is_null() || agent.as_str() == Some(own.as_str());
    if given.get("agent_id").is_none_or(is_own) {
        return Ok(());
    }
    let message = format!("agent_id: the conversation is with `{own}` and stays so; begin another");
    Err(Error::new(Code::InputInvalid, message).in_field("agent_id"))
}

fn update(call: &Call) -> Result<Json<Kept>> {
    let Changed { title, status } = call.filled(&OWN)?;
    check_agent(call)?;
    if title.is_none() && status.is_none() {
        let message = "nothing was said that is to change";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let surroundings = call.surroundings("conversations.update");
    let change = Change { title, status };
    let kept = conversations::update(&surroundings, call.part("id"), call.only(), &change)?;
    Ok(Json(Kept {
        success: true,
        conversation: kept.into(),
    }))
}

/// Something that was said.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(super) struct Said {
    id: String,
    #[serde(rename = "type")]
    kind: Speaker,
    content: String,
    metadata: Detail,
    /// The execution in which it was said.
    execution_id: Option<String>,
    created_at: String,
}

pub(super) fn said(message: &Message) -> Said {
    Said {
        id: message.id.clone(),
        kind: message.speaker,
        content: message.content.clone(),
        metadata: message.metadata.clone(),
        execution_id: message.run.clone(),
        created_at: message.created_at.clone(),
    }
}

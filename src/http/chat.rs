//! The chat about designs and components.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::fault::Shape;
use super::route::Route;
use crate::chat::{Pending, Turn};
use crate::config::CHAT_PENDING_TTL;
use crate::error::{Code, Error, Result};
use crate::id;
use crate::llm::Model;
use crate::ops::answers::load_trusted_model;
use crate::ops::chat::{self, ChatRequest, ClientMessage, DEFAULT};
use crate::ops::conversations;

/// Prefix of ids of stored conversations.
const BEGUN: &str = "conv_";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/chat", say)
            .about("Sends a message to the chat; every change needs a confirmation")
            .tag("chat")
            .takes::<Message>()
            .answers::<Replied>(200)
            .errors(Shape::Chat)
            .asks(|server| matches!(Model::from(&server.settings), Ok(Some(_)))),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Message {
    #[schemars(required, transform = crate::task::schema::note)]
    message: Option<String>,
    /// Id of the conversation; by default the caller's own.
    #[serde(alias = "conversationId")]
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,100}$"))]
    conversation_id: Option<String>,
    /// Earlier messages, oldest first. The client that they name last is used if the server
    /// remembers none.
    conversation: Option<Vec<ClientMessage>>,
    /// The pending action, `pending` of an earlier reply, which is carried out only after a yes. If
    /// the server has another one by now, the message confirms neither.
    #[serde(
        rename = "pendingOperation",
        alias = "pending_operation",
        alias = "pending"
    )]
    pending_operation: Option<Pending>,
}

/// The reply, in the form of the specification.
#[derive(Serialize, schemars::JsonSchema)]
struct Replied {
    response: Response,
}

/// Status and text of the reply.
#[derive(Serialize, schemars::JsonSchema)]
struct Response {
    status: &'static str,
    data: Turn,
}

fn say(call: &Call) -> Result<Answer> {
    let message: Message = call.parse_body()?;
    let text = message.message.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Error::new(Code::InputInvalid, "Message is required."));
    }
    let id = message
        .conversation_id
        .unwrap_or_else(|| DEFAULT.to_string());
    let conversation = own(call, &id)?;
    let remarks = message.conversation.unwrap_or_default();
    let settings = &call.server.settings;
    let said = ChatRequest {
        message: &text,
        conversation: &conversation,
        pending_ttl: settings.number(CHAT_PENDING_TTL).unwrap_or(0),
        remarks: &remarks,
        pending: message.pending_operation.as_ref(),
    };
    let surroundings = call.surroundings("chat");
    let model = load_trusted_model(&surroundings)?;
    let mut data = chat::answer_message(&surroundings, &said, model.as_ref())?;
    data.conversation_id = id;
    let status = "success";
    Answer::ok(&Replied {
        response: Response { status, data },
    })
}

/// Returns the internal name of a conversation. A stored one must belong to the caller; other names
/// are separate for each caller.
fn own(call: &Call, id: &str) -> Result<String> {
    if call.caller.is_local {
        return Ok(id.to_string());
    }
    if id.starts_with(BEGUN) {
        let mut context = call.context("chat")?;
        context.read(|it| conversations::require(it, id, Some(call.user())))?;
        return Ok(id.to_string());
    }
    let digest = id::digest(call.user());
    Ok(format!("{}:{id}", &digest[7..23]))
}

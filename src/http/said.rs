//! What was said in a conversation, as it is told.

use serde::Serialize;

use crate::run::{Detail, Message, Speaker};

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

/// Takes a message as the specification has it.
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

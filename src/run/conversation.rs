//! Conversations with an agent, and what is said in them and in runs.

use serde::Serialize;

use super::Detail;
use crate::error::{Code, Error, Result, steers};
use crate::words::closed;

/// Longest title, in characters.
pub const TITLE_MAX: usize = 200;
/// With whom a conversation is that is with the agents of the chat.
pub const CHAT: &str = "chat";

/// Longest name of a conversation, in bytes.
pub const ID_MAX: usize = 100;

/// Says whether a text can be the name of a conversation.
pub fn is_id(text: &str) -> bool {
    (1..=ID_MAX).contains(&text.len()) && text.chars().all(is_in_ids)
}

/// Says whether names of conversations may hold this character.
fn is_in_ids(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.:".contains(c)
}

/// A conversation with an agent.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// `conv_<ms>_<random>`.
    pub id: String,
    /// Whose it is.
    pub user: String,
    /// With whom; the supervisor has each message routed.
    pub agent: String,
    /// What it is about, at most 200 characters.
    pub title: Option<String>,
    /// Whether it goes on.
    pub status: ConversationStatus,
    /// When it was begun, RFC 3339 in UTC.
    pub created_at: String,
    /// When it was last changed, also by a message.
    pub updated_at: String,
    /// When something was last said; at first when it was begun.
    pub last_message_at: String,
}

/// Something that was said, in a conversation, in a run, or in both.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `msg_<run>_<n>`.
    pub id: String,
    /// The conversation that shows it.
    pub conversation: Option<String>,
    /// The run in which it was said.
    pub run: Option<String>,
    /// Who says it.
    #[serde(rename = "type")]
    pub speaker: Speaker,
    /// The text.
    pub content: String,
    /// Its sender, and what failed.
    pub metadata: Detail,
    /// When it was said, RFC 3339 in UTC.
    pub created_at: String,
}

closed! {
    /// Who says something.
    Speaker, "type of message":
    /// A person or program that asks.
    User = "user",
    /// An agent.
    Agent = "agent",
    /// cleo itself.
    System = "system",
}

closed! {
    /// Whether a conversation goes on.
    ConversationStatus, "status of a conversation":
    /// It does.
    Active = "active",
    /// It is kept for reading.
    Archived = "archived",
}

/// Checks a title and trims it; an empty one is none.
pub fn check_title(title: &str) -> Result<Option<String>> {
    let title = title.trim();
    let length = title.chars().count();
    if length > TITLE_MAX {
        let message = format!("the title has {length} characters; {TITLE_MAX} are allowed");
        return Err(Error::new(Code::TextTooLong, message));
    }
    if title.contains(steers) {
        let message = "the title holds characters that cannot be seen";
        return Err(Error::new(Code::TextControl, message));
    }
    Ok(Some(title.to_string()).filter(|title| !title.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_visible_line_of_bounded_length() {
        assert_eq!(check_title(" Lore ").unwrap().as_deref(), Some("Lore"));
        assert_eq!(check_title(" ").unwrap(), None);
        assert!(check_title(&"ä".repeat(200)).is_ok());
        let long = check_title(&"x".repeat(201)).unwrap_err();
        assert_eq!(long.code, Code::TextTooLong);
        assert_eq!(check_title("a\u{1b}b").unwrap_err().code, Code::TextControl);
    }
}

use crate::error::Result;
use crate::run::{Conversation, ConversationStatus, Message};

pub(crate) trait Conversations {
    fn put_conversation(&mut self, conversation: &Conversation) -> Result<()>;

    fn conversation(&self, id: &str) -> Result<Option<Conversation>>;

    /// Lists conversations, those in which something was said last first.
    fn conversations(&self, filter: &ConversationFilter) -> Result<ConversationPage>;

    fn add_message(&mut self, message: &Message) -> Result<()>;

    /// Reads the last `limit` messages of a conversation, in the order in which they were said.
    fn messages(&self, conversation: &str, limit: u32) -> Result<Vec<Message>>;

    /// Reads the last `limit` messages of a conversation before one of them, in the order in which they
    /// were said; none when that one is not in it.
    fn messages_before(
        &self,
        conversation: &str,
        message: &str,
        limit: u32,
    ) -> Result<Option<Vec<Message>>>;

    /// Reads what was said in conversations after a cursor, oldest first, at most `limit`, with the
    /// cursor of each.
    fn said_after(&self, cursor: u64, limit: u32) -> Result<Vec<(u64, Message)>>;

    /// Returns the cursor of what was said last, also outside of conversations; 0 when nothing was.
    fn last_said(&self) -> Result<u64>;

    fn message_count(&self, conversation: &str) -> Result<u64>;

    /// Reads the messages of a run, in the order in which they were said.
    fn run_messages(&self, run: &str) -> Result<Vec<Message>>;
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ConversationFilter {
    pub(crate) user: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) status: Option<ConversationStatus>,
    pub(crate) limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConversationPage {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) total: u64,
}

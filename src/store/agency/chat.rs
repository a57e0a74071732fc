use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::Result;

/// What the chat works on. Everything is asked for under its client, so none sees another's.
pub(crate) trait Components {
    /// Reads a client.
    fn client(&self, client: &str) -> Result<Option<Client>>;

    /// Reads the design of a client.
    fn design(&self, client: &str) -> Result<Option<Design>>;

    /// Reads the components of a client, by their order and then by their number.
    fn components(&self, client: &str) -> Result<Vec<Component>>;

    /// Reads a component of a client.
    fn component(&self, client: &str, id: &str) -> Result<Option<Component>>;

    /// Reads the greatest number of a component of a client that was removed.
    fn last_removed(&self, client: &str) -> Result<Option<i64>>;

    /// Reads the security groups of a client, by their number.
    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>>;

    /// Reads the ids of the groups that guard a component, by their number.
    fn guards(&self, client: &str, component: &str) -> Result<Vec<String>>;

    /// Reads the questions of the client's type that the client has answered, by their number.
    fn answers(&self, client: &str) -> Result<Vec<Answered>>;

    /// Reads a question by its id.
    fn question(&self, id: &str) -> Result<Option<Question>>;

    /// Reads a file of a client.
    fn media(&self, client: &str, library: &str) -> Result<Option<Media>>;

    /// Writes a client, new or changed.
    fn put_client(&mut self, client: &Client) -> Result<()>;

    /// Writes the design of a client whole.
    fn put_design(&mut self, design: &Design) -> Result<()>;

    /// Writes a component, new or changed, whole.
    fn put_component(&mut self, component: &Component) -> Result<()>;

    /// Removes a component and what guards it; says whether it was there.
    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool>;

    /// Writes a security group.
    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()>;

    /// Has a group guard a component; once is as good as twice.
    fn put_guard(&mut self, guard: &Guard) -> Result<()>;

    /// Takes a group from a component; says whether it was there.
    fn remove_guard(&mut self, guard: &Guard) -> Result<bool>;

    /// Writes a question.
    fn put_question(&mut self, question: &Question) -> Result<()>;

    /// Writes what a client answered.
    fn put_answer(&mut self, answer: &Answer) -> Result<()>;

    /// Writes a file of a client.
    fn put_media(&mut self, media: &Media) -> Result<()>;
}

/// What the chat remembers of conversations.
pub(crate) trait Chats {
    /// Reads what is remembered; nothing gives an empty memory.
    fn chat(&self, conversation: &str) -> Result<Chat>;

    /// Writes what is remembered, with when it was.
    fn put_chat(&mut self, conversation: &str, chat: &Chat, now: &str) -> Result<()>;
}

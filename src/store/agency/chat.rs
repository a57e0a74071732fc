use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::Result;

/// What the chat works on. Everything is asked for under its client, so none sees another's.
pub(crate) trait Components {
    fn client(&self, client: &str) -> Result<Option<Client>>;

    fn design(&self, client: &str) -> Result<Option<Design>>;

    /// Reads the components of a client, by their order and then by their number.
    fn components(&self, client: &str) -> Result<Vec<Component>>;

    fn component(&self, client: &str, id: &str) -> Result<Option<Component>>;

    fn last_removed(&self, client: &str) -> Result<Option<i64>>;

    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>>;

    fn guards(&self, client: &str, component: &str) -> Result<Vec<String>>;

    fn answers(&self, client: &str) -> Result<Vec<Answered>>;

    fn question(&self, id: &str) -> Result<Option<Question>>;

    fn media(&self, client: &str, library: &str) -> Result<Option<Media>>;

    fn put_client(&mut self, client: &Client) -> Result<()>;

    fn put_design(&mut self, design: &Design) -> Result<()>;

    fn put_component(&mut self, component: &Component) -> Result<()>;

    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool>;

    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()>;

    /// Has a group guard a component; once is as good as twice.
    fn put_guard(&mut self, guard: &Guard) -> Result<()>;

    /// Takes a group from a component; says whether it was there.
    fn remove_guard(&mut self, guard: &Guard) -> Result<bool>;

    fn put_question(&mut self, question: &Question) -> Result<()>;

    fn put_answer(&mut self, answer: &Answer) -> Result<()>;

    fn put_media(&mut self, media: &Media) -> Result<()>;
}

pub(crate) trait Chats {
    /// Reads what is remembered; nothing gives an empty memory.
    fn chat(&self, conversation: &str) -> Result<Chat>;

    fn put_chat(&mut self, conversation: &str, chat: &Chat, now: &str) -> Result<()>;
}

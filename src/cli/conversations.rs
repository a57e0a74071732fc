//! `cleo conversations …`

use super::screen::{Screen, dim, format_time, plain, status, strong};
use crate::ops::api;
use crate::ops::conversations::{InList, Listed, Part};
use crate::run::Message;
use crate::store::records::ConversationFilter;

commands! {
    pub(super) (face, it)
    /// List conversations, most recent first
    #[command(after_help = "\
Examples:
  cleo conversations list
  cleo conversations list --agent toby-technical --status archived")]
    List(ConversationFilter) => face.call(&api::CONVERSATIONS, it, show_list);
    /// Show a conversation with its latest messages
    #[command(after_help = "Examples:\n  cleo conversations show conv_1769418000000_1 --limit 10")]
    Show(Part) => face.call(&api::CONVERSATION, it, |screen, shown| {
        let conversation = &shown.conversation;
        let title = conversation.title.as_deref().unwrap_or_default();
        let title = format!("{}  {title}", conversation.agent_id);
        screen
            .headline(&conversation.id, conversation.status, title)
            .field("user", &conversation.user_id)
            .time("created", &conversation.created_at)
            .time("last message", &conversation.last_message_at);
        show_messages(screen, &shown.messages);
    });
}

fn show_messages(screen: &mut Screen, messages: &[Message]) {
    for message in messages {
        let sender = message.metadata.get("sender");
        let sender = sender.and_then(|sender| sender.as_str());
        let sender = sender.unwrap_or(message.speaker.word());
        let heading = format!("{}  {sender}", format_time(&message.created_at));
        screen.section(&heading, &message.content);
    }
}

fn show_list(screen: &mut Screen, listed: &Listed) {
    let rows = listed.conversations.iter().map(
        |InList {
             conversation: one, ..
         }| {
            [
                strong(&one.id),
                status(one.status),
                plain(&one.agent_id),
                dim(&one.last_message_at),
                plain(one.title.as_deref().unwrap_or_default()),
            ]
        },
    );
    let head = ["CONVERSATION", "STATUS", "AGENT", "LAST MESSAGE", "TITLE"];
    screen.list("no conversations", &head, rows);
    screen.cut_at(listed.conversations.len(), listed.total, "conversations");
}

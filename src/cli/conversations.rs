//! `cleo conversations …`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::conversations::{self, InList, Part, Wanted};
use crate::run::{Conversation, ConversationStatus, Message};

#[derive(Subcommand)]
pub(super) enum Command {
    List(ListArguments),
    Show(ShowArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("conversations.list", arguments, list),
        Command::Show(arguments) => face.run("conversations.show", arguments, show),
    }
}

fn status_tone(status: ConversationStatus) -> Tone {
    match status {
        ConversationStatus::Active => Tone::Good,
        ConversationStatus::Archived => Tone::Dim,
    }
}

fn headline(screen: &mut Screen, conversation: &Conversation) {
    screen
        .say(Tone::Strong, &conversation.id)
        .say(Tone::Plain, " ")
        .say(status_tone(conversation.status), conversation.status)
        .say(Tone::Plain, format!("  {}  ", conversation.agent_id))
        .line(
            Tone::Plain,
            conversation.title.as_deref().unwrap_or_default(),
        );
}

fn said(screen: &mut Screen, messages: &[Message]) {
    for message in messages {
        let sender = message
            .metadata
            .get("sender")
            .and_then(|sender| sender.as_str());
        let sender = sender.unwrap_or(message.speaker.word());
        let heading = format!("{}  {sender}", message.created_at);
        screen.section(&heading, &message.content);
    }
}

/// List conversations, the one in which something was said last first
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo conversations list
  cleo conversations list --agent toby-technical --status archived")]
pub(in crate::cli) struct ListArguments {
    #[command(flatten)]
    wanted: Wanted,
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let listed = conversations::list(&face.surroundings()?, arguments.wanted)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no conversations");
            return;
        }
        let head = ["CONVERSATION", "STATUS", "AGENT", "LAST MESSAGE", "TITLE"];
        screen.table(
            &head,
            listed
                .conversations
                .iter()
                .map(
                    |InList {
                         conversation: one, ..
                     }| {
                        vec![
                            (Tone::Strong, one.id.clone()),
                            (status_tone(one.status), one.status.to_string()),
                            (Tone::Plain, one.agent_id.clone()),
                            (Tone::Dim, one.last_message_at.clone()),
                            (Tone::Plain, one.title.clone().unwrap_or_default()),
                        ]
                    },
                )
                .collect(),
        );
        let shown = listed.conversations.len() as u64;
        if shown < listed.total {
            screen.line(
                Tone::Dim,
                format!("{shown} of {} conversations", listed.total),
            );
        }
    })
}

/// Show a conversation with what was said last
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo conversations show conv_1769418000000_1 --limit 10")]
pub(in crate::cli) struct ShowArguments {
    #[command(flatten)]
    part: Part,
}

fn show(face: &mut Face<'_>, arguments: ShowArguments) -> Result<ExitCode> {
    let shown = conversations::show(&face.surroundings()?, &arguments.part)?;
    face.reply(&shown, &[], |screen| {
        let conversation = &shown.conversation;
        headline(screen, conversation);
        screen
            .field("user", &conversation.user_id)
            .field("created", &conversation.created_at)
            .field("last message", &conversation.last_message_at);
        said(screen, &shown.messages);
    })
}

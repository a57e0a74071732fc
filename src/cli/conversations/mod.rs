//! `cleo conversations …`

mod list;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::run::{Conversation, ConversationStatus, Message};

#[derive(Subcommand)]
pub(super) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("conversations.list", arguments, list::run),
        Command::Show(arguments) => face.run("conversations.show", arguments, show::run),
    }
}

fn status_tone(status: ConversationStatus) -> Tone {
    match status {
        ConversationStatus::Active => Tone::Good,
        ConversationStatus::Archived => Tone::Dim,
    }
}

/// Writes a conversation on one line.
fn headline(screen: &mut Screen, conversation: &Conversation) {
    screen
        .say(Tone::Strong, &conversation.id)
        .say(Tone::Plain, " ")
        .say(status_tone(conversation.status), conversation.status)
        .say(Tone::Plain, format!("  {}  ", conversation.agent))
        .line(
            Tone::Plain,
            conversation.title.as_deref().unwrap_or_default(),
        );
}

/// Writes what was said.
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

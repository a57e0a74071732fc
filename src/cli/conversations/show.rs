//! `cleo conversations show`

use std::process::ExitCode;

use clap::Args;

use super::{headline, said};
use crate::cli::Face;
use crate::error::Result;
use crate::ops::conversations::{self, MESSAGES};

/// Show a conversation with what was said last
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo conversations show conv_1769418000000_1 --limit 10")]
pub(in crate::cli) struct Arguments {
    /// Its id
    conversation: String,

    /// At most so many messages: the last ones, oldest first
    #[arg(long, value_name = "N", default_value_t = MESSAGES)]
    limit: u32,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = &arguments.conversation;
    let shown = conversations::show(&face.surroundings()?, id, None, arguments.limit)?;
    face.reply(&shown, &[], |screen| {
        let conversation = &shown.conversation;
        headline(screen, conversation);
        screen
            .field("user", &conversation.user)
            .field("created", &conversation.created_at)
            .field("last message", &conversation.last_message_at);
        said(screen, &shown.messages);
    })
}

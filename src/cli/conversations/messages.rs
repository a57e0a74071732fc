//! `cleo conversations messages`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::said;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::conversations::{self, MESSAGES};
use crate::run::Message;

/// Show what was said last in a conversation, oldest first
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo conversations messages conv_1769418000000_1 --limit 10")]
pub(in crate::cli) struct Arguments {
    /// Its id
    conversation: String,

    /// At most so many messages
    #[arg(long, value_name = "N", default_value_t = MESSAGES)]
    limit: u32,
}

/// What was said.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::cli) struct Messages {
    messages: Vec<Message>,
    total: u64,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = &arguments.conversation;
    let shown = conversations::show(&face.surroundings()?, id, None, arguments.limit)?;
    let result = Messages {
        messages: shown.messages,
        total: shown.total,
    };
    face.reply(&result, &[], |screen| {
        match (result.total, result.messages.len()) {
            (0, _) => screen.line(Tone::Dim, "nothing was said yet"),
            (total, 0) => screen.line(Tone::Dim, format!("none of {total} is shown")),
            _ => screen,
        };
        said(screen, &result.messages);
    })
}

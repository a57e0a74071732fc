//! `cleo conversations list`

use std::process::ExitCode;

use clap::Args;

use super::status_tone;
use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::conversations;
use crate::run::{Conversation, ConversationStatus};
use crate::store::agency::ConversationFilter;

/// List conversations, the one in which something was said last first
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo conversations list
  cleo conversations list --agent toby-technical --status archived")]
pub(in crate::cli) struct Arguments {
    /// Only conversations with this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Only conversations with this status: active or archived
    #[arg(long, value_name = "STATUS")]
    status: Option<ConversationStatus>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let filter = ConversationFilter {
        user: None,
        agent: arguments.agent,
        status: arguments.status,
        limit: arguments.limit,
    };
    let listed = conversations::list(&face.surroundings()?, &filter)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no conversations");
            return;
        }
        let head = ["CONVERSATION", "STATUS", "AGENT", "LAST MESSAGE", "TITLE"];
        screen.table(&head, listed.conversations.iter().map(row).collect());
        let shown = listed.conversations.len() as u64;
        if shown < listed.total {
            screen.line(
                Tone::Dim,
                format!("{shown} of {} conversations", listed.total),
            );
        }
    })
}

fn row(one: &Conversation) -> Vec<Cell> {
    vec![
        (Tone::Strong, one.id.clone()),
        (status_tone(one.status), one.status.to_string()),
        (Tone::Plain, one.agent.clone()),
        (Tone::Dim, one.last_message_at.clone()),
        (Tone::Plain, one.title.clone().unwrap_or_default()),
    ]
}

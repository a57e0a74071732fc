//! `cleo why`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::spawn::{Why, why};

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo why T3")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let why = why(&mut face.context()?, arguments.task)?;
    face.reply(&why, &[], |screen| render(screen, &why))
}

fn render(screen: &mut Screen, why: &Why) {
    let receipt = &why.receipt;
    screen
        .say(Tone::Strong, why.task_id)
        .say(Tone::Plain, " → ")
        .line(Tone::Accent, &receipt.skill);
    screen
        .field("spawned", &why.at)
        .field("decided by", &receipt.strategy);
    screen
        .field("matched", receipt.matched.join(", "))
        .field("because", &receipt.reason);
    if let Some((skill, reason)) = &receipt.runner_up {
        screen.field("runner-up", format!("{skill}: {reason}"));
    }
    for used in &receipt.protocols {
        screen.field(
            "protocol",
            format!("{} v{} ({})", used.name, used.version, used.why),
        );
    }
    screen
        .field("entry", &receipt.manifest_id)
        .field("prompt", &receipt.prompt_digest)
        .field("verified", why.verified_at.as_deref().unwrap_or_default())
        .field("forced", why.forced.as_deref().unwrap_or_default());
    if let Some(fault) = &why.fault {
        let text = format!("No prompt comes out today: {fault}");
        screen.line(Tone::Warn, text);
        return;
    }
    if why.reproduced {
        screen.line(Tone::Good, "The same prompt comes out today.");
        return;
    }
    screen.line(
        Tone::Warn,
        "Another prompt comes out today; what went in has changed:",
    );
    let digest = |digest: &Option<String>| -> Cell {
        let short = digest
            .as_deref()
            .map_or("-", |digest| &digest[..digest.len().min(19)]);
        (Tone::Dim, short.to_string())
    };
    let rows = why.changed.iter().map(|change| {
        vec![
            (Tone::Plain, change.input.clone()),
            digest(&change.then),
            digest(&change.now),
        ]
    });
    screen.table(&["INPUT", "THEN", "NOW"], rows.collect());
}

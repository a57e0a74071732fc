//! `cleo why`

mod run;

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Cell, Screen, Tone};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::spawn::{Why, why};

pub(super) use run::of_run;

#[derive(Args)]
#[command(after_help = "\
Of a run it is told why it stands as it does, and of each task of it what it waits for, what it failed
at, and whether the prompt of its last try would still come out.

Examples:
  cleo why T3
  cleo why --run run_1769418000000_1")]
pub(super) struct Arguments {
    /// The task
    #[arg(required_unless_present = "run")]
    task: Option<TaskId>,

    /// A run, in place of a task
    #[arg(long, value_name = "RUN", conflicts_with = "task")]
    run: Option<String>,
}

impl Arguments {
    /// Says whether it is a run that is asked about.
    pub(super) fn is_of_run(&self) -> bool {
        self.run.is_some()
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let task = arguments.task.ok_or_else(nothing)?;
    let why = why(&mut face.context()?, task)?;
    face.reply(&why, &[], |screen| render(screen, &why))
}

fn nothing() -> Error {
    Error::new(Code::Usage, "neither a task nor a run is named")
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

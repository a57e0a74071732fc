//! `cleo agents cleanup`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::agents::{self, Sweep};

/// Remove the agents that were registered for the moment; others are never touched
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents cleanup
  cleo agents cleanup --expired                       only those whose id is older than 30 minutes
  cleo agents cleanup --expired --now 1756443000000")]
pub(in crate::cli) struct Arguments {
    /// Only those whose id says that they are older than 30 minutes
    #[arg(long)]
    expired: bool,

    /// The moment from which age is counted, in milliseconds since 1970; now unless told
    #[arg(long, value_name = "MS", requires = "expired")]
    now: Option<u64>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let millis = surroundings.clock.now().timestamp_millis().unsigned_abs();
    let sweep = match arguments.expired {
        true => Sweep::Explicit(arguments.now.unwrap_or(millis)),
        false => Sweep::All,
    };
    let cleaned = agents::cleanup(&surroundings, sweep)?;
    face.reply(&cleaned, &[], |screen| {
        let gone = count(cleaned.removed, "agent", "agents");
        let left = count(cleaned.after, "agent remains", "agents remain");
        screen
            .say(Tone::Good, "Removed ")
            .line(Tone::Plain, format!("{gone}; {left}"));
        for id in &cleaned.cleaned_up {
            screen.line(Tone::Dim, format!("  {id}"));
        }
    })
}

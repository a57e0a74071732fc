//! `cleo doctor`

use std::process::ExitCode;

use clap::Args;

use super::screen::{Screen, Tone, count};
use super::{Face, environment};
use crate::error::Result;
use crate::ops::doctor::{self, Examined, Patient, Status};
use crate::ops::{Notes, Surroundings};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo doctor
  cleo doctor --jq '.result.findings[] | select(.status != \"ok\") | .fix'
  cleo doctor --remove-damaged

Looks at settings, the configured model (which is not asked), folders, database, skills, protocols,
manifest, agent files, the clock, claims that ran out, git as far as worktrees need it, and the agent
programs on the PATH, which are asked for version and help only. Nothing is changed without
--remove-damaged. --jq reads the findings also when something is broken (exit 6).")]
pub(super) struct Arguments {
    /// First remove runs, events, conversations and messages that cannot be read, a run with its
    /// events and a conversation with its messages
    #[arg(long)]
    remove_damaged: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let globals = face.globals;
    // Somebody who filters findings wants most of all those of a verdict that failed.
    face.output.filter_verdict();
    let work = |surroundings: &Surroundings, notes: &mut Notes| {
        let patient = Patient {
            surroundings: surroundings.clone(),
            settings: environment::settings(globals),
            variable: environment::variable,
            path: environment::variable("PATH").unwrap_or_default(),
        };
        match arguments.remove_damaged {
            true => doctor::remove_damaged(patient, notes),
            false => Ok(doctor::examine(patient, notes)),
        }
    };
    face.anywhere("doctor", work, render)
}

fn render(screen: &mut Screen, examined: &Examined) {
    for finding in &examined.findings {
        match finding.status {
            Status::Ok => screen.say(Tone::Good, "ok    "),
            Status::Warn => screen.say(Tone::Warn, "warn  "),
            Status::Fail => screen.say(Tone::Bad, "fail  "),
        };
        screen
            .say(Tone::Strong, finding.check)
            .line(Tone::Plain, format!("  {}", finding.message));
        if let Some(fix) = &finding.fix {
            screen
                .say(Tone::Dim, "        try: ")
                .line(Tone::Accent, fix);
        }
    }
    let looks = count(examined.total, "look", "looks");
    let warned = count(examined.warned, "warning", "warnings");
    screen.line(
        Tone::Dim,
        format!("{looks}, {warned}, {} broken", examined.failed),
    );
}

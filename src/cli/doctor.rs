//! `cleo doctor`

use std::process::ExitCode;

use clap::Args;

use super::screen::{Screen, Tone, count};
use super::{Face, environment};
use crate::error::Result;
use crate::ops::doctor::{self, Examined, Finding, Patient, Status};

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
    let patient = Patient {
        surroundings: face.surroundings()?,
        settings: environment::settings(face.globals),
        variable: environment::variable,
        path: environment::variable("PATH").unwrap_or_default(),
    };
    let (examined, error) = match arguments.remove_damaged {
        true => doctor::remove_damaged(patient)?,
        false => doctor::examine(patient),
    };
    // Somebody who filters findings wants most of all those of a verdict that failed.
    face.output.filter_verdict();
    face.verdict(&examined, error, |screen| render(screen, &examined))
}

fn render(screen: &mut Screen, examined: &Examined) {
    examined
        .findings
        .iter()
        .for_each(|finding| line(screen, finding));
    let looks = count(examined.total, "look", "looks");
    let warned = count(examined.warned, "warning", "warnings");
    screen.line(
        Tone::Dim,
        format!("{looks}, {warned}, {} broken", examined.failed),
    );
}

fn line(screen: &mut Screen, finding: &Finding) {
    let (tone, word) = match finding.status {
        Status::Ok => (Tone::Good, "ok  "),
        Status::Warn => (Tone::Warn, "warn"),
        Status::Fail => (Tone::Bad, "fail"),
    };
    screen
        .say(tone, word)
        .say(Tone::Strong, format!("  {:<20}", finding.check))
        .line(Tone::Plain, format!(" {}", finding.message));
    if let Some(fix) = &finding.fix {
        screen
            .say(Tone::Dim, "        try: ")
            .line(Tone::Accent, fix);
    }
}

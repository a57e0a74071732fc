//! `cleo doctor`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::screen::{Screen, Tone, count};
use super::{Face, environment};
use crate::error::Result;
use crate::ops::doctor::stress::{self, Options, Stressed};
use crate::ops::doctor::{self, Examined, Finding, Patient, Status};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo doctor
  cleo doctor --jq '.result.findings[] | select(.status != \"ok\") | .fix'
  cleo doctor --stress --writers 16 --seconds 20

Looks at settings, the configured model (which is not asked), folders, database, skills, protocols,
manifest, agent files, the clock, claims that ran out, git as far as worktrees need it, and the agent
programs on the PATH, which are asked for version and help only. Nothing is changed. --jq reads the findings also when something is
broken (exit 6). --stress writes with many processes at once into a workspace of its own, kills some
of them, and proves that nothing acknowledged was lost.")]
pub(super) struct Arguments {
    /// Write with many processes at once, kill some, and count
    #[arg(long)]
    stress: bool,

    /// How many processes write at once
    #[arg(long, value_name = "N", requires = "stress", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    writers: u32,

    /// For how many seconds
    #[arg(long, value_name = "S", requires = "stress", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.stress {
        let options = Options {
            program: environment::program()?.0,
            writers: arguments.writers,
            duration: Duration::from_secs(arguments.seconds),
        };
        let (stressed, error) = stress::stress(&options)?;
        return face.verdict(&stressed, error, |screen| numbers(screen, &stressed));
    }
    let patient = Patient {
        surroundings: face.surroundings()?,
        settings: environment::settings(face.globals),
        variable: environment::variable,
        path: environment::variable("PATH").unwrap_or_default(),
    };
    let (examined, error) = doctor::examine(patient);
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

fn numbers(screen: &mut Screen, stressed: &Stressed) {
    let (tone, word) = if stressed.lost.is_empty() && stressed.broken.is_empty() {
        (Tone::Good, "nothing acknowledged was lost")
    } else {
        (Tone::Bad, "something is wrong")
    };
    screen.line(tone, word);
    screen
        .field("writers", stressed.writers)
        .field("seconds", format!("{:.1}", stressed.seconds))
        .field("begun", stressed.begun)
        .field("acknowledged", stressed.acknowledged)
        .field("killed", stressed.killed)
        .field("refused", stressed.refused)
        .field("slowest", format!("{} ms", stressed.slowest_ms))
        .field("tasks", stressed.tasks)
        .field("entries", stressed.entries);
    for (name, lines) in [("lost", &stressed.lost), ("broken", &stressed.broken)] {
        lines.iter().take(20).for_each(|line| {
            screen.field(name, line);
        });
    }
}

//! `cleo doctor`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::api;
use crate::ops::doctor::{Checks, Report, Status};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo doctor
  cleo doctor --jq '.result.findings[] | select(.status != \"ok\") | .fix'
  cleo doctor --remove-damaged

Checks settings, the configured model (without calling it), folders, database, skills, protocols,
manifest, agent files, the clock, expired claims, git for worktrees, and agent programs on the
PATH (which are only asked for version and help). Nothing is changed without --remove-damaged.
--jq also filters failed checks (exit 6).")]
pub(super) struct Arguments {
    #[command(flatten)]
    examination: Checks,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    // Somebody who filters findings wants most of all those of a verdict that failed.
    face.output.filter_verdict();
    face.call(&api::DOCTOR, arguments.examination, render)
}

fn render(screen: &mut Screen, examined: &Report) {
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
    let checks = count(examined.total, "check", "checks");
    let warned = count(examined.warned, "warning", "warnings");
    screen.line(
        Tone::Dim,
        format!("{checks}, {warned}, {} failed", examined.failed),
    );
}

//! `cleo orchestrator compliance`

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cli::Face;
use crate::cli::arguments::past;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::ops::compliance::{self, Group, Grouping, History, Trend};

/// Count what checks of spawned tasks have found, by skill or agent
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator compliance
  cleo orchestrator compliance --by agent --since 2026-01-01 --trend week
  cleo orchestrator compliance --since 1w

Each `verify output` and each `complete` of a task that was spawned is one check. A first try is
the first check of a spawn.")]
pub(in crate::cli) struct Arguments {
    /// What to count by
    #[arg(long, value_name = "WHAT", value_enum, default_value = "skill")]
    by: By,

    /// Only checks since then: a date, a time or an age such as 90m, 12h, 2d or 1w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// How long a period of the trend is
    #[arg(long, value_name = "PERIOD", value_enum, default_value = "day")]
    trend: Length,
}

/// `--by`
#[derive(Clone, Copy, ValueEnum)]
enum By {
    Skill,
    Agent,
}

/// `--trend`
#[derive(Clone, Copy, ValueEnum)]
enum Length {
    Day,
    Week,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let now = context.surroundings.clock.now();
    let since = arguments.since.map(|text| past(&text, now)).transpose()?;
    let by = match arguments.by {
        By::Skill => Grouping::Skill,
        By::Agent => Grouping::Agent,
    };
    let trend = match arguments.trend {
        Length::Day => Trend::Day,
        Length::Week => Trend::Week,
    };
    let history = compliance::history(&mut context, by, since, trend)?;
    face.reply(&history, &[], |screen| render(screen, &history))
}

fn render(screen: &mut Screen, history: &History) {
    if history.groups.is_empty() {
        screen.line(Tone::Dim, "no spawned task was checked yet");
        return;
    }
    let rows = history.groups.iter().flat_map(rows).collect();
    let head = [
        "NAME",
        "CHECKS",
        "PASSED",
        "FIRST TRIES PASSED",
        "BROKEN RULES",
    ];
    screen.table(&head, rows);
}

/// One row for the group, then one for each period.
fn rows(group: &Group) -> Vec<Vec<Cell>> {
    let broken = group
        .violations
        .iter()
        .map(|(rule, n)| format!("{rule} {n}"));
    let broken: Vec<String> = broken.collect();
    let row = |tone, name: String, counts: &compliance::Counts, broken: String| {
        vec![
            (tone, name),
            (Tone::Plain, counts.checks.to_string()),
            (Tone::Plain, counts.passed.to_string()),
            (
                Tone::Plain,
                format!("{} of {}", counts.first_tries_passed, counts.first_tries),
            ),
            (Tone::Plain, broken),
        ]
    };
    let first = row(
        Tone::Strong,
        group.name.clone(),
        &group.counts,
        broken.join(", "),
    );
    let periods = group.trend.iter();
    let periods = periods.map(|it| {
        row(
            Tone::Dim,
            format!("  {}", it.period),
            &it.counts,
            String::new(),
        )
    });
    std::iter::once(first).chain(periods).collect()
}

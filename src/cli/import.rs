//! `cleo import`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::transfer::{self, Request};
use crate::transfer::Format;
use crate::transfer::report::{Loose, Report, Sample};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo import .beads/issues.jsonl --dry-run   see what would come
  cleo import .taskmaster/tasks/tasks.json
  cleo import backlog/                        a folder of Backlog.md
  task export | cleo import - --open-only
  cleo import todo.json --drop-faults         go on without what is faulty

What a file is, is found out from what stands in it. An id such as T12 is kept when it is free;
any other task gets the next id, keeps its old one and is found by it: cleo find OLD-ID. The same
file imported again updates what has changed; what another tool's file says nothing of stays as it
is here. Control characters are taken out of texts; what stood there is kept in `extra`, and the
report says where. With a fault in the file nothing is imported.

An export of cleo can be imported into any copy of the workspace, also into one that went on: tasks
are the same by their `uid`. What was changed later wins, notes of both are kept, what stays as it is
here is reported, and nothing is deleted. No import reopens a task that is done or claimed.")]
pub(super) struct Arguments {
    /// File or folder; - reads standard input
    #[arg(value_name = "FILE|FOLDER")]
    file: PathBuf,

    /// What the file is, instead of finding out
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// Report what would be taken over, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Leave out what is done or cancelled
    #[arg(long)]
    open_only: bool,

    /// Leave out the archive beside a CLEO todo.json
    #[arg(long)]
    no_archive: bool,

    /// Take the archive of a Backlog.md folder along
    #[arg(long, conflicts_with = "no_archive")]
    archive: bool,

    /// Go on without lines, references and edges that cannot be taken over; all are reported
    #[arg(long)]
    drop_faults: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let request = Request {
        from: arguments.from,
        dry_run: arguments.dry_run,
        open_only: arguments.open_only,
        no_archive: arguments.no_archive,
        archive: arguments.archive,
        drop_faults: arguments.drop_faults,
    };
    let imported = transfer::import(&mut face.context()?, &arguments.file, request)?;
    let refused = imported.error.is_some();
    let (report, warnings) = (&imported.report, &imported.warnings);
    face.outcome(report, imported.error, warnings, |screen| {
        render(screen, report, refused);
    })
}

fn render(screen: &mut Screen, report: &Report, refused: bool) {
    let what = format!(
        "{} from {}",
        count(report.read, "task", "tasks"),
        report.format.word()
    );
    match (refused, report.dry_run) {
        (true, _) => screen.say(Tone::Bad, "refused "),
        (false, true) => screen.say(Tone::Dim, "would import "),
        (false, false) => screen.say(Tone::Good, "imported "),
    };
    screen.line(Tone::Plain, what);
    if !refused {
        let numbers = [
            ("added", report.added),
            ("updated", report.updated),
            ("unchanged", report.unchanged),
            ("newer here", report.newer_here.total),
        ];
        screen.field("tasks", listed(numbers));
    }
    screen.field("left out", left_out(report));
    screen.field(
        "status",
        listed(report.by_status.iter().map(|(word, count)| (*word, *count))),
    );
    let phases = &report.phases;
    let numbers = [
        ("added", phases.added.len()),
        ("unchanged", phases.unchanged.len()),
        (
            "pending for now: the project is in another",
            phases.not_begun.len(),
        ),
    ];
    screen.field("phases", listed(numbers));
    let edges = &report.edges;
    let numbers = [
        ("kept", edges.kept),
        ("repeated", edges.repeated),
        ("onto done tasks left out", edges.satisfied),
        ("dangling", edges.dangling.total),
        ("onto deleted tasks", edges.on_deleted.total),
        ("onto their own whole", edges.on_whole.total),
    ];
    screen.field("dependencies", listed(numbers));
    let parents = &report.parents;
    let numbers = [
        ("kept", parents.kept),
        ("dangling", parents.dangling.total),
        ("a second one", parents.second.total),
        ("of themselves", parents.itself.total),
    ];
    screen.field("parents", listed(numbers));
    let renamed = match report.renamed.total {
        0 => String::new(),
        total if report.format == Format::Cleo => format!("{total} were in use here and are new"),
        total => format!("{total} could not be kept; cleo find finds tasks by them"),
    };
    screen.field("ids", renamed);
    let extra = report
        .extra_fields
        .iter()
        .map(|(name, count)| (name.as_str(), *count));
    screen.field("kept in extra", listed(extra));
    if report.without_created > 0 {
        let text = format!("{} without a time of creation", report.without_created);
        screen.field("created now", text);
    }
    details(screen, report);
}

/// Writes numbers with their names; zeros are left out.
fn listed<'a>(numbers: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let there = numbers.into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<String> = there
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    parts.join(", ")
}

fn left_out(report: &Report) -> String {
    let mut reasons: std::collections::BTreeMap<&str, usize> = Default::default();
    for left in &report.left_out.shown {
        *reasons.entry(&left.reason).or_insert(0) += 1;
    }
    let more = report.left_out.total - report.left_out.shown.len();
    listed(reasons.into_iter().chain([("more", more)]))
}

fn details(screen: &mut Screen, report: &Report) {
    for fault in &report.faults.shown {
        let file = fault.place.file.as_deref().unwrap_or_default();
        let line = match fault.place.line {
            0 => String::new(),
            line => format!("line {line}"),
        };
        let id = fault.id.as_deref().unwrap_or_default();
        let place: Vec<&str> = [file, &line, id]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        screen
            .say(Tone::Bad, format!("  {}: ", place.join(" ")))
            .line(Tone::Plain, &fault.message);
    }
    more(screen, &report.faults);
    for circle in &report.cycles.shown {
        screen
            .say(Tone::Bad, "  wait for each other: ")
            .line(Tone::Plain, circle.members.join(", "));
        for reading in &circle.readings {
            screen.line(Tone::Dim, format!("    {reading}"));
        }
    }
    for changed in &report.changed.shown {
        screen
            .say(Tone::Warn, format!("  {}: ", changed.id))
            .line(Tone::Plain, &changed.reason);
    }
    more(screen, &report.changed);
    for replaced in &report.replaced.shown {
        screen
            .say(Tone::Dim, format!("  {} updated: ", replaced.id))
            .line(Tone::Plain, replaced.fields.join(", "));
    }
    more(screen, &report.replaced);
    for kept in &report.kept.shown {
        let fields = format!("  {} keeps its {}: ", kept.id, kept.fields.join(", "));
        screen
            .say(Tone::Warn, fields)
            .line(Tone::Plain, kept.reason);
    }
    more(screen, &report.kept);
    for repeated in &report.repeated_ids.shown {
        let at = format!("  {} again in line {}: ", repeated.id, repeated.place.line);
        screen
            .say(Tone::Warn, at)
            .line(Tone::Plain, &repeated.outcome);
    }
    loose(
        screen,
        "depends on",
        "which is not there",
        &report.edges.dangling,
    );
    loose(
        screen,
        "depends on",
        "which was deleted",
        &report.edges.on_deleted,
    );
    loose(
        screen,
        "depends on",
        "which it is a part of",
        &report.edges.on_whole,
    );
    loose(
        screen,
        "is part of",
        "which is not there",
        &report.parents.dangling,
    );
    loose(screen, "is part of", "too", &report.parents.second);
}

fn loose(screen: &mut Screen, relation: &str, why: &str, edges: &Sample<Loose>) {
    for edge in &edges.shown {
        screen
            .say(Tone::Warn, format!("  {} ", edge.id))
            .line(Tone::Plain, format!("{relation} {}, {why}", edge.on));
    }
    more(screen, edges);
}

fn more<T>(screen: &mut Screen, sample: &Sample<T>) {
    let hidden = sample.total - sample.shown.len();
    if hidden > 0 {
        screen.line(Tone::Dim, format!("  and {hidden} more"));
    }
}

//! `cleo import`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::transfer::{self, Request};
use crate::transfer::Format;
use crate::transfer::report::{Renamed, Report, Sample};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo import .beads/issues.jsonl --dry-run   show what would be imported
  cleo import .taskmaster/tasks/tasks.json
  cleo import backlog/                        a folder of Backlog.md
  task export | cleo import - --open-only
  cleo import todo.json --drop-faults         skip what cannot be imported

The format is detected from the content. An id such as T12 is kept if it is free; other tasks get
the next id and are found by their old one: cleo find OLD-ID. Importing the same file again
updates changed tasks; fields that the file does not have stay unchanged. Control characters are
removed from texts; the original is kept in `extra` and reported. If the file has errors, nothing
is imported.

An export of cleo can be imported into any copy of the workspace: tasks are matched by their
`uid`. The later change wins, notes of both copies are kept, tasks that stay unchanged here are
reported, and nothing is deleted. No import reopens a task that is done or claimed.")]
pub(super) struct Arguments {
    /// File or folder; - reads standard input
    #[arg(value_name = "FILE|FOLDER")]
    file: PathBuf,

    #[command(flatten)]
    request: Request,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let report = transfer::import(&mut context, &arguments.file, &arguments.request)?;
    let refused = context.notes.failure.is_some();
    face.answer(&report, context.notes, |screen, report| {
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
        screen.field("tasks", list_counts(numbers));
    }
    screen.field("left out", describe_left_out(report));
    screen.field(
        "status",
        list_counts(report.by_status.iter().map(|(word, count)| (*word, *count))),
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
    screen.field("phases", list_counts(numbers));
    let edges = &report.edges;
    let numbers = [
        ("kept", edges.kept),
        ("repeated", edges.repeated),
        ("onto done tasks left out", edges.satisfied),
        ("dangling", edges.dangling.total),
        ("onto deleted tasks", edges.on_deleted.total),
        ("onto their own whole", edges.on_whole.total),
    ];
    screen.field("dependencies", list_counts(numbers));
    let parents = &report.parents;
    let numbers = [
        ("kept", parents.kept),
        ("dangling", parents.dangling.total),
        ("a second one", parents.second.total),
        ("of themselves", parents.itself.total),
    ];
    screen.field("parents", list_counts(numbers));
    let renamed = match report.renamed.total {
        0 => String::new(),
        total if report.format == Format::Cleo => format!("{total} changed"),
        total => format!("{total} could not be kept; cleo find finds tasks by them"),
    };
    screen.field("ids", renamed);
    let extra = report
        .extra_fields
        .iter()
        .map(|(name, count)| (name.as_str(), *count));
    screen.field("kept in extra", list_counts(extra));
    if report.without_created > 0 {
        let text = format!("{} without a time of creation", report.without_created);
        screen.field("created now", text);
    }
    details(screen, report);
}

/// Writes numbers with their names; zeros are left out.
fn list_counts<'a>(numbers: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let there = numbers.into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<String> = there
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    parts.join(", ")
}

fn describe_left_out(report: &Report) -> String {
    let mut reasons: std::collections::BTreeMap<&str, usize> = Default::default();
    for left in &report.left_out.shown {
        *reasons.entry(&left.reason).or_insert(0) += 1;
    }
    let more = report.left_out.total - report.left_out.shown.len();
    list_counts(reasons.into_iter().chain([("more", more)]))
}

fn details(screen: &mut Screen, report: &Report) {
    list(screen, Tone::Bad, &report.faults, |fault| {
        (String::new(), fault.to_string())
    });
    for circle in &report.cycles.shown {
        screen
            .say(Tone::Bad, "  wait for each other: ")
            .line(Tone::Plain, circle.members.join(", "));
    }
    list(screen, Tone::Warn, &report.changed, |changed| {
        (format!("{}: ", changed.id), changed.reason.clone())
    });
    if report.format == Format::Cleo {
        list(screen, Tone::Dim, &report.renamed, |renamed| {
            let Renamed { from, to } = renamed;
            (
                format!("{from} is {to} here: "),
                "its id is or was in use here, or is too large".to_string(),
            )
        });
    }
    list(screen, Tone::Dim, &report.replaced, |replaced| {
        (
            format!("{} updated: ", replaced.id),
            replaced.fields.join(", "),
        )
    });
    list(screen, Tone::Warn, &report.kept, |kept| {
        let fields = format!("{} keeps its {}: ", kept.id, kept.fields.join(", "));
        (fields, kept.reason.unwrap_or_default().to_string())
    });
    list(screen, Tone::Warn, &report.repeated_ids, |repeated| {
        let id = repeated.id.as_deref().unwrap_or_default();
        let place = format!("{id} again in line {}: ", repeated.place.line);
        (place, repeated.message.clone())
    });
    let (edges, parents) = (&report.edges, &report.parents);
    for (relation, why, edges) in [
        ("depends on", "which is not there", &edges.dangling),
        ("depends on", "which was deleted", &edges.on_deleted),
        ("depends on", "which it is a part of", &edges.on_whole),
        ("is part of", "which is not there", &parents.dangling),
        ("is part of", "too", &parents.second),
    ] {
        list(screen, Tone::Warn, edges, |edge| {
            (
                format!("{} ", edge.id),
                format!("{relation} {}, {why}", edge.on),
            )
        });
    }
}

/// Writes a line for each shown item, its head in `tone`, and how many more there are.
fn list<T>(
    screen: &mut Screen,
    tone: Tone,
    sample: &Sample<T>,
    line: impl Fn(&T) -> (String, String),
) {
    for item in &sample.shown {
        let (head, text) = line(item);
        screen
            .say(tone, format!("  {head}"))
            .line(Tone::Plain, text);
    }
    let hidden = sample.total - sample.shown.len();
    if hidden > 0 {
        screen.line(Tone::Dim, format!("  and {hidden} more"));
    }
}

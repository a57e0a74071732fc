//! `cleo research …`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::manifest::{show_entries, show_entry, status_tone};
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::manifest::Filter;
use crate::ops::research::{self, Linked, LinkedEntry, Links, Pair, Source};
use crate::ops::spawn::{self, Injected};
use crate::ops::tasks::One;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List what earlier work found, newest last
    #[command(after_help = "\
Examples:
  cleo research list --topic auth
  cleo research list --json | jq -r '.result.entries[] | \"\\(.id) \\(.title)\"'")]
    List(Filter),
    Show(ShowArguments),
    /// Link a task and an entry of the manifest
    #[command(after_help = "Examples:\n  cleo research link T3 auth-2026-01-26")]
    Link(Pair),
    /// List the entries that a task is linked to, and where each link stands
    #[command(after_help = "Examples:\n  cleo research links T3")]
    Links(One),
    Inject(InjectArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => {
            face.call_as("research.list", &api::ENTRIES, arguments, show_entries)
        }
        Command::Show(arguments) => face.run("research.show", arguments, show),
        Command::Link(arguments) => face.call(&api::LINK, arguments, show_linked),
        Command::Links(arguments) => face.call(&api::LINKS, arguments, show_links),
        Command::Inject(arguments) => face.run("research.inject", arguments, inject),
    }
}

/// Show what was found, and the tasks that it belongs to
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo research show auth-2026-01-26")]
pub(super) struct ShowArguments {
    /// Id of the entry
    id: String,
}

fn show(face: &mut Face<'_>, arguments: ShowArguments) -> Result<ExitCode> {
    let shown = research::show(&mut face.context()?, &arguments.id)?;
    face.reply(&shown, &shown.warnings, |screen| {
        show_entry(screen, &shown.entry);
        if !shown.tasks.is_empty() {
            screen.line(Tone::Plain, "").line(Tone::Strong, "Tasks");
        }
        for task in &shown.tasks {
            let title = task.title.as_deref().unwrap_or("no such task");
            screen
                .say(Tone::Strong, format!("  {}", task.id))
                .line(Tone::Plain, format!("  {title}"));
        }
    })
}

fn show_linked(screen: &mut Screen, linked: &Linked) {
    let done = match linked.created {
        true => "linked ",
        false => "linked before ",
    };
    screen
        .say(Tone::Good, done)
        .line(Tone::Plain, format!("{} and {}", linked.task, linked.entry));
}

fn show_links(screen: &mut Screen, links: &Links) {
    if links.links.is_empty() {
        screen.line(Tone::Dim, format!("{} is linked to no entry", links.task));
        return;
    }
    let row = |link: &LinkedEntry| {
        let status = link.status.map(|status| status.to_string());
        let title = link.title.clone();
        vec![
            (Tone::Strong, link.entry.clone()),
            (
                link.status.map_or(Tone::Bad, status_tone),
                status.unwrap_or("missing".into()),
            ),
            (Tone::Dim, sources(&link.sources)),
            (Tone::Plain, title.unwrap_or_default()),
        ]
    };
    let rows = links.links.iter().map(row).collect();
    screen.table(&["ID", "STATUS", "LINKED BY", "TITLE"], rows);
}

fn sources(sources: &[Source]) -> String {
    let word = |source: &Source| match source {
        Source::Entry => "entry",
        Source::Store => "link",
    };
    sources.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Print the protocol block, to be appended to a prompt
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo research inject T3 --format text >> prompt.md
  cleo research inject --format text")]
pub(super) struct InjectArguments {
    /// Resolve the tokens for this task; without one they stay
    task: Option<TaskId>,
}

fn inject(face: &mut Face<'_>, arguments: InjectArguments) -> Result<ExitCode> {
    let render = |screen: &mut Screen, injected: &Injected| {
        screen.verbatim(&injected.block);
    };
    match arguments.task {
        Some(task) => face.call(&api::BLOCK_FOR, One { task }, render),
        // Without a task no workspace is needed.
        None => {
            let injected = Injected {
                block: spawn::block()?,
            };
            face.reply(&injected, &[], |screen| render(screen, &injected))
        }
    }
}

//! `cleo research …`

use clap::Args;

use super::manifest::{show_entries, show_entry};
use super::screen::{Screen, Tone, dim, plain, status, strong};
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::manifest::{EntryId, Filter};
use crate::ops::operation::Nothing;
use crate::ops::research::{self, Linked, Links, Pair, Shown, Source};
use crate::ops::spawn::Injected;
use crate::ops::tasks::One;

commands! {
    pub(super) (face, it)
    /// List findings of earlier work, newest last
    #[command(after_help = "\
Examples:
  cleo research list --topic auth
  cleo research list --json | jq -r '.result.entries[] | \"\\(.id) \\(.title)\"'")]
    List(Filter) => face.call_as("research.list", &api::ENTRIES, it, show_entries);
    /// Show a finding and its linked tasks
    #[command(after_help = "Examples:\n  cleo research show auth-2026-01-26")]
    Show(EntryId) => face.inside("research.show", |context| research::show(context, it), show_found);
    /// Link a task and an entry of the manifest
    #[command(after_help = "Examples:\n  cleo research link T3 auth-2026-01-26")]
    Link(Pair) => face.call(&api::LINK, it, show_linked);
    /// List the entries linked to a task, and whether each still exists
    #[command(after_help = "Examples:\n  cleo research links T3")]
    Links(One) => face.call(&api::LINKS, it, show_links);
    /// Print the protocol block, to append to a prompt
    Inject(InjectArguments) => match it.task {
        Some(task) => face.call(&api::BLOCK_FOR, One { task }, show_block),
        None => face.call(&api::BLOCK, Nothing {}, show_block),
    };
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo research inject T3 --format text >> prompt.md
  cleo research inject --format text")]
pub(super) struct InjectArguments {
    /// Task to resolve the tokens for [default: keep tokens unresolved]
    task: Option<TaskId>,
}

fn show_block(screen: &mut Screen, injected: &Injected) {
    screen.verbatim(&injected.block);
}

fn show_found(screen: &mut Screen, shown: &Shown) {
    show_entry(screen, &shown.entry);
    if !shown.tasks.is_empty() {
        screen.line(Tone::Plain, "").line(Tone::Strong, "Tasks");
    }
    for task in &shown.tasks {
        let title = task.link.title.as_deref().unwrap_or("no such task");
        screen.pair(Tone::Strong, format!("  {}", task.id), format!("  {title}"));
    }
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
    let rows = links.links.iter().map(|linked| {
        let word = linked.link.status.map(|word| word.to_string());
        let sources = linked.link.sources.iter().map(|source| match source {
            Source::Entry => "entry",
            Source::Store => "link",
        });
        [
            strong(&linked.entry),
            status(word.as_deref().unwrap_or("missing")),
            dim(sources.collect::<Vec<_>>().join(", ")),
            plain(linked.link.title.as_deref().unwrap_or_default()),
        ]
    });
    let none = format!("{} is linked to no entry", links.task);
    screen.list(&none, &["ID", "STATUS", "LINKED BY", "TITLE"], rows);
}

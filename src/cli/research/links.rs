//! `cleo research links`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::manifest::show::tone;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::research::{self, LinkedEntry, Links, Source};

/// List the entries that a task is linked to, and where each link stands
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo research links T3")]
pub(in crate::cli) struct Arguments {
    /// The task
    task: TaskId,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let links = research::links(&mut face.context()?, arguments.task)?;
    face.reply(&links, &[], |screen| table(screen, &links))
}

fn table(screen: &mut Screen, links: &Links) {
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
                link.status.map_or(Tone::Bad, tone),
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

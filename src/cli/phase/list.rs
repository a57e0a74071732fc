//! `cleo phase list`

use std::process::ExitCode;

use clap::Args;

use super::{counts_text, phase_tone};
use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::phases::{self, Counted};

/// List phases in their order, with how many tasks of each stand where
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo phase list")]
pub(in crate::cli) struct Arguments {}

pub(super) fn run(face: &mut Face<'_>, _: Arguments) -> Result<ExitCode> {
    let listed = phases::list(&mut face.context()?)?;
    face.reply(&listed, &[], |screen| {
        if listed.phases.is_empty() {
            screen.line(Tone::Dim, "no phases");
            return;
        }
        let rows = listed.phases.iter().map(row).collect();
        screen.table(&["PHASE", "STATUS", "NAME", "TASKS"], rows);
    })
}

fn row(counted: &Counted) -> Vec<Cell> {
    let phase = &counted.phase;
    vec![
        (Tone::Strong, phase.slug.clone()),
        (phase_tone(phase.status), phase.status.to_string()),
        (Tone::Plain, phase.name.clone()),
        (Tone::Plain, counts_text(&counted.counts)),
    ]
}

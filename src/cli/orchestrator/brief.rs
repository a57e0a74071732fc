//! `cleo orchestrator brief`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::orchestrator::{self, Brief, markdown};

/// Write the hand-over for an agent that begins with an empty context
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator brief --epic T1 --format text
  cleo orchestrator brief --epic T1 --output HANDOVER.md

The brief has at most about 4,000 tokens, however large the epic: lists are cut and say how
long they are. As text it is Markdown. --output writes over a brief and over nothing else.")]
pub(in crate::cli) struct Arguments {
    /// Only what is below this task, to any depth
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,

    /// Write it into this file, as Markdown
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::cli) struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    brief: &'a Brief,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let brief = orchestrator::brief(&mut context, arguments.epic)?;
    if let Some(path) = &arguments.output {
        orchestrator::write_brief(&context, path, &brief)?;
    }
    let file = arguments
        .output
        .map(|path| path.to_string_lossy().into_owned());
    let written = Written {
        file,
        brief: &brief,
    };
    face.reply(&written, &[], |screen| match &written.file {
        Some(file) => {
            screen.say(Tone::Good, "written ").line(Tone::Plain, file);
        }
        None => {
            screen.verbatim(&markdown(&brief));
        }
    })
}

//! `cleo init`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::Tone;
use crate::error::Result;
use crate::workspace::Workspace;

/// Make a workspace in this folder
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo init\n  cleo --root ../project init")]
pub(super) struct Arguments {}

#[derive(Serialize)]
struct Initialized {
    root: String,
    created: Vec<String>,
}

pub(super) fn run(face: &mut Face<'_>, _arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let root = match &surroundings.root {
        Some(root) => surroundings.directory.join(root),
        None => surroundings.directory.clone(),
    };
    let (workspace, created) = Workspace::create(&root)?;
    let result = Initialized {
        root: workspace.root.to_string_lossy().into_owned(),
        created,
    };
    face.reply(&result, &[], |screen| {
        if result.created.is_empty() {
            screen.line(
                Tone::Plain,
                format!("{} is a workspace already", result.root),
            );
            return;
        }
        screen.line(Tone::Good, format!("Made a workspace in {}", result.root));
        result.created.iter().for_each(|path| {
            screen.line(Tone::Plain, format!("  {path}"));
        });
        screen
            .say(Tone::Dim, "next: ")
            .line(Tone::Accent, "cleo add 'Describe the work in one line'");
    })
}

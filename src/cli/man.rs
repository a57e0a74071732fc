//! `cleo man`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man;
use serde::Serialize;

use super::screen::Tone;
use super::{Face, tree};
use crate::error::{Code, Error, Result};
use crate::file;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo man add | man -l -
  cleo man --output ~/.local/share/man/man1")]
pub(super) struct Arguments {
    /// Command [default: cleo itself]
    command: Vec<String>,

    /// Write the pages of all commands to this folder
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// The pages that were written.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Written {
    pages: Vec<String>,
    total: usize,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut root = tree::whole();
    root.build();
    let Some(folder) = arguments.output else {
        let command = super::explain::find(root, &arguments.command, &[])?;
        return Ok(face.output.print(&page(&command)?));
    };
    let folder = face.surroundings()?.directory.join(folder);
    let mut pages = Vec::new();
    for (name, text) in all(&root)? {
        let path = folder.join(format!("{name}.1"));
        file::write_whole(&path, &text)?;
        pages.push(path.to_string_lossy().into_owned());
    }
    let written = Written {
        total: pages.len(),
        pages,
    };
    face.reply(&written, &[], |screen| {
        for page in &written.pages {
            screen.line(Tone::Plain, page);
        }
    })
}

fn all(command: &clap::Command) -> Result<Vec<(String, String)>> {
    let mut pages = vec![(page_name(command), page(command)?)];
    for below in command.get_subcommands() {
        pages.extend(all(below)?);
    }
    Ok(pages)
}

fn page_name(command: &clap::Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    name.replace(' ', "-")
}

fn page(command: &clap::Command) -> Result<String> {
    let mut page = Vec::new();
    // Commands below the first have no version of their own.
    let source = concat!("cleo ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .title(page_name(command).to_uppercase())
        .source(source);
    man.render(&mut page)
        .map_err(|cause| Error::new(Code::Internal, "the page cannot be written").because(cause))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

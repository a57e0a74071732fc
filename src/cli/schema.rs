//! `cleo schema`: the shape of each reply as JSON Schema. The files in docs/schemas/ are made from
//! the types by a test (`cli::tests::schemas`), which also keeps them true, and are carried by the program.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::Tone;
use crate::embedded;
use crate::error::{Code, Error, Result, nearest};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo schema list
  cleo schema orchestrator ready
  cleo schema --list --jq '.result.schemas[]'")]
pub(super) struct Arguments {
    /// Command, such as orchestrator.ready or orchestrator ready
    #[arg(required_unless_present = "list")]
    name: Vec<String>,

    /// List the commands that have a schema
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

/// The schemas that there are.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Listed {
    /// Names of commands, as replies spell them.
    schemas: Vec<String>,
    total: usize,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.list {
        let schemas = names();
        let listed = Listed {
            total: schemas.len(),
            schemas,
        };
        return face.reply(&listed, &[], |screen| {
            for name in &listed.schemas {
                screen.line(Tone::Plain, name);
            }
        });
    }
    let name = arguments.name.join(".");
    let text = embedded::schema(&name).ok_or_else(|| {
        let error = Error::new(Code::Usage, format!("there is no schema `{name}`"));
        match nearest(&name, names().iter().map(String::as_str)) {
            Some(near) => error.fix(format!("cleo schema {near}")),
            None => error.fix("cleo schema --list"),
        }
    })?;
    Ok(face.output.print_document(&text))
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = embedded::schemas().map(str::to_string).collect();
    names.sort_unstable();
    names
}

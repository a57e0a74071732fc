//! `cleo verify prompt`

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::answer;
use crate::cli::Face;
use crate::error::{Code, Error, Result, quote};
use crate::ops::verify;

/// Largest prompt that is read from standard input, in bytes.
const INPUT_MAX: u64 = 16 << 20;

/// Check that a prompt carries the subagent protocol (exit 60)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify prompt prompt.md
  cleo spawn T3 | jq -r .result.prompt | cleo verify prompt - --strict")]
pub(in crate::cli) struct Arguments {
    /// File of the prompt; - reads standard input
    file: PathBuf,

    /// Also demand that the protocol is word for word a known version
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = arguments.file.to_string_lossy().into_owned();
    let text = if shown == "-" {
        read_stdin()?
    } else {
        verify::read_text(&arguments.file)?
    };
    let verdict = verify::prompt(&face.surroundings()?, &text, arguments.strict)?;
    answer(
        face,
        &format!("prompt {shown}"),
        &verdict,
        &verdict,
        |error| {
            if shown == "-" {
                return error.fix("cleo research inject");
            }
            error
                .fix(format!(
                    "cleo research inject --format text >> {}",
                    quote(&shown)
                ))
                .or(
                    "prepare the prompt again",
                    "cleo spawn TASK --force-inject --format text",
                )
        },
    )
}

fn read_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(INPUT_MAX + 1)
        .read_to_end(&mut bytes);
    read.map_err(|cause| {
        Error::new(Code::FileUnreadable, "standard input cannot be read").because(cause)
    })?;
    if bytes.len() as u64 > INPUT_MAX {
        let message = format!("the prompt has more than {INPUT_MAX} bytes");
        return Err(Error::new(Code::InputInvalid, message));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

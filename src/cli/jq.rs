//! `--jq`: a filter over the answer. The filter itself is `cleo-jq`, a program beside this one: a
//! language of its own is too large to be carried by every command.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::screen::clean;
use crate::error::{Code, Error, Result};
use crate::runner;

/// Name of the program that filters.
const PROGRAM: &str = "cleo-jq";

/// A filter that has been understood.
pub(super) struct Jq {
    program: PathBuf,
    code: String,
}

/// How far a filter came.
pub(super) enum Ended {
    /// To its end.
    Whole,
    /// It failed with this message; what it had found before is written.
    Failed(String),
}

impl Jq {
    /// Reads a filter; one that is faulty is refused with the place.
    pub(super) fn read(code: &str) -> Result<Jq> {
        let jq = Jq {
            program: runner::beside(PROGRAM),
            code: code.to_string(),
        };
        let checked = jq.start(&["--check"]).and_then(Child::wait_with_output);
        let checked = checked.map_err(|cause| {
            let place = jq.program.display();
            let message = format!("--jq needs the program {PROGRAM} at {place}: {cause}");
            Error::new(Code::ProgramMissing, message).fix("cargo install --path .")
        })?;
        if checked.status.success() {
            return Ok(jq);
        }
        let fault = String::from_utf8_lossy(&checked.stderr);
        let message = format!("the filter `{code}` is faulty {fault}");
        Err(Error::new(Code::Usage, message))
    }

    /// Writes what the filter makes of a JSON document, a value a line; text as it is, without
    /// quotes. On a terminal nothing in it can steer.
    pub(super) fn write(
        &self,
        json: &str,
        out: &mut dyn Write,
        terminal: bool,
    ) -> io::Result<Ended> {
        let done = self.run(json)?;
        if terminal {
            let text = String::from_utf8_lossy(&done.stdout);
            for line in text.split_inclusive('\n') {
                writeln!(out, "{}", clean(line.trim_end_matches('\n')))?;
            }
        } else {
            out.write_all(&done.stdout)?;
        }
        Ok(match done.status.success() {
            true => Ended::Whole,
            false => Ended::Failed(String::from_utf8_lossy(&done.stderr).into_owned()),
        })
    }

    fn run(&self, json: &str) -> io::Result<Output> {
        let mut child = self.start(&[])?;
        if let Some(mut input) = child.stdin.take() {
            // It reads everything before it writes anything. One that ends early says why.
            match input.write_all(json.as_bytes()) {
                Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => return Err(cause),
                _ => {}
            }
        }
        child.wait_with_output()
    }

    fn start(&self, options: &[&str]) -> io::Result<Child> {
        Command::new(&self.program)
            .args(options)
            .arg(&self.code)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

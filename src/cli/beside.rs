//! Commands that are carried out by the program `cleo-full`, which lies beside this one. What they
//! stand on (chat, models, workers, routing, files of other tools) would make every other command
//! start more slowly.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::{Code, Error};
use crate::runner;

/// Name of the program.
const PROGRAM: &str = "cleo-full";

/// Names of the commands that it carries out.
const COMMANDS: &[&str] = &[
    "agents",
    "ask",
    "chat",
    "conversations",
    "export",
    "hook",
    "import",
    "plan",
    "route",
    "run",
    "runs",
    "sync",
];

/// Says whether a command is carried out by the program beside.
pub(super) fn carries_out(command: &str) -> bool {
    COMMANDS.contains(&command)
}

/// Puts the program beside in the place of this process. Returns only when that cannot be done.
pub(super) fn hand_over(arguments: &[OsString]) -> Error {
    let program = runner::beside(PROGRAM);
    let cause = Command::new(&program)
        .arg0("cleo")
        .args(arguments.iter().skip(1))
        .exec();
    let place = program.display();
    let message = format!("this command needs the program {PROGRAM} at {place}: {cause}");
    Error::new(Code::ProgramMissing, message).fix("cargo install --path .")
}

//! Commands that are carried out by other programs, which lie beside this one. What they stand on (chat,
//! models, workers, routing, files of other tools, the shapes of all answers) would make every other
//! command start more slowly.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::{Code, Error};
use crate::runner;

/// The program that carries out everything but the server.
pub(super) const FULL: &str = "cleo-full";
/// The program that serves.
pub(super) const SERVER: &str = "cleo-server";

/// Names of the commands that others carry out, and who does.
const COMMANDS: &[(&str, &str)] = &[
    ("agents", FULL),
    ("ask", FULL),
    ("chat", FULL),
    ("conversations", FULL),
    ("export", FULL),
    ("hook", FULL),
    ("import", FULL),
    ("man", FULL),
    ("plan", FULL),
    ("route", FULL),
    ("run", FULL),
    ("runs", FULL),
    ("schema", FULL),
    ("serve", SERVER),
    ("trust", FULL),
    ("util", FULL),
];

pub(super) fn carries_out(command: &str) -> Option<&'static str> {
    let found = COMMANDS.iter().find(|(name, _)| *name == command);
    found.map(|(_, program)| *program)
}

/// Puts a program beside in the place of this process. Returns only when that cannot be done.
pub(super) fn hand_over(name: &str, arguments: &[OsString]) -> Error {
    let program = runner::beside(name);
    let cause = Command::new(&program)
        .arg0("cleo")
        .args(arguments.iter().skip(1))
        .exec();
    let place = program.display();
    let message = format!("this command needs the program {name} at {place}: {cause}");
    Error::new(Code::ProgramMissing, message)
}

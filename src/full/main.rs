//! The whole of cleo: what the cleo of every day can do, and the commands that it hands over to this
//! program so that it stays small.

use std::process::ExitCode;

fn main() -> ExitCode {
    cleo::run_whole()
}

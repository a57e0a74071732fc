//! The doorway: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    cleo::run()
}

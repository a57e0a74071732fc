//! `cleo-server`: what `cleo serve` starts, by a program of its own that lies beside cleo, so that
//! cleo itself carries no server.

use std::process::ExitCode;

fn main() -> ExitCode {
    cleo::run_server()
}

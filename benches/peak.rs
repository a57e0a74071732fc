//! Runs a command and prints its peak memory in kilobytes. A small program of its own, because a
//! child starts out with the memory of whoever starts it.

#![allow(clippy::print_stdout, reason = "printing is all that it does")]

use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let status = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN);
    match (status, usage) {
        (Ok(status), Ok(usage)) if status.success() => println!("{}", usage.max_rss()),
        _ => std::process::exit(1),
    }
}

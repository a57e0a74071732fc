//! Runs two commands alternately and prints the cost of each, as one line of JSON: medians of wall
//! and CPU time in milliseconds, and the peak memory of the first in megabytes. A small program of
//! its own, because starting a child from a large one costs more than the child.
//!
//! Usage: `pair ROUNDS COMMAND… -- FLOOR…`

#![allow(clippy::print_stdout, reason = "printing is all that it does")]

use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Wall and CPU time in milliseconds.
type Cost = (f64, f64);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = words[0].parse().expect("ROUNDS is a number");
    let middle = words
        .iter()
        .position(|word| word == "--")
        .expect("a -- between the commands");
    let (ours, floor) = (&words[1..middle], &words[middle + 1..]);
    run(ours);
    let peak = usage().max_rss() as f64 / 1024.0;
    run(floor);
    let pairs: Vec<(Cost, Cost)> = (0..rounds).map(|_| (run(ours), run(floor))).collect();
    let median = |cost: fn(&(Cost, Cost)) -> f64| {
        let mut costs: Vec<f64> = pairs.iter().map(cost).collect();
        costs.sort_by(f64::total_cmp);
        costs[rounds / 2]
    };
    println!(
        "{{\"wall\":{},\"cpu\":{},\"floorWall\":{},\"floorCpu\":{},\"peak\":{peak}}}",
        median(|pair| pair.0.0),
        median(|pair| pair.0.1),
        median(|pair| pair.1.0),
        median(|pair| pair.1.1),
    );
}

fn run(words: &[String]) -> Cost {
    let before = cpu();
    let start = Instant::now();
    let status = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let wall = start.elapsed().as_secs_f64() * 1e3;
    assert!(
        status.is_ok_and(|status| status.success()),
        "failed: {words:?}"
    );
    (wall, cpu() - before)
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel knows what children cost")
}

fn cpu() -> f64 {
    let usage = usage();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    micros as f64 / 1e3
}

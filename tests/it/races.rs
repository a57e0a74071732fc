//! A hundred processes want one task, again and again: one gets it.

use std::process::{Child, Stdio};

use rusqlite::Connection;

use crate::world::TestWorkspace;

const RACERS: usize = 100;
/// Of each kind; two kinds make two hundred rounds.
const ROUNDS: u32 = 100;

/// Starts all racers before it waits for the first; returns the exit codes.
fn race(workspace: &TestWorkspace, line: &[&str]) -> Vec<i32> {
    let start = |_| -> Child {
        let mut racer = workspace.command(line);
        racer
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        racer.spawn().unwrap()
    };
    let racers: Vec<Child> = (0..RACERS).map(start).collect();
    let exit = |mut racer: Child| racer.wait().unwrap().code().unwrap_or(-1);
    racers.into_iter().map(exit).collect()
}

fn epoch(workspace: &TestWorkspace) -> u32 {
    let database = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let sql = "SELECT epoch FROM claims WHERE task = 1 AND holder IS NOT NULL";
    database.query_row(sql, (), |row| row.get(0)).unwrap()
}

/// Races for T1 in each round; whoever loses ends with `lost`.
fn assert_one_winner(line: &[&str], lost: i32) {
    // All at the same moment, so that no lease is ever over.
    let workspace = TestWorkspace::new().env("CLEO_NOW", "2026-01-26T09:00:00Z");
    workspace.ok("add 'Everybody wants it'");
    for round in 1..=ROUNDS {
        let mut exits = race(&workspace, line);
        exits.sort_unstable();
        let mut expected = vec![lost; RACERS];
        expected[0] = 0;
        assert_eq!(exits, expected, "round {round}");
        assert_eq!(epoch(&workspace), round, "nobody else was given an epoch");
        workspace.ok("release T1 --force");
    }
}

#[test]
fn a_hundred_processes_race_for_a_task_and_one_wins() {
    assert_one_winner(&["claim", "T1"], 35);
}

#[test]
fn a_hundred_processes_race_for_the_next_task_and_one_wins() {
    assert_one_winner(&["claim", "--next"], 4);
}

//! Races: a hundred processes want one task, again and again, and one gets it.

use std::process::{Child, Stdio};

use super::world::TestWorkspace;

const RACERS: usize = 100;
const ROUNDS: u32 = 2;

#[test]
fn hundred_commands_race_for_task_and_one_wins() {
    // All race at the same moment, so that no lease is ever over.
    let workspace = TestWorkspace::new().env("CLEO_NOW", "2026-01-26T09:00:00Z");
    workspace.ok("add 'Everybody wants it'");
    for round in 1..=ROUNDS {
        for (line, lost) in [(&["claim", "T1"], 35), (&["claim", "--next"], 4)] {
            let start = |_| -> Child {
                let mut racer = workspace.command(line);
                racer.stdin(Stdio::null()).stdout(Stdio::null());
                racer.stderr(Stdio::null()).spawn().unwrap()
            };
            let racers: Vec<Child> = (0..RACERS).map(start).collect();
            let exits = racers.into_iter().map(|mut racer| racer.wait().unwrap());
            let mut exits: Vec<i32> = exits.map(|exit| exit.code().unwrap_or(-1)).collect();
            exits.sort_unstable();
            let mut expected = vec![lost; RACERS];
            expected[0] = 0;
            assert_eq!(exits, expected, "round {round} of cleo {line:?}");
            workspace.ok("release T1 --force");
        }
    }
}

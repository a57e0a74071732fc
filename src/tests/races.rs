//! Races: a hundred processes want one task, again and again, and one gets it.

use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::claim::Lease;
use crate::clock::Clock;
use crate::id::TaskId;
use crate::ops::tasks::claim;
use crate::ops::{Context, Surroundings};
use rusqlite::Connection;

use super::world::TestWorkspace;

const RACERS: u32 = 100;
/// Rounds of each kind in which the racers stay and only the race is run again.
const ROUNDS: u32 = 40;
/// Rounds in which each racer is a new process of the whole program.
const WHOLE_ROUNDS: u32 = 2;
/// All race at the same moment, so that no lease is ever over.
const NOW: &str = "2026-01-26T09:00:00Z";
/// Names the workspace to a racer; without it, the test that a racer is does nothing.
const RACE: &str = "CLEO_TEST_RACE";

fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new().env("CLEO_NOW", NOW);
    workspace.ok("add 'Everybody wants it'");
    workspace
}

fn context(root: &str, actor: String) -> Context {
    Context::open(Surroundings {
        command: "claim",
        directory: root.into(),
        root: None,
        clock: Clock::from_setting(Some(NOW)).unwrap(),
        actor,
        assignment: Default::default(),
        judges_workspace: false,
        gate_variables: Default::default(),
        skills_dirs: Vec::new(),
        home: None,
        data_home: None,
        rights: Default::default(),
        defaults: Default::default(),
        settings: std::sync::Arc::new(Ok(Default::default())),
    })
    .unwrap()
}

/// Claims what a line asks for, from a store that is opened anew, and says how it went.
fn claim(root: &str, what: &str) -> &'static str {
    let mut context = context(root, format!("racer {}", std::process::id()));
    let lease = Lease::default();
    let claimed = match what {
        "next" => claim::claim_next(&mut context, None, lease),
        _ => claim::claim(&mut context, TaskId(1), lease, false),
    };
    match claimed {
        Ok(_) => "won",
        Err(error) => error.code.name(),
    }
}

/// A racer: this very program, started again by a race. It claims once for each line that it reads.
#[test]
fn racer_claims_whenever_it_is_told() {
    let Ok(root) = std::env::var(RACE) else {
        return;
    };
    for what in stdin().lines() {
        let told = claim(&root, &what.unwrap());
        writeln!(stdout(), "\nrace {told}").unwrap();
    }
}

struct Racer {
    process: Child,
    go: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Racer {
    fn start(workspace: &TestWorkspace) -> Racer {
        let mut program = Command::new(std::env::current_exe().unwrap());
        let name = "tests::races::racer_claims_whenever_it_is_told";
        program.args([name, "--exact", "--nocapture"]);
        program.env(RACE, workspace.root());
        program.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = program.spawn().unwrap();
        Racer {
            go: process.stdin.take().unwrap(),
            told: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    fn result(&mut self) -> String {
        let lines = self.told.by_ref().lines().map(Result::unwrap);
        let mut results = lines.filter_map(|line| Some(line.strip_prefix("race ")?.to_string()));
        results.next().unwrap()
    }
}

fn epoch(workspace: &TestWorkspace) -> u32 {
    let database = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let sql = "SELECT epoch FROM claims WHERE task = 1 AND holder IS NOT NULL";
    database.query_row(sql, (), |row| row.get(0)).unwrap()
}

/// Everybody waits for the word, so all claim at once; the losers get `lost`.
fn assert_one_winner(what: &str, lost: &str) {
    let workspace = workspace();
    let root = workspace.root().to_str().unwrap();
    let mut racers: Vec<Racer> = (0..RACERS).map(|_| Racer::start(&workspace)).collect();
    for round in 1..=ROUNDS {
        for racer in &mut racers {
            writeln!(racer.go, "{what}").unwrap();
        }
        let told: Vec<String> = racers.iter_mut().map(Racer::result).collect();
        let n_won = told.iter().filter(|told| *told == "won").count();
        let n_lost = told.iter().filter(|told| *told == lost).count();
        assert_eq!((n_won, n_lost), (1, 99), "round {round}: {told:?}");
        assert_eq!(epoch(&workspace), round, "nobody else was given an epoch");
        claim::release(&mut context(root, "judge".into()), TaskId(1), None, true).unwrap();
    }
    for racer in racers {
        let Racer {
            mut process, go, ..
        } = racer;
        drop(go);
        assert!(process.wait().unwrap().success());
    }
}

#[test]
fn hundred_processes_race_for_task_and_one_wins() {
    assert_one_winner("task", "E_CLAIMED");
}

#[test]
fn hundred_processes_race_for_next_task_and_one_wins() {
    assert_one_winner("next", "E_NOTHING_READY");
}

#[test]
fn hundred_commands_race_for_task_and_one_wins() {
    let workspace = workspace();
    for round in 1..=WHOLE_ROUNDS {
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
            let mut expected = vec![lost; RACERS as usize];
            expected[0] = 0;
            assert_eq!(exits, expected, "round {round} of cleo {line:?}");
            workspace.ok("release T1 --force");
        }
    }
}

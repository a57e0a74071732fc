//! cleo is killed at any moment of a run, again and again, and the run is resumed: each step is
//! verified and completed exactly once.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use crate::soundness::Numbers;
use crate::world::TestWorkspace;

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");
/// How many steps a run has.
const STEPS: usize = 20;
/// Longest time that a process is let live, in milliseconds.
const LONGEST: u64 = 700;

/// A workspace with steps of which each third waits for the one before.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let lines = (0..STEPS).map(|number| {
        let needs = match number % 3 {
            2 => format!(",\"depends\":[\"@s{}\"]", number - 1),
            _ => String::new(),
        };
        format!("{{\"title\":\"Step {number}\",\"key\":\"s{number}\"{needs}}}\n")
    });
    workspace.write("plan.jsonl", lines.collect::<String>());
    workspace.ok("add --batch plan.jsonl");
    workspace
}

/// Returns whether a command ends before it is killed after a while.
fn ends_before_kill(workspace: &TestWorkspace, words: &[&str], after: Duration) -> bool {
    let mut command = workspace.command(words);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(after);
    let has_ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    has_ended
}

/// Kills a run several times, after each start or resume, and then lets it finish.
fn survives(kills: usize, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut left = kills;
    while left > 0 {
        let workspace = workspace();
        let how = format!("sh {AGENT} works");
        let tasks: Vec<String> = (1..=STEPS).map(|number| format!("T{number}")).collect();
        let mut begin = vec!["run", "--jobs", "4", "--command", &how];
        begin.extend(tasks.iter().map(String::as_str));
        let mut id: Option<String> = None;
        for _ in 0..10.min(left) {
            let after = Duration::from_millis(numbers.next(LONGEST));
            let has_ended = match &id {
                None => ends_before_kill(&workspace, &begin, after),
                Some(id) => ends_before_kill(&workspace, &["runs", "resume", id], after),
            };
            left -= 1;
            id = id.or_else(|| the_run(&workspace));
            if has_ended {
                break;
            }
        }
        let last = match &id {
            None => workspace.json(&begin),
            Some(id) => workspace.json(&["runs", "resume", id]),
        };
        let is_over = last["error"]["code"] == "E_STATUS_REFUSED";
        assert!(last["success"] == true || is_over, "{last}");
        id = id.or_else(|| the_run(&workspace));
        check(&workspace, &id.unwrap());
    }
}

/// Finds the run, if it came so far that there is one.
fn the_run(workspace: &TestWorkspace) -> Option<String> {
    let listed = workspace.ask("runs list");
    let runs = listed["result"]["runs"].as_array().unwrap();
    assert!(runs.len() <= 1, "{listed}");
    Some(runs.first()?["id"].as_str().unwrap().to_string())
}

/// Looks at everything that is kept of a run that came to its end.
fn check(workspace: &TestWorkspace, id: &str) {
    let database = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let count = |sql: &str| -> Vec<i64> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map((), |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let done = count("SELECT count(*) FROM tasks WHERE status = 'done'");
    assert_eq!(done, [STEPS as i64]);
    let verified = "SELECT count(*) FROM changes WHERE kind = 'verified' GROUP BY task";
    assert_eq!(count(verified), vec![1; STEPS], "each verified once");
    let held = count("SELECT count(*) FROM claims WHERE holder IS NOT NULL");
    assert_eq!(held, [0]);
    let logged = workspace.ask(format!("runs logs {id}"));
    let lines = logged["result"]["events"].as_array().unwrap();
    let mut completed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["type"] == "task.completed") {
        *completed
            .entry(line["taskId"].as_str().unwrap())
            .or_default() += 1;
    }
    assert_eq!(completed.len(), STEPS);
    assert!(completed.values().all(|times| *times == 1), "{completed:?}");
    assert_eq!(lines.last().unwrap()["type"], "run.finished");
    let status = workspace.json(&["runs", "show", id])["result"]["run"]["status"].clone();
    assert_eq!(status, "completed");
}

#[test]
fn run_that_is_killed_repeatedly_verifies_each_step_once() {
    survives(10, 7);
}

#[test]
#[ignore = "takes minutes; the one above does the same with fewer kills"]
fn run_survives_hundred_kills() {
    survives(100, 1);
}

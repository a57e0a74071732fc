//! Many processes at once, and processes that are killed: nothing acknowledged is lost, and nothing
//! is half done.

use std::process::Stdio;
use std::thread;

use serde_json::Value;

use crate::soundness::assert_sound;
use crate::world::TestWorkspace;

/// Returns the ids and titles of all tasks.
fn tasks(workspace: &TestWorkspace) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let listed = workspace.ask("list --all --limit 100000");
    let tasks = listed["result"]["tasks"].as_array().unwrap().iter();
    tasks
        .map(|task| (text(&task["id"]), text(&task["title"])))
        .collect()
}

#[test]
fn one_key_is_added_once_however_many_try() {
    let workspace = TestWorkspace::new();
    let add = || workspace.ask("add 'the one' --key one")["result"]["created"] == true;
    let created: Vec<bool> = thread::scope(|scope| {
        let adding: Vec<_> = (0..16).map(|_| scope.spawn(add)).collect();
        adding
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let created = created.into_iter().filter(|created| *created).count();
    assert_eq!(created, 1);
    assert_eq!(tasks(&workspace).len(), 1);
}

#[test]
fn many_inits_at_once_make_one_workspace() {
    let workspace = TestWorkspace::bare();
    let init = || workspace.ask("init")["result"]["created"].clone();
    let created: Vec<Value> = thread::scope(|scope| {
        let running: Vec<_> = (0..8).map(|_| scope.spawn(init)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let made_it = |created: &&Value| {
        let paths = created.as_array().unwrap();
        paths.iter().any(|path| path == ".cleo/cleo.db")
    };
    assert_eq!(created.iter().filter(made_it).count(), 1);
    workspace.ok("add x");
    assert_sound(&workspace);
    let left: Vec<String> = std::fs::read_dir(workspace.path(".cleo"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".new"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn killed_batch_is_all_or_nothing() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'was here before'");
    let lines: Vec<String> = (0..3_000)
        .map(|number| {
            format!(
                "{{\"title\":\"task {number}\",\"description\":\"{}\"}}",
                "x".repeat(900)
            )
        })
        .collect();
    workspace.write("plan.jsonl", lines.join("\n"));
    let log = workspace.path(".cleo/cleo.db-wal");
    let size = || std::fs::metadata(&log).map_or(0, |log| log.len());
    let mut total = 1;
    for round in 0..6 {
        let mut command = workspace.command(&["add", "--batch", "plan.jsonl"]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let before = size();
        // In some rounds the kill comes while the log grows, in the others as early as can be.
        while round % 2 == 0 && size() == before && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        let acknowledged = child.wait().unwrap().success();
        let found = workspace.ask("list --limit 1")["result"]["total"]
            .as_u64()
            .unwrap();
        assert!(
            found == total || found == total + 3_000,
            "{found} of {total} and 3000"
        );
        assert!(!acknowledged || found == total + 3_000);
        total = found;
        assert_sound(&workspace);
    }
    assert_eq!(workspace.ask("add 'life continues'")["success"], true);
}

#[test]
fn command_of_criterion_ends_when_its_cleo_is_killed() {
    let workspace = TestWorkspace::new();
    workspace.ok(
        "add One --acceptance 'It holds :: sh -c \"sleep 600 & sleep 0.2; echo $! >pid; wait\"'",
    );
    let mut command = workspace.command(&["verify", "T1", "--run-all"]);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = || std::fs::read_to_string(workspace.path("pid")).unwrap_or_default();
    while !pid().ends_with('\n') {
        thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // A zombie process has no command line.
    let words = format!("/proc/{}/cmdline", pid().trim());
    let lives = || std::fs::read(&words).is_ok_and(|words| !words.is_empty());
    let begun = std::time::Instant::now();
    while lives() {
        assert!(begun.elapsed().as_secs() < 60, "it is still running");
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

//! Many processes at once, and processes that are killed: nothing acknowledged is lost, and nothing
//! is half done.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;
use serde_json::Value;

use crate::soundness::assert_sound;
use crate::world::{TestWorkspace, document};

/// Returns the ids and titles of all tasks.
fn tasks(workspace: &TestWorkspace) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let listed = workspace.json(&["list"]);
    let tasks = listed["result"]["tasks"].as_array().unwrap().iter();
    tasks
        .map(|task| (text(&task["id"]), text(&task["title"])))
        .collect()
}

#[test]
fn one_key_is_added_once_however_many_try() {
    let workspace = TestWorkspace::new();
    let add = || workspace.json(&["add", "the one", "--key", "one"])["result"]["created"] == true;
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
fn readers_see_whole_changes_while_writers_write() {
    let workspace = TestWorkspace::new();
    let writing = AtomicBool::new(true);
    let batch = "{\"title\":\"a\",\"key\":\"K\"}\n{\"title\":\"b\",\"depends\":[\"@K\"]}\n";
    thread::scope(|scope| {
        let write = |writer: u32| {
            for number in 0..10 {
                let own = batch.replace('K', &format!("{writer}.{number}"));
                workspace.json_with(&["add", "--batch", "-"], &own);
            }
        };
        let read = || {
            let mut most = 0;
            while writing.load(Ordering::Relaxed) {
                let listed = workspace.json(&["list", "--limit", "1"]);
                let total = listed["result"]["total"].as_u64().unwrap();
                assert!(total >= most, "what was there is there");
                assert_eq!(total % 2, 0, "a batch is there whole or not at all");
                most = total;
                assert_eq!(workspace.json(&["orchestrator", "ready"])["success"], true);
            }
        };
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
        let writers: Vec<_> = (0..4)
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        writing.store(false, Ordering::Relaxed);
        readers
            .into_iter()
            .for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(tasks(&workspace).len(), 80);
    assert_sound(&workspace);
}

#[test]
fn many_inits_at_once_make_one_workspace() {
    let workspace = TestWorkspace::bare();
    let init = || workspace.json(&["init"])["result"]["created"].clone();
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

/// Kills a process and all that it started, at once.
fn kill_group(child: &mut Child) {
    let line = format!("kill -KILL -{}", child.id());
    Command::new("sh").args(["-c", &line]).status().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let workspace = TestWorkspace::new();
    let mut acknowledged = BTreeSet::new();
    for round in 0..12 {
        let mut writer = workspace.surround(Command::new("sh"));
        writer
            .args(["-c", "while cleo add 'a task'; do :; done"])
            .stdout(Stdio::piped())
            .process_group(0);
        let mut writer = writer.spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut note = |line: std::io::Result<String>| {
            // The last line may be torn: then nothing was acknowledged.
            if let Ok(reply) = serde_json::from_str::<Value>(&line.unwrap_or_default()) {
                assert_eq!(reply["success"], true, "{reply}");
                let id = reply["result"]["task"]["id"].as_str().unwrap().to_string();
                assert!(acknowledged.insert(id), "{reply} gives an id a second time");
            }
        };
        lines.by_ref().take(1 + round % 4).for_each(&mut note);
        kill_group(&mut writer);
        lines.for_each(&mut note);
        assert_sound(&workspace);
        let kept: BTreeSet<String> = tasks(&workspace).into_iter().map(|(id, _)| id).collect();
        let lost: Vec<&String> = acknowledged.difference(&kept).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
    assert!(acknowledged.len() >= 12);
    workspace.ok("add 'life continues'");
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
        let found = workspace.json(&["list", "--limit", "1"])["result"]["total"]
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
    assert_eq!(workspace.json(&["add", "life continues"])["success"], true);
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

#[test]
fn writer_waits_for_another_one() {
    let workspace = TestWorkspace::new();
    let mut other = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let held = other
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    let mut command = workspace.command(&["add", "waits"]);
    let mut waiting = command.stdout(Stdio::piped()).spawn().unwrap();
    for _ in 0..20 {
        assert_eq!(
            workspace.json(&["list"])["result"]["total"],
            0,
            "readers never wait"
        );
    }
    assert!(waiting.try_wait().unwrap().is_none(), "it waits");
    held.commit().unwrap();
    let added = document(&workspace.reply(&waiting.wait_with_output().unwrap()));
    assert_eq!(added["result"]["task"]["id"], "T1");
}

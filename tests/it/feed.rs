//! The feed of changes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::world::TestWorkspace;

/// Starts following the log and returns the process with its lines.
fn follow(
    workspace: &TestWorkspace,
    words: &[&str],
) -> (Child, impl Iterator<Item = Value> + use<>) {
    let mut command = workspace.command(&[&["log", "--follow"], words].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parse = |line: std::io::Result<String>| serde_json::from_str(&line.unwrap()).unwrap();
    (child, lines.map(parse))
}

/// Reads so many changes and ends the process.
fn read(workspace: &TestWorkspace, words: &[&str], count: usize) -> Vec<Value> {
    let (mut child, lines) = follow(workspace, words);
    let lines: Vec<Value> = lines.take(count).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    lines
}

fn cursors(lines: &[Value]) -> Vec<u64> {
    let cursor = |line: &Value| line["cursor"].as_u64().unwrap();
    lines.iter().map(cursor).collect()
}

#[test]
fn changes_are_followed_from_cursor_and_of_one_task() {
    let workspace = TestWorkspace::with_plan();
    let changes = read(&workspace, &["--after", "0"], 5);
    assert_eq!(cursors(&changes), [1, 2, 3, 4, 5]);
    assert_eq!(changes[1]["kind"], "added");
    assert_eq!(changes[1]["task"], "T2");
    assert_eq!(changes[1]["command"], "add");
    for line in ["T2 --title x", "T3 --title y", "T2 --title z"] {
        workspace.ok(&format!("update {line}"));
    }
    let changes = read(&workspace, &["--after", "5", "--task", "T2"], 2);
    assert_eq!(cursors(&changes), [6, 8]);
    workspace.fails("log --follow --after 99", "E_INPUT_INVALID");
    let text = workspace.shell("cleo log --follow --after 0 --format text | head -n 6");
    let last = text.stdout.lines().last().unwrap();
    assert!(last.starts_with("     6  2026-01-26 09:00:"), "{text}");
    assert!(
        last.ends_with("  tester  update  changed T2 title"),
        "{text}"
    );
}

#[test]
fn reading_on_from_cursor_misses_and_repeats_nothing() {
    let workspace = TestWorkspace::new();
    let batch = "{\"title\":\"a\"}\n{\"title\":\"b\"}\n";
    let mut seen: Vec<u64> = Vec::new();
    thread::scope(|scope| {
        let write = || {
            for _ in 0..20 {
                workspace.json_with(&["add", "--batch", "-"], batch);
            }
        };
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        // A reader that is killed again and again, in the middle of what there is to read.
        for round in 0..8 {
            let since = seen.last().copied().unwrap_or(0).to_string();
            let (mut child, lines) = follow(&workspace, &["--after", &since]);
            let lines: Vec<Value> = lines.take(10 + 7 * round).collect();
            seen.extend(cursors(&lines));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
    });
    let since = seen.last().unwrap().to_string();
    let rest = read(&workspace, &["--after", &since], 320 - seen.len());
    seen.extend(cursors(&rest));
    assert_eq!(seen, (1..=320).collect::<Vec<u64>>());
}

#[test]
fn feed_shows_what_is_done_while_it_runs() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let workspace = TestWorkspace::new();
        let (mut child, mut lines) = follow(&workspace, &["--after", "0"]);
        for title in ["one", "two", "three"] {
            workspace.ok(&format!("add {title}"));
            assert_eq!(lines.next().unwrap()["detail"]["title"], title);
        }
        let line = format!("kill -{signal} {}", child.id());
        Command::new("sh").args(["-c", &line]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(exit), "{signal}");
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn feed_ends_quietly_without_a_reader() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.shell("cleo log --follow --after 0 --format ndjson | head -n 2");
    assert_eq!((reply.exit, reply.stderr.as_str()), (0, ""), "{reply}");
    assert_eq!(reply.stdout.lines().count(), 2, "{reply}");
    let reply = workspace.shell("cleo log --follow --after 0 > /dev/full");
    assert_eq!(reply.exit, 3, "{reply}");
    assert!(reply.stderr.starts_with("error[E_ANSWER_LOST]"), "{reply}");
}

#[test]
fn each_line_of_feed_is_picked_from_like_other_answers() {
    let workspace = TestWorkspace::with_plan();
    let lines = "cleo log --follow --after 2";
    let picked = workspace.shell(&format!("{lines} --jq .task | head -n 3"));
    assert_eq!(picked.stdout, "T3\nT4\nT5\n", "{picked}");
}

#[test]
fn filter_that_fails_ends_feed() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.text("log --follow --after 0 --jq 'error(\"x\")'", "");
    assert_eq!((reply.exit, reply.stdout.as_str()), (3, ""), "{reply}");
    assert!(reply.stderr.starts_with("error[E_ANSWER_LOST]"), "{reply}");
    assert_eq!(reply.stderr.lines().count(), 1, "{reply}");
}

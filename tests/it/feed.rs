//! The feed of changes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::world::TestWorkspace;

/// Starts a watch and returns it with its lines.
fn watch(
    workspace: &TestWorkspace,
    words: &[&str],
) -> (Child, impl Iterator<Item = Value> + use<>) {
    let mut command = workspace.command(&[&["watch", "--interval", "10"], words].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parse = |line: std::io::Result<String>| serde_json::from_str(&line.unwrap()).unwrap();
    (child, lines.map(parse))
}

fn once(workspace: &TestWorkspace, words: &[&str]) -> (Vec<Value>, Value) {
    let ndjson = &["watch", "--once", "--format", "ndjson"];
    let mut command = workspace.command(&[ndjson, words].concat());
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = lines.pop().unwrap();
    assert_eq!(
        (&last["schema"], &last["success"]),
        (&"cleo/v1".into(), &true.into())
    );
    (lines, last["result"].clone())
}

fn cursors(lines: &[Value]) -> Vec<u64> {
    let cursor = |line: &Value| line["cursor"].as_u64().unwrap();
    lines.iter().map(cursor).collect()
}

#[test]
fn a_feed_that_ends_says_where_to_go_on() {
    let workspace = TestWorkspace::planned();
    let (changes, end) = once(&workspace, &["--since", "0"]);
    assert_eq!(cursors(&changes), [1, 2, 3, 4, 5]);
    assert_eq!((&end["cursor"], &end["total"]), (&5.into(), &5.into()));
    assert_eq!(changes[1]["kind"], "added");
    assert_eq!(changes[1]["task"], "T2");
    assert_eq!(changes[1]["command"], "add");
    let (changes, end) = once(&workspace, &[]);
    assert_eq!(
        (changes.len(), &end["cursor"]),
        (0, &5.into()),
        "from now on"
    );
    workspace.ok("update T2 --title x");
    workspace.ok("update T3 --title y");
    let (changes, end) = once(&workspace, &["--since", "5", "--task", "T2"]);
    assert_eq!((cursors(&changes), &end["cursor"]), (vec![6], &7.into()));
    let refused = workspace.json(&["watch", "--once", "--since", "99"]);
    assert_eq!(refused["error"]["code"], "E_INPUT_INVALID");
    assert_eq!(refused["error"]["fix"], "cleo watch --once --since 7");
    insta::assert_snapshot!(workspace.cleo("watch --once --since 0"));
}

#[test]
fn whoever_goes_on_from_a_cursor_misses_nothing_and_sees_nothing_twice() {
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
            let (mut child, lines) = watch(&workspace, &["--since", &since]);
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
    let (rest, end) = once(&workspace, &["--since", &since]);
    seen.extend(cursors(&rest));
    assert_eq!(seen, (1..=320).collect::<Vec<u64>>());
    assert_eq!(end["cursor"], 320);
}

#[test]
fn a_feed_shows_what_is_done_while_it_runs_and_ends_on_a_signal() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let workspace = TestWorkspace::new();
        let (mut child, mut lines) = watch(&workspace, &["--since", "0"]);
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
fn a_feed_ends_quietly_when_its_reader_leaves() {
    let workspace = TestWorkspace::planned();
    for line in [
        "cleo watch --since 0 --format ndjson | head -n 2",
        "cleo watch --since 0 --once --format ndjson | head -n 2",
    ] {
        let reply = workspace.shell(line);
        assert_eq!((reply.exit, reply.stderr.as_str()), (0, ""), "{line}");
        assert_eq!(reply.stdout.lines().count(), 2, "{line}");
    }
    let reply = workspace.shell("cleo watch --since 0 --once > /dev/full");
    assert_eq!(reply.exit, 3, "{reply}");
    assert!(reply.stderr.starts_with("error[E_ANSWER_LOST]"), "{reply}");
}

#[test]
fn a_feed_that_ends_is_one_document_with_json_and_lines_with_ndjson() {
    let workspace = TestWorkspace::planned();
    let (lines, end) = once(&workspace, &["--since", "2"]);
    for words in [&["--json"][..], &[]] {
        let all = workspace.json(&[&["watch", "--once", "--since", "2"], words].concat());
        assert_eq!(all["result"]["changes"], Value::from(lines.clone()));
        assert_eq!(
            (&all["result"]["cursor"], &all["result"]["total"]),
            (&end["cursor"], &end["total"])
        );
    }
    let picked = workspace.ok("watch --once --since 2 --jq .result.changes[].task");
    assert_eq!(picked.stdout, "T3\nT4\nT5\n");
}

#[test]
fn each_line_of_a_feed_is_picked_from_like_other_answers() {
    let workspace = TestWorkspace::planned();
    let lines = "watch --once --since 2 --format ndjson";
    let picked = workspace.ok(&format!("{lines} --jq .task"));
    assert_eq!(picked.stdout, "T3\nT4\nT5\nnull\n", "the result is last");
    let picked = workspace.ok(&format!("{lines} --fields cursor,task"));
    let first = picked.stdout.lines().next().unwrap();
    assert_eq!(first, r#"{"cursor":3,"task":"T3"}"#);
    let misfit = workspace.text(&format!("{lines} --jq .cursor.x"), "");
    assert_eq!(misfit.exit, 2, "{misfit}");
    assert_eq!(misfit.stderr.matches("error[E_USAGE]").count(), 3);
}

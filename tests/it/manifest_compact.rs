//! Invalid lines can be moved out of the manifest, and nothing is lost.

use std::thread;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, says};

const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";
const REJECTED: &str = "claudedocs/agent-outputs/MANIFEST.rejected.jsonl";

fn entry(id: &str, status: &str) -> String {
    json!({
        "id": id, "file": format!("{id}.md"), "title": "t", "date": "2026-01-26", "status": status,
        "topics": ["x"], "key_findings": ["a b", "c d", "e f"], "actionable": true,
        "needs_followup": [], "linked_tasks": ["T2"], "own": 1.10,
    })
    .to_string()
}

/// A manifest in which everything has gone wrong once.
fn litter() -> (TestWorkspace, Vec<u8>) {
    let whole = entry("a", "complete");
    let mut bytes = format!(
        "{whole}\n\n{torn}\nnot json\n{b}\n{again}\n{torn}{c}\n{d}{e}\n{faulty}\n",
        torn = &whole[..40],
        b = entry("b", "archived"),
        again = entry("a", "partial"),
        c = entry("c", "complete"),
        d = entry("d", "complete"),
        e = entry("e", "complete"),
        faulty = entry("f", "no-status"),
    )
    .into_bytes();
    bytes.extend(b"\xff\xfe\n");
    bytes.extend(format!("{}\n", "x".repeat((1 << 20) + 9)).bytes());
    bytes.extend(entry("g", "blocked").bytes());
    let workspace = TestWorkspace::with_plan().with(MANIFEST, &bytes);
    (workspace, bytes)
}

fn list(workspace: &TestWorkspace) -> Value {
    workspace.ask("manifest list")["result"]["entries"].clone()
}

#[test]
fn invalid_lines_are_moved_with_a_reason() {
    let (workspace, before) = litter();
    let entries = list(&workspace);
    insta::assert_snapshot!("compact", workspace.cleo("manifest compact"));
    assert_eq!(list(&workspace), entries, "the same entries count");
    let after = workspace.read(MANIFEST);
    assert_eq!(after.lines().count(), 6 + 1, "six entries, and one to fix");
    assert!(after.ends_with('\n') && after.contains("no-status") && after.contains("archived"));
    let left = workspace.ask("manifest validate")["result"]["faults"].clone();
    assert_eq!(
        left.as_array().unwrap().len(),
        1,
        "only what its author can fix"
    );
    let moved = workspace.read(REJECTED);
    let moved: Vec<Value> = moved
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lines: Vec<&[u8]> = before.split(|byte| *byte == b'\n').collect();
    for one in &moved {
        let line = lines[one["line"].as_u64().unwrap() as usize - 1];
        let kept = match one["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => serde_json::from_value(one["bytes"].clone()).unwrap(),
        };
        assert_eq!(kept, line, "nothing of it is lost");
        says(&one["code"], "E_LINE_");
    }
    assert_eq!(moved.len(), 7);
    let again = workspace.ask("manifest compact")["result"].clone();
    assert_fields(&again, json!({"kept": 7, "total": 0}));
}

#[test]
fn dry_run_moves_nothing() {
    let (workspace, before) = litter();
    let state = workspace.state();
    let dry = workspace.ask("manifest compact --dry-run")["result"].clone();
    assert_fields(&dry, json!({"kept": 7, "total": 7, "dryRun": true}));
    assert_eq!(workspace.state(), state);
    assert_eq!(std::fs::read(workspace.path(MANIFEST)).unwrap(), before);
    std::fs::remove_file(workspace.path(MANIFEST)).unwrap();
    let none = workspace.ask("manifest compact")["result"].clone();
    assert_fields(&none, json!({"kept": 0, "total": 0}));
    assert!(!workspace.path(MANIFEST).exists());
    let folder = workspace.path("claudedocs/agent-outputs");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    workspace.refuse("manifest compact", "E_FILE_UNREADABLE");
}

#[test]
fn appending_and_compacting_at_once_loses_no_entry() {
    let workspace = TestWorkspace::with_plan();
    let append = |n: usize| {
        let id = format!("part-{n}");
        let reply = workspace.json_with(&["manifest", "append"], &entry(&id, "complete"));
        assert_eq!(reply["success"], true, "{reply}");
        if n.is_multiple_of(2) {
            let litter = format!("echo 'litter {n}' >> {MANIFEST}");
            assert_eq!(workspace.shell(&litter).exit, 0);
        }
    };
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || (0..6).for_each(|n| append(writer * 10 + n)));
        }
        scope.spawn(|| {
            for _ in 0..8 {
                assert_eq!(workspace.ask("manifest compact")["success"], true);
            }
        });
    });
    workspace.ok("manifest compact");
    assert_eq!(list(&workspace).as_array().unwrap().len(), 24);
    workspace.result("manifest validate");
}

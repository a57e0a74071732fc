//! Which entry counts as the one of a task.

use std::fs::File;
use std::time::SystemTime;

use chrono::DateTime;
use serde_json::{Value, json};

use crate::delivery::{FOLDER, GOOD, MANIFEST, OUTPUT, check, deliver, entry_with, spawn_task};
use crate::world::{TestWorkspace, add, spawn};

#[test]
fn unspawned_task_is_verified_by_its_linked_entry() {
    let workspace = spawn_task();
    workspace.ok("complete T2");
    workspace.ok("reopen T2");
    let output = |exit: i64| {
        let document = workspace.ask("verify output T2");
        assert_eq!(
            document["error"]["exitCode"].as_i64().unwrap_or(0),
            exit,
            "{document}"
        );
    };
    output(62);
    workspace.write(
        MANIFEST,
        entry_with(json!({"linked_tasks": ["T2"], "file": "mine.md"})),
    );
    // That is the entry of T1, whatever it says of itself.
    output(62);
    let mine = |status: &str| {
        let own =
            json!({"id": "mine", "linked_tasks": ["T2"], "file": "mine.md", "status": status});
        workspace.write(MANIFEST, entry_with(own));
    };
    mine("archived");
    output(62);
    mine("complete");
    output(63);
    workspace.write(&format!("{FOLDER}/mine.md"), GOOD);
    output(0);
    let older = json!({"id": "mine", "linked_tasks": ["T2"], "file": "mine.md",
        "created_by": "ana", "created_at": "2026-01-26T09:00:00Z"});
    workspace.write(MANIFEST, entry_with(older));
    output(62);
    workspace.fails("verify output T9", "E_TASK_NOT_FOUND");
}

#[test]
fn epic_does_not_verify_by_entry_of_task_below_it() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[
            json!({"title": "All", "type": "epic"}),
            json!({"title": "Part", "parent": "T1"}),
        ],
    );
    workspace.write(OUTPUT, GOOD);
    workspace.write(MANIFEST, entry_with(json!({"linked_tasks": ["T2", "T1"]})));
    check(&workspace, 62, "no entry of its own");
    workspace.ok("verify output T2");
    workspace.write(MANIFEST, entry_with(json!({})));
    check(&workspace, 0, "");
}

#[test]
fn spawn_that_was_handed_out_last_is_one_that_counts() {
    let workspace = spawn_task();
    let first = workspace.ask("why T1")["result"]["at"].clone();
    spawn(&workspace, &["T1", "--date", "2026-01-27"]);
    spawn(&workspace, &["T1"]);
    let why = workspace.ask("why T1");
    assert_eq!(why["result"]["at"], first, "its first moment stays");
    assert_eq!(why["result"]["receipt"]["date"], "2026-01-26");
    deliver(&workspace);
    check(&workspace, 0, "");
    workspace.ok("complete T1");
}

/// Returns when T1 was spawned, as it is recorded.
fn read_spawn_time(workspace: &TestWorkspace) -> Value {
    workspace.ask("why T1")["result"]["at"].clone()
}

/// Leaves a good output, written in the moment of a spawn.
fn deliver_at(workspace: &TestWorkspace, at: &Value) {
    deliver(workspace);
    let moment = DateTime::parse_from_rfc3339(at.as_str().unwrap()).unwrap();
    let file = File::options().write(true).open(workspace.path(OUTPUT));
    let written: SystemTime = moment.to_utc().into();
    file.unwrap().set_modified(written).unwrap();
}

#[test]
fn what_was_written_for_another_prompt_is_older_than_spawn() {
    let workspace = spawn_task();
    let first = read_spawn_time(&workspace);
    for change in ["update T1 --description 'in red'", "update T1 --label red"] {
        let before = read_spawn_time(&workspace);
        workspace.ok(change);
        spawn(&workspace, &["T1", "--dry-run"]);
        assert_eq!(
            read_spawn_time(&workspace),
            before,
            "nothing was handed out"
        );
        spawn(&workspace, &["T1"]);
        deliver_at(&workspace, &before);
        check(&workspace, 63, "is older than the spawn");
        deliver_at(&workspace, &read_spawn_time(&workspace));
        check(&workspace, 0, "");
        std::fs::remove_file(workspace.path(MANIFEST)).unwrap();
    }
    spawn(&workspace, &["T1", "--template", "ct-research-agent"]);
    deliver_at(&workspace, &first);
    check(&workspace, 63, "is older than the spawn");
}

#[test]
fn changes_by_others_keep_work_fresh() {
    let workspace = spawn_task();
    let first = read_spawn_time(&workspace);
    let prompt = spawn(&workspace, &["T1"])["promptDigest"].clone();
    workspace.ok("add After --depends T1");
    workspace.ok("session start --scope T1 --name Paint");
    workspace.ok("update T1 --phase build");
    let again = spawn(&workspace, &["T1"])["promptDigest"].clone();
    assert_ne!(again, prompt);
    assert_eq!(read_spawn_time(&workspace), first);
    deliver_at(&workspace, &first);
    check(&workspace, 0, "");
}

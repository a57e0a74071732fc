//! The next task to hand out, and claims after an undo.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, document, says};

/// Runs a command as somebody, at a time of 2026-01-26.
fn run(workspace: &TestWorkspace, name: &str, time: &str, line: &str) -> Value {
    let words = shlex::split(line).unwrap();
    let mut command = workspace.command(&words);
    command.env("CLEO_AGENT", name);
    command.env("CLEO_NOW", format!("2026-01-26T{time}Z"));
    document(&workspace.finish(command, ""))
}

#[track_caller]
fn does(workspace: &TestWorkspace, name: &str, line: &str) -> Value {
    let reply = run(workspace, name, "09:30:00", line);
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply
}

/// Runs a command that must be refused and must change nothing; returns the error.
#[track_caller]
fn expect_refusal(workspace: &TestWorkspace, name: &str, line: &str, code: &str) -> Value {
    let before = workspace.state();
    let reply = run(workspace, name, "09:30:00", line);
    assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
    assert_eq!(workspace.state(), before, "cleo {line} changed something");
    reply["error"].clone()
}

/// Three tasks of which the first two touch the same files.
fn share_files() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.ok("add One --file 'src/auth/**' --priority critical");
    workspace.ok("add Two --file src/auth/token.rs --priority high");
    workspace.ok("add Three --file src/web.rs");
    workspace
}

#[test]
fn what_touches_files_of_a_task_under_way_is_passed_over() {
    let workspace = share_files();
    does(&workspace, "ada", "claim T1");
    let next = does(&workspace, "bob", "next");
    let conflict = json!([{"task": "T2", "conflictsWith": "T1", "files": ["src/auth/token.rs"]}]);
    assert_eq!(next["result"]["task"]["id"], "T3");
    assert_eq!(next["result"]["conflicts"], conflict);
    assert_eq!(next["result"]["conflictsTotal"], 1);
    insta::assert_snapshot!(workspace.cleo("next"));
    let claimed = does(&workspace, "bob", "claim --next");
    assert_eq!(claimed["result"]["task"]["id"], "T3");
    let told = "skipped: T2 touches files that T1 works on: src/auth/token.rs";
    assert_eq!(claimed["warnings"], json!([told]));
}

#[test]
fn only_overlapping_tasks_left_gives_none() {
    let workspace = share_files();
    // A reviewer holds the files, too.
    does(&workspace, "ada", "claim T1");
    does(&workspace, "ada", "update T1 --status review");
    does(&workspace, "bob", "claim T3");
    let next = does(&workspace, "eve", "next");
    assert_eq!(next["result"]["task"], json!(null));
    let reason = "T2 touches files that T1 works on: src/auth/token.rs; \
                  take it anyway with `cleo claim T2`";
    assert_eq!(next["result"]["reason"], reason);
    insta::assert_snapshot!(workspace.cleo("next"));
    let error = expect_refusal(&workspace, "eve", "claim --next", "E_NOTHING_READY");
    assert_eq!(error["retryable"], true);
    assert!(error["fix"].is_null(), "{error}");
    assert_eq!(error["alternatives"][0]["command"], "cleo claim T2");
    says(&error, "T2 touches files that T1 works on");
    does(&workspace, "eve", "claim T2");
}

#[test]
fn many_tasks_of_one_file_are_passed_over_for_one_of_another() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First --file src/a.rs");
    does(&workspace, "ada", "claim T1");
    let lines: String = (0..40)
        .map(|number| format!("{{\"title\":\"More {number}\",\"files\":[\"src/a.rs\"]}}\n"))
        .collect();
    workspace.write("plan.jsonl", lines);
    workspace.ok("add --batch plan.jsonl");
    workspace.ok("add Last --file src/b.rs");
    let next = does(&workspace, "bob", "next");
    assert_eq!(next["result"]["task"]["id"], "T42");
    assert_eq!(next["result"]["conflictsTotal"], 40);
    assert_eq!(next["result"]["conflicts"].as_array().unwrap().len(), 20);
    assert_eq!(
        does(&workspace, "bob", "claim --next")["result"]["task"]["id"],
        "T42"
    );
}

#[test]
fn next_shows_what_claim_next_takes_also_when_lease_is_over() {
    let workspace = share_files();
    let at = |time: &str, name: &str, line: &str| run(&workspace, name, time, line);
    at("09:00:00", "ada", "claim T1 --lease 10m");
    let held = at("09:05:00", "bob", "next");
    assert_eq!(held["result"]["task"]["id"], "T3");
    let over = at("09:20:00", "bob", "next");
    assert_eq!(over["result"]["task"]["id"], "T1", "it comes first again");
    assert_eq!(over["result"]["total"], 3);
    says(
        &over["result"]["reason"],
        "; the lease of ada on it is over",
    );
    let taken = at("09:20:00", "bob", "claim --next");
    assert_eq!(taken["result"]["task"]["id"], "T1");
    assert_eq!(taken["result"]["claim"]["epoch"], 2);
}

#[test]
fn takeover_is_not_reverted() {
    let workspace = TestWorkspace::with_plan();
    run(&workspace, "ada", "09:00:00", "claim T2 --lease 1m");
    does(&workspace, "bob", "claim T2");
    expect_refusal(&workspace, "bob", "undo", "E_NOTHING_TO_UNDO");
}

#[test]
fn undo_reverts_only_ones_own_latest_operation() {
    let workspace = TestWorkspace::new();
    does(&workspace, "ada", "add First");
    does(&workspace, "bob", "add Second");
    let undone = does(&workspace, "ada", "undo");
    assert_eq!(undone["result"]["operation"]["number"], 1);
    let error = expect_refusal(&workspace, "ada", "undo", "E_NOTHING_TO_UNDO");
    assert_eq!(error["fix"], "cleo log");
    let message = "ada has done nothing that can be undone; name what others did by its number";
    assert_eq!(error["message"], message);
    does(&workspace, "ada", "undo 2");
}

#[test]
fn undo_without_number_passes_over_spawn() {
    let workspace = TestWorkspace::new();
    does(&workspace, "ada", "add First");
    expect_refusal(&workspace, "bob", "undo", "E_NOTHING_TO_UNDO");
    does(&workspace, "ada", "spawn T1");
    does(&workspace, "bob", "update T1 --priority high");
    expect_refusal(&workspace, "ada", "undo", "E_NOTHING_TO_UNDO");
    let error = expect_refusal(&workspace, "ada", "undo 1", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 3");
    let error = expect_refusal(&workspace, "ada", "undo 2", "E_NOTHING_TO_UNDO");
    says(
        &error,
        "operation 2 cannot be undone: spawned T1 first-2026-01-26",
    );
    assert_eq!(error["fix"], "cleo log --operation 2");
}

#[test]
fn cancelling_work_of_others_takes_force() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "claim T2");
    let error = expect_refusal(&workspace, "bob", "cancel T2 --reason gone", "E_CLAIMED");
    says(&error, "T2 is claimed by ada");
    assert_eq!(error["alternatives"], json!([]));
    let forced = does(&workspace, "bob", "cancel T2 --force");
    says(&forced["warnings"][0], "by force: T2 is claimed by ada");
}

#[test]
fn epic_stays_open_with_open_tasks_below_cancelled_one() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Epic --type epic");
    workspace.ok("add Part --parent T1");
    workspace.ok("add Deep --parent T2");
    workspace.ok("add Deeper --parent T3");
    workspace.ok("cancel T2");
    let error = expect_refusal(&workspace, "ada", "complete T1", "E_HAS_CHILDREN");
    assert_eq!(error["message"], "T1 has children that are not done: T3");
    assert_eq!(error["fix"], "cleo show T3");
    workspace.ok("complete T4");
    workspace.ok("complete T3");
    does(&workspace, "ada", "complete T1");
}

#[test]
fn tasks_of_other_agents_are_not_handed_out() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One --priority critical --agent ana");
    workspace.ok("add Two");
    let next = does(&workspace, "bob", "next")["result"].clone();
    assert_eq!(next["task"]["id"], "T1");
    let reason = "critical priority; nothing depends on it; assigned to ana";
    assert_eq!(next["reason"], reason);
    let task_of = |agent: &str| does(&workspace, "bob", &format!("next --agent {agent}"));
    assert_eq!(task_of("ana")["result"]["task"]["id"], "T1");
    assert_eq!(task_of("bob")["result"]["task"]["id"], "T2");
    let claimed = does(&workspace, "bob", "claim --next");
    assert_eq!(claimed["result"]["task"]["id"], "T2");
    let why = "T1 is ready, but assigned to another agent; take it anyway with `cleo claim T1`";
    assert_eq!(task_of("bob")["result"]["reason"], why);
    let error = expect_refusal(&workspace, "bob", "claim --next", "E_NOTHING_READY");
    says(
        &error,
        "nothing is ready for bob: T1 is assigned to another agent",
    );
    assert_eq!(error["alternatives"][0]["command"], "cleo claim T1");
    let claimed = does(&workspace, "ana", "claim --next");
    assert_eq!(claimed["result"]["task"]["id"], "T1");
    does(&workspace, "ana", "release T1");
    let claimed = does(&workspace, "bob", "claim --next --as ana");
    assert_eq!(claimed["result"]["task"]["id"], "T1");
}

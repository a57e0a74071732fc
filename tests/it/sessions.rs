//! Sessions: who works on which part of the graph. They are optional.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, document};

/// Runs a command as somebody.
fn run(workspace: &TestWorkspace, name: &str, line: &str) -> Value {
    let words = shlex::split(line).unwrap();
    let mut command = workspace.command(&words);
    command.env("CLEO_AGENT", name);
    document(&workspace.finish(command, ""))
}

#[track_caller]
fn does(workspace: &TestWorkspace, name: &str, line: &str) -> Value {
    let reply = run(workspace, name, line);
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply["result"].clone()
}

#[track_caller]
fn expect_refusal(
    workspace: &TestWorkspace,
    name: &str,
    line: &str,
    code: &str,
    exit: u8,
) -> Value {
    let before = workspace.state();
    let reply = run(workspace, name, line);
    assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
    assert_eq!(reply["error"]["exitCode"], exit);
    assert_eq!(workspace.state(), before, "cleo {line} changed something");
    reply["error"].clone()
}

#[test]
fn session_is_started_checked_ended_and_resumed() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("session start --scope T1 --name 'Build the login'"));
    insta::assert_snapshot!(workspace.cleo("focus T2"));
    workspace.ok("claim T2");
    insta::assert_snapshot!(workspace.cleo("session status"));
    insta::assert_snapshot!(workspace.cleo("session end"));
    workspace.ok("complete T2");
    workspace.ok("session end --note 'T3 is next'");
    insta::assert_snapshot!(workspace.cleo("session status --session S1"));
    assert_eq!(workspace.ask("session end S1")["result"]["changed"], false);
    let resumed = workspace.ask("session resume S1");
    let session = &resumed["result"]["session"];
    assert_eq!(session["status"], "open");
    assert_eq!(session["endedAt"], json!(null));
    assert_eq!(session["notes"][0]["text"], "T3 is next");
    insta::assert_snapshot!(workspace.cleo("session list"));
}

#[test]
fn one_session_per_owner_and_overlaps_are_refused() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "session start --scope T1");
    let second = expect_refusal(&workspace, "ada", "session start", "E_SESSION_EXISTS", 30);
    assert_eq!(second["fix"], "cleo session status");
    for scope in ["T1", "T2"] {
        let line = format!("session start --scope {scope}");
        let error = expect_refusal(&workspace, "bob", &line, "E_SCOPE_CONFLICT", 32);
        assert_eq!(error["fix"], "cleo session status --session S1");
    }
    does(&workspace, "bob", "session start --scope T2 --force");
    does(&workspace, "eve", "session start");
    does(&workspace, "bob", "session end");
    does(&workspace, "bob", "session start --scope T2 --force");
    expect_refusal(
        &workspace,
        "bob",
        "session resume S2",
        "E_SESSION_EXISTS",
        30,
    );
    expect_refusal(
        &workspace,
        "bob",
        "session resume S1",
        "E_SESSION_EXISTS",
        30,
    );
    workspace.ok("cancel T5");
    expect_refusal(
        &workspace,
        "me",
        "session start --scope T5",
        "E_SCOPE_INVALID",
        33,
    );
    expect_refusal(
        &workspace,
        "me",
        "session start --scope T9",
        "E_TASK_NOT_FOUND",
        4,
    );
    let open = does(&workspace, "me", "session list --status open");
    assert_eq!(open["total"], 3);
}

#[test]
fn what_needs_session_says_so() {
    let workspace = TestWorkspace::with_plan();
    for line in ["session end", "session status", "focus", "focus T2"] {
        let error = expect_refusal(&workspace, "ada", line, "E_SESSION_REQUIRED", 36);
        assert_eq!(error["fix"], "cleo session start", "{line}");
    }
    expect_refusal(
        &workspace,
        "ada",
        "session status --session S9",
        "E_SESSION_NOT_FOUND",
        31,
    );
    expect_refusal(
        &workspace,
        "ada",
        "session end S9 --note x",
        "E_SESSION_NOT_FOUND",
        31,
    );
    for line in [
        "add x",
        "list",
        "claim T2",
        "complete T2",
        "session list",
        "phase",
    ] {
        does(&workspace, "ada", line);
    }
    does(&workspace, "ada", "session start");
    does(&workspace, "ada", "session end");
    let ended = expect_refusal(
        &workspace,
        "ada",
        "focus T3 --session S1",
        "E_SESSION_REQUIRED",
        36,
    );
    assert_eq!(ended["fix"], "cleo session resume S1");
}

#[test]
fn focus_is_open_task_of_scope() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "add Elsewhere");
    does(&workspace, "ada", "session start --scope T1");
    let outside = expect_refusal(&workspace, "ada", "focus T6", "E_TASK_NOT_IN_SCOPE", 34);
    assert_eq!(outside["fix"], "cleo list --parent T1 --tree");
    expect_refusal(&workspace, "ada", "focus T9", "E_TASK_NOT_FOUND", 4);
    let focused = does(&workspace, "ada", "focus T2");
    assert_eq!(focused["focus"]["id"], "T2");
    assert_eq!(does(&workspace, "ada", "focus")["focus"]["id"], "T2");
    assert_eq!(
        does(&workspace, "ada", "focus --clear")["focus"],
        json!(null)
    );
    does(&workspace, "ada", "complete T2");
    expect_refusal(&workspace, "ada", "focus T2", "E_STATUS_REFUSED", 6);
    does(&workspace, "ada", "focus T3");
    does(&workspace, "ada", "delete T3 --force");
    assert_eq!(does(&workspace, "ada", "focus")["focus"], json!(null));
}

#[test]
fn session_keeps_scope_that_is_deleted() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "add Elsewhere");
    does(&workspace, "ada", "session start --scope T1");
    does(&workspace, "ben", "delete T1 --cascade --force");
    let status = does(&workspace, "ada", "session status");
    assert_eq!(status["session"]["scope"], "T1");
    assert_fields(&status, json!({"counts": {}, "next": null}));
    expect_refusal(&workspace, "ada", "focus T6", "E_TASK_NOT_IN_SCOPE", 34);
    does(&workspace, "ben", "undo");
    assert_eq!(does(&workspace, "ada", "focus T2")["focus"]["id"], "T2");
}

#[test]
fn session_of_another_is_used_when_it_is_named() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "session start --scope T1");
    let mut command = workspace.command(&["focus", "T2"]);
    command.env("CLEO_AGENT", "bob").env("CLEO_SESSION", "S1");
    assert_eq!(workspace.finish(command, "").exit, 0);
    let session = does(&workspace, "ada", "session status")["session"].clone();
    assert_eq!(session["focus"], "T2");
    does(
        &workspace,
        "bob",
        "session end s1 --force --note 'from bob'",
    );
    let ended = does(&workspace, "ada", "session status --session S1");
    assert_eq!(ended["session"]["notes"][0]["by"], "bob");
}

#[test]
fn session_ends_when_its_leader_holds_nothing_or_by_force() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "session start --scope T1");
    does(&workspace, "ada", "claim T2");
    let held = expect_refusal(
        &workspace,
        "ada",
        "session end",
        "E_SESSION_CLOSE_BLOCKED",
        37,
    );
    assert_eq!(held["message"], "ada still holds T2 in S1");
    assert_eq!(held["fix"], "cleo release T2 --epoch 1");
    does(&workspace, "ada", "session end --force");
}

#[test]
fn only_who_leads_session_ends_it_unless_by_force() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "session start --scope T1");
    let code = "E_SESSION_CLOSE_BLOCKED";
    let error = expect_refusal(&workspace, "bob", "session end S1", code, 37);
    assert_eq!(error["message"], "ada leads S1, not bob");
    assert_eq!(error["fix"], "cleo session status --session S1");
    assert_eq!(error["alternatives"], json!([]));
    does(&workspace, "bob", "session end S1 --force");
}

#[test]
fn name_and_note_are_clean_text() {
    let workspace = TestWorkspace::new();
    expect_refusal(
        &workspace,
        "ada",
        "session start --name ' '",
        "E_TASK_INVALID",
        6,
    );
    expect_refusal(
        &workspace,
        "ada",
        "session start --name $'a\u{1b}b'",
        "E_TEXT_CONTROL",
        6,
    );
    does(&workspace, "ada", "session start");
    let blank = "session end --note ' '";
    expect_refusal(&workspace, "ada", blank, "E_TASK_INVALID", 6);
    expect_refusal(
        &workspace,
        "ada",
        "session end --note 'a\u{1b}[2Jb'",
        "E_TEXT_CONTROL",
        6,
    );
}

#[test]
fn prompt_tells_of_open_session_that_covers_its_task() {
    let workspace = TestWorkspace::with_plan();
    let session_of = |task: &str| {
        let words = ["spawn", task, "--dry-run"];
        let prompt = workspace.json(&words)["result"]["prompt"].clone();
        let prompt = prompt.as_str().unwrap().to_string();
        let told = prompt.split("You work inside session ").nth(1)?;
        Some(told.split('.').next().unwrap().to_string())
    };
    assert_eq!(session_of("T2"), None);
    does(&workspace, "ada", "session start");
    assert_eq!(session_of("T2").as_deref(), Some("S1"));
    does(&workspace, "bob", "session start --scope T1");
    assert_eq!(session_of("T2").as_deref(), Some("S2"), "the nearest scope");
    does(&workspace, "eve", "session start --scope T3 --force");
    assert_eq!(session_of("T2").as_deref(), Some("S2"));
    assert_eq!(session_of("T3").as_deref(), Some("S3"));
    for (name, task, left) in [("bob", "T2", Some("S1")), ("ada", "T2", None)] {
        does(&workspace, name, "session end");
        assert_eq!(session_of(task).as_deref(), left);
    }
}

#[test]
fn session_is_not_resumed_over_work_of_another_one() {
    let workspace = TestWorkspace::with_plan();
    does(&workspace, "ada", "session start --scope T2");
    does(&workspace, "ada", "session end");
    does(&workspace, "bob", "session start --scope T1");
    let line = "session resume S1";
    let error = expect_refusal(&workspace, "ada", line, "E_SCOPE_CONFLICT", 32);
    assert_eq!(error["fix"], "cleo session status --session S2");
    does(&workspace, "ada", "session resume S1 --force");
}

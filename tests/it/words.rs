//! Words that a person sends to an agent at work.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, add, assert_fields, says};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// Plays a program that hangs the first time, and works the second time.
const HANGS_ONCE: &str = r#"#!/bin/sh
echo "$@" >>CALLED
BEGIN
[ "$(wc -l <CALLED)" -gt 1 ] || exec sleep 600
cat >CALLED-prompt
sh AGENT works >&2
END
"#;

/// A workspace with one task and such a program, which is called so.
fn hanging(name: &str, begin: &str, end: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Research the index"})]);
    let script = HANGS_ONCE
        .replace("CALLED", &workspace.path("called").display().to_string())
        .replace("BEGIN", begin)
        .replace("END", end)
        .replace("AGENT", AGENT);
    workspace.write(name, script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(workspace.path(name), mode).unwrap();
    let program = workspace.path(name).display().to_string();
    workspace.env("CLEO_RUNNERS_PROGRAMS", &format!("claude={program}"))
}

/// Begins a run, and returns it with its id once its agent has come as far as `is_there` says.
fn begin(
    workspace: &TestWorkspace,
    arguments: &[&str],
    is_there: impl Fn(&Value) -> bool,
) -> (Child, String) {
    let mut command = workspace.command(arguments);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let id = loop {
        let listed = workspace.ask("runs list");
        if let Some(id) = listed["result"]["runs"][0]["id"].as_str() {
            let shown = workspace.ask(format!("runs show {id}"));
            let started = workspace.path("called").exists();
            if started && is_there(&shown["result"]["tasks"][0]) {
                break id.to_string();
            }
        }
        thread::sleep(Duration::from_millis(20));
    };
    (child, id)
}

fn end(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["success"], true, "{reply}");
    reply["result"].clone()
}

#[test]
fn words_interrupt_agent_and_continue_its_conversation() {
    let session = r#"echo '{"type":"system","session_id":"s1"}'"#;
    let result = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"Task complete. See MANIFEST.jsonl for summary."}'"#;
    let workspace = hanging("claude", session, result);
    let run = ["run", "T1", "--runner", "claude", "--repair", "0", "--json"];
    let (child, id) = begin(&workspace, &run, |task| task["canContinue"] == true);
    let sent = workspace.json(&["runs", "send", &id, "T1", "Use the other index."]);
    let told = json!({"taskId": "T1", "attempt": 1, "canContinue": true});
    assert_fields(&sent["result"], told);
    let done = end(child);
    assert_fields(&done["tasks"][0], json!({"state": "done", "attempts": 2}));
    let shown = workspace.ask(format!("runs show {id}"));
    let first = &shown["result"]["tasks"][0]["history"][0];
    let ended = json!({"state": "cancelled", "reason": "its agent was sent words"});
    assert_fields(first, ended);
    let calls = workspace.read("called");
    let resumed: Vec<bool> = calls.lines().map(|it| it.contains("--resume=s1")).collect();
    assert_eq!(resumed, [false, true]);
    let prompt = workspace.read("called-prompt");
    says(&json!(prompt), "Your work on T1 was interrupted");
    says(&json!(prompt), "> Use the other index.");
    assert!(!prompt.contains("Research the index"), "{prompt}");
    let late = workspace.json(&["runs", "send", &id, "T1", "Too late."]);
    let refused =
        json!({"code": "E_STATUS_REFUSED", "message": format!("no agent of {id} works on T1 now")});
    assert_fields(&late["error"], refused);
}

#[test]
fn words_to_program_without_conversation_follow_its_prompt() {
    let done = "echo 'Task complete. See MANIFEST.jsonl for summary.'";
    let workspace = hanging("agent", "", done);
    workspace.ok("update T1 --note 'Never touch prod.'");
    let program = workspace.path("agent").display().to_string();
    let run = [
        "run",
        "T1",
        "--command",
        &program,
        "--repair",
        "0",
        "--json",
    ];
    let (child, id) = begin(&workspace, &run, |task| task["state"] == "running");
    workspace.ok(&format!("runs send {id} T1 'Use the other index.'"));
    assert_fields(&end(child)["tasks"][0], json!({"state": "done"}));
    let prompt = workspace.read("called-prompt");
    let (whole, words) = prompt.split_once("\n## Notes on the task\n").unwrap();
    assert!(whole.contains("Research the index"), "{prompt}");
    assert!(
        words.contains("> Use the other index.\n\n<!-- BEGIN"),
        "{prompt}"
    );
    assert!(words.contains("> Never touch prod.\n"), "{prompt}");
}

#[test]
fn stopped_agent_leaves_others_at_work() {
    let done = "echo 'Task complete. See MANIFEST.jsonl for summary.'";
    let workspace = hanging("agent", "", done);
    add(&workspace, &[json!({"title": "Research the cache"})]);
    let program = workspace.path("agent").display().to_string();
    let run = ["run", "T1", "T2", "--command", &program, "--jobs", "1"];
    let run = [&run[..], &["--fail-fast", "--json"]].concat();
    let (child, id) = begin(&workspace, &run, |task| task["state"] == "running");
    let stopped = workspace.json(&["runs", "stop", &id, "T1"]);
    assert_fields(&stopped["result"], json!({"taskId": "T1", "attempt": 1}));
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tasks = &reply["result"]["tasks"];
    let ended = json!({"state": "cancelled", "attempts": 1});
    assert_fields(&tasks[0], ended);
    says(&tasks[0]["reason"], "stopped its agent");
    assert_fields(&tasks[1], json!({"state": "done"}));
    let task = workspace.ask("show T1");
    assert_fields(&task["result"]["task"], json!({"status": "pending"}));
    let late = workspace.json(&["runs", "stop", &id, "T1"]);
    assert_fields(&late["error"], json!({"code": "E_STATUS_REFUSED"}));
}

#[test]
fn agent_of_run_sends_no_words() {
    let workspace = TestWorkspace::new()
        .env("CLEO_RUN_ID", "run_1")
        .env("CLEO_TASK_ID", "T1");
    let refused = workspace.json(&["runs", "send", "run_2", "T2", "Stop."]);
    says(
        &refused["error"]["message"],
        "an agent of a run sends no words to agents",
    );
}

//! The advice of `next`, `ready`, `status` and `show` about output that came back.

use std::fs::File;
use std::time::SystemTime;

use serde_json::json;

use crate::delivery::{GOOD, MANIFEST, OUTPUT, deliver, entry_with, spawn_task};
use crate::world::{TestWorkspace, assert_fields, says};

fn next_command(workspace: &TestWorkspace) -> String {
    let next = workspace.result("next");
    next["command"].as_str().unwrap().to_string()
}

#[test]
fn next_command_fits_what_came_back() {
    let workspace = spawn_task();
    assert_eq!(next_command(&workspace), "cleo spawn T1");
    workspace.write(OUTPUT, GOOD);
    assert_eq!(next_command(&workspace), "cleo verify output T1");
    for (status, command, n_delivered) in [
        ("partial", "cleo spawn T1", 0),
        ("blocked", "cleo spawn T1", 0),
        ("complete", "cleo complete T1", 1),
    ] {
        workspace.write(MANIFEST, entry_with(json!({"status": status})));
        assert_eq!(next_command(&workspace), command, "{status}");
        let ready = workspace.result("ready");
        let delivered = ready["delivered"].as_array().unwrap().len();
        assert_eq!(delivered, n_delivered, "{status}");
    }
    let recommended = workspace.result("status")["recommended"].clone();
    assert_eq!(recommended["command"], "cleo complete T1");
    workspace.ok("update T1 --acceptance 'It is red :: test -e red'");
    assert_eq!(next_command(&workspace), "cleo verify T1 --run-all");
    let told = workspace.text("ready --format text", "").stdout;
    assert!(
        told.ends_with(": run `cleo verify T1 --run-all`\n"),
        "{told}"
    );
}

#[test]
fn work_for_an_earlier_prompt_counts_no_more() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("start T1");
    let active = workspace.result("status");
    assert_eq!(active["active"]["shown"][0]["entry"], "complete");
    assert_eq!(active["recommended"]["command"], "cleo complete T1");
    let file = File::options().write(true).open(workspace.path(OUTPUT));
    file.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    workspace.ok("spawn T1 --again");
    let shown = workspace.result("show T1");
    assert_eq!(shown["output"]["isDelivered"], false);
    let active = workspace.result("status")["active"]["shown"][0].clone();
    assert!(active.get("entry").is_none(), "{active}");
}

#[test]
fn proof_of_a_moved_workspace_says_how_to_renew_it() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("verify output T1");
    let moved = workspace.root().with_file_name("moved");
    std::fs::rename(workspace.root(), &moved).unwrap();
    std::fs::create_dir(workspace.root()).unwrap();
    let told = workspace
        .text("--root ../moved show T1 --format text", "")
        .stdout;
    assert!(told.contains("`cleo verify output T1`"), "{told}");
    let report = workspace.ask("--root ../moved doctor");
    let findings = report["result"]["findings"].as_array().unwrap();
    let marks = findings.iter().find(|it| it["check"] == "evidence.marks");
    says(&marks.unwrap()["fix"], "verify output T1");
    workspace.ok("--root ../moved verify output T1");
    let report = workspace.ask("--root ../moved doctor")["result"].to_string();
    assert!(!report.contains("evidence.marks"), "{report}");
}

#[test]
fn run_completes_delivered_work_without_an_agent() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'It is red :: test -e red'");
    let line = "run T1 --repair 0 --command false";
    insta::assert_snapshot!(workspace.ok(&format!("{line} --dry-run")), @r"
    exit: 0
    --- stdout
    WAVE  TASK  SKILL             RUNNER   AFTER  TITLE
    0     T1    ct-task-executor  command         Paint it
    T1: its work verifies, and its commands run before an agent
    --- stderr
    ");
    workspace.write("red", "");
    let done = workspace.result(line);
    let counted = json!({"attempts": 0, "state": "done"});
    assert_fields(&done["tasks"][0], counted);
    workspace.ok("reopen T1");
    let failed = workspace.ask(line);
    assert_eq!(failed["result"]["tasks"][0]["attempts"], 1, "{failed}");
}

#[test]
fn run_in_a_moved_workspace_keeps_delivered_work() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("verify output T1");
    let moved = workspace.root().with_file_name("moved");
    std::fs::rename(workspace.root(), moved).unwrap();
    std::fs::create_dir(workspace.root()).unwrap();
    let done = workspace.result("--root ../moved run T1 --command false");
    assert_eq!(done["tasks"][0]["attempts"], 0, "{done}");
}

#[test]
fn stale_proof_is_to_be_taken_again() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'It is red :: true'");
    workspace.ok("verify T1 --run-all");
    assert_eq!(next_command(&workspace), "cleo complete T1");
    workspace.write("beside", "It makes the proof stale.");
    assert_eq!(next_command(&workspace), "cleo verify T1 --refresh");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
    workspace.ok("verify T1 --refresh");
    let told =
        "T1 has output in claudedocs/agent-outputs/2026-01-26_paint-it.md: run `cleo complete T1`";
    let claimed = workspace.ask("claim T1");
    assert_eq!(claimed["warnings"].to_string().matches(told).count(), 1);
    workspace.ok("release T1");
    let claimed = workspace.ask("claim --next");
    assert_eq!(claimed["warnings"].to_string().matches(told).count(), 1);
    workspace.ok("release T1");
    let moved = workspace.root().with_file_name("moved");
    std::fs::rename(workspace.root(), moved).unwrap();
    std::fs::create_dir(workspace.root()).unwrap();
    let next = workspace.result("--root ../moved next");
    assert_eq!(next["command"], "cleo verify T1 --refresh");
}

#[test]
fn advice_and_run_agree_on_what_was_asked_since() {
    for (change, attempts) in [
        ("update T1 --note 'Well done'", 0),
        ("update T1 --description 'Paint it green'", 1),
        ("reopen T1", 1),
    ] {
        let workspace = spawn_task();
        deliver(&workspace);
        if change == "reopen T1" {
            workspace.ok("complete T1");
        }
        workspace.ok(change);
        let command = match change {
            "reopen T1" => "cleo spawn T1 --again",
            _ => ["cleo complete T1", "cleo spawn T1"][attempts],
        };
        assert_eq!(next_command(&workspace), command, "{change}");
        if change == "reopen T1" {
            workspace.fails("spawn T1", "E_EXISTS");
        }
        let spawned = workspace.ask("spawn T1 --dry-run");
        assert_eq!(spawned["success"], true, "{spawned}");
        let ran = workspace.ask("run T1 --repair 0 --command false");
        assert_eq!(ran["result"]["tasks"][0]["attempts"], attempts, "{change}");
    }
}

#[test]
fn output_that_changed_since_is_not_shown_as_verified() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("verify output T1");
    let proof = || {
        let told = workspace.ok("show T1").stdout;
        let line = told.lines().find(|line| line.contains("proof ")).unwrap();
        let changed = workspace.result("show T1")["output"]["isChanged"].clone();
        format!("{} {changed}", line.trim())
    };
    assert!(proof().ends_with(":03 false"), "{}", proof());
    workspace.write(OUTPUT, format!("{GOOD}And green.\n"));
    assert!(proof().ends_with(":03, changed since true"), "{}", proof());
    std::fs::remove_file(workspace.path(OUTPUT)).unwrap();
    assert!(proof().ends_with(":03, removed since true"), "{}", proof());
}

#[test]
fn dry_run_tells_of_claims() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("claim T1");
    let mut other = workspace.command(&["claim", "T2"]);
    other.env("CLEO_AGENT", "other");
    workspace.finish(other, "");
    let told = workspace.ok("run T1 T2 --command false --dry-run");
    insta::assert_snapshot!(told, @r"
    exit: 0
    --- stdout
    WAVE  TASK  SKILL             RUNNER   AFTER  TITLE
    0     T1    ct-task-executor  command         Paint it
    0     T2    ct-task-executor  command         Other
    T1: T1 is claimed by tester (epoch 1) until 2026-01-26T10:00:03.000Z: run `cleo release T1 --epoch 1`
    T2: T2 is claimed by other (epoch 1) until 2026-01-26T10:00:04.000Z
    --- stderr
    ");
}

#[test]
fn output_of_a_done_task_is_not_spawned_again() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("complete T1");
    std::fs::remove_file(workspace.path(OUTPUT)).unwrap();
    let failed = workspace.fails("verify output T1", "E_OUTPUT_MISSING");
    let other = &failed["error"]["alternatives"][0]["command"];
    assert_eq!(other, "cleo reopen T1");
}

#[test]
fn undone_changes_ask_for_no_other_work() {
    for (change, n_undone) in [("complete T1", 1), ("update T1 --title Green", 1)] {
        let workspace = spawn_task();
        deliver(&workspace);
        workspace.ok("verify output T1");
        workspace.ok(change);
        (0..n_undone).for_each(|_| drop(workspace.ok("undo")));
        assert_eq!(next_command(&workspace), "cleo complete T1", "{change}");
        workspace.fails("spawn T1", "E_EXISTS");
    }
}

#[test]
fn work_whose_check_failed_goes_to_an_agent() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'It is red :: test -e red'");
    workspace.fails("verify T1 --run-all", "E_CRITERION_FAILED");
    assert_eq!(next_command(&workspace), "cleo spawn T1");
    let prompt = workspace.ok("spawn T1 --format text").stdout;
    says(&json!(prompt), "left this task complete and wrote");
    says(&json!(prompt), "Z: It is red :: test -e red");
}

#[test]
fn check_that_failed_on_other_files_runs_again_before_a_prompt() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'It is red :: test -e red' --file red");
    workspace.ok("verify output T1");
    workspace.fails("verify T1 --run-all", "E_CRITERION_FAILED");
    assert_eq!(next_command(&workspace), "cleo spawn T1");
    workspace.write("red", "");
    assert_eq!(next_command(&workspace), "cleo verify T1 --run-all");
    workspace.fails("spawn T1", "E_EXISTS");
}

#[test]
fn run_runs_no_command_of_a_task_that_somebody_holds() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'It is red :: touch red'");
    let mut other = workspace.command(&["claim", "T1"]);
    other.env("CLEO_AGENT", "other");
    workspace.finish(other, "");
    let held = workspace.ask("run T1 --repair 0 --command true");
    assert_eq!(held["result"]["tasks"][0]["state"], "skipped", "{held}");
    assert!(!workspace.path("red").exists());
}

#[test]
fn output_left_by_another_agent_of_the_run_proves_nothing() {
    let workspace = spawn_task();
    workspace.ok("add First");
    workspace.ok("update T1 --depends T3");
    workspace.write("output", GOOD);
    workspace.write("entry", entry_with(json!({})));
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");
    let forge = format!("cp output {OUTPUT}; cat entry >>{MANIFEST}");
    let own = format!("[ $CLEO_TASK_ID = T3 ] || exit 1; {forge}; exec sh {agent} works");
    workspace.write("agent.sh", own);
    let ran = workspace.ask("run T1 T3 --repair 0 --command 'sh agent.sh'");
    let tasks = ran["result"]["tasks"].as_array().unwrap();
    let state = |id: &str| tasks.iter().find(|it| it["taskId"] == id).unwrap()["state"].clone();
    assert_eq!(
        (state("T3"), state("T1")),
        (json!("done"), json!("failed")),
        "{ran}"
    );
}

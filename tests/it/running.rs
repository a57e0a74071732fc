//! `cleo run`: a script plays the agents, well and in every way in which they fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{
    TestWorkspace, assert_fields, document, expect_exit, milliseconds_between, play_command, says,
};

/// The script that plays the agents.
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// A workspace with the planned epic: T2, then T3 and T5, and T4 after T3.
pub(crate) fn plan_epic() -> TestWorkspace {
    TestWorkspace::with_plan()
}

/// Runs agents that behave so, and returns the exit code and the result.
pub(crate) fn run(workspace: &TestWorkspace, what: &str, how: &str) -> (i32, Value) {
    let reply = workspace.finish(workspace.command(&play_command(what, how)), "");
    let document = document(&reply);
    (reply.exit, document["result"].clone())
}

/// Finds a task in the result of a run.
fn task<'a>(result: &'a Value, id: &str) -> &'a Value {
    let tasks = result["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|task| task["taskId"] == id);
    found.unwrap_or_else(|| panic!("{id} in {result}"))
}

/// Returns the status of each task in the workspace.
fn statuses(workspace: &TestWorkspace) -> String {
    let listed = workspace.ask("list --all");
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    let one = |task: &Value| {
        let (id, status) = (
            task["id"].as_str().unwrap(),
            task["status"].as_str().unwrap(),
        );
        format!("{id} {status}")
    };
    tasks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the events of the last run, in order.
fn events(workspace: &TestWorkspace) -> Vec<Value> {
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let logged = workspace.ask(format!("runs logs {id}"));
    logged["result"]["events"].as_array().unwrap().clone()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[test]
fn epic_runs_in_the_order_of_its_graph() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "--epic T1", "works"), 0);
    assert_eq!(result["summary"]["done"], 4);
    assert_eq!(result["run"]["status"], "completed");
    assert_eq!(result["run"]["kind"], "epic");
    let all = "T1 done, T2 done, T3 done, T4 done, T5 done";
    assert_eq!(statuses(&workspace), all);
    let events = events(&workspace);
    let at = |kind: &str, task: &str| {
        let is_it = |event: &Value| event["type"] == kind && event["taskId"] == task;
        events.iter().position(is_it).unwrap()
    };
    for (before, after) in [("T2", "T3"), ("T2", "T5"), ("T3", "T4")] {
        assert!(at("task.completed", before) < at("task.started", after));
    }
    assert_eq!(kinds(&events).first(), Some(&"run.started"));
    assert_eq!(kinds(&events).last(), Some(&"run.finished"));
}

#[test]
fn why_explains_a_run_and_its_tasks() {
    let workspace = plan_epic();
    let (_, result) = run(&workspace, "--epic T1 --repair 0", "lies");
    let id = result["run"]["id"].as_str().unwrap();
    let why = workspace.json(&["why", "--run", id])["result"].clone();
    assert_eq!(why["run"]["id"], id);
    assert_eq!(why["reason"], result["run"]["error"]);
    let failed = task(&why, "T2");
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["reason"], task(&result, "T2")["reason"]);
    assert_eq!(failed["violations"], task(&result, "T2")["violations"]);
    assert_eq!(
        failed["spawn"]["receipt"]["skill"],
        task(&result, "T2")["skill"]
    );
    let skipped = task(&why, "T4");
    assert_eq!(skipped["state"], "skipped");
    assert_eq!(skipped["waitsFor"], serde_json::json!(["T3"]));
    assert_eq!(skipped["spawn"], Value::Null);
    let shown = workspace.cleo(&format!("why --run {id}"));
    assert!(shown.contains("it waits for what failed (T2)"), "{shown}");
    assert!(shown.contains(&format!("cleo runs show {id}")), "{shown}");
}

#[test]
fn of_run_that_is_not_there_nothing_can_be_said() {
    let workspace = plan_epic();
    let error = workspace.refuse("why --run run_1", "E_RUN_NOT_FOUND");
    assert_eq!(error["fix"], "cleo runs list");
    let error = workspace.refuse("why", "E_USAGE");
    assert_eq!(error["alternatives"][0]["command"], "cleo why --help");
    workspace.refuse("why T2 --run run_1", "E_USAGE");
}

#[test]
fn what_is_kept_of_run_can_be_checked() {
    let workspace = plan_epic();
    let (_, result) = run(&workspace, "T2", "works");
    let id = result["run"]["id"].as_str().unwrap();
    let mut shown = workspace.json(&["runs", "show", id])["result"].take();
    let history = shown["tasks"][0]["history"].take();
    assert_eq!(history[0]["state"], "done", "{history}");
    let mut told = result["tasks"].clone();
    told[0]["history"] = Value::Null;
    told[0]["readyAt"] = shown["tasks"][0]["readyAt"].clone();
    assert_eq!(shown["tasks"], told);
    let listed = workspace.ask("runs list --kind tasks");
    assert_eq!(listed["result"]["total"], 1);
    let logs = workspace.json(&["runs", "logs", id, "--raw", "--task", "T2"]);
    let said = logs["result"]["outputs"][0]["text"].as_str().unwrap();
    assert_eq!(said, "Task complete. See MANIFEST.jsonl for summary.\n");
    let lines = workspace.text(&format!("runs logs {id} --format ndjson"), "");
    let file = events(&workspace);
    let lines = lines.documents();
    assert_eq!(lines, file);
}

#[test]
fn people_see_why_tasks_are_not_done_and_how_to_go_on() {
    let workspace = plan_epic();
    let (_, result) = run(&workspace, "T2 T3 --repair 0 --max-turns 3", "lies");
    let id = result["run"]["id"].as_str().unwrap();
    let shown = workspace.cleo(&format!("runs show {id}"));
    for part in [
        "T2 failed  protocol_violation: ",
        "T3 skipped  ",
        &format!("resume with  cleo runs resume {id}"),
        "took  ",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(!shown.contains("answered by"), "{shown}");
    let listed = workspace.cleo("runs list");
    assert!(listed.contains(id), "{listed}");
}

#[test]
fn bounds_that_runner_cannot_keep_are_told() {
    let workspace = plan_epic();
    let reply = workspace.finish(
        workspace.command(&play_command("T2 --max-turns 3", "works")),
        "",
    );
    let warnings = document(&reply)["warnings"].to_string();
    assert!(
        warnings.contains("--max-turns bounds nothing"),
        "{warnings}"
    );
}

#[test]
fn lie_is_caught_and_fixed() {
    let workspace = plan_epic();
    let (exit, result) = run(&workspace, "T2", "lies-once");
    assert_eq!(
        (exit, &task(&result, "T2")["attempts"]),
        (0, &Value::from(2))
    );
    let events = events(&workspace);
    let lacking = events
        .iter()
        .find(|event| event["type"] == "task.verification_failed")
        .unwrap();
    let missing = lacking["detail"]["violations"].to_string();
    assert!(
        missing.contains("E_NOT_VERIFIED") && missing.contains("is not there"),
        "{missing}"
    );
    assert_eq!(lacking["detail"]["outcome"], "protocol_violation");
}

#[test]
fn only_what_verifies_is_completed_whatever_agents_say() {
    for (how, exit, outcome) in [
        ("lies", 80, "protocol_violation"),
        ("crashes", 80, "agent_error"),
        ("dies", 80, "agent_error"),
        ("partial", 80, "partial"),
        ("blocked", 80, "blocked"),
        ("foreign", 80, "protocol_violation"),
        ("chats", 80, "protocol_violation"),
        ("wraps", 80, "protocol_violation"),
        ("hangs", 124, "timeout"),
    ] {
        let workspace = plan_epic();
        let what = "T2 --repair 0 --task-time-limit 1s";
        let (ended, result) = run(&workspace, what, how);
        assert_eq!(
            (ended, &task(&result, "T2")["outcome"]),
            (exit, &Value::from(outcome)),
            "{how}: {result}"
        );
        assert_eq!(task(&result, "T2")["state"], "failed", "{how}");
        assert!(
            statuses(&workspace).contains("T2 pending"),
            "{how} gives it back"
        );
        assert!(
            workspace.ask("list --claimed")["result"]["total"] == 0,
            "{how}"
        );
    }
}

#[test]
fn what_verifies_is_done_however_program_ended() {
    for how in [
        "crashes-late",
        "crashes-once",
        "torn",
        "leaves",
        "completes",
        "forces-and-works",
        "mutters",
    ] {
        let workspace = plan_epic();
        let (exit, result) = run(&workspace, "T2", how);
        assert_eq!(
            (exit, &task(&result, "T2")["state"]),
            (0, &Value::from("done")),
            "{how}: {result}"
        );
    }
}

#[test]
fn agent_that_ends_with_other_words_has_only_them_to_fix() {
    for how in ["chats-once", "completes-and-chats-once"] {
        let workspace = plan_epic();
        let (exit, result) = run(&workspace, "T2", how);
        assert_eq!(
            (exit, &task(&result, "T2")["attempts"]),
            (0, &Value::from(2)),
            "{how}: {result}"
        );
        let events = events(&workspace);
        let lacking = |event: &&Value| event["type"] == "task.verification_failed";
        let lacking = events.iter().find(lacking).unwrap();
        let missing = lacking["detail"]["violations"].as_array().unwrap();
        let fault = missing[0].as_str().unwrap();
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert!(
            fault.starts_with("E_RETURN_MESSAGE: ")
                && fault.contains("none of the allowed sentences")
                && fault.contains("; did you mean `"),
            "{fault}"
        );
        let manifest = workspace.read("claudedocs/agent-outputs/MANIFEST.jsonl");
        assert_eq!(manifest.lines().count(), 1, "{manifest}");
        assert!(statuses(&workspace).contains("T2 done"), "{how}");
    }
}

#[test]
fn final_message_of_agent_is_checked_if_reported() {
    for (result, why) in [
        (r#""result":"Done.","#, "none of the allowed sentences"),
        ("", "it is empty"),
    ] {
        let workspace = plan_epic();
        let done = format!(r#"{{"type":"result","subtype":"success",{result}"is_error":false}}"#);
        let claude = workspace.path("claude");
        workspace.write(
            "claude",
            format!("#!/bin/sh\nsh {AGENT} works\necho '{done}'\n"),
        );
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&claude, mode).unwrap();
        let programs = format!("claude={}", claude.display());
        let workspace = workspace.env("CLEO_RUNNERS_PROGRAMS", &programs);
        let words = ["run", "T2", "--runner", "claude", "--repair", "0"];
        let reply = workspace.finish(workspace.command(&words), "");
        assert_eq!(reply.exit, 80, "{reply}");
        let answer = document(&reply);
        let failed = task(&answer["result"], "T2");
        let reason = failed["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("E_RETURN_MESSAGE: ") && reason.contains(why),
            "{reason}"
        );
    }
}

#[test]
fn unverified_completion_by_agent_is_reverted() {
    for how in [
        "completes-and-chats",
        "forces",
        "forces-unnamed",
        "forces-unclaimed",
    ] {
        let workspace = plan_epic();
        let (exit, result) = run(&workspace, "T2 --repair 0", how);
        assert_eq!(
            (exit, &task(&result, "T2")["outcome"]),
            (80, &Value::from("protocol_violation")),
            "{how}: {result}"
        );
        assert!(statuses(&workspace).contains("T2 pending"), "{how}");
        let claimed = workspace.ask("list --claimed");
        assert_eq!(claimed["result"]["total"], 0, "{how}");
    }
}

#[test]
fn forced_completion_by_agent_is_not_done() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "--epic T1", "forces"), 81);
    let failed = task(&result, "T2");
    assert_fields(
        failed,
        json!({"outcome": "protocol_violation", "attempts": 2}),
    );
    says(&failed["reason"], "E_NOT_VERIFIED");
    let refused = workspace.read(".played/forced");
    assert!(
        refused.contains("completes T2 itself: no agent does so by force"),
        "{refused}"
    );
    assert_eq!(task(&result, "T3")["state"], "skipped");
    assert!(statuses(&workspace).contains("T2 pending"));
}

#[test]
fn what_later_agent_undoes_was_not_done() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2 T3 --repair 0", "wrecks"), 81);
    let undone = task(&result, "T2");
    assert_eq!(undone["state"], "failed", "{undone}");
    says(&undone["reason"], "was undone later");
    assert_eq!(task(&result, "T3")["state"], "done");
    let statuses = statuses(&workspace);
    assert!(statuses.contains("T2 pending") && statuses.contains("T3 done"));
}

#[test]
fn what_nobody_undoes_stays_done() {
    let workspace = plan_epic();
    let (exit, result) = run(&workspace, "T2 T3 --repair 0", "proves-more");
    let proved = workspace.read(".played/proved");
    assert!(proved.contains("implemented"), "{proved}");
    assert_eq!(exit, 0, "more was asked of it: {result}");
    assert!(statuses(&workspace).contains("T2 done"));

    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2 T3 --repair 0", "spoils"), 81);
    assert_eq!(task(&result, "T2")["state"], "done");
    assert_eq!(task(&result, "T3")["state"], "failed");
}

#[test]
fn what_someone_opens_again_is_not_told_as_done() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2 T3", "reopens"), 81);
    says(
        &task(&result, "T2")["reason"],
        "it was reopened and is pending",
    );
    assert!(statuses(&workspace).contains("T2 pending"));
    let resumed = workspace.json(&["runs", "resume", &id_of_the_run(&workspace)]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    let again = &task(&resumed["result"], "T2")["attempts"];
    assert_eq!(*again, 2, "who opened it wants more than there is");
}

#[test]
fn agent_takes_nothing_away_that_tasks_have_to_pass() {
    let workspace = plan_epic();
    workspace.ok("update T2 --acceptance 'It holds :: false'");
    workspace.ok("update T3 --require-gate testsPassed");
    expect_exit(run(&workspace, "T2 --repair 0", "lightens"), 80);
    let answers = workspace.read(".played/lightened");
    for what in [
        "`It holds :: false` away, which T2",
        "`testsPassed` away, which T3",
    ] {
        assert!(answers.contains(what), "{answers}");
    }
    // A planner may.
    workspace.ok("update T2 --clear acceptance");
    workspace.ok("update T3 --clear required-gates");
}

#[test]
fn evidence_of_agent_is_no_proof_in_interrupted_run() {
    for signal in ["-INT", "-KILL"] {
        let workspace = plan_epic();
        workspace.ok("update T2 --acceptance 'It holds :: false'");
        let mut child = begin(
            &workspace,
            "T2 --repair 0",
            "forges hangs",
            "../forged/hangs",
        );
        let line = format!("kill {signal} {}", child.id());
        assert_eq!(workspace.shell(&line).exit, 0);
        child.wait().unwrap();
        let shown = workspace.read("../forged/T2");
        assert!(shown.contains("\"proven\""), "{shown}");
        let resumed = workspace.json(&["runs", "resume", &id_of_the_run(&workspace)]);
        let failed = task(&resumed["result"], "T2");
        assert!(
            failed["violations"]
                .to_string()
                .contains("E_CRITERION_OPEN"),
            "{resumed}"
        );
        assert!(statuses(&workspace).contains("T2 pending"), "{resumed}");
    }
}

#[test]
fn commands_of_epic_are_run_when_its_parts_are_done() {
    let workspace = plan_epic();
    workspace.ok("update T1 --acceptance 'It holds :: false'");
    let how = "--epic T1 --jobs 1 --junit junit.xml";
    let result = expect_exit(run(&workspace, how, "forges"), 81);
    assert_eq!(result["run"]["status"], "failed");
    assert_eq!(result["run"]["output"], "4 of 5 done");
    let junit = workspace.read("junit.xml");
    assert!(junit.contains("tests=\"5\" failures=\"1\""), "{junit}");
    let shown = workspace.read("../forged/T1");
    assert!(shown.contains("\"proven\""), "{shown}");
    let missing = task(&result, "T1")["violations"].to_string();
    assert!(missing.contains("E_CRITERION_OPEN"), "{result}");
    assert!(statuses(&workspace).contains("T1 pending"), "{result}");
    let workspace = plan_epic();
    workspace.ok("update T1 --acceptance 'It holds :: test -d claudedocs'");
    let result = expect_exit(run(&workspace, "--epic T1", "works"), 0);
    assert!(statuses(&workspace).contains("T1 done"), "{result}");
}

#[test]
fn criteria_count_as_they_were_when_run_began() {
    let workspace = plan_epic();
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    let result = expect_exit(
        run(&workspace, "T2 T3 --jobs 1 --repair 0", "lightens-later"),
        81,
    );
    let missing = task(&result, "T3")["violations"].to_string();
    assert!(missing.contains("E_CRITERION_OPEN"), "{result}");
    assert!(
        missing.contains("`false`, from the start of the run"),
        "{missing}"
    );
    assert!(
        missing.contains("begin a new run (`cleo run T3`)"),
        "{missing}"
    );
    assert!(statuses(&workspace).contains("T2 done"), "{result}");
}

#[test]
fn criteria_that_tasks_got_since_run_began_are_run() {
    let workspace = plan_epic();
    let (exit, result) = run(&workspace, "T2 T3 --jobs 1 --repair 0", "burdens-later");
    assert_eq!(exit, 0, "{result}");
    assert!(workspace.path("made").exists(), "{result}");
    assert!(statuses(&workspace).contains("T3 done"), "{result}");
}

#[test]
fn criteria_of_later_tasks_count_when_killed_run_is_resumed() {
    let workspace = plan_epic();
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    let how = "lightens-later-and-hangs";
    let resumed = kill_and_resume(
        &workspace,
        "T2 T3 --jobs 1 --repair 0",
        how,
        ".played/hangs",
    );
    let missing = task(&resumed["result"], "T3")["violations"].to_string();
    assert!(missing.contains("E_CRITERION_OPEN"), "{resumed}");
    assert!(
        missing.contains("`false`, from the start of the run"),
        "{missing}"
    );
    assert!(
        missing.contains("begin a new run (`cleo run T3`)"),
        "{missing}"
    );
    assert!(!statuses(&workspace).contains("T3 done"), "{resumed}");
}

#[test]
fn agent_completes_no_later_task_and_no_epic_of_its_run() {
    let workspace = plan_epic();
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    let (exit, result) = run(
        &workspace,
        "--epic T1 --jobs 1 --repair 0",
        "completes-others",
    );
    let answers = workspace.read(".played/others");
    let refused = answers.matches("E_STATUS_REFUSED").count();
    assert_eq!(refused, 2, "by force: {answers}");
    assert!(answers.contains("completes T5 once"), "{answers}");
    assert_eq!(exit, 81, "{result}");
    let later = task(&result, "T3");
    assert_eq!(later["attempts"], 1, "{later}");
    let statuses = statuses(&workspace);
    assert!(
        statuses.contains("T1 pending") && statuses.contains("T3 pending"),
        "{statuses}"
    );
    assert_eq!(task(&result, "T5")["attempts"], 1, "{result}");
}

#[test]
fn commands_of_run_complete_none_of_its_tasks() {
    let workspace = plan_epic();
    workspace.write(
        "check.sh",
        "cleo complete T3 --force >.played/forged 2>&1; true",
    );
    workspace.ok("update T2 --acceptance 'It holds :: sh check.sh'");
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    expect_exit(run(&workspace, "T2 T3 --repair 0", "works"), 81);
    let forged = workspace.read(".played/forged");
    assert!(forged.contains("E_STATUS_REFUSED"), "{forged}");
    assert!(statuses(&workspace).contains("T3 pending"));
}

#[test]
fn commands_of_run_take_away_nothing_that_proves_its_tasks() {
    let workspace = plan_epic();
    let tried = [
        (6, "update T3 --clear acceptance"),
        (35, "claim T3"),
        (35, "claim T4 --force"),
    ];
    let commands = tried.map(|(_, words)| format!("cleo {words} >/dev/null 2>&1; echo $?\n"));
    let script = format!("{{\n{}}} >.played/exits\ntrue\n", commands.concat());
    workspace.write("check.sh", script);
    workspace.ok("update T2 --acceptance 'It holds :: sh check.sh'");
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    let (exit, result) = run(&workspace, "T2 T3 T4 --repair 0", "works");
    assert_eq!(exit, 81, "{result}");
    let expected = tried.map(|(exit, _)| format!("{exit}\n")).concat();
    assert_eq!(workspace.read(".played/exits"), expected);
    assert!(statuses(&workspace).contains("T3 pending"));
}

#[test]
fn agent_of_run_takes_no_task_from_run_or_another_agent() {
    let workspace = plan_epic();
    workspace.ok("add Beside");
    workspace.ok("add Aside");
    expect_exit(run(&workspace, "T2 T3 T6 --jobs 2", "meddles"), 0);
    let refused = "35 claim T3\n35 start T3\n35 spawn T6 --again\n35 update T6 --title x\n35 add Odd --parent T6\n35 release T6\n6 cancel T6\n6 complete T7 --force\n";
    let own = "0 add Part --parent T2\n35 update T8 --parent T6\n0 start T8\n0 complete T8\n";
    assert_eq!(workspace.read(".played/meddled"), [refused, own].concat());
    let statuses = statuses(&workspace);
    assert!(statuses.contains("T7 pending") && statuses.contains("T8 done"));
}

#[test]
fn agent_of_run_keeps_the_name_of_the_run() {
    let workspace = plan_epic();
    workspace.ok("add Aside --acceptance 'It holds :: false'");
    workspace.ok("claim T6");
    let names = [
        "CLEO_AGENT=$CLEO_RUN_ID/sub",
        "CLEO_AGENT=ada",
        "CLEO_AGENT=tester",
    ];
    let tried = names.map(|name| {
        format!(
            "{name} cleo complete T6 --force; echo $?; {name} cleo release T6; echo $?
             {name} cleo release T6 --force; echo $?\n"
        )
    });
    workspace.write("try.sh", tried.concat());
    let command = format!("sh -c 'sh try.sh >tried 2>/dev/null; exec sh $0 works' {AGENT}");
    let words = ["run", "T2", "--command", &command];
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 0, "{reply}");
    let tried = workspace.read("tried");
    let exits = tried.lines().filter(|line| !line.starts_with('{'));
    assert_eq!(
        exits.collect::<Vec<_>>(),
        ["6", "35", "35"].repeat(3),
        "{tried}"
    );
    assert!(statuses(&workspace).contains("T6 active"));
}

#[test]
fn agent_of_nested_run_completes_no_task_of_outer_run() {
    let workspace = plan_epic();
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    workspace.ok("add Aside");
    expect_exit(
        run(&workspace, "T2 T3 --jobs 1 --repair 0", "completes-nested"),
        81,
    );
    let answer = workspace.read(".played/nested");
    assert!(answer.contains("E_STATUS_REFUSED"), "{answer}");
    assert!(statuses(&workspace).contains("T3 pending"));
}

#[test]
fn forced_completion_by_others_stays_and_proves_nothing() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2", "is-overruled"), 80);
    let failed = task(&result, "T2");
    assert_fields(
        failed,
        json!({"outcome": "protocol_violation", "attempts": 1}),
    );
    says(&failed["reason"], "completed by force by alice");
    assert!(statuses(&workspace).contains("T2 done"));
}

#[test]
fn completion_forced_before_task_begins_does_not_count() {
    let workspace = plan_epic();
    workspace.ok("update T3 --acceptance 'It holds :: false'");
    let other = "env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice";
    let forces = format!("[ $CLEO_TASK_ID = T2 ] && {other} cleo complete T3 --force >/dev/null");
    let command = format!("sh -c '{forces}; exec sh $0 works' {AGENT}");
    let words = ["run", "T2", "T3", "--jobs", "1", "--command", &command];
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 81, "{reply}");
    let result = &document(&reply)["result"];
    assert_eq!(task(result, "T2")["state"], "done", "{result}");
    let forced = task(result, "T3");
    assert_fields(forced, json!({"state": "failed", "attempts": 0}));
    says(
        &forced["reason"],
        "completed elsewhere without proof, which does not count",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_agent_hides_ends_with_run() {
    let workspace = plan_epic();
    expect_exit(run(&workspace, "--epic T1 --jobs 4", "hides"), 0);
    let hidden = workspace.read(".played/hidden");
    assert_eq!(hidden.lines().count(), 4);
    for process in hidden.lines() {
        assert!(!Path::new(&format!("/proc/{process}")).exists(), "{hidden}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_agent_hides_ends_with_older_commands() {
    let workspace = TestWorkspace::new();
    let gate = ": >gate; until [ -e go ]; do sleep 0.02; done";
    workspace.ok(&format!("add A --acceptance 'ok :: sh -c \"{gate}\"'"));
    workspace.ok("add B");
    // The agent of T2 begins to hide something while the command of T1 runs, and ends before it.
    let how = "sh -c '[ $CLEO_TASK_ID = T1 ] && exec sh $0 works; until [ -e gate ]; do sleep 0.02; done; exec sh $0 hides'";
    let command = format!("{how} {AGENT}");
    let words = ["run", "T1", "T2", "--repair", "0", "--command", &command];
    let mut child = workspace.command(&words).spawn().unwrap();
    while !statuses(&workspace).contains("T2 done") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    workspace.write("go", "");
    // The proof of the command is stale, because the other task changed files.
    assert_eq!(child.wait().unwrap().code(), Some(81));
    let hidden = workspace.read(".played/hidden");
    let process = format!("/proc/{}", hidden.trim());
    assert!(!Path::new(&process).exists(), "{process}");
}

#[test]
fn what_waits_for_failed_task_is_not_begun() {
    let workspace = plan_epic();
    workspace.ok("add 'Something else' --parent T1");
    let how = "sh -c 'case $CLEO_TASK_ID in T3) how=lies;; *) how=works;; esac; exec sh $0 $how'";
    let command = format!("{how} {AGENT}");
    let words = [
        "run",
        "--epic",
        "T1",
        "--repair",
        "0",
        "--command",
        &command,
    ];
    let reply = workspace.finish(workspace.command(&words), "");
    let answer = document(&reply);
    assert_eq!(reply.exit, 81, "{reply}");
    let result = &answer["result"];
    assert_eq!(task(result, "T3")["state"], "failed");
    assert_eq!(task(result, "T4")["state"], "skipped");
    for done in ["T2", "T5", "T6"] {
        assert_eq!(task(result, done)["state"], "done", "{done}");
    }
    assert_eq!(answer["error"]["code"], "E_STEPS_FAILED");
}

#[test]
fn tasks_that_wait_for_files_of_failed_one_begin() {
    // The second try often ends at the moment at which the others are looked at again.
    for repairs in ["0", "1"] {
        let workspace = TestWorkspace::new();
        for title in ["One", "Two", "Three"] {
            workspace.ok(&format!("add {title} --file shared.txt"));
        }
        let how =
            "sh -c 'case $CLEO_TASK_ID in T1) how=lies;; *) how=works;; esac; exec sh $0 $how'";
        let command = format!("{how} {AGENT}");
        let line = format!("run T1 T2 T3 --repair {repairs} --jobs 3 --command");
        let words = line.split(' ').chain([command.as_str()]);
        let words: Vec<&str> = words.collect();
        let reply = workspace.finish(workspace.command(&words), "");
        let result = &document(&reply)["result"];
        let states = ["T1", "T2", "T3"].map(|id| task(result, id)["state"].clone());
        assert_eq!(states, ["failed", "done", "done"], "{reply}");
    }
}

#[test]
fn middle_of_diamond_is_worked_on_side_by_side() {
    let workspace = plan_epic();
    // T3 and T5 only end when both have begun.
    let how =
        "sh -c 'case $CLEO_TASK_ID in T3|T5) exec sh $0 meets T3 T5;; *) exec sh $0 works;; esac'";
    let command = format!("{how} {AGENT}");
    let words = [
        "run",
        "--epic",
        "T1",
        "--jobs",
        "2",
        "--task-time-limit",
        "60s",
        "--command",
        &command,
    ];
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 0, "{reply}");
}

#[test]
fn dry_run_of_epic_keeps_same_files_apart() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole --type epic");
    for title in ["Second", "First"] {
        workspace.ok(&format!("add {title} --parent T1 --file src/a.rs"));
    }
    workspace.ok("update T2 --depends T3");
    workspace.ok("add Third --parent T1 --file src/a.rs");
    let rehearsed = workspace.result("run --epic T1 --dry-run --command true");
    let tasks = rehearsed["tasks"].as_array().unwrap().iter();
    let waves: Vec<(&str, &Value)> = tasks
        .map(|task| (task["taskId"].as_str().unwrap(), &task["wave"]))
        .collect();
    let wave = |task: &str| waves.iter().find(|(id, _)| *id == task).unwrap().1;
    assert_ne!(wave("T3"), wave("T4"), "{waves:?}");
    assert_ne!(wave("T2"), wave("T4"), "{waves:?}");
}

#[test]
fn tasks_with_same_files_run_in_order() {
    let workspace = TestWorkspace::new();
    for title in ["One", "Two", "Three"] {
        workspace.ok(&format!("add {title} --file src/a.rs"));
    }
    let planned = workspace.result("run T1 T2 T3 --dry-run --command true")["tasks"].clone();
    for (at, before) in [json!(null), json!(["T1"]), json!(["T1", "T2"])]
        .iter()
        .enumerate()
    {
        assert_eq!(planned[at]["wave"], at, "{planned}");
        assert_eq!(planned[at]["sharesFiles"], *before, "{planned}");
    }
    expect_exit(run(&workspace, "T1 T2 T3 --jobs 3", "slowly"), 0);
    let mut open = 0;
    for event in events(&workspace) {
        open += match event["type"].as_str().unwrap() {
            "task.started" => 1,
            "task.completed" => -1,
            _ => 0,
        };
        assert!(open <= 1, "two at a time");
    }
}

#[test]
fn missing_variable_names_option_that_passes_it() {
    let workspace = plan_epic().env("SERVICE_TOKEN", "x");
    let command = r#"sh -c ': "${SERVICE_TOKEN:?is not set}"'"#;
    for (more, is_told) in [("", true), (" --pass-env SERVICE_TOKEN", false)] {
        let line = format!("run T2 --repair 0{more} --command");
        let words: Vec<&str> = line.split(' ').chain([command]).collect();
        let reply = workspace.finish(workspace.command(&words), "");
        let hint = "pass it with --pass-env SERVICE_TOKEN";
        assert_eq!(reply.stdout.contains(hint), is_told, "{reply}");
    }
}

#[test]
fn agent_gets_its_task_in_env_and_repair() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2", "shows"), 0);
    let environment = workspace.read(".played/environment");
    let id = result["run"]["id"].as_str().unwrap();
    for line in [
        "CLEO_TASK_ID=T2".to_string(),
        format!("CLEO_RUN_ID={id}"),
        "CLEO_EPOCH=1".to_string(),
        "CLEO_DEPTH=1".to_string(),
        format!("CLEO_ROOT={}", workspace.root().display()),
    ] {
        assert!(
            environment.lines().any(|there| there == line),
            "{line} in {environment}"
        );
    }
    for name in ["CLEO_MANIFEST_ID=", "CLEO_OUTPUT_FILE=/", "TRACEPARENT=00-"] {
        assert!(
            environment.lines().any(|line| line.starts_with(name)),
            "{name}"
        );
    }
    let (first, second) = (
        workspace.read(".played/prompt-1"),
        workspace.read(".played/prompt-2"),
    );
    assert!(first.contains("SUBAGENT PROTOCOL") && !first.contains("This is missing"));
    let (task, block) = first.split_at(first.rfind("<!-- BEGIN").unwrap());
    assert!(
        second.starts_with(task.trim_end()) && second.ends_with(block),
        "the whole prompt again"
    );
    assert!(second.contains("This is missing:") && second.contains("the manifest has no entry"));
}

#[test]
fn late_writer_is_refused() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2", "late"), 80);
    assert_eq!(task(&result, "T2")["outcome"], "cancelled");
    let late = workspace.read(".played/late");
    assert!(
        late.contains("E_CLAIM_LOST") && late.ends_with("35\n"),
        "{late}"
    );
    let shown = workspace.ask("show T2");
    assert_eq!(shown["result"]["claim"]["holder"], "other", "{shown}");
}

#[test]
fn task_that_is_taken_away_ends_its_agent_before_run_ends() {
    let workspace = plan_epic();
    let (exit, result) = run(&workspace, "T2", "clings");
    assert_eq!(
        (exit, &task(&result, "T2")["outcome"]),
        (80, &Value::from("cancelled"))
    );
    let summary = &result["summary"];
    assert!(
        summary["failed"] == 0 && summary["cancelled"] == 1,
        "{summary}"
    );
    let agent = workspace.read(".played/clings");
    assert!(
        !Path::new(&format!("/proc/{}", agent.trim())).exists(),
        "it outlived the run"
    );
    let kinds = events(&workspace);
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let at = |kind: &str| kinds.iter().position(|one| *one == kind).unwrap();
    assert!(at("agent.ended") < at("task.failed"), "{kinds:?}");
}

#[test]
fn agent_may_keep_running_after_it_completed_its_task() {
    let workspace = plan_epic();
    expect_exit(run(&workspace, "T2", "completes-and-stays"), 0);
    assert_eq!(workspace.read(".played/stayed"), "to the end\n");
}

#[test]
fn agents_do_not_outlive_a_run_that_cannot_go_on() {
    let workspace = plan_epic();
    let mut command = workspace.command(&play_command("T2 T3", "hangs"));
    let child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !workspace.path(".played/T2").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = id_of_the_run(&workspace);
    let database = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let parts = "SELECT group_concat(sql, ';') FROM sqlite_schema WHERE tbl_name = 'events'";
    let parts: String = database.query_row(parts, (), |row| row.get(0)).unwrap();
    database
        .execute_batch("ALTER TABLE events RENAME TO gone")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    // Renamed back, the table would not be written as cleo writes it.
    let again = format!("DROP TABLE gone; {parts}");
    database.execute_batch(&again).unwrap();
    assert!(!output.status.success());
    assert!(!is_anybody_left(&workspace, &id));
    assert!(statuses(&workspace).contains("T2 pending"), "given back");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let resume = format!("cleo runs resume {id}");
    assert!(
        answer["error"]["alternatives"]
            .to_string()
            .contains(&resume),
        "{answer}"
    );
}

#[test]
fn commands_of_task_end_with_time_of_run() {
    let workspace = plan_epic();
    workspace.ok("update T2 --acceptance 'It holds :: sh -c \"echo $$ >checking; sleep 600\"'");
    expect_exit(run(&workspace, "T2 --time-limit 2s", "works"), 124);
    let command = workspace.read("checking");
    assert!(!Path::new(&format!("/proc/{}", command.trim())).exists());
    assert!(statuses(&workspace).contains("T2 pending"));
}

#[test]
fn agent_that_time_of_run_ends_has_run_out_of_time() {
    let workspace = plan_epic();
    let result = expect_exit(run(&workspace, "T2 --time-limit 1s", "hangs"), 124);
    let ended = task(&result, "T2");
    assert_eq!(ended["outcome"], "timeout", "{ended}");
    says(&ended["reason"], "the run took too long");
    assert_eq!(result["summary"]["cancelled"], 0, "{result}");
}

#[test]
fn what_run_writes_goes_through_no_link_that_agent_planted() {
    let workspace = plan_epic();
    workspace.write("precious", "mine");
    expect_exit(run(&workspace, "T2", "plants"), 0);
    assert_eq!(workspace.read("precious"), "mine");
}

/// Gives a workspace a claude that works for so many dollars.
fn with_claude(workspace: TestWorkspace, cost: &str) -> TestWorkspace {
    let claude = workspace.path("claude");
    let done = r#"{"type":"result","subtype":"success","is_error":false,"result":"Task complete. See MANIFEST.jsonl for summary.","total_cost_usd":COST}"#;
    let script = format!(
        "#!/bin/sh\necho \"$@\" >>{}\nsh {AGENT} works\necho '{}'\n",
        workspace.path("called").display(),
        done.replace("COST", cost)
    );
    workspace.write("claude", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&claude, mode).unwrap();
    let programs = format!("claude={}", claude.display());
    workspace.env("CLEO_RUNNERS_PROGRAMS", &programs)
}

#[test]
fn agents_side_by_side_share_budget() {
    let workspace = TestWorkspace::new();
    for title in ["One", "Two", "Three", "Four"] {
        workspace.ok(&format!("add {title}"));
    }
    let workspace = with_claude(workspace, "0.6");
    let line = "run --all-ready --jobs 4 --runner claude --max-cost 1";
    let words: Vec<&str> = line.split(' ').collect();
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 81, "{reply}");
    assert_eq!(workspace.read("called").lines().count(), 2, "{reply}");
    assert_eq!(document(&reply)["result"]["run"]["cost"], 1.2, "{reply}");
}

#[test]
fn agent_budget_is_limited_to_what_run_has_left() {
    let workspace = with_claude(plan_epic(), "0.4");
    let words = [
        "run",
        "--epic",
        "T1",
        "--jobs",
        "1",
        "--runner",
        "claude",
        "--max-cost",
        "1",
    ];
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 81, "{reply}");
    let calls = workspace.read("called");
    let budgets = calls.lines().map(|call| {
        let word = call
            .split(' ')
            .find_map(|word| word.strip_prefix("--max-budget-usd="));
        format!("{:.1}", word.unwrap().parse::<f64>().unwrap())
    });
    let budgets: Vec<String> = budgets.collect();
    assert_eq!(budgets, ["1.0", "0.6", "0.2"]);
}

/// Plays a claude that lies twice, and counts on what its conversation costs and uses.
const LIES_TWICE: &str = r#"#!/bin/sh
echo "$@" >>CALLED
n=$(($(wc -l <CALLED)))
[ "$n" -lt 3 ] || sh AGENT works >&2
cat <<END
{"type":"system","session_id":"s1"}
{"type":"result","subtype":"success","is_error":false,"result":"Task complete. See MANIFEST.jsonl for summary.","total_cost_usd":$n,"modelUsage":{"m":{"inputTokens":$((n * 90)),"outputTokens":$((n * 10))}}}
END
"#;

/// A workspace whose claude plays that.
fn lie_twice() -> TestWorkspace {
    let workspace = plan_epic();
    let (claude, called) = (workspace.path("claude"), workspace.path("called"));
    let script = LIES_TWICE.replace("CALLED", &called.display().to_string());
    workspace.write("claude", script.replace("AGENT", AGENT));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&claude, mode).unwrap();
    let programs = format!("claude={}", claude.display());
    workspace.env("CLEO_RUNNERS_PROGRAMS", &programs)
}

#[test]
fn failed_check_is_told_with_exit_code_and_last_lines() {
    let check = "sh -c 'echo \"no module\"; exit 3'";
    let line = format!("It holds :: {check}");
    let criterion = [&["update", "T2", "--acceptance", &line][..]];
    let gate = [
        &["verify", "T2", "--gate", "implemented", "--run", check][..],
        &["update", "T2", "--require-gate", "implemented"],
    ];
    for setup in [&criterion[..], &gate] {
        let workspace = plan_epic();
        setup.iter().for_each(|words| drop(workspace.json(words)));
        let how = "exited with 3\n    no module";
        let result = expect_exit(run(&workspace, "T2 --repair 1", "listens"), 80);
        let failed = task(&result, "T2");
        assert_fields(failed, json!({"outcome": "check_failed", "attempts": 2}));
        says(&failed["violations"][0], check);
        says(&failed["violations"][0], how);
        let prompt = workspace.read(".played/prompt-2");
        assert!(prompt.contains(&format!("{check}` {how}")), "{prompt}");
        workspace.ok("verify prompt .played/prompt-2 --strict");
        let shown = workspace.ok(&format!(
            "runs show {} --format text",
            id_of_the_run(&workspace)
        ));
        assert!(
            shown.stdout.contains("exited with 3\n      no module"),
            "{shown}"
        );
        let refused: Value = serde_json::from_str(&workspace.read(".played/completed")).unwrap();
        says(&refused["error"], how);
    }
}

#[test]
fn repairs_do_not_count_earlier_conversation_cost_again() {
    let workspace = lie_twice();
    let words = "run T2 --runner claude --repair 2 --max-cost 4";
    let words: Vec<&str> = words.split(' ').collect();
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 0, "{reply}");
    let answer = document(&reply);
    let done = task(&answer["result"], "T2");
    assert_fields(done, json!({"attempts": 3, "cost": 3.0}));
    assert_eq!(done["usage"]["totalTokens"], 300);
    assert_eq!(answer["result"]["run"]["cost"], 3.0);
    let calls = workspace.read("called");
    let is_told = |call: &str| call.split(' ').any(|word| word == "--max-budget-usd=4");
    assert!(calls.lines().all(is_told), "as claude counts: {calls}");
}

#[test]
fn a_run_that_has_spent_its_money_goes_on_with_more() {
    let workspace = lie_twice();
    let words = "run T2 --runner claude --repair 1 --max-cost 1";
    let words: Vec<&str> = words.split(' ').collect();
    let reply = workspace.finish(workspace.command(&words), "");
    let id = id_of_the_run(&workspace);
    let more = format!("cleo runs resume {id} --max-cost 1");
    assert_eq!(document(&reply)["error"]["fix"], more, "{reply}");
    let resumed = workspace.json(&["runs", "resume", &id]);
    let failed = task(&resumed["result"], "T2");
    assert_fields(
        failed,
        json!({"state": "failed", "outcome": "protocol_violation", "attempts": 1}),
    );
    assert_eq!(resumed["error"]["fix"], more, "{resumed}");
    let resumed = workspace.json(&["runs", "resume", &id, "--max-cost", "5"]);
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(resumed["result"]["run"]["cost"], 3.0);
    let last = workspace.read("called").lines().last().map(String::from);
    let is_told = |call: String| call.split(' ').any(|word| word == "--max-budget-usd=6");
    assert!(last.is_some_and(is_told), "1 of before, 5 of the rest");
}

#[test]
fn raised_cost_limit_is_shown_with_resume_command() {
    let workspace = lie_twice();
    let words = "run T2 --runner claude --repair 1 --max-cost 1";
    let words: Vec<&str> = words.split(' ').collect();
    workspace.finish(workspace.command(&words), "");
    let id = id_of_the_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id, "--max-cost", "0.5"]);
    let more = format!("cleo runs resume {id} --max-cost 0.5");
    assert_eq!(resumed["error"]["fix"], more, "not what all may cost");
    let shown = workspace.text(&format!("runs show {id}"), "");
    assert!(shown.stdout.contains(&more), "{shown}");
}

#[test]
fn run_is_not_begun_for_no_money() {
    let workspace = plan_epic();
    for amount in ["0", "-1", "NaN"] {
        for command in ["run T2", "runs resume run_1"] {
            let line = format!("{command} --max-cost={amount}");
            workspace.fails(&line, "E_USAGE");
        }
    }
}

#[test]
fn cancelled_task_is_no_failure_of_resumed_run() {
    let workspace = plan_epic();
    workspace.ok("add Other");
    let (_, result) = run(
        &workspace,
        "T2 T6 --jobs 1 --fail-fast --repair 0",
        "crashes",
    );
    let tasks = result["tasks"].as_array().unwrap();
    let failed = tasks.iter().find(|task| task["state"] == "failed").unwrap();
    let failed = failed["taskId"].as_str().unwrap();
    workspace.ok(&format!("cancel {failed}"));
    let resumed = workspace.json(&["runs", "resume", &id_of_the_run(&workspace)]);
    let left = task(&resumed["result"], failed);
    assert_eq!(left["state"], "skipped", "{resumed}");
    says(&left["reason"], "cancelled");
    let other = if failed == "T2" { "T6" } else { "T2" };
    assert_eq!(task(&resumed["result"], other)["attempts"], 1, "{resumed}");
}

#[test]
fn agent_that_was_not_allowed_what_it_needed_is_told_so() {
    let workspace = plan_epic();
    let claude = workspace.path("claude");
    let done = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","permission_denials":[{"tool_name":"Write"}]}"#;
    workspace.write("claude", format!("#!/bin/sh\necho '{done}'\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&claude, mode).unwrap();
    let programs = format!("claude={}", claude.display());
    let workspace = workspace.env("CLEO_RUNNERS_PROGRAMS", &programs);
    let words = ["run", "T2", "--runner", "claude"];
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 80, "{reply}");
    let answer = document(&reply);
    let failed = task(&answer["result"], "T2");
    assert_fields(failed, json!({"outcome": "permission", "attempts": 2}));
    assert_eq!(failed["reason"], "it was not allowed: Write");
}

#[test]
fn flood_of_output_does_no_harm() {
    let workspace = plan_epic();
    expect_exit(run(&workspace, "T2", "talks"), 0);
    let events = events(&workspace);
    let longest = events
        .iter()
        .map(|event| event.to_string().len())
        .max()
        .unwrap();
    assert!(longest < 20_000, "{longest}");
}

#[test]
fn runs_within_runs_have_bound() {
    let workspace = plan_epic().env("CLEO_DEPTH", "3");
    let refused = workspace.json(&play_command("T2", "works"));
    assert_eq!(refused["error"]["code"], "E_RUN_NESTED", "{refused}");
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_done() {
    let workspace = plan_epic();
    for (words, code) in [
        (vec!["run", "T99", "--command", "true"], "E_TASK_NOT_FOUND"),
        (
            vec!["run", "T2", "--command", "agent 'x"],
            "E_INPUT_INVALID",
        ),
        (vec!["run", "T2"], "E_PROGRAM_MISSING"),
        (vec!["run", "T2", "--runner", "cluade"], "E_INPUT_INVALID"),
        (
            vec!["run", "T2", "--command", "no-such-program"],
            "E_PROGRAM_MISSING",
        ),
        (
            vec!["run", "T2", "--command", "x", "--runner", "claude"],
            "E_USAGE",
        ),
        (vec!["run", "T2", "--command"], "E_USAGE"),
        (vec!["run", "--command", "x"], "E_USAGE"),
    ] {
        workspace.expect_refusal(&words, code);
    }
}

#[test]
fn missing_command_of_runner_is_refused() {
    let workspace = plan_epic();
    for (line, code) in [
        ("run T2 --jobs 2 --runner command", "E_USAGE"),
        ("run --epic T1 --command ''", "E_INPUT_INVALID"),
        ("run --runner command -- T2", "E_USAGE"),
    ] {
        let words = shlex::split(line).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let error = workspace.expect_refusal(&words, code);
        assert_eq!(error["alternatives"][0]["command"], "cleo run --help");
    }
    let workspace = workspace.env("CLEO_RUNNERS_DEFAULT", "command");
    let error = workspace.refuse("run T2", "E_USAGE");
    says(&error, "set `runners.command`");
}

#[test]
fn invalid_run_setting_in_variable_names_variable() {
    for (variable, value, by) in [
        ("CLEO_RUNNERS_DEFAULT", "nobody", ["--command", "true"]),
        ("CLEO_RUNNERS_BY_SKILL", "nonsense", ["--command", "true"]),
        ("CLEO_RUNNERS_BY_TIER", "nonsense", ["--command", "true"]),
        ("CLEO_RUNNERS_PROGRAMS", "nonsense", ["--command", "true"]),
        ("CLEO_RUN_RUNNER_JOBS", "nonsense", ["--command", "true"]),
        ("CLEO_RUNNERS_COMMAND", "'open", ["--runner", "command"]),
    ] {
        let workspace = plan_epic().env(variable, value);
        let error = workspace.expect_refusal(&["run", "T2", by[0], by[1]], "E_CONFIG_INVALID");
        assert_eq!(error["fix"], format!("unset {variable}"));
    }
}

#[test]
fn events_are_stream_that_ends_with_result() {
    let workspace = plan_epic();
    let mut words = play_command("T2", "works");
    words.extend(["--format".to_string(), "ndjson".to_string()]);
    let reply = workspace.finish(workspace.command(&words), "");
    let lines = reply.documents();
    let (last, told) = lines.split_last().unwrap();
    assert_eq!(told, events(&workspace));
    assert_eq!(told.last().unwrap()["type"], "run.finished");
    assert_eq!(last["result"]["summary"]["done"], 1);
}

#[test]
fn criteria_with_commands_are_run_before_task_is_done() {
    let workspace = plan_epic();
    workspace.ok("update T2 --acceptance 'There is a proof :: test -e proof'");
    let result = expect_exit(run(&workspace, "T2 --repair 0", "works"), 80);
    assert!(
        task(&result, "T2")["violations"]
            .to_string()
            .contains("E_CRITERION_OPEN"),
        "{result}"
    );
    workspace.write("proof", "");
    expect_exit(run(&workspace, "T2 --repair 0", "works"), 0);
}

/// Returns a plan whose T2 was verified, though the run of its agent failed.
fn verify_failed_task() -> TestWorkspace {
    let workspace = plan_epic();
    workspace.ok("update T2 --acceptance 'There is a proof :: test -e proof'");
    expect_exit(run(&workspace, "T2 --repair 0", "works"), 80);
    workspace.write("proof", "");
    workspace.ok("verify output T2");
    workspace.ok("verify T2 --run-all");
    workspace
}

#[test]
fn verified_work_is_completed_without_another_agent() {
    let workspace = verify_failed_task();
    workspace.ok("update T2 --status blocked");
    expect_exit(run(&workspace, "T2", "works"), 81);
    workspace.ok("update T2 --status pending");
    workspace.ok("update T2 --note 'Fine, says the reviewer'");
    let result = expect_exit(run(&workspace, "T2", "works"), 0);
    assert_eq!(task(&result, "T2")["attempts"], 0, "{result}");
    // Opened again, the task is not done by what was there.
    workspace.ok("reopen T2");
    let result = expect_exit(run(&workspace, "T2", "works"), 0);
    assert_eq!(task(&result, "T2")["attempts"], 1, "{result}");
}

#[test]
fn stale_proof_is_taken_again_before_an_agent() {
    let workspace = verify_failed_task();
    workspace.write("beside", "It makes the proof stale.");
    let planned = workspace.result("run T2 --dry-run --command true");
    says(
        &planned["tasks"][0]["earlierWork"],
        "its commands run before",
    );
    let result = expect_exit(run(&workspace, "T2", "works"), 0);
    assert_eq!(task(&result, "T2")["attempts"], 0, "{result}");
}

#[test]
fn proof_in_words_that_is_stale_holds_the_task() {
    let workspace = plan_epic();
    expect_exit(run(&workspace, "T2", "works"), 0);
    workspace.ok("update T2 --acceptance 'It reads well'");
    workspace.ok("verify T2 --accept 1 --note 'I read it'");
    // Not a change of what was wanted.
    workspace.change_database("UPDATE tasks SET status = 'pending' WHERE number = 2");
    workspace.ok("update T2 --note checked");
    workspace.write("beside", "It makes the proof stale.");
    let planned = workspace.result("run T2 --dry-run --command true");
    let (exit, result) = run(&workspace, "T2", "works");
    assert_eq!((exit, &task(&result, "T2")["attempts"]), (81, &json!(0)));
    says(&task(&result, "T2")["reason"], "stale proof: criterion 1");
    assert_eq!(
        planned["tasks"][0]["earlierWork"],
        task(&result, "T2")["reason"]
    );
}

/// Has the agent of T2 run lines in a shell, and returns what each says.
fn try_as_agent(workspace: &TestWorkspace, lines: &[&str]) -> String {
    let tried = lines
        .iter()
        .map(|line| format!("{line} --format text >>tried 2>&1\n"));
    workspace.write("agent.sh", tried.collect::<String>());
    let words = ["run", "T2", "--command", "sh agent.sh", "--repair", "0"];
    workspace.json(&words);
    workspace.read("tried")
}

#[test]
fn agent_of_run_moves_and_frees_no_other_task() {
    let workspace = plan_epic();
    workspace.ok("add Aside");
    let tried = try_as_agent(
        &workspace,
        &[
            "cleo spawn T3",
            "cleo update T3 --status blocked",
            "cleo update T3 --remove-depends T2",
            "cleo update T6 --depends T3",
            "cleo add Part --parent T2 --quiet",
            "cleo update T7 --status paused --quiet",
        ],
    );
    let why = "an agent of a run works only on its own task and its parts, not on T";
    insta::assert_snapshot!(tried.replace(why, "[…]"), @"
    error[E_STATUS_REFUSED]: […]3: its holder may, or a person
      try: cleo show T3
    error[E_STATUS_REFUSED]: […]3: its holder may, or a person
      try: cleo show T3
    error[E_STATUS_REFUSED]: […]3: its holder may, or a person
      try: cleo show T3
    error[E_STATUS_REFUSED]: […]6: its holder may, or a person
      try: cleo show T6
    Added T7 pending  Part
    Updated T7 paused  Part
    ");
    assert!(statuses(&workspace).contains("T3 pending, T4"));
}

#[test]
fn agent_of_run_acts_under_no_other_task() {
    let workspace = plan_epic();
    workspace.ok("add Aside");
    workspace.ok("claim T6");
    let tried = try_as_agent(
        &workspace,
        &[
            "CLEO_TASK_ID=T6 CLEO_EPOCH=1 cleo release T6",
            "CLEO_TASK_ID=T1 CLEO_EPOCH= cleo cancel T3",
            "CLEO_EPOCH=7 cleo verify T2",
        ],
    );
    insta::assert_snapshot!(tried, @"
    error[E_CONFIG_INVALID]: CLEO_TASK_ID is `T6`, and the run started this agent with `T2`
      try: export CLEO_TASK_ID=T2
    error[E_CONFIG_INVALID]: CLEO_TASK_ID is `T1`, and the run started this agent with `T2`
      try: export CLEO_TASK_ID=T2
    error[E_CONFIG_INVALID]: CLEO_EPOCH is `7`, and the run started this agent with `1`
      try: export CLEO_EPOCH=1
    ");
}

#[test]
fn verified_work_is_not_that_of_a_changed_task() {
    let workspace = verify_failed_task();
    workspace.ok("update T2 --description 'Do something else'");
    let result = expect_exit(run(&workspace, "T2", "works"), 0);
    assert_eq!(task(&result, "T2")["attempts"], 1, "{result}");
}

/// Says what somebody who looks at the run sees.
fn show_run(workspace: &TestWorkspace, id: &str) -> Value {
    workspace.json(&["runs", "show", id])["result"].clone()
}

fn id_of_the_run(workspace: &TestWorkspace) -> String {
    let listed = workspace.ask("runs list");
    listed["result"]["runs"][0]["id"]
        .as_str()
        .unwrap()
        .to_string()
}

/// Begins a run and returns it once it has come so far that this file is there.
fn begin(workspace: &TestWorkspace, what: &str, how: &str, file: &str) -> std::process::Child {
    let mut command = workspace.command(&play_command(what, how));
    let null = std::process::Stdio::null;
    let child = command
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn()
        .unwrap();
    while !Path::new(&workspace.path(file)).exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn two_runs_of_one_epic_share_work() {
    let workspace = plan_epic();
    let begin = || {
        let mut command = workspace.command(&play_command("--epic T1 --jobs 1", "slowly"));
        let piped = std::process::Stdio::piped;
        command.stdout(piped()).stderr(piped()).spawn().unwrap()
    };
    let runs = [begin(), begin()].map(|run| run.wait_with_output().unwrap());
    for run in &runs {
        assert!(run.status.success(), "{}", workspace.reply(run));
    }
    for task in ["T2", "T3", "T4", "T5"] {
        let played = workspace.read(&format!(".played/{task}"));
        assert_eq!(played.lines().count(), 1, "{task} was done once");
    }
}

#[test]
fn run_is_cancelled_from_another_process() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "--epic T1", "hangs", ".played/T2");
    let id = id_of_the_run(&workspace);
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(
        cancelled["result"]["run"]["status"], "cancelled",
        "{cancelled}"
    );
    let released = &cancelled["result"]["released"];
    assert_eq!(*released, serde_json::json!(["T2"]), "{cancelled}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(statuses(&workspace).contains("T2 pending"));
    let again = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(again["error"]["code"], "E_STATUS_REFUSED");
}

#[test]
fn run_is_cancelled_while_commands_of_task_are_run() {
    let workspace = plan_epic();
    workspace.ok("update T2 --acceptance 'It holds :: sh -c \"[ -e go ] || { echo $$ >checking; sleep 600; }\"'");
    let mut child = begin(&workspace, "T2", "works", "checking");
    let id = id_of_the_run(&workspace);
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(
        cancelled["result"]["run"]["status"], "cancelled",
        "{cancelled}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let command = workspace.read("checking");
    assert!(!Path::new(&format!("/proc/{}", command.trim())).exists());
    assert!(statuses(&workspace).contains("T2 pending"), "given back");
    workspace.write("go", "");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], true, "{resumed}");
}

#[test]
fn interrupted_run_gives_its_tasks_back_and_continues_later() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "--epic T1", "hangs", ".played/T2");
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let id = id_of_the_run(&workspace);
    assert_eq!(show_run(&workspace, &id)["run"]["status"], "interrupted");
    assert!(statuses(&workspace).contains("T2 pending"));
}

#[test]
fn what_killed_run_left_is_ended_and_run_continues() {
    let workspace = plan_epic();
    // The agent hangs at first and works when it is started again.
    let how = "sh -c 'sh $0 slowly; [ -e go ] || { : >hung; sleep 600; }'";
    let command = format!("{how} {AGENT}");
    let words = ["run", "--epic", "T1", "--command", &command];
    let mut child = workspace.command(&words);
    let mut child = child.stdout(std::process::Stdio::null()).spawn().unwrap();
    while !workspace.path("hung").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    workspace.write("go", "");
    let id = id_of_the_run(&workspace);
    assert_eq!(show_run(&workspace, &id)["run"]["status"], "interrupted");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    // The existing work verified, so it was not done again.
    assert_eq!(workspace.read(".played/T2").lines().count(), 1);
    assert_eq!(task(&resumed["result"], "T2")["attempts"], 1);
    assert!(!is_anybody_left(&workspace, &id));
}

/// The file that shows that the only run is alive.
fn sign_of_life(workspace: &TestWorkspace) -> PathBuf {
    let runs = fs::read_dir(workspace.path(".cleo/runs")).unwrap();
    let mut paths = runs.map(|entry| entry.unwrap().path());
    let found = paths.find(|path| path.extension().is_some_and(|it| it == "alive"));
    found.unwrap()
}

#[test]
fn killed_run_is_resumed_while_its_lock_is_held_for_moment() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "T2", "hangs-lies-works", ".played/hung");
    let id = id_of_the_run(&workspace);
    // A command that a process starts holds its files until it becomes another program.
    let lock = fs::File::open(sign_of_life(&workspace)).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    lock.lock().unwrap();
    let resumed = std::thread::scope(|scope| {
        let resuming = scope.spawn(|| workspace.json(&["runs", "resume", &id]));
        std::thread::sleep(std::time::Duration::from_millis(150));
        drop(lock);
        resuming.join().unwrap()
    });
    assert_eq!(resumed["success"], true, "{resumed}");
}

#[test]
fn process_whose_run_was_taken_over_stops() {
    let workspace = plan_epic();
    let words = play_command("T2", "hangs-lies-works");
    let mut first = workspace.command(&words);
    let first = first.stdout(std::process::Stdio::piped()).spawn().unwrap();
    while !workspace.path(".played/hung").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = id_of_the_run(&workspace);
    fs::remove_file(sign_of_life(&workspace)).unwrap();
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], true, "{resumed}");
    let lost = document(&workspace.reply(&first.wait_with_output().unwrap()));
    assert_eq!(lost["error"]["code"], "E_CLAIM_LOST", "{lost}");
    let again = show_run(&workspace, &id);
    for field in ["status", "completedAt", "executionTimeMs", "error"] {
        assert_eq!(again["run"][field], resumed["result"]["run"][field]);
    }
    assert!(statuses(&workspace).contains("T2 done"));
}

#[test]
fn time_of_killed_run_counts_when_it_continues() {
    let workspace = plan_epic();
    // The first task is completed, the second one hangs until the run is resumed.
    let how = "[ $CLEO_TASK_ID = T2 ] || [ -e go ] || { : >hung; exec sleep 600; }; sh $0 slowly";
    let command = format!("sh -c '{how}' {AGENT}");
    // With a fixed clock nothing takes any time.
    let timed = |words: &[&str]| {
        let mut command = workspace.command(words);
        command.env_remove("CLEO_NOW");
        command
    };
    let null = std::process::Stdio::null;
    let mut run = timed(&["run", "T2", "T3", "--command", &command]);
    let mut child = run.stdout(null()).stderr(null()).spawn().unwrap();
    while !workspace.path("hung").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    workspace.write("go", "");
    let id = id_of_the_run(&workspace);
    let told = workspace.json(&["runs", "logs", &id])["result"]["events"].clone();
    let own = told.as_array().unwrap().iter();
    let own = own.filter(|event| event["type"] != "run.interrupted");
    let times: Vec<&str> = own.map(|event| event["ts"].as_str().unwrap()).collect();
    let before = milliseconds_between(times[0], times[times.len() - 1]);
    assert!(before >= 50, "as long as the first one took: {told}");
    assert_eq!(show_run(&workspace, &id)["run"]["executionTimeMs"], before);
    let resume = timed(&["runs", "resume", &id]);
    let resumed = document(&workspace.finish(resume, ""))["result"].clone();
    assert_eq!(resumed["run"]["status"], "completed", "{resumed}");
    let all = resumed["run"]["executionTimeMs"].as_u64().unwrap();
    assert!(all >= before + 50, "and the second one: {resumed}");
}

/// Plays a program that fails at first, ENDS in another way when it resumes the conversation of
/// that attempt, and works the third time.
const FORGETS: &str = r#"#!/bin/sh
echo "$@" >>CALLED
n=$(($(wc -l <CALLED)))
[ "$n" -ne 2 ] || { ENDS; }
echo 'BEGIN'
[ "$n" -gt 1 ] || exit 1
cat >CALLED-prompt
sh AGENT works >&2
echo 'DONE'
"#;

const GEMINI: [&str; 3] = [
    "gemini",
    r#"{"type":"init","session_id":"s1"}
{"type":"message","role":"assistant","content":"I begin."}"#,
    r#"{"type":"message","role":"assistant","content":"Task complete. See MANIFEST.jsonl for summary."}
{"type":"result","status":"success","stats":{}}"#,
];
const CLAUDE: [&str; 3] = [
    "claude",
    r#"{"type":"system","session_id":"s1"}"#,
    r#"{"type":"result","subtype":"success","is_error":false,"result":"Task complete. See MANIFEST.jsonl for summary."}"#,
];

/// A workspace whose program plays that, and ends so the second time.
fn forgetting([name, begin, done]: [&str; 3], ends: &str) -> TestWorkspace {
    let workspace = plan_epic();
    let (program, called) = (workspace.path(name), workspace.path("called"));
    let script = FORGETS
        .replace("CALLED", &called.display().to_string())
        .replace("ENDS", ends)
        .replace("BEGIN", begin)
        .replace("DONE", done);
    workspace.write(name, script.replace("AGENT", AGENT));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let programs = format!("{name}={}", program.display());
    workspace.env("CLEO_RUNNERS_PROGRAMS", &programs)
}

/// Returns for each call of such a program whether it resumed a conversation.
fn list_resumed(workspace: &TestWorkspace) -> Vec<bool> {
    let calls = workspace.read("called");
    let calls = calls.lines();
    calls.map(|call| call.contains("--resume=")).collect()
}

/// Failures of programs that do not find the conversation to resume.
const GONE: [([&str; 3], &str, &str); 3] = [
    (
        GEMINI,
        "echo 'Error resuming session: No previous sessions found for this project.' >&2; exit 42",
        "No previous sessions found",
    ),
    (
        CLAUDE,
        "echo 'No conversation found with session ID: s1' >&2; exit 1",
        "No conversation found",
    ),
    (
        CLAUDE,
        r#"echo '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s2","num_turns":0,"errors":["No conversation found with session ID: s1"]}'; exit 1"#,
        "No conversation found",
    ),
];

#[test]
fn repair_starts_anew_if_its_conversation_is_gone() {
    for (program, ends, _) in GONE {
        let workspace = forgetting(program, ends);
        let reply = workspace.json(&["run", "T2", "--runner", program[0], "--repair", "2"]);
        let done = task(&reply["result"], "T2");
        assert_fields(done, json!({"state": "done", "attempts": 3}));
        assert_eq!(list_resumed(&workspace), [false, true, false], "{ends}");
        let prompt = workspace.read("called-prompt");
        let again = "\n## An earlier attempt\n\nThe work on T2 was checked and is not finished.";
        let (whole, missing) = prompt.split_once(again).unwrap();
        assert!(whole.contains("Research token refresh"), "{prompt}");
        assert!(missing.contains("- E_"), "{prompt}");
        workspace.ok("verify prompt called-prompt --strict");
    }
}

#[test]
fn run_whose_conversation_is_not_there_continues_with_new_one() {
    for (program, ends, why) in GONE {
        let workspace = forgetting(program, ends);
        let reply = workspace.json(&["run", "T2", "--runner", program[0], "--repair", "1"]);
        let failed = task(&reply["result"], "T2");
        assert_eq!(failed["outcome"], "agent_error", "{reply}");
        says(&failed["reason"], why);
        let again = workspace.json(&["runs", "resume", &id_of_the_run(&workspace)]);
        assert_eq!(again["result"]["run"]["status"], "completed", "{again}");
        assert_eq!(list_resumed(&workspace), [false, true, false], "{ends}");
    }
}

#[test]
fn continued_conversation_is_resumed_after_failure() {
    for (program, says) in [
        (
            GEMINI,
            r#"{"type":"message","role":"assistant","content":"I begin."}"#,
        ),
        (GEMINI, r#"{"type":"tool_use","tool_name":"write_file"}"#),
        (
            CLAUDE,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I begin."}]}}"#,
        ),
    ] {
        let workspace = forgetting(program, &format!("echo '{says}'; exit 1"));
        let reply = workspace.json(&["run", "T2", "--runner", program[0], "--repair", "2"]);
        assert_eq!(reply["success"], true, "{reply}");
        assert_eq!(list_resumed(&workspace), [false, true, true], "{says}");
    }
}

/// Plays a claude that uses something and never comes to an end.
const USES_AND_HANGS: &str = r#"#!/bin/sh
cat <<END
{"type":"system","session_id":"s1"}
{"type":"assistant","message":{"id":"m1","content":[],"usage":{"input_tokens":70,"output_tokens":5}}}
END
exec sleep 600
"#;

/// A workspace whose agents use something and never come to an end.
fn using_and_hanging() -> TestWorkspace {
    let workspace = plan_epic().with("claude", USES_AND_HANGS);
    let claude = workspace.path("claude");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&claude, mode).unwrap();
    workspace.env(
        "CLEO_RUNNERS_PROGRAMS",
        &format!("claude={}", claude.display()),
    )
}

/// Carries out T2 with a command that is killed once the agent of this try has told what it uses.
fn kill_after_use(workspace: &TestWorkspace, words: &[&str], attempt: usize) {
    let mut command = workspace.command(words);
    let null = std::process::Stdio::null;
    command.stdin(null()).stdout(null()).stderr(null());
    let mut child = command.spawn().unwrap();
    let is_kept = || {
        let runs = fs::read_dir(workspace.path(".cleo/runs")).into_iter();
        let mut runs = runs.flatten().flatten().map(|run| run.path());
        runs.any(|run| {
            let log = run.join(format!("T2-{attempt}.log"));
            let is_used = fs::read_to_string(log).is_ok_and(|log| log.contains("output_tokens"));
            let kinds = || {
                events(workspace)
                    .into_iter()
                    .map(|event| event["type"].clone())
            };
            is_used && kinds().filter(|kind| kind == "agent.conversation").count() >= attempt
        })
    };
    while !is_kept() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn usage_of_agents_counts_when_killed_run_is_cancelled() {
    let workspace = using_and_hanging();
    kill_after_use(&workspace, &["run", "T2", "--runner", "claude"], 1);
    let id = id_of_the_run(&workspace);
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    let run = &cancelled["result"]["run"];
    assert_eq!(run["usage"]["totalTokens"], 75, "{cancelled}");
    let shown = show_run(&workspace, &id);
    assert_eq!(task(&shown, "T2")["usage"]["totalTokens"], 75, "{shown}");
    assert_eq!(task(&shown, "T2")["outcome"], "cancelled");
    assert!(!is_anybody_left(&workspace, &id));
}

#[test]
fn usage_of_agents_counts_when_killed_run_is_resumed() {
    let workspace = using_and_hanging();
    kill_after_use(&workspace, &["run", "T2", "--runner", "claude"], 1);
    let id = id_of_the_run(&workspace);
    kill_after_use(&workspace, &["runs", "resume", &id], 2);
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    let run = &cancelled["result"]["run"];
    assert_eq!(run["usage"]["totalTokens"], 150, "{cancelled}");
    let shown = show_run(&workspace, &id);
    assert_eq!(task(&shown, "T2")["usage"]["totalTokens"], 150, "{shown}");
    assert_eq!(task(&shown, "T2")["attempts"], 2);
}

#[test]
fn cost_of_killed_agent_reduces_remaining_budget() {
    let workspace = using_and_hanging();
    let used = "{\"type\":\"assistant\"";
    let cost = "{\"type\":\"result\",\"total_cost_usd\":0.75}\n";
    let script = USES_AND_HANGS.replace(used, &format!("{cost}{used}"));
    workspace.write("claude", script);
    let run = ["run", "T2", "--runner", "claude", "--max-cost", "0.5"];
    kill_after_use(&workspace, &run, 1);
    let id = id_of_the_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["cost"], 0.75, "{resumed}");
    assert_eq!(task(&resumed["result"], "T2")["attempts"], 1, "{resumed}");
}

#[test]
fn killed_run_that_two_give_up_at_once_is_ended_once() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "--epic T1", "hangs", ".played/T2");
    child.kill().unwrap();
    child.wait().unwrap();
    let id = id_of_the_run(&workspace);
    let cancels = [(); 2].map(|()| {
        let mut command = workspace.command(&["runs", "cancel", &id]);
        let piped = std::process::Stdio::piped;
        command.stdout(piped()).stderr(piped()).spawn().unwrap()
    });
    for cancel in cancels {
        let reply = workspace.reply(&cancel.wait_with_output().unwrap());
        let answer = document(&reply);
        // A late caller is told that all is done.
        let is_late = answer["error"]["code"] == "E_STATUS_REFUSED";
        let status = &answer["result"]["run"]["status"];
        assert!(is_late || status == "cancelled", "{reply}");
    }
    let events = events(&workspace);
    let ends = events
        .iter()
        .filter(|event| event["type"] == "run.finished");
    assert_eq!(ends.count(), 1, "{events:?}");
    assert!(statuses(&workspace).contains("T2 pending"));
}

#[test]
fn who_asks_again_does_not_wait_for_agents_that_do_not_end() {
    let workspace = plan_epic();
    let deaf = "sh -c 'trap : TERM INT; : >deaf; while :; do sleep 1; done'";
    let words = ["run", "T2", "--command", deaf];
    let mut command = workspace.command(&words);
    let null = std::process::Stdio::null;
    command.stdin(null()).stdout(null()).stderr(null());
    let mut child = command.spawn().unwrap();
    while !workspace.path("deaf").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let asked = std::time::Instant::now();
    for _ in 0..2 {
        let mut kill = Command::new("kill");
        kill.args(["-INT", &child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let grace = std::time::Duration::from_millis(2_500);
    assert!(asked.elapsed() < grace, "{:?}", asked.elapsed());
}

#[test]
fn task_that_killed_run_holds_leads_to_that_run() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "T2", "hangs", ".played/T2");
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = id_of_the_run(&workspace);
    let reply = workspace.finish(workspace.command(&play_command("T2", "works")), "");
    let error = &document(&reply)["error"];
    says(error, format!("T2 is claimed by {killed}"));
    assert_eq!(error["fix"], format!("cleo runs resume {killed}"));
    let cancel = format!("cleo runs cancel {killed}");
    assert_eq!(error["alternatives"][0]["command"], cancel, "{reply}");
    workspace.ok(&format!("runs cancel {killed}"));
    expect_exit(run(&workspace, "T2", "works"), 0);
}

#[test]
fn where_nothing_is_ready_it_is_told_what_is_in_work() {
    let workspace = plan_epic();
    let mut claim = workspace.command(&["claim", "T2"]);
    claim.env("CLEO_AGENT", "ada");
    assert_eq!(workspace.finish(claim, "").exit, 0);
    let refused = workspace.json(&play_command("--all-ready", "works"));
    let error = &refused["error"];
    assert_eq!(error["code"], "E_NOTHING_READY", "{refused}");
    assert_eq!(error["retryable"], true, "{refused}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("nothing is ready: 1 in work, "),
        "{refused}"
    );
    let claimed = workspace.ask("claim --next");
    assert_eq!(claimed["error"]["message"], message);
}

#[test]
fn killed_run_is_named_wherever_its_tasks_block_others() {
    let workspace = plan_epic();
    let mut child = begin(&workspace, "T2", "hangs", ".played/T2");
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = |words: &[&str]| workspace.json(words)["result"].clone();
    // The runs were not read since; the doctor changes nothing.
    let findings = answer(&["doctor"])["findings"].clone();
    let findings = findings.as_array().unwrap().iter();
    let found: Vec<Value> = findings
        .filter(|one| one["check"] == "claims")
        .cloned()
        .collect();
    let [start, brief] = ["start", "brief"].map(|what| {
        let answer = answer(&["orchestrator", what, "--epic", "T1"]);
        let told = answer.get("brief").unwrap_or(&answer);
        told["recommended"].clone()
    });
    let refused = workspace.json(&play_command("--all-ready", "works"));
    let killed = id_of_the_run(&workspace);
    let resume = format!("cleo runs resume {killed}");
    let why = format!("{killed} holds T2, and its process is gone");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_fields(&found[0], json!({"message": &*why, "fix": &*resume}));
    for recommended in [start, brief] {
        assert_eq!(
            recommended,
            serde_json::json!({"action": "resume", "reason": why, "command": resume})
        );
    }
    assert_eq!(refused["error"]["code"], "E_NOTHING_READY", "{refused}");
    assert_eq!(refused["error"]["fix"], resume, "{refused}");
    assert_eq!(refused["error"]["retryable"], false, "{refused}");
    workspace.ok(&format!("runs cancel {killed}"));
    let start = answer(&["orchestrator", "start", "--epic", "T1"]);
    assert_eq!(start["recommended"]["action"], "spawn", "{start}");
}

/// Kills a run once a file exists, and resumes it.
fn kill_and_resume(workspace: &TestWorkspace, what: &str, how: &str, file: &str) -> Value {
    let mut child = begin(workspace, what, how, file);
    child.kill().unwrap();
    child.wait().unwrap();
    let id = id_of_the_run(workspace);
    workspace.json(&["runs", "resume", &id])
}

#[test]
fn completion_forced_by_agent_is_redone_on_resume() {
    let workspace = plan_epic();
    let how = "forces-and-hangs-once";
    let resumed = kill_and_resume(&workspace, "T2", how, ".played/forced");
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(task(&resumed["result"], "T2")["attempts"], 2, "{resumed}");
    let manifest = workspace.read("claudedocs/agent-outputs/MANIFEST.jsonl");
    assert_eq!(manifest.lines().count(), 1, "{manifest}");
}

#[test]
fn completion_forced_by_others_stays_on_resume() {
    let workspace = plan_epic();
    let how = "is-overruled-and-hangs";
    let resumed = kill_and_resume(&workspace, "--epic T1", how, ".played/forced");
    let failed = task(&resumed["result"], "T2");
    assert_fields(
        failed,
        json!({"outcome": "protocol_violation", "attempts": 1}),
    );
    assert_eq!(task(&resumed["result"], "T3")["state"], "skipped");
    assert!(statuses(&workspace).contains("T2 done"));
}

#[test]
fn wrong_last_words_stay_wrong_when_a_killed_run_goes_on() {
    let workspace = plan_epic();
    let resumed = kill_and_resume(&workspace, "T2", "chats-and-hangs", ".played/told");
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(task(&resumed["result"], "T2")["attempts"], 3, "{resumed}");
}

/// Returns whether a process of a run is left.
fn is_anybody_left(workspace: &TestWorkspace, id: &str) -> bool {
    let root = format!("CLEO_ROOT={}", workspace.root().display());
    let wanted = [format!("CLEO_RUN_ID={id}"), root];
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    let mut environments = environments.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    environments.any(|environment| {
        let has = |wanted: &String| environment.split('\0').any(|variable| variable == wanted);
        wanted.iter().all(has)
    })
}

#[test]
fn attempts_that_tell_no_cost_use_up_limit() {
    let workspace = plan_epic();
    let words = play_command("T2 T4 --max-cost 1 --repair 3 --jobs 1", "lies");
    let answer = document(&workspace.finish(workspace.command(&words), ""));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("an equal share"), "{answer}");
    let of = |answer: &Value, id: &str, what: &str| task(&answer["result"], id)[what].clone();
    assert_eq!(of(&answer, "T2", "attempts"), 2, "{answer}");
    assert_eq!(
        of(&answer, "T4", "reason"),
        "the run has spent what it may cost"
    );
    let id = id_of_the_run(&workspace);
    let more = format!("cleo runs resume {id} --max-cost 1");
    assert_eq!(answer["error"]["fix"], more, "{answer}");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(of(&resumed, "T2", "attempts"), 2, "{resumed}");
    for attempts in [3, 4] {
        let resumed = workspace.json(&["runs", "resume", &id, "--max-cost", "0.5"]);
        assert_eq!(of(&resumed, "T2", "attempts"), attempts, "{resumed}");
    }
}

#[test]
fn run_that_is_stopped_before_its_epic_is_not_completed() {
    let workspace = TestWorkspace::new();
    // Stops the run the first time.
    let script = "[ -e stopped ] && exit 0\n: >stopped\nkill -INT $PPID\nsleep 60\n";
    workspace.write("check.sh", script);
    workspace.ok("add All --type epic --acceptance 'whole :: sh check.sh'");
    workspace.ok("add Part --parent T1");
    let (exit, result) = run(&workspace, "--epic T1", "works");
    assert_eq!(exit, 130, "{result}");
    assert_eq!(statuses(&workspace), "T1 pending, T2 done");
    let listed = workspace.ask("runs list");
    let run = &listed["result"]["runs"][0];
    assert_eq!(run["status"], "interrupted", "{run}");
    workspace.ok(&format!("runs resume {}", run["id"].as_str().unwrap()));
    assert_eq!(statuses(&workspace), "T1 done, T2 done");
}

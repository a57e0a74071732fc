//! Phases: their order, the one that the project is in, and their tasks.

use serde_json::{Value, json};

use crate::world::TestWorkspace;

fn run(workspace: &TestWorkspace, line: &str) -> Value {
    workspace.json(&shlex::split(line).unwrap())
}

#[track_caller]
fn does(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = run(workspace, line);
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply["result"].clone()
}

#[track_caller]
fn expect_refusal(workspace: &TestWorkspace, line: &str, code: &str) -> Value {
    let before = workspace.state();
    let reply = run(workspace, line);
    assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
    assert_eq!(workspace.state(), before, "cleo {line} changed something");
    reply["error"].clone()
}

#[test]
fn phases_exist_once_task_names_them() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add x --phase build");
    workspace.ok("add y --phase build");
    workspace.ok("complete T6");
    insta::assert_snapshot!(workspace.cleo("phase"));
    let listed = does(&workspace, "phase list");
    assert_eq!(
        (&listed["total"], &listed["current"]),
        (&json!(2), &json!(null))
    );
    let counts = json!({"pending": 1, "done": 1});
    let mut phases = listed["phases"].as_array().unwrap().iter();
    let build = phases.find(|phase| phase["slug"] == "build").unwrap();
    assert_eq!((&build["counts"], &build["total"]), (&counts, &json!(2)));
}

#[test]
fn project_is_in_one_phase_at_time() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add x --phase build");
    expect_refusal(&workspace, "phase complete", "E_PHASE_NOT_FOUND");
    assert_eq!(does(&workspace, "phase start discovery")["changed"], true);
    assert_eq!(does(&workspace, "phase start discovery")["changed"], false);
    let other = expect_refusal(&workspace, "phase start build", "E_STATUS_REFUSED");
    assert_eq!(other["fix"], "cleo phase complete -- discovery");
    does(&workspace, "phase set build");
    let listed = does(&workspace, "phase list");
    assert_eq!(listed["current"], "build");
    let active = listed["phases"].as_array().unwrap().iter();
    let active = active.filter(|phase| phase["status"] == "active").count();
    assert_eq!(active, 1);
}

#[test]
fn phase_is_complete_when_its_tasks_are_or_by_force() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("phase start discovery");
    let open = expect_refusal(&workspace, "phase complete", "E_STATUS_REFUSED");
    assert_eq!(open["message"], "discovery has open tasks: 1");
    assert_eq!(open["fix"], "cleo list --phase=discovery");
    let forced = run(&workspace, "phase complete --force");
    assert_eq!(forced["warnings"], json!(["discovery has open tasks: 1"]));
    assert_eq!(
        does(&workspace, "phase complete discovery")["changed"],
        false
    );
    let over = expect_refusal(&workspace, "phase start discovery", "E_STATUS_REFUSED");
    assert_eq!(over["fix"], "cleo phase set -- discovery");
    let again = does(&workspace, "phase set discovery");
    assert_eq!(again["phase"]["completedAt"], json!(null));
    workspace.ok("complete T2");
    let done = does(&workspace, "phase complete");
    assert_eq!(done["phase"]["status"], "completed");
    expect_refusal(&workspace, "phase complete", "E_PHASE_NOT_FOUND");
}

#[test]
fn unknown_phase_comes_with_nearest_known_one() {
    let workspace = TestWorkspace::with_plan();
    for line in ["phase start discovrey", "phase set discovrey"] {
        let error = expect_refusal(&workspace, line, "E_PHASE_NOT_FOUND");
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with("did you mean `discovery`?"));
        assert_eq!(error["fix"], "cleo phase list");
    }
    let error = expect_refusal(&workspace, "phase start zzz", "E_PHASE_NOT_FOUND");
    assert_eq!(error["fix"], "cleo phase list");
}

#[test]
fn started_phase_keeps_its_place_after_earlier_ones() {
    let workspace = TestWorkspace::new();
    workspace.ok("add A --phase first");
    workspace.ok("add B --phase second");
    does(&workspace, "phase start second");
    let order = |workspace: &TestWorkspace| {
        let listed = does(workspace, "phase list");
        let phases = listed["phases"].as_array().unwrap().iter();
        let slugs = phases.map(|phase| phase["slug"].as_str().unwrap().to_string());
        slugs.collect::<Vec<_>>()
    };
    assert_eq!(order(&workspace), ["first", "second"]);
    does(&workspace, "phase set first");
    assert_eq!(order(&workspace), ["first", "second"]);
}

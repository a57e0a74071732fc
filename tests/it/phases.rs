//! Phases: their order, the one that the project is in, and their tasks.

use serde_json::json;

use crate::world::{TestWorkspace, assert_fields, says};

#[test]
fn phases_exist_once_task_names_them() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add x --phase build");
    workspace.ok("add y --phase build");
    workspace.ok("complete T6");
    insta::assert_snapshot!(workspace.cleo("phase"));
    let listed = workspace.result("phase list");
    assert_fields(&listed, json!({"total": 2, "current": null}));
    let counts = json!({"pending": 1, "done": 1});
    let mut phases = listed["phases"].as_array().unwrap().iter();
    let build = phases.find(|phase| phase["slug"] == "build").unwrap();
    assert_eq!((&build["counts"], &build["total"]), (&counts, &json!(2)));
}

#[test]
fn project_is_in_one_phase_at_time() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add x --phase build");
    workspace.refuse("phase complete", "E_PHASE_NOT_FOUND");
    assert_eq!(workspace.result("phase start discovery")["changed"], true);
    assert_eq!(workspace.result("phase start discovery")["changed"], false);
    let other = workspace.refuse("phase start build", "E_STATUS_REFUSED");
    assert_eq!(other["fix"], "cleo phase complete -- discovery");
    workspace.result("phase set build");
    let listed = workspace.result("phase list");
    assert_eq!(listed["current"], "build");
    let active = listed["phases"].as_array().unwrap().iter();
    let active = active.filter(|phase| phase["status"] == "active").count();
    assert_eq!(active, 1);
}

#[test]
fn phase_is_complete_when_its_tasks_are_or_by_force() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("phase start discovery");
    let open = workspace.refuse("phase complete", "E_STATUS_REFUSED");
    assert_eq!(open["message"], "discovery has open tasks: 1");
    assert_eq!(open["fix"], "cleo list --phase=discovery");
    let forced = workspace.ask("phase complete --force");
    assert_eq!(forced["warnings"], json!(["discovery has open tasks: 1"]));
    assert_eq!(
        workspace.result("phase complete discovery")["changed"],
        false
    );
    let over = workspace.refuse("phase start discovery", "E_STATUS_REFUSED");
    assert_eq!(over["fix"], "cleo phase set -- discovery");
    let again = workspace.result("phase set discovery");
    assert_eq!(again["phase"]["completedAt"], json!(null));
    workspace.ok("complete T2");
    let done = workspace.result("phase complete");
    assert_eq!(done["phase"]["status"], "completed");
    workspace.refuse("phase complete", "E_PHASE_NOT_FOUND");
}

#[test]
fn unknown_phase_comes_with_nearest_known_one() {
    let workspace = TestWorkspace::with_plan();
    for line in ["phase start discovrey", "phase set discovrey"] {
        let error = workspace.refuse(line, "E_PHASE_NOT_FOUND");
        says(&error, "did you mean `discovery`?");
        assert_eq!(error["fix"], "cleo phase list");
    }
    let error = workspace.refuse("phase start zzz", "E_PHASE_NOT_FOUND");
    assert_eq!(error["fix"], "cleo phase list");
}

#[test]
fn started_phase_keeps_its_place_after_earlier_ones() {
    let workspace = TestWorkspace::new();
    workspace.ok("add A --phase first");
    workspace.ok("add B --phase second");
    workspace.result("phase start second");
    let order = |workspace: &TestWorkspace| {
        let listed = workspace.result("phase list");
        let phases = listed["phases"].as_array().unwrap().iter();
        let slugs = phases.map(|phase| phase["slug"].as_str().unwrap().to_string());
        slugs.collect::<Vec<_>>()
    };
    assert_eq!(order(&workspace), ["first", "second"]);
    workspace.result("phase set first");
    assert_eq!(order(&workspace), ["first", "second"]);
}

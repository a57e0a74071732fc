//! What can be worked on, and in which order.

use serde_json::{Value, json};

use crate::world::TestWorkspace;

fn ids(neighbors: &Value) -> Vec<&str> {
    let neighbors = neighbors.as_array().unwrap();
    neighbors
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect()
}

#[test]
fn deps_shows_both_directions() {
    let workspace = TestWorkspace::planned();
    insta::assert_snapshot!(workspace.cleo("deps T3"));
    insta::assert_snapshot!(workspace.cleo("deps T2"));
    let deps = workspace.json(&["deps", "T3"]);
    assert_eq!(deps["result"]["ready"], false);
    assert_eq!(ids(&deps["result"]["depends"]), ["T2"]);
    assert_eq!(ids(&deps["result"]["dependents"]), ["T4"]);
}

#[test]
fn ready_is_what_an_agent_can_start_now() {
    let workspace = TestWorkspace::planned();
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    workspace.ok("complete T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    workspace.ok("start T3");
    let ready = workspace.json(&["orchestrator", "ready"]);
    assert_eq!(ids(&ready["result"]["tasks"]), ["T5"], "T3 is under way");
}

#[test]
fn the_most_urgent_comes_first_then_what_most_work_waits_for() {
    let workspace = TestWorkspace::new();
    let batch = r#"{"title":"a"}
{"title":"b","key":"b"}
{"title":"c","depends":["@b"],"key":"c"}
{"title":"d","depends":["@c"]}
{"title":"e","priority":"critical"}
{"title":"f","priority":"low"}
"#;
    workspace.json_with(&["add", "--batch", "-"], batch);
    let ready = workspace.json(&["orchestrator", "ready"]);
    assert_eq!(ids(&ready["result"]["tasks"]), ["T5", "T2", "T1", "T6"]);
    let next = workspace.json(&["orchestrator", "next"]);
    assert_eq!(next["result"]["task"]["id"], "T5");
}

#[test]
fn next_is_one_task_or_none() {
    let workspace = TestWorkspace::planned();
    insta::assert_snapshot!(workspace.cleo("orchestrator next"));
    workspace.ok("start T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator next"));
    let next = workspace.json(&["orchestrator", "next"]);
    assert_eq!(next["result"]["task"], json!(null));
}

#[test]
fn waves_can_be_worked_on_one_after_the_other() {
    let workspace = TestWorkspace::planned();
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
    workspace.ok("complete T2");
    let waves = workspace.json(&["orchestrator", "waves"]);
    assert_eq!(waves["result"]["total"], 2);
    assert_eq!(ids(&waves["result"]["waves"][0]), ["T3", "T5"]);
}

#[test]
fn a_task_that_waits_for_an_epic_follows_its_last_wave() {
    let workspace = TestWorkspace::planned();
    workspace.ok("add 'Announce login' --depends T1");
    let waves = workspace.json(&["orchestrator", "waves"]);
    let all = waves["result"]["waves"].as_array().unwrap();
    assert_eq!(ids(all.last().unwrap()), ["T6"]);
    assert_eq!(waves["warnings"], json!([]));
}

#[test]
fn what_fits_in_no_wave_is_named() {
    let workspace = TestWorkspace::planned();
    workspace.ok("cancel T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
}

#[test]
fn an_epic_is_a_scope_to_any_depth() {
    let workspace = TestWorkspace::planned();
    workspace.ok("add 'Elsewhere'");
    workspace.ok("add 'Below' --parent T2");
    let ready = workspace.json(&["orchestrator", "ready", "--epic", "T1"]);
    assert_eq!(ids(&ready["result"]["tasks"]), ["T7"]);
    let all = workspace.json(&["orchestrator", "ready"]);
    assert_eq!(ids(&all["result"]["tasks"]), ["T6", "T7"]);
}

#[test]
fn a_dependency_outside_the_epic_counts_when_it_is_done() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Outside'");
    workspace.ok("add 'Epic' --type epic");
    workspace.ok("add 'Inside' --parent T2 --depends T1");
    let ready = workspace.json(&["orchestrator", "ready", "--epic", "T2"]);
    assert_eq!(ready["result"]["total"], 0);
    let waves = workspace.json(&["orchestrator", "waves", "--epic", "T2"]);
    assert_eq!(ids(&waves["result"]["stuck"]), ["T3"]);
    workspace.ok("complete T1");
    let ready = workspace.json(&["orchestrator", "ready", "--epic", "T2"]);
    assert_eq!(ids(&ready["result"]["tasks"]), ["T3"]);
}

#[test]
fn an_empty_workspace_has_nothing_to_do() {
    let workspace = TestWorkspace::new();
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
}

#[test]
fn a_part_never_waits_for_its_whole() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole --type epic");
    workspace.ok("add Part --parent T1");
    workspace.ok("add Piece --parent T2");
    let before = workspace.state();
    for line in [
        "add Other --parent T2 --depends T1",
        "update T3 --depends T1",
        "update T3 --depends T2",
    ] {
        let shown = workspace.cleo(line);
        assert!(shown.contains("exit: 14"), "{line}: {shown}");
        assert!(
            shown.contains("would wait for each other in a circle"),
            "{line}: {shown}"
        );
    }
    assert_eq!(workspace.state(), before);
    workspace.ok("update T1 --depends T3");
}

#[test]
fn no_circle_goes_through_parts_and_wholes_either() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole");
    workspace.ok("add Other --depends T1");
    let refused = workspace.json(&["add", "Part", "--parent", "T1", "--depends", "T2"]);
    assert_eq!(refused["error"]["exitCode"], 14);
    let batch = "{\"title\":\"P\",\"key\":\"p\"}\n{\"title\":\"Q\",\"key\":\"q\"}\n\
                 {\"title\":\"a\",\"parent\":\"@p\",\"depends\":[\"@q\"]}\n\
                 {\"title\":\"b\",\"parent\":\"@q\",\"depends\":[\"@p\"]}\n";
    let refused = workspace.json_with(&["add", "--batch", "-"], batch);
    assert_eq!(refused["error"]["code"], "E_CYCLE");
    assert_eq!(workspace.json(&["list"])["result"]["total"], 2);
}

#[test]
fn what_can_never_start_is_named_by_every_command() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Given");
    workspace.ok("add Waiting --depends T1");
    workspace.ok("cancel T1");
    for command in ["ready", "next", "waves"] {
        let reply = workspace.json(&["orchestrator", command]);
        assert_eq!(ids(&reply["result"]["stuck"]), ["T2"], "{command}");
        assert!(
            reply["warnings"][0].as_str().unwrap().contains("T2"),
            "{command}"
        );
    }
}

//! The graph around a task as a picture.

use crate::world::TestWorkspace;

#[test]
fn picture_goes_into_pipe_unchanged() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    let run = |arguments: &[&str]| workspace.finish(workspace.command(arguments), "").stdout;
    insta::assert_snapshot!(run(&["deps", "--epic", "T1", "--dot"]));
    insta::assert_snapshot!(run(&["deps", "--epic", "T1", "--svg"]));
    let svg = workspace.ask("deps --epic T1 --svg --json");
    assert_eq!(
        svg["result"]["svg"],
        run(&["deps", "--epic", "T1", "--svg"])
    );
    assert_eq!(svg["result"]["total"], 4);
    let around = run(&["deps", "T3", "--dot"]);
    assert!(
        around.contains("T3 -> T4") && !around.contains("T1"),
        "{around}"
    );
    assert!(run(&["deps", "--dot"]).contains("T2 -> T1 [style=dashed]"));
}

#[test]
fn title_cannot_break_out_of_picture() {
    let workspace = TestWorkspace::new();
    workspace.json(&["add", "</text><script>alert(\"1\")</script>\\"]);
    let run = |arguments: &[&str]| workspace.finish(workspace.command(arguments), "").stdout;
    assert!(!run(&["deps", "T1", "--svg"]).contains("<script"));
    let dot = run(&["deps", "T1", "--dot"]);
    assert!(dot.contains(r#"alert(\"1\")</script>\\""#), "{dot}");
}

#[test]
fn what_cannot_be_shown_is_refused_with_what_can() {
    let workspace = TestWorkspace::with_plan();
    for (arguments, code) in [
        (&["deps"][..], "E_USAGE"),
        (&["deps", "--epic", "T1"], "E_USAGE"),
        (&["deps", "T3", "--svg", "--dot"], "E_USAGE"),
        (&["deps", "T99", "--svg"], "E_TASK_NOT_FOUND"),
        (&["deps", "--epic", "T99", "--dot"], "E_TASK_NOT_FOUND"),
        (
            &["orchestrator", "analyze", "--epic", "T99"],
            "E_TASK_NOT_FOUND",
        ),
        (&["next", "--epic", "T99"], "E_TASK_NOT_FOUND"),
    ] {
        let refused = workspace.json(arguments);
        assert_eq!(refused["error"]["code"], code, "{arguments:?}");
        let error = &refused["error"];
        let has_way_out = error["fix"].is_string() || error["alternatives"].is_array();
        assert!(has_way_out, "{arguments:?}");
    }
    let many: String = (0..2_001)
        .map(|n| format!("{{\"title\":\"{n}\"}}\n"))
        .collect();
    workspace.json_with(&["add", "--batch", "-"], &many);
    workspace.fails("deps --svg --json", "E_INPUT_INVALID");
}

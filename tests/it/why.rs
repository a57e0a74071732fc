//! Receipts: what went into a prompt, and whether it still comes out.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, add, assert_fields, column, digest, spawn};

fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let task =
        json!({"title": "Paint it", "description": "Red.", "labels": ["audit"], "phase": "core"});
    add(&workspace, &[task]);
    workspace
}

fn why(workspace: &TestWorkspace) -> Value {
    workspace.ask("why T1")["result"].clone()
}

fn list_changed(why: &Value) -> Vec<&str> {
    column(&why["changed"], "input")
}

#[test]
fn unchanged_task_gives_same_prompt_again() {
    let workspace = workspace();
    let spawned = spawn(&workspace, &["T1"]);
    let why = why(&workspace);
    assert_eq!(why["reproduced"], true);
    assert_eq!(why["changed"], json!([]));
    assert_eq!(why["promptDigestNow"], spawned["promptDigest"]);
    assert_eq!(why["receipt"], spawned["receipt"]);
    let receipt = &why["receipt"];
    assert_eq!(receipt["skill"], "ct-validator");
    assert_fields(receipt, json!({"strategy": "label", "matched": ["audit"]}));
    assert_eq!(receipt["runnerUp"][0], "ct-task-executor");
    let shown = workspace.cleo("why T1");
    assert!(
        shown.contains("The prompt would be the same today."),
        "{shown}"
    );
}

#[test]
fn receipt_has_digest_of_everything_that_went_in() {
    let workspace = workspace();
    let receipt = spawn(&workspace, &["T1"])["receipt"].clone();
    let inputs = receipt["inputs"].as_object().unwrap();
    for name in [
        "skill",
        "matrix",
        "taskContext",
        "protocol subagent-protocol-base",
        "protocol task-lifecycle",
        "protocol phase-awareness",
        "protocol error-handling",
        "token TASK_TITLE",
        "token TASK_DESCRIPTION",
        "token PHASE",
    ] {
        let digest = inputs
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("no {name}"));
        assert!(
            digest.starts_with("sha256:") && digest.len() == 71,
            "{name}: {digest}"
        );
    }
    assert_eq!(inputs["token TASK_DESCRIPTION"], digest("Red."));
}

#[test]
fn what_has_changed_since_is_named() {
    let workspace = workspace();
    spawn(&workspace, &["T1"]);
    workspace.ok("update T1 --title 'Paint them'");
    let after_title = why(&workspace);
    assert_eq!(after_title["reproduced"], false);
    assert_eq!(
        list_changed(&after_title),
        ["token TASK_NAME", "token TASK_TITLE", "token TITLE"]
    );
    let change = &after_title["changed"][0];
    assert_eq!(change["then"], digest("Paint it"));
    assert_eq!(change["now"], digest("Paint them"));
    let shown = workspace.cleo("why T1");
    assert!(shown.contains("The prompt would differ today"), "{shown}");
    workspace.ok("update T1 --title 'Paint it'");
    assert_eq!(
        why(&workspace)["reproduced"],
        true,
        "names and date are those of the receipt"
    );

    workspace.write(
        "protocols/house.md",
        "---\nname: house\nversion: \"1\"\norder: \"15\"\nwhen:\n  always: \"true\"\n---\nHouse.\n",
    );
    let after_protocol = why(&workspace);
    assert_eq!(list_changed(&after_protocol), ["protocol house"]);
    assert_eq!(after_protocol["changed"][0]["then"], Value::Null);
}

#[test]
fn receipt_is_shown_though_no_prompt_comes_out() {
    let workspace = workspace();
    workspace.write(
        "skills/mine/SKILL.md",
        "---\nname: mine\ndescription: x\n---\nMine\n",
    );
    spawn(&workspace, &["T1", "--template", "mine"]);
    std::fs::remove_file(workspace.path("skills/mine/SKILL.md")).unwrap();
    let why = why(&workspace);
    assert_fields(&why, json!({"reproduced": false, "promptDigestNow": null}));
    assert_eq!(why["fault"], "there is no skill `mine`");
    assert_eq!(why["receipt"]["skill"], "mine");
    let shown = workspace.cleo("why T1");
    assert!(
        shown.contains("The prompt can no longer be built: there is no skill `mine`"),
        "{shown}"
    );
}

#[test]
fn task_that_was_never_spawned_has_nothing_to_explain() {
    let workspace = workspace();
    let refused = workspace.fails("why T1", "E_RECEIPT_NOT_FOUND");
    assert_eq!(refused["error"]["exitCode"], 4);
    assert_eq!(
        workspace
            .shell(refused["error"]["fix"].as_str().unwrap())
            .exit,
        0
    );
    assert_eq!(why(&workspace)["reproduced"], true);
    workspace.fails("why T9", "E_TASK_NOT_FOUND");
}

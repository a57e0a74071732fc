//! Deliveries of an agent for T1, and their verdict by `cleo verify output`.

use serde_json::{Value, json};

use super::world::{TestWorkspace, add, spawn};

pub(crate) const FOLDER: &str = "claudedocs/agent-outputs";
pub(crate) const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";
pub(crate) const OUTPUT: &str = "claudedocs/agent-outputs/2026-01-26_paint-it.md";
pub(crate) const GOOD: &str = "# Paint\n\n## Summary\n\nIt is red.\n";

/// A workspace in which T1 was spawned; its agent has left nothing yet.
pub(crate) fn spawn_task() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Paint it"}), json!({"title": "Other"})],
    );
    spawn(&workspace, &["T1"]);
    workspace
}

pub(crate) fn entry() -> Value {
    json!({
        "id": "paint-it-2026-01-26", "file": "2026-01-26_paint-it.md", "title": "Paint", "date": "2026-01-26",
        "status": "complete", "topics": ["paint"], "key_findings": ["One.", "Two.", "Three."],
        "actionable": true, "needs_followup": [], "linked_tasks": ["T1"],
    })
}

pub(crate) fn entry_with(changes: Value) -> String {
    let mut entry = entry();
    entry
        .as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    format!("{entry}\n")
}

/// Leaves what a good agent leaves.
pub(crate) fn deliver(workspace: &TestWorkspace) {
    workspace.write(OUTPUT, GOOD);
    workspace.write(MANIFEST, entry_with(json!({})));
}

/// Checks the output of T1; the first violation decides code and exit code.
pub(crate) fn check(workspace: &TestWorkspace, exit: i32, message: &str) -> Value {
    let document = workspace.ask("verify output T1");
    let result = &document["result"];
    assert_eq!(
        document["error"]["exitCode"].as_i64().unwrap_or(0),
        i64::from(exit),
        "{document}"
    );
    let violations = result["violations"].as_array().unwrap();
    assert_eq!(violations.is_empty(), exit == 0, "{document}");
    assert_eq!(
        result["verdict"],
        if exit == 0 { "pass" } else { "fail" },
        "{document}"
    );
    if exit != 0 {
        assert_eq!(violations[0]["code"], document["error"]["code"]);
        let messages: String = violations
            .iter()
            .map(|found| found["message"].as_str().unwrap())
            .collect();
        assert!(messages.contains(message), "`{message}` in {messages}");
    }
    result.clone()
}

//! Putting closed tasks away.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, column, says};

fn ids(reply: &Value) -> Vec<&str> {
    column(&reply["result"]["tasks"], "id")
}

#[test]
fn what_is_archived_is_left_out() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    let dry = workspace.ask("archive T2 --dry-run");
    assert_eq!(
        dry["result"],
        json!({"tasks": ["T2"], "total": 1, "dryRun": true})
    );
    assert_eq!(ids(&workspace.ask("list --status done")), ["T2"]);
    assert_eq!(workspace.ok("archive T2").stdout, "Archived 1 task: T2\n");
    let listed = workspace.ask("list");
    assert_eq!(ids(&listed), ["T1", "T3", "T4", "T5"]);
    assert_eq!(listed["result"]["total"], 4);
    assert_eq!(workspace.ask("list --limit 1")["result"]["total"], 4);
    assert_eq!(ids(&workspace.ask("list --archived")), ["T2"]);
    assert_eq!(workspace.ask("list --all")["result"]["total"], 5);
    assert_eq!(ids(&workspace.ask("list --tree")), ["T1", "T3", "T4", "T5"]);
    assert_eq!(ids(&workspace.ask("list --tree --all")).len(), 5);
    assert_eq!(ids(&workspace.ask("find research")), [] as [&str; 0]);
    assert_eq!(ids(&workspace.ask("find research --archived")), ["T2"]);
    let shown = workspace.ask("show T2");
    assert!(shown["result"]["task"]["archivedAt"].is_string());
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ids(&ready), ["T3", "T5"], "what it was done for is ready");
    assert_eq!(workspace.ask("show T3")["result"]["waitingFor"], json!([]));
    assert_eq!(workspace.ask("archive T2")["result"]["total"], 0);
    workspace.ok("unarchive T2");
    assert_eq!(ids(&workspace.ask("list --status done")), ["T2"]);
    workspace.ok("undo");
    assert_eq!(ids(&workspace.ask("list --archived")), ["T2"]);
    workspace.ok("reopen T2");
    assert_eq!(
        ids(&workspace.ask("list --archived")),
        [] as [&str; 0],
        "what is open is not archived"
    );
}

#[test]
fn open_tasks_and_wholes_with_open_parts_are_refused_by_name() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    let error = workspace.refuse("archive T2 T3", "E_STATUS_REFUSED");
    says(&error, "T3 is pending");
    workspace.ok("complete T1 --force");
    for words in [&["archive", "T1"][..], &["archive", "--epic", "T1"]] {
        let error = workspace.expect_refusal(words, "E_HAS_CHILDREN");
        says(&error, "open: T3, T4, T5");
        assert_eq!(workspace.shell(error["fix"].as_str().unwrap()).exit, 0);
    }
    workspace.refuse("archive T99", "E_TASK_NOT_FOUND");
    workspace.refuse("archive", "E_USAGE");
    workspace.refuse("archive --dry-run", "E_USAGE");
    workspace.refuse("archive --older-than long", "E_INPUT_INVALID");
    for task in ["T3", "T4", "T5"] {
        workspace.ok(&format!("cancel {task}"));
    }
    let archived = workspace.ask("archive --epic T1");
    assert_eq!(
        archived["result"]["tasks"],
        json!(["T1", "T2", "T3", "T4", "T5"])
    );
    assert_eq!(
        workspace.cleo("list"),
        "exit: 0\n--- stdout\nno open tasks found; see closed ones with --all\n--- stderr\n"
    );
}

#[test]
fn by_age_goes_what_is_closed_as_whole() {
    let workspace = TestWorkspace::new();
    // T1 with T2, all closed; T3 is closed and T4 in it is not; T5 alone; T6 closed later.
    for line in [
        "add a",
        "add b --parent T1",
        "add c",
        "add d --parent T3",
        "add e",
        "add f",
    ] {
        workspace.ok(line);
    }
    for line in [
        "complete T2",
        "complete T1",
        "complete T3 --force",
        "cancel T5",
    ] {
        workspace.ok(line);
    }
    let at = |moment: &str, words: &[&str]| {
        let mut command = workspace.command(words);
        command.env("CLEO_NOW", moment);
        crate::world::document(&workspace.finish(command, ""))
    };
    at("2026-02-20T00:00:00Z", &["complete", "T6"]);
    let aged = ["archive", "--older-than", "30d", "--dry-run"];
    let found = at("2026-03-01T00:00:00Z", &aged);
    assert_eq!(found["result"]["tasks"], json!(["T1", "T2", "T5"]));
    let dated = ["archive", "--older-than", "2026-03-01", "--dry-run"];
    let found = at("2026-03-01T00:00:00Z", &dated);
    assert_eq!(found["result"]["tasks"], json!(["T1", "T2", "T5", "T6"]));
    let within = ["archive", "--older-than", "1d", "--epic", "T1"];
    let found = at("2026-03-01T00:00:00Z", &within);
    assert_eq!(found["result"]["tasks"], json!(["T1", "T2"]));
    let kept = "list --status pending,done,cancelled";
    assert_eq!(ids(&workspace.ask(kept)), ["T3", "T4", "T5", "T6"]);
}

//! The log, and undoing its operations.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, says};

/// Returns number, command and summary of each operation, newest first.
fn log(workspace: &TestWorkspace) -> Vec<String> {
    let reply = workspace.ask("log");
    let operations = reply["result"]["operations"].as_array().unwrap().iter();
    let line = |each: &Value| {
        let text = |name: &str| each[name].as_str().unwrap().to_string();
        format!(
            "{} {}: {}",
            each["number"],
            text("command"),
            text("summary")
        )
    };
    operations.map(line).collect()
}

fn task(workspace: &TestWorkspace, id: &str) -> Value {
    let mut task = workspace.json(&["show", id])["result"]["task"].clone();
    task.as_object_mut().unwrap().remove("updatedAt");
    task
}

/// Returns all tasks as they are, but for when they were last changed.
fn all(workspace: &TestWorkspace) -> Vec<Value> {
    let reply = workspace.ask("list --all");
    let mut tasks = reply["result"]["tasks"].as_array().unwrap().clone();
    for task in &mut tasks {
        task.as_object_mut().unwrap().remove("updatedAt");
    }
    tasks
}

#[test]
fn log_tells_each_operation_newest_first() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T2 --priority critical --label urgent --title 'Research it'");
    workspace.ok("start T2");
    workspace.ok("delete T3 --force");
    insta::assert_snapshot!(workspace.cleo("log"));
    insta::assert_snapshot!(workspace.cleo("log --operation 2"));
    let of_task = workspace.ask("log --task T2");
    assert_eq!(of_task["result"]["total"], 3);
    let newest = workspace.ask("log --limit 1");
    assert_eq!(newest["result"]["total"], 4);
    assert_eq!(
        newest["result"]["operations"][0]["tasks"],
        json!(["T4", "T3"])
    );
    let since = workspace.ask("log --since 2026-01-26T09:00:03Z");
    assert_eq!(since["result"]["total"], 2, "{since}");
    let aged = workspace.ask("log --since 1w");
    assert_eq!(aged["result"]["total"], 4);
    let deleted = workspace.ask("log --task T3");
    assert_eq!(deleted["result"]["total"], 2, "a deleted task has its log");
    workspace.refuse("log --task T99", "E_TASK_NOT_FOUND");
    workspace.refuse("log --operation 99", "E_OPERATION_NOT_FOUND");
    workspace.refuse("log --since soon", "E_INPUT_INVALID");
}

#[test]
fn every_kind_of_change_can_be_reverted_and_brought_back() {
    for line in [
        "add 'one more' --parent T1 --depends T2",
        "update T2 --title new --label x --note 'a note' --priority low --clear phase",
        "update T4 --remove-depends T3 --depends T2 --parent none",
        "complete T2 --force",
        "cancel T5 --reason 'no need'",
        "delete T3 --force",
        "delete T1 --cascade",
        "add --batch more.jsonl",
        "research link T2 found",
    ] {
        let more = "{\"title\":\"a\",\"depends\":[\"@k\"],\"parent\":\"@p\"}\n\
                    {\"title\":\"b\",\"key\":\"k\"}\n{\"title\":\"c\",\"key\":\"p\"}\n";
        let workspace = TestWorkspace::with_plan().with("more.jsonl", more);
        let entry = json!({
            "id": "found", "file": "f.md", "title": "x", "date": "2026-01-26",
            "status": "complete", "topics": ["a"], "key_findings": ["1", "2", "3"],
            "actionable": true, "needs_followup": [], "linked_tasks": ["T4"],
        });
        workspace.json_with(&["manifest", "append"], &entry.to_string());
        let links = || workspace.ask("research links T2");
        let (before, links_before) = (all(&workspace), workspace.cleo("research links T2"));
        workspace.ok(line);
        let after = all(&workspace);
        let links_after = links();
        let dry = workspace.ask("undo --dry-run");
        assert_eq!(dry["result"]["dryRun"], true, "{line}: {dry}");
        assert_eq!(all(&workspace), after, "{line}: a dry run changes nothing");
        let undone = workspace.ask("undo");
        assert_eq!(
            undone["result"]["operation"]["number"], 2,
            "{line}: {undone}"
        );
        assert_eq!(
            undone["result"]["changes"], dry["result"]["changes"],
            "{line}"
        );
        assert_eq!(all(&workspace), before, "{line}: as it was");
        assert_eq!(workspace.cleo("research links T2"), links_before, "{line}");
        workspace.result("undo 3");
        assert_eq!(all(&workspace), after, "{line}: as it was made");
        assert_eq!(links()["result"], links_after["result"], "{line}");
        assert_eq!(workspace.ask("undo 2")["success"], true, "{line}");
        assert_eq!(all(&workspace), before, "{line}: and once more");
    }
}

#[test]
fn undo_makes_nothing_done_that_must_be_proven() {
    let workspace = TestWorkspace::with_plan().with("code", "good");
    workspace.ok("update T2 --acceptance 'good :: grep -q good code'");
    workspace.ok("verify T2 --run-all");
    workspace.ok("complete T2");
    workspace.ok("reopen T2");
    workspace.write("code", "bad");
    let error = workspace.refuse("undo", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo complete T2");
    workspace.refuse("complete T2", "E_EVIDENCE_STALE");
    workspace.ok("complete T5 --force");
    workspace.ok("reopen T5");
    workspace.ok("add Part --parent T5");
    let error = workspace.refuse("undo 7", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo show T6");
}

#[test]
fn part_of_completed_epic_is_not_opened_by_undo() {
    for part in ["delete T2", "cancel T2", "update T2 --parent none"] {
        let workspace = TestWorkspace::new();
        workspace.ok("add Whole --type epic");
        workspace.ok("add Part --parent T1");
        workspace.ok("add Other --parent T1");
        workspace.ok(part);
        workspace.ok("complete T3");
        workspace.ok("complete T1");
        workspace.refuse("undo 4", "E_UNDO_CONFLICT");
        workspace.ok("reopen T1");
        workspace.ok("undo 4");
    }
}

#[test]
fn undo_of_operation_that_undoes_itself_comes_to_end() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("update T1 --title Two");
    workspace.change_database("UPDATE operations SET undoes = 2 WHERE number = 2");
    workspace.ok("undo 2");
    assert_eq!(task(&workspace, "T1")["title"], "One");
}

#[test]
fn undo_of_link_names_the_task_deletion() {
    let workspace = TestWorkspace::with_plan();
    let entry = json!({
        "id": "found", "file": "f.md", "title": "x", "date": "2026-01-26",
        "status": "complete", "topics": ["a"], "key_findings": ["1", "2", "3"],
        "actionable": true, "needs_followup": [], "linked_tasks": ["T4"],
    });
    workspace.json_with(&["manifest", "append"], &entry.to_string());
    workspace.ok("research link T2 found");
    workspace.ok("delete T2 --force");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    assert_eq!(
        error["message"],
        "operation 2 cannot be undone: T2 was changed by operation 3 (delete, by tester)"
    );
    workspace.ok("undo 3");
    workspace.ok("undo 2");
}

#[test]
fn undo_archives_no_open_task() {
    let workspace = TestWorkspace::new();
    for line in [
        "add Other",
        "complete T1",
        "archive T1",
        "unarchive T1",
        "reopen T1",
    ] {
        workspace.ok(line);
    }
    workspace.refuse("undo 4", "E_UNDO_CONFLICT");
}

#[test]
fn undo_changes_no_other_task_that_log_names() {
    for (field, value) in [
        ("id", "\"T2\""),
        ("uid", "\"another\""),
        ("archivedAt", "\"2026-01-26T09:00:00.000Z\""),
    ] {
        let workspace = TestWorkspace::new();
        workspace.ok("add One");
        workspace.ok("add Other");
        workspace.ok("update T1 --title Two");
        workspace.change_database(&format!(
            "UPDATE changes SET detail = json_set(detail, '$.{field}', json('{{\"from\":{value}}}'))
                WHERE kind = 'changed'"
        ));
        let error = workspace.refuse("undo 3", "E_STORE_CORRUPT");
        says(&error, "T1 was never like that");
        assert_eq!(task(&workspace, "T1")["title"], "Two", "{field}");
        assert_eq!(task(&workspace, "T2")["title"], "Other", "{field}");
    }
}

#[test]
fn undo_names_later_operation_that_blocks_it() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("update T1 --title two --priority high");
    workspace.ok("update T1 --title three");
    workspace.ok("update T1 --size small");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    let message = error["message"].as_str().unwrap();
    assert_eq!(
        message,
        "operation 2 cannot be undone: T1 was changed by operation 4 (update, by tester)"
    );
    assert_eq!(error["fix"], "cleo log --operation 4");
    let dry = workspace.refuse("undo 2 --dry-run", "E_UNDO_CONFLICT");
    assert_eq!(dry["message"], error["message"]);
    let all = workspace.shell("cleo undo 4 && cleo undo 3 && cleo undo 2");
    assert_eq!(all.exit, 0, "{all}");
    let now = task(&workspace, "T1");
    assert_fields(&now, json!({"title": "one", "size": null}));
    assert_eq!(now["priority"], "medium");
    // The undo of 3 was itself changed again by the undo of 2.
    let error = workspace.refuse("undo 6", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 7");
}

#[test]
fn undo_of_list_names_what_made_it_grow_further() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one --label a");
    workspace.ok("update T1 --label b --note first");
    workspace.ok("update T1 --note second");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 3", "{error}");
    workspace.ok("undo 3");
    workspace.ok("undo 2");
    let task = task(&workspace, "T1");
    assert_eq!(task["labels"], json!(["a"]));
    assert_eq!(task["notes"], json!([]));
}

#[test]
fn claims_and_sessions_and_phases_are_not_undone() {
    let workspace = TestWorkspace::with_plan();
    for line in [
        "claim T2",
        "complete T2 --force",
        "session start --scope T1",
        "session end",
        "phase set discovery",
        "phase complete discovery --force",
    ] {
        workspace.ok(line);
        let before = all(&workspace);
        let latest = workspace.ask("log --limit 1")["result"]["total"].to_string();
        let error = workspace.expect_refusal(&["undo", &latest], "E_NOTHING_TO_UNDO");
        says(&error, "no claims, proofs, sessions or phases");
        workspace.ok(error["fix"]
            .as_str()
            .unwrap()
            .strip_prefix("cleo ")
            .unwrap());
        assert_eq!(all(&workspace), before, "{line}");
    }
}

#[test]
fn required_gates_are_undone_too() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("update T1 --title two --require-gate documented");
    let before = workspace.ask("verify T1");
    workspace.ok("update T1 --require-gate implemented");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 3");
    workspace.ok("undo");
    assert_eq!(workspace.ask("verify T1"), before);
    workspace.ok("undo");
    assert_eq!(task(&workspace, "T1")["title"], "one");
    let gates = workspace.ask("verify T1");
    assert_eq!(gates["result"]["states"], json!(null), "{gates}");
    workspace.ok("undo 5");
    assert_eq!(workspace.ask("verify T1"), before, "and brought back");
}

#[test]
fn bare_undo_passes_over_what_cannot_be_undone() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add Other");
    workspace.ok("update T2 --title wrong");
    let latest = workspace.ask("log")["result"]["total"].clone();
    for line in ["claim T6", "spawn T2", "release T6", "session start"] {
        workspace.ok(line);
    }
    let undone = workspace.ask("undo");
    assert_eq!(undone["result"]["operation"]["number"], latest, "{undone}");
    assert_eq!(undone["result"]["operation"]["command"], "update");
    assert_eq!(task(&workspace, "T2")["title"], "Research token refresh");
}

#[test]
fn undo_under_later_claim_names_only_other_operations() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T2 --title wrong");
    workspace.ok("claim T2");
    let error = workspace.refuse("undo", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 3");
    let other = json!([{"action": "undo another operation by its number", "command": "cleo log"}]);
    assert_eq!(error["alternatives"], other, "no claim is undone");
    assert_eq!(task(&workspace, "T2")["title"], "wrong");
}

#[test]
fn import_that_adds_dependency_can_be_undone_and_redone() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one --label a");
    workspace.ok("add two --depends T1");
    let exported = workspace.ok("export").stdout;
    workspace.ok("add three");
    workspace.ok("update T2 --depends T3 --label b --note new");
    let edited = workspace.ok("export").stdout;
    workspace.ok("undo 4");
    workspace.ok("undo 3");
    assert_eq!(
        workspace.ok("export").stdout.lines().count(),
        exported.lines().count()
    );
    let before = all(&workspace);
    workspace.write(
        "edited.jsonl",
        edited.replace("2026-01-26T09", "2026-01-27T09"),
    );
    workspace.ok("import edited.jsonl");
    let after = all(&workspace);
    assert_ne!(after, before);
    workspace.ok("undo");
    assert_eq!(all(&workspace), before);
    workspace.ok("undo 8");
    assert_eq!(all(&workspace), after);
    workspace.ok("undo 7");
    assert_eq!(all(&workspace), before);
}

#[test]
fn task_that_others_stand_on_by_now_is_not_taken_away() {
    for later in [
        "add two --depends T1",
        "add two --parent T1",
        "research link T1 x",
    ] {
        let workspace = TestWorkspace::new();
        workspace.ok("add one");
        let reply = workspace.text(later, "");
        if reply.exit != 0 {
            continue;
        }
        let error = workspace.refuse("undo 1", "E_UNDO_CONFLICT");
        assert_eq!(error["fix"], "cleo show T2", "{later}");
    }
}

#[test]
fn what_stands_beside_operation_is_in_nobodys_way() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("add two --depends T1");
    workspace.ok("delete T1 --force");
    workspace.ok("undo");
    workspace.ok("add three");
    workspace.ok("update T2 --title 'another title' --depends T3");
    let error = workspace.refuse("undo 4", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo log --operation 6", "{error}");
    workspace.ok("undo 6");
    workspace.ok("undo 4");
    assert_eq!(task(&workspace, "T2")["depends"], json!([]));
    workspace.ok("undo 8");
    workspace.ok("update T2 --title 'and another'");
    let error = workspace.refuse("undo 1", "E_UNDO_CONFLICT");
    assert_eq!(error["message"], "operation 1 cannot be undone: T2 uses T1");
}

#[test]
fn what_was_reverted_is_not_reverted_twice() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("undo 1");
    let error = workspace.refuse("undo 1", "E_NOTHING_TO_UNDO");
    assert_eq!(
        error["message"],
        "operation 1 cannot be undone: operation 2 has already undone it"
    );
    assert_eq!(error["alternatives"][0]["command"], "cleo undo 2");
    workspace.refuse("undo 9", "E_OPERATION_NOT_FOUND");
}

#[test]
fn rules_that_hold_hold_after_undo_too() {
    let workspace = TestWorkspace::new();
    workspace.ok("add a");
    workspace.ok("add b --depends T1");
    workspace.ok("update T2 --remove-depends T1");
    workspace.ok("update T1 --depends T2");
    let error = workspace.refuse("undo 3", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo deps T2", "{error}");
    assert_eq!(
        error["message"],
        "operation 3 cannot be undone: tasks would wait for each other in a circle: T2 → T1 → T2"
    );
    workspace.ok("update T1 --remove-depends T2");
    workspace.ok("undo 3");

    let workspace = TestWorkspace::new();
    workspace.ok("add a");
    workspace.ok("add b --parent T1");
    workspace.ok("update T2 --parent none");
    workspace.ok("delete T1");
    let error = workspace.refuse("undo 3", "E_UNDO_CONFLICT");
    assert_eq!(
        error["message"],
        "operation 3 cannot be undone: there is no task T1 to be the parent"
    );
    assert_eq!(task(&workspace, "T2")["parent"], json!(null));

    let workspace = TestWorkspace::new();
    workspace.ok("add top --key k");
    workspace.ok("delete T1");
    workspace.ok("add another --key k");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    assert_eq!(
        error["message"],
        "operation 2 cannot be undone: T2 has the uid or key of T1"
    );
    workspace.ok("undo 3");
    workspace.ok("undo 2");

    let workspace = TestWorkspace::new();
    workspace.ok("add top --key k");
    let exported = workspace.ok("export").stdout;
    workspace.ok("delete T1");
    workspace.ok("add other");
    workspace.write("exported.jsonl", exported);
    workspace.ok("import exported.jsonl");
    let error = workspace.refuse("undo 2", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo show T3", "{error}");
    workspace.ok("undo 4");
    workspace.ok("undo 2");

    let workspace = TestWorkspace::new();
    workspace.ok("add root");
    for parent in 1..=6 {
        workspace.ok(&format!("add below --parent T{parent}"));
    }
    workspace.ok("add leaf --parent T7");
    workspace.ok("update T8 --parent none");
    workspace.ok("add 'below the leaf' --parent T8");
    let error = workspace.refuse("undo 9", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo list --tree", "too deep: {error}");
}

#[test]
fn what_cannot_be_reverted_is_named() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("spawn T1");
    let error = workspace.refuse("undo 2", "E_NOTHING_TO_UNDO");
    says(&error, "spawned T1");
    workspace.ok("verify T1 --gate implemented --run 'true'");
    let error = workspace.refuse("undo 3", "E_NOTHING_TO_UNDO");
    assert_eq!(error["fix"], "cleo log --operation 3");
    workspace.refuse("undo", "E_NOTHING_TO_UNDO");
    let error = workspace.refuse("undo 1", "E_UNDO_CONFLICT");
    says(&error, "T1 was spawned or verified since it was added");
    assert_eq!(error["fix"], "cleo show T1");
    workspace.ok("delete T1");
    workspace.ok("undo");
    let gates = workspace.ask("verify T1");
    assert_eq!(gates["result"]["gates"]["implemented"]["passed"], true);
    assert_eq!(
        workspace.ask("why T1")["success"],
        true,
        "the spawn is back"
    );
}

#[test]
fn log_names_sessions_and_phases() {
    let workspace = TestWorkspace::new();
    workspace.ok("session start");
    workspace.ok("add x --phase build");
    workspace.ok("phase set build");
    let told = [
        "3 phase.set: phase-started build",
        "2 add: added T1 x",
        "1 session.start: session-started S1",
    ];
    assert_eq!(log(&workspace), told);
}

#[test]
fn log_shows_what_an_undo_reverted() {
    let workspace = TestWorkspace::new();
    workspace.ok("add one");
    workspace.ok("update T1 --title two");
    insta::assert_snapshot!(workspace.cleo("undo --dry-run"));
    insta::assert_snapshot!(workspace.cleo("undo"));
    insta::assert_snapshot!(workspace.cleo("log"));
    assert_eq!(
        log(&workspace),
        [
            "3 undo: changed T1 title",
            "2 update: changed T1 title",
            "1 add: added T1 one"
        ]
    );
}

#[test]
fn plain_undo_skips_addition_that_was_spawned_since() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("add Two");
    workspace.ok("spawn T2");
    let undone = workspace.result("undo");
    assert_eq!(undone["changes"][0]["task"], "T1", "{undone}");
    workspace.fails("undo", "E_NOTHING_TO_UNDO");
    workspace.fails("undo 2", "E_UNDO_CONFLICT");
}

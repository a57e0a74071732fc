//! The life of a task: added, changed, shown, moved, deleted.

use serde_json::json;

use crate::world::{TestWorkspace, column};

#[test]
fn init_makes_workspace_once() {
    let workspace = TestWorkspace::bare();
    insta::assert_snapshot!(workspace.cleo("init"));
    insta::assert_snapshot!(workspace.cleo("init"));
    let again = workspace.ask("init");
    assert_eq!(again["result"]["created"], json!([]));
    let ignored = workspace.read(".cleo/.gitignore");
    assert_eq!(ignored, "cleo.db\ncleo.db-*\nruns/\n.cleo-new-*\n");
}

#[test]
fn task_is_added_with_all_its_fields_and_shown() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo(
        "add 'Rotate the signing key' --description 'Two keys, one grace period.\n\nNobody is \
         logged out.' --type security --label auth,ops --label keys --depends T3 --depends T4 \
         --parent T1 --priority urgent --phase build --size l --acceptance 'old tokens work' \
         --acceptance 'no downtime' --file 'src/keys/**' --deliverable 'a runbook' --note 'ask Ada' \
         --agent coder --due 2026-03-01 --estimate 2.5 --feature login --key rotate"
    ));
    insta::assert_snapshot!(workspace.cleo("show T6"));
    insta::assert_snapshot!(format!("{:#}", workspace.ask("show T6")));
}

#[test]
fn show_tells_what_stands_around_task() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("show T1"));
    insta::assert_snapshot!(workspace.cleo("show t003"));
    let shown = workspace.ask("show T3");
    assert_eq!(shown["result"]["waitingFor"], json!(["T2"]));
    assert_eq!(shown["result"]["dependents"], json!(["T4"]));
}

#[test]
fn text_is_kept_as_it_was_given() {
    let workspace = TestWorkspace::new();
    let title = r#"Braces {{DATE}} & \ | $HOME `x` "quotes" 'and' ünïcödé 日本 🦀"#;
    let description = "tab\there\nline\r\n{{TASK_ID}} & <b>\\n</b>";
    let added = workspace.json(&["add", title, "--description", description]);
    assert_eq!(added["result"]["task"]["title"], title);
    let shown = workspace.ask("show T1");
    assert_eq!(shown["result"]["task"]["title"], title);
    assert_eq!(shown["result"]["task"]["description"], description);
}

#[test]
fn title_may_look_like_option() {
    let workspace = TestWorkspace::new();
    let added = workspace.ask("add -- '--json is missing'");
    assert_eq!(added["result"]["task"]["title"], "--json is missing");
}

#[test]
fn words_of_other_tools_are_taken() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x --priority urgent --size M");
    workspace.ok("update T1 --status in-progress");
    let task = &workspace.ask("show t1")["result"]["task"];
    assert_eq!(task["priority"], "critical");
    assert_eq!(task["size"], "medium");
    assert_eq!(task["status"], "active");
}

#[test]
fn update_changes_what_it_is_given_and_nothing_else() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.ask("show T2")["result"]["task"].clone();
    insta::assert_snapshot!(workspace.cleo(
        "update T2 --title 'Research rotation' --label keys --remove-label research \
         --priority low --note 'asked Ada' --clear phase,acceptance --acceptance 'two sources'"
    ));
    let after = workspace.ask("show T2")["result"]["task"].clone();
    assert_eq!(after["title"], "Research rotation");
    assert_eq!(after["labels"], json!(["auth", "keys"]));
    assert_eq!(after["priority"], "low");
    assert_eq!(after["phase"], json!(null));
    assert_eq!(after["acceptance"], json!(["two sources"]));
    assert_eq!(after["notes"][0]["by"], "tester");
    assert_ne!(after["updatedAt"], before["updatedAt"]);
    workspace.ok("update T2 --priority low --remove-label absent");
    assert_eq!(workspace.ask("show T2")["result"]["task"], after);
    for field in [
        "id",
        "type",
        "status",
        "parent",
        "depends",
        "key",
        "createdAt",
    ] {
        assert_eq!(after[field], before[field], "{field}");
    }
}

#[test]
fn every_field_can_be_emptied() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok(
        "update T3 --description d --phase p --size s --deliverable d --due 2026-03-01 \
         --estimate 1 --feature f --acceptance a",
    );
    workspace.ok(
        "update T3 --parent none --clear description,depends,labels,phase,size,files,acceptance \
         --clear deliverables,agent,due,estimate,feature,key",
    );
    let task = workspace.ask("show T3")["result"]["task"].clone();
    for (field, value) in task.as_object().unwrap() {
        let kept = [
            "id",
            "uid",
            "title",
            "type",
            "status",
            "priority",
            "createdAt",
            "updatedAt",
        ];
        let is_empty = [json!(null), json!([]), json!({}), json!("")].contains(value);
        assert_eq!(
            is_empty,
            !kept.contains(&field.as_str()),
            "{field} is {value}"
        );
    }
}

#[test]
fn dependencies_are_added_and_removed() {
    let workspace = TestWorkspace::with_plan();
    let updated = workspace.ask("update T5 --depends T3,T4 --depends T3");
    assert_eq!(
        updated["result"]["task"]["depends"],
        json!(["T2", "T3", "T4"])
    );
    let updated = workspace.ask("update T5 --remove-depends T3,T2");
    assert_eq!(updated["result"]["task"]["depends"], json!(["T4"]));
}

#[test]
fn task_moves_from_pending_over_active_to_done_and_back() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("start T2"));
    insta::assert_snapshot!(workspace.cleo("complete T2"));
    insta::assert_snapshot!(workspace.cleo("complete T2"));
    let done = workspace.ask("show T2")["result"]["task"].clone();
    assert_eq!(done["startedAt"], "2026-01-26T09:00:02.000Z");
    assert_eq!(done["completedAt"], "2026-01-26T09:00:03.000Z");
    let shown = workspace.cleo("show T2");
    assert!(shown.contains("proof  none, not verified\n"), "{shown}");
    assert!(shown.contains("completed by  tester\n"), "{shown}");
    insta::assert_snapshot!(workspace.cleo("reopen T2"));
    let reopened = workspace.ask("show T2")["result"]["task"].clone();
    assert_eq!(reopened["status"], "pending");
    assert_eq!(reopened["completedAt"], json!(null));
}

#[test]
fn completing_names_newly_ready_tasks() {
    let workspace = TestWorkspace::with_plan();
    let moved = workspace.ask("complete T2");
    assert_eq!(moved["result"]["unblocked"], json!(["T3", "T5"]));
    assert_eq!(moved["result"]["changed"], true);
    let again = workspace.ask("complete T2");
    assert_eq!(again["result"]["unblocked"], json!([]));
    assert_eq!(again["result"]["changed"], false);
}

#[test]
fn work_before_its_dependencies_is_warning_and_no_error() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("start T4"));
    let done = workspace.ask("complete T4");
    assert_eq!(done["warnings"], json!(["T4 depends on T3, not done yet"]));
    let early = json!(["T3 depends on T2, not done yet"]);
    let update = |status| workspace.json(&["update", "T3", "--status", status])["warnings"].clone();
    assert_eq!(update("active"), early);
    assert_eq!(update("active"), json!([]), "it is told once");
    assert_eq!(update("paused"), json!([]));
}

#[test]
fn quiet_leaves_warnings_out() {
    let workspace = TestWorkspace::with_plan();
    assert_eq!(workspace.text("start T4 --quiet", "").stderr, "");
}

#[test]
fn cancelled_task_keeps_its_reason() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("cancel T2 --reason 'the library does it already'"));
    insta::assert_snapshot!(workspace.cleo("show T2"));
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ready["result"]["total"], 0);
}

#[test]
fn parent_completes_with_its_children() {
    let workspace = TestWorkspace::with_plan();
    for task in ["T2", "T3", "T4"] {
        workspace.ok(&format!("complete {task}"));
    }
    insta::assert_snapshot!(workspace.cleo("complete T1"));
    workspace.ok("cancel T5");
    workspace.ok("complete T1");
}

#[test]
fn dry_run_shows_delete_and_does_nothing() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    insta::assert_snapshot!(workspace.cleo("delete T2 --force --dry-run"));
    assert_eq!(workspace.state(), before);
}

#[test]
fn deleting_takes_children_and_edges_along_when_asked() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("delete T2 --force"));
    let built = workspace.ask("show T3");
    assert_eq!(built["result"]["task"]["depends"], json!([]));
    insta::assert_snapshot!(workspace.cleo("delete T1 --cascade"));
    assert_eq!(workspace.ask("list")["result"]["total"], 0);
}

#[test]
fn id_is_never_used_again() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("delete T1 --cascade");
    let added = workspace.ask("add x");
    assert_eq!(added["result"]["task"]["id"], "T6");
}

#[test]
fn each_reason_for_giving_up_is_kept_and_checked() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Fix the door'");
    workspace.ok("cancel T1 --reason first");
    workspace.ok("cancel T1 --reason second");
    let shown = workspace.ask("show T1");
    let texts = column(&shown["result"]["task"]["notes"], "text");
    assert_eq!(texts, ["first", "second"]);
    let before = workspace.state();
    let refused = workspace.json(&["cancel", "T1", "--reason", "\u{1b}[31mred"]);
    assert_eq!(refused["error"]["code"], "E_TEXT_CONTROL");
    workspace.fails("cancel T1 --reason ' '", "E_TASK_INVALID");
    assert_eq!(workspace.state(), before);
}

#[test]
fn declared_file_lies_in_workspace_and_has_one_name() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One --file ./src/auth/../auth/login.rs --file src/auth/login.rs");
    let files = |id: &str| workspace.json(&["show", id])["result"]["task"]["files"].clone();
    assert_eq!(files("T1"), json!(["src/auth/login.rs"]));
    let before = workspace.state();
    for (words, fix) in [
        (
            ["add", "x", "--file", "../../etc/passwd"],
            "cleo add --help",
        ),
        (
            ["update", "T1", "--file", "/etc/passwd"],
            "cleo update --help",
        ),
    ] {
        let error = workspace.json(&words)["error"].clone();
        assert_eq!(error["code"], "E_PATH_OUTSIDE_WORKSPACE", "{error}");
        assert_eq!(error["alternatives"][0]["command"], fix);
    }
    assert_eq!(workspace.state(), before);
    workspace.ok("update T1 --remove-file ./src/auth/login.rs");
    assert_eq!(files("T1"), json!([]));
}

#[test]
fn paths_count_from_the_current_folder() {
    let workspace = TestWorkspace::new().with("src/deep/a.rs", "");
    let below = |line: &str| workspace.shell(&format!("cd src/deep && cleo {line}"));
    below(
        "add One --file a.rs --file ../../Cargo.toml --deliverable ../notes.md --deliverable 'a report'",
    );
    below("update T1 --file '**/*.sql'");
    let task = workspace.result("show T1")["task"].clone();
    let files = json!(["src/deep/a.rs", "Cargo.toml", "src/deep/**/*.sql"]);
    assert_eq!(task["files"], files, "{task}");
    assert_eq!(task["deliverables"], json!(["src/notes.md", "a report"]));
    for path in ["../../../x", "/etc/passwd"] {
        let refused = below(&format!("add Two --file {path}"));
        assert!(
            refused.stderr.contains("E_PATH_OUTSIDE_WORKSPACE"),
            "{refused}"
        );
    }
    workspace.write(
        "src/deep/plan.jsonl",
        r#"{"title": "Two", "files": ["b.rs"]}"#,
    );
    below("add --batch plan.jsonl");
    let files = workspace.result("show T2")["task"]["files"].clone();
    assert_eq!(
        files,
        json!(["b.rs"]),
        "those of a batch count from the root"
    );
}

#[test]
fn wrong_id_names_similar_one() {
    let workspace = TestWorkspace::new();
    workspace.ok("add A");
    for (line, similar) in [
        ("add B --parent T9", "T1"),
        ("add B --depends T12", "T1"),
        ("update T1 --depends T3", "T1"),
    ] {
        let error = workspace.ask(line)["error"].clone();
        let expected = json!([{"action": format!("did you mean {similar}?"),
            "command": format!("cleo show {similar}")}]);
        assert_eq!(error["alternatives"], expected, "{error}");
        assert_eq!(error["fix"], "cleo list");
    }
    let error = workspace.ask("add B --parent T999")["error"].clone();
    assert_eq!(error["alternatives"], json!([]), "{error}");
}

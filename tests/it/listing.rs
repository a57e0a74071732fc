//! Listing and finding tasks.

use serde_json::{Value, json};

use crate::world::TestWorkspace;

/// Runs `cleo list` or `cleo find` and returns the ids, joined, and the total.
fn find(workspace: &TestWorkspace, line: &str) -> (String, u64) {
    let reply = workspace.json(&line.split(' ').collect::<Vec<_>>());
    let id = |task: &Value| task["id"].as_str().unwrap().to_string();
    let tasks = reply["result"]["tasks"].as_array().unwrap();
    let ids: Vec<String> = tasks.iter().map(id).collect();
    (ids.join(" "), reply["result"]["total"].as_u64().unwrap())
}

#[test]
fn tasks_are_listed_as_table() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("list"));
    insta::assert_snapshot!(workspace.cleo("list --limit 2"));
    insta::assert_snapshot!(workspace.cleo("list --status done"));
}

#[test]
fn everyday_words_are_commands() {
    let workspace = TestWorkspace::new();
    for (line, command) in [
        ("create One", "add"),
        ("new Two", "add"),
        ("edit T1 --title Three", "update"),
        ("ls", "list"),
        ("ready", "ready"),
        ("status", "status"),
        ("done T1", "complete"),
        ("close T2", "complete"),
        ("rm T2", "delete"),
    ] {
        let reply = workspace.ask(line);
        assert_eq!(reply["command"], command, "{line}");
        assert_eq!(reply["success"], true, "{line}");
    }
}

#[test]
fn one_task_is_told_as_one() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Alone");
    let shown = workspace.ok("list --limit 0").stdout;
    assert_eq!(shown, "0 of 1 task\n");
    let shown = workspace.ok("orchestrator analyze").stdout;
    assert!(shown.contains("waves  1, of 1 task\n"), "{shown}");
}

#[test]
fn long_title_is_wrapped_in_its_column() {
    let workspace = TestWorkspace::new();
    workspace.ok(&format!(
        "add '{}'",
        "many words that do so and so ".repeat(6)
    ));
    workspace.ok("add '日本語のタイトルはとても幅が広い'");
    insta::assert_snapshot!(workspace.cleo("list"));
}

#[test]
fn each_filter_lets_through_what_it_names() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    workspace.ok("start T3");
    for (line, ids) in [
        ("list", "T1 T3 T4 T5"),
        ("list --all", "T1 T2 T3 T4 T5"),
        ("list --status pending", "T1 T4 T5"),
        ("list --status done,active", "T2 T3"),
        ("list --status completed --status doing", "T2 T3"),
        ("list --label auth", "T3"),
        ("list --label auth,research --all", "T2"),
        ("list --label AUTH --all", "T2 T3"),
        ("list --label nothing", ""),
        ("list --type epic", "T1"),
        ("list --type testing,documentation", "T4 T5"),
        ("list --parent T1", "T3 T4 T5"),
        ("list --parent T2", ""),
        ("list --priority critical,high", "T3 T4"),
        ("list --priority low", "T5"),
        ("list --phase discovery --all", "T2"),
        ("list --agent coder", "T3"),
        ("list --status pending --priority critical", "T4"),
        ("list --tree", "T1 T3 T4 T5"),
        ("list --tree --all", "T1 T2 T3 T4 T5"),
        ("list --tree --parent T1 --status pending", "T1 T4 T5"),
    ] {
        let total = ids.split_whitespace().count() as u64;
        assert_eq!(find(&workspace, line), (ids.to_string(), total), "{line}");
    }
}

#[test]
fn limit_and_offset_cut_list_and_not_total() {
    let workspace = TestWorkspace::with_plan();
    for (line, ids) in [
        ("list --limit 2", "T1 T2"),
        ("list --limit 2 --offset 3", "T4 T5"),
        ("list --offset 4", "T5"),
        ("list --offset 9", ""),
        ("list --limit 0", ""),
    ] {
        assert_eq!(find(&workspace, line), (ids.to_string(), 5), "{line}");
    }
    insta::assert_snapshot!(workspace.cleo("list --limit 0"));
}

#[test]
fn tree_shows_who_is_part_of_what() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Read the standard' --parent T2");
    workspace.ok("add 'Compare libraries' --parent T2");
    workspace.ok("add 'Alone'");
    insta::assert_snapshot!(workspace.cleo("list --tree"));
    insta::assert_snapshot!(workspace.cleo("list --tree --parent T2"));
    insta::assert_snapshot!(workspace.cleo("list --tree --type epic --status done"));
    let rows = workspace.ask("list --tree");
    assert_eq!(rows["result"]["tasks"][2]["ready"], true, "{rows}");
    let depths: Vec<u64> = rows["result"]["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["depth"].as_u64().unwrap())
        .collect();
    assert_eq!(depths, [0, 1, 2, 2, 1, 1, 1, 0]);
}

#[test]
fn find_matches_words_and_prefixes_in_title_and_text() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T5 --description 'The réfresh of tokens, for élèves: 결제 ガイド हिन्दी'");
    for (line, ids) in [
        ("find token", "T2 T3 T4 T5"),
        ("find TOKEN refresh", "T2 T3 T4 T5"),
        ("find impl", "T3"),
        ("find implement nothing", ""),
        ("find eleves", "T5"),
        ("find 결제", "T5"),
        ("find ガイ", "T5"),
        ("find हिन्दी", "T5"),
        ("find oken", ""),
        ("find zzz", ""),
        ("find *", ""),
        ("find \"", ""),
        ("find -- -", ""),
        ("find AND", ""),
        ("find title:token", ""),
    ] {
        let (mut found, total) = find(&workspace, line);
        let mut sorted: Vec<&str> = found.split(' ').collect();
        sorted.sort_unstable();
        found = sorted.join(" ");
        assert_eq!(found, ids, "{line}");
        assert_eq!(total, ids.split_whitespace().count() as u64, "{line}");
    }
}

#[test]
fn what_was_renamed_or_deleted_is_no_longer_found() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T3 --title 'Write the code'");
    assert_eq!(find(&workspace, "find implement").0, "");
    assert_eq!(find(&workspace, "find code").0, "T3");
    workspace.ok("delete T4");
    assert_eq!(find(&workspace, "find test").0, "");
}

#[test]
fn cut_result_names_the_command_for_the_rest() {
    let workspace = TestWorkspace::new();
    let tasks: Vec<String> = (1..=3)
        .map(|n| format!(r#"{{"title":"Task {n}"}}"#))
        .collect();
    workspace.text("add --batch -", &tasks.join("\n"));
    let found = workspace
        .text("find task --limit 2 --format text", "")
        .stdout;
    assert!(found.ends_with("see all with --limit 3\n"), "{found}");
}

#[test]
fn misspelt_type_is_warned_of_and_refused_in_lists() {
    let workspace = TestWorkspace::new();
    let warnings = |line: &str| workspace.ask(line)["warnings"].clone();
    assert_eq!(
        warnings("add One --type tasks"),
        json!([
            "T1 is the first task of type `tasks`; for a usual one: cleo update T1 --type task"
        ])
    );
    assert_eq!(
        warnings("add Two --type tasks").as_array().map(Vec::len),
        Some(0)
    );
    assert_eq!(
        warnings("update T2 --type epik"),
        json!(["T2 is the first task of type `epik`; for a usual one: cleo update T2 --type epic"])
    );
    workspace.ok("update T2 --type chore");
    let error = workspace.fails("list --type tsk", "E_INPUT_INVALID");
    assert_eq!(
        error["error"]["message"],
        "no task has the type `tsk`; did you mean `task`?"
    );
    for kind in ["task", "tasks", "chore"] {
        workspace.ok(&format!("list --type {kind}"));
    }
}

#[test]
fn closed_parent_is_warned_of() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole");
    workspace.ok("complete T1");
    let warning = "T1 is done and does not wait for T2: `cleo reopen T1`";
    assert_eq!(
        workspace.ask("add Part --parent T1")["warnings"][0],
        warning
    );
    workspace.ok("update T2 --parent none");
    let moved = workspace.ask("update T2 --parent T1");
    assert_eq!(moved["warnings"][0], warning);
}

#[test]
fn nothing_found_is_said_and_no_error() {
    let workspace = TestWorkspace::new();
    insta::assert_snapshot!(workspace.cleo("list"));
    insta::assert_snapshot!(workspace.cleo("find anything"));
}

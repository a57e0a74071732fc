//! Adding many tasks at once, and adding the same task twice.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, document, says};

fn ids(reply: &Value) -> Vec<&str> {
    let tasks = reply["result"]["tasks"].as_array().unwrap();
    tasks
        .iter()
        .map(|added| added["task"]["id"].as_str().unwrap())
        .collect()
}

#[test]
fn batch_adds_all_its_tasks_in_order() {
    let workspace = TestWorkspace::new().with(
        "plan.jsonl",
        "\u{feff}{\"title\":\"one\",\"key\":\"a\"}\r\n\n  {\"title\":\"two\",\"depends\":[\"@a\"]}\n",
    );
    insta::assert_snapshot!(workspace.cleo("add --batch plan.jsonl"));
}

#[test]
fn lines_refer_to_each_other_forward_and_backward() {
    let workspace = TestWorkspace::new();
    let batch = r#"{"title":"last","depends":["@first","@middle"]}
{"title":"middle","key":"middle","parent":"@epic","depends":["@first"]}
{"title":"epic","key":"epic","type":"epic"}
{"title":"first","key":"first"}
"#;
    let added = workspace.json_with(&["add", "--batch", "-"], batch);
    assert_eq!(ids(&added), ["T1", "T2", "T3", "T4"]);
    let tasks = &added["result"]["tasks"];
    assert_eq!(tasks[0]["task"]["depends"], json!(["T4", "T2"]));
    assert_eq!(tasks[1]["task"]["parent"], "T3");
}

#[test]
fn batch_may_refer_to_tasks_that_are_there() {
    let workspace = TestWorkspace::with_plan();
    let batch = r#"{"title":"x","parent":"@epic","depends":["T2","@build"]}"#;
    let added = workspace.json_with(&["add", "--batch", "-"], batch);
    let task = &added["result"]["tasks"][0]["task"];
    assert_eq!(task["parent"], "T1");
    assert_eq!(task["depends"], json!(["T2", "T3"]));
}

#[test]
fn repeated_batch_adds_nothing() {
    let workspace = TestWorkspace::new();
    let batch = "{\"title\":\"one\",\"key\":\"a\"}\n{\"title\":\"two\",\"key\":\"b\"}\n";
    let first = workspace.json_with(&["add", "--batch", "-"], batch);
    let before = workspace.state();
    let second = workspace.json_with(&["add", "--batch", "-"], batch);
    assert_eq!(ids(&first), ids(&second));
    assert_eq!(first["result"]["created"], 2);
    assert_eq!(second["result"]["created"], 0);
    assert_eq!(workspace.state(), before);
}

#[test]
fn key_makes_add_idempotent() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Fix the door' --key door");
    let before = workspace.state();
    insta::assert_snapshot!(workspace.cleo("add 'Fix the door again' --key door"));
    assert_eq!(workspace.state(), before);
    let added = workspace.ask("add 'Paint the door' --depends @door");
    assert_eq!(added["result"]["task"]["depends"], json!(["T1"]));
}

#[test]
fn one_faulty_line_refuses_all() {
    for (batch, code, message) in [
        (
            "{\"title\":\"x\"}\n{\"titel\":\"y\"}\n{\"title\":\"\"}\nno\n",
            "E_FIELD_UNKNOWN",
            "line 2: a task has no field `titel`: did you mean `title`?; line 3: a task needs a title; line 4:",
        ),
        (
            "{\"title\":\"x\"}\n[1]\n",
            "E_TASK_INVALID",
            "line 2: a task is written as one JSON object",
        ),
        (
            "{\"title\":\"x\"}\n{\"title\":\"\"}\n",
            "E_TASK_INVALID",
            "line 2: a task needs a title",
        ),
        (
            "{\"title\":\"x\",\"id\":\"T9\"}",
            "E_FIELD_UNKNOWN",
            "line 1: a task has no field `id`: ids are handed out",
        ),
        (
            "{\"title\":\"x\",\"status\":\"done\"}",
            "E_FIELD_UNKNOWN",
            "a new task is pending",
        ),
        (
            "{\"title\":\"x\",\"priority\":\"asap\"}",
            "E_TASK_INVALID",
            "`asap` is not a valid priority; use one of critical",
        ),
        (
            "{\"title\":\"a\\u001bb\"}",
            "E_TEXT_CONTROL",
            "line 1: the title holds the control character U+001B",
        ),
        (
            "{\"title\":",
            "E_BATCH_INVALID",
            "line 1: no JSON at column",
        ),
        ("", "E_BATCH_INVALID", "the batch holds no tasks"),
        ("\n \n", "E_BATCH_INVALID", "the batch holds no tasks"),
        (
            "{\"title\":\"x\",\"key\":\"k\"}\n{\"title\":\"y\",\"key\":\"k\"}\n",
            "E_BATCH_INVALID",
            "two lines have the key `k`",
        ),
        (
            "{\"title\":\"x\"}\n{\"title\":\"y\",\"depends\":[\"@nobody\"]}\n",
            "E_DEPENDENCY_NOT_FOUND",
            "there is no task @nobody to depend on",
        ),
        (
            "{\"title\":\"x\"}\n{\"title\":\"y\",\"parent\":\"T77\"}\n",
            "E_PARENT_NOT_FOUND",
            "there is no task T77 to be the parent",
        ),
        (
            "{\"title\":\"x\",\"key\":\"a\",\"depends\":[\"@b\"]}\n{\"title\":\"y\",\"key\":\"b\",\"depends\":[\"@a\"]}\n",
            "E_CYCLE",
            "tasks would wait for each other in a circle: @a → @b → @a",
        ),
        (
            "{\"title\":\"x\",\"key\":\"a\",\"parent\":\"@b\"}\n{\"title\":\"y\",\"key\":\"b\",\"parent\":\"@a\"}\n",
            "E_CYCLE",
            "tasks would wait for each other in a circle: @a → @b → @a",
        ),
    ] {
        let workspace = TestWorkspace::new();
        workspace.ok("add 'was here before'");
        let before = workspace.state();
        let refused = workspace.json_with(&["add", "--batch", "-"], batch);
        assert_eq!(refused["error"]["code"], code, "{batch}");
        says(&refused, message);
        let error = &refused["error"];
        let has_way_out = error["fix"].is_string() || error["alternatives"].is_array();
        assert!(has_way_out, "{batch}");
        assert_eq!(workspace.state(), before, "{batch}");
    }
}

#[test]
fn fix_shows_faulty_lines_that_work_once_corrected() {
    let workspace = TestWorkspace::new();
    let batch = "{\"title\":\"x\"}\n{\"titel\":\"y\"}\n{\"title\":\"z\"}\nno\n";
    workspace.write("the plan.jsonl", batch);
    let asked = ["add", "--batch", "the plan.jsonl"];
    let error = workspace.expect_refusal(&asked, "E_FIELD_UNKNOWN");
    assert_eq!(
        error["fix"],
        "sed -n '2p;4p' 'the plan.jsonl' | cut -c1-200"
    );
    let look = workspace.shell(error["fix"].as_str().unwrap());
    assert_eq!(look.stdout, "{\"titel\":\"y\"}\nno\n");
    let again = &error["alternatives"][0]["command"];
    assert_eq!(again, "cleo add --batch 'the plan.jsonl'");
    let twice = "{\"title\":\"x\",\"key\":\"k\"}\n{\"title\":\"y\",\"key\":\"k\"}\n";
    workspace.write("the plan.jsonl", twice);
    let error = workspace.expect_refusal(&asked, "E_BATCH_INVALID");
    assert_eq!(
        error["fix"],
        "sed -n '1p;2p' 'the plan.jsonl' | cut -c1-200"
    );
    workspace.write("the plan.jsonl", "{\"title\":\"x\"}\n");
    assert_eq!(workspace.shell(again.as_str().unwrap()).exit, 0);
}

#[test]
fn lines_that_do_not_go_together_are_shown_by_fix() {
    let good = "{\"title\":\"x\"}\n\n";
    for (lines, code, numbers) in [
        (
            "{\"title\":\"y\",\"depends\":[\"@nobody\"]}",
            "E_DEPENDENCY_NOT_FOUND",
            "3p",
        ),
        (
            "{\"title\":\"y\",\"parent\":\"T77\"}",
            "E_PARENT_NOT_FOUND",
            "3p",
        ),
        (
            "{\"title\":\"y\",\"key\":\"a\",\"depends\":[\"@b\"]}\n{\"title\":\"z\",\"key\":\"b\",\"depends\":[\"@a\"]}",
            "E_CYCLE",
            "'3p;4p'",
        ),
        ("{\"title\":\"a\\u0007b\"}", "E_TEXT_CONTROL", "3p"),
    ] {
        let workspace = TestWorkspace::new().with("plan.jsonl", format!("{good}{lines}\n"));
        let error = workspace.refuse("add --batch plan.jsonl", code);
        let look = format!("sed -n {numbers} plan.jsonl | cut -c1-200");
        assert_eq!(error["fix"], look, "{lines}");
        assert_eq!(workspace.shell(&look).stdout, format!("{lines}\n"));
    }
}

#[test]
fn title_of_megabyte_is_refused() {
    let workspace = TestWorkspace::new();
    let batch = json!({"title": "x".repeat(1 << 20)}).to_string();
    let refused = workspace.json_with(&["add", "--batch", "-"], &batch);
    assert_eq!(refused["error"]["code"], "E_TEXT_TOO_LONG");
    assert!(refused["error"]["message"].as_str().unwrap().len() < 200);
    workspace.write("big.jsonl", &batch);
    let refused = workspace.ask("add --batch big.jsonl");
    let look = workspace.shell(refused["error"]["fix"].as_str().unwrap());
    assert_eq!(look.stdout.len(), 201, "one line of it, cut");
    assert_eq!(workspace.ask("list")["result"]["total"], 0);
}

#[test]
fn endless_line_is_refused_without_reading_it_whole() {
    let workspace = TestWorkspace::new();
    let batch = "x".repeat(20 << 20);
    let refused = workspace.json_with(&["add", "--batch", "-"], &batch);
    assert_eq!(refused["error"]["code"], "E_BATCH_INVALID");
    assert!(refused["error"]["message"].as_str().unwrap().len() < 2_000);
}

#[test]
fn non_utf8_batch_is_refused() {
    let workspace = TestWorkspace::new().with("plan.jsonl", b"{\"title\":\"\xff\xfe\"}\n\0\0\0\n");
    let reply = workspace.finish(workspace.command(&["add", "--batch", "plan.jsonl"]), "");
    assert_eq!(document(&reply)["error"]["code"], "E_BATCH_INVALID");
}

#[test]
fn thousand_tasks_are_added_in_one_go() {
    let workspace = TestWorkspace::new();
    let lines: Vec<String> = (1..=1_000)
        .map(|number| match number {
            1 => json!({"title": "task 1", "key": "k1"}),
            _ => json!({"title": format!("task {number}"), "key": format!("k{number}"),
                        "depends": [format!("@k{}", number - 1)]}),
        })
        .map(|line| line.to_string())
        .collect();
    let added = workspace.json_with(&["add", "--batch", "-"], &lines.join("\n"));
    assert_eq!(added["result"]["created"], 1_000);
    let waves = workspace.ask("orchestrator waves");
    assert_eq!(waves["result"]["total"], 1_000);
}

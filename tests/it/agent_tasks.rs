//! Tasks as agents see them: the words of the multi-agent specification over cleo's own tasks.
//! Scenario A0-18 of the notes.

use serde_json::{Value, json};

use crate::world::TestWorkspace;

fn does(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = workspace.json(&shlex::split(line).unwrap());
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply["result"].clone()
}

#[test]
fn a_task_goes_from_todo_to_done_and_its_times_are_set_by_the_moves() {
    let workspace = TestWorkspace::new();
    let create = "agents tasks create 'Research the war' --agent toby-technical --due 2026-02-01 \
                  --estimate 2.5 --feature lore --tag history --priority urgent";
    let task = does(&workspace, create)["task"].clone();
    assert_eq!(
        (&task["status"], &task["priority"]),
        (&json!("todo"), &json!("urgent"))
    );
    assert_eq!(
        (&task["startedAt"], &task["completedAt"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(does(&workspace, "show T1")["task"]["priority"], "critical");
    let moved = |status: &str| {
        let line = format!("agents tasks update T1 --status {status}");
        does(&workspace, &line)["task"].clone()
    };
    let doing = moved("in-progress");
    assert_eq!(doing["status"], "doing");
    assert!(doing["startedAt"].is_string());
    assert_eq!(moved("review")["status"], "review");
    let done = moved("done");
    assert!(done["completedAt"].is_string());
    assert_eq!(done["startedAt"], doing["startedAt"]);
    let again = moved("doing");
    assert_eq!(
        (&again["status"], &again["completedAt"]),
        (&json!("doing"), &Value::Null)
    );
    assert_eq!(moved("cancelled")["status"], "cancelled");
}

#[test]
fn wrong_words_are_refused_and_change_nothing() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents tasks create One");
    for (line, code, words) in [
        (
            "agents tasks update T1 --status bogus",
            "E_INPUT_INVALID",
            "todo, doing, review",
        ),
        (
            "agents tasks update T1 --status blocked",
            "E_INPUT_INVALID",
            "todo, doing, review",
        ),
        (
            "agents tasks create x --priority asap",
            "E_INPUT_INVALID",
            "low, medium, high, urgent",
        ),
        (
            "agents tasks update T1 --title x --status doing --estimate -1",
            "E_TASK_INVALID",
            "hours",
        ),
        (
            "agents tasks update T1 --due someday --status done",
            "E_TASK_INVALID",
            "date",
        ),
        ("agents tasks update T1", "E_USAGE", "no field"),
        (
            "agents tasks update T9 --status done",
            "E_TASK_NOT_FOUND",
            "T9",
        ),
        (
            "agents tasks list --status bogus",
            "E_INPUT_INVALID",
            "todo, doing, review",
        ),
    ] {
        let error = workspace.refused(&line.split(' ').collect::<Vec<_>>(), code);
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
    }
    let long = "x".repeat(201);
    workspace.refused(&["agents", "tasks", "create", &long], "E_TEXT_TOO_LONG");
    does(
        &workspace,
        &format!("agents tasks create {}", "x".repeat(200)),
    );
}

#[test]
fn done_must_be_earned_and_a_refusal_keeps_the_fields_too() {
    let workspace = TestWorkspace::new();
    does(&workspace, "add One --acceptance 'it builds :: false'");
    let line = [
        "agents", "tasks", "update", "T1", "--title", "Two", "--status", "done",
    ];
    workspace.refused(&line, "E_CRITERION_OPEN");
}

#[test]
fn an_agent_that_nobody_knows_is_refused_with_the_nearest() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents tasks create One --agent toby-technical");
    for words in [
        &[
            "agents",
            "tasks",
            "create",
            "Two",
            "--agent",
            "toby-tecnical",
        ][..],
        &[
            "agents",
            "tasks",
            "update",
            "T1",
            "--title",
            "x",
            "--agent",
            "toby-tecnical",
        ],
    ] {
        let error = workspace.refused(words, "E_AGENT_NOT_FOUND");
        let right = words.join(" ").replace("toby-tecnical", "toby-technical");
        assert_eq!(error["fix"], format!("cleo {right}"));
    }
    let far = ["agents", "tasks", "create", "Two", "--agent", "zzz"];
    let error = workspace.refused(&far, "E_AGENT_NOT_FOUND");
    assert_eq!(error["fix"], "cleo agents list");
    assert_eq!(does(&workspace, "list")["total"], 1);
    assert_eq!(does(&workspace, "show T1")["task"]["title"], "One");
}

#[test]
fn fields_are_cleared_and_estimates_have_two_decimals() {
    let workspace = TestWorkspace::new();
    let create = "agents tasks create One --agent toby-technical --due 2026-02-01 --estimate 2.255 \
                  --feature lore --tag history --description Text";
    let task = does(&workspace, create)["task"].clone();
    assert_eq!(task["estimatedHours"], 2.26);
    let clear = "agents tasks update T1 --clear agent,due --clear estimate --estimate 0.1";
    let task = does(&workspace, clear)["task"].clone();
    assert_eq!(
        (
            &task["assignedTo"],
            &task["dueDate"],
            &task["estimatedHours"]
        ),
        (&Value::Null, &Value::Null, &json!(0.1))
    );
    assert_eq!(
        (&task["feature"], &task["tags"]),
        (&json!("lore"), &json!(["history"]))
    );
    let clear = "agents tasks update T1 --clear tags,feature,estimate,description --tag war";
    let task = does(&workspace, clear)["task"].clone();
    assert_eq!(
        (
            &task["feature"],
            &task["tags"],
            &task["estimatedHours"],
            &task["description"]
        ),
        (&Value::Null, &json!(["war"]), &Value::Null, &json!(""))
    );
}

#[test]
fn tasks_are_found_and_counted() {
    let workspace = TestWorkspace::new();
    for line in [
        "agents tasks create One --agent ami-creative --due 2026-01-01 --feature blog",
        "agents tasks create Two --agent ami-creative --due 2026-03-01 --priority high",
        "agents tasks create Three --priority urgent",
        "agents tasks create Four --agent ami-creative",
        "agents tasks update T4 --status done",
        "update T3 --status blocked",
    ] {
        does(&workspace, line);
    }
    let found = |options: &str| -> Vec<String> {
        let listed = does(&workspace, &format!("agents tasks list {options}"));
        let tasks = listed["tasks"].as_array().unwrap().clone();
        tasks
            .iter()
            .map(|task| task["id"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(found("--agent ami-creative --status todo"), ["T1", "T2"]);
    assert_eq!(found("--due-before 2026-02-01"), ["T1"]);
    assert_eq!(found("--due-after 2026-02-01"), ["T2"]);
    assert_eq!(found("--feature blog"), ["T1"]);
    assert_eq!(found("--priority urgent --status paused"), ["T3"]);
    let listed = does(&workspace, "list --feature blog --due-before 2026-02-01");
    assert_eq!(listed["total"], 1);
    let stats = does(&workspace, "agents tasks stats")["stats"].clone();
    assert_eq!(
        stats,
        json!({"total": 4, "overdue": 1, "completionRate": 0.25,
            "byStatus": {"todo": 2, "doing": 0, "review": 0, "done": 1, "paused": 1, "cancelled": 0},
            "byPriority": {"low": 0, "medium": 2, "high": 1, "urgent": 1}})
    );
    let own = does(&workspace, "agents tasks stats --agent ami-creative");
    assert_eq!(own["stats"]["total"], 3);
    insta::assert_snapshot!(workspace.cleo("agents tasks list"));
}

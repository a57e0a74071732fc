//! Whether orchestrator and agents followed the rules.

use serde_json::{Value, json};

use crate::delivery::{GOOD, MANIFEST, OUTPUT, deliver, entry_with, spawn_task};
use crate::world::{TestWorkspace, assert_fields, says};

fn validate(workspace: &TestWorkspace, more: &[&str]) -> Value {
    workspace.json(&[&["orchestrator", "validate"], more].concat())
}

fn rule<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let rules = answer["result"]["rules"].as_array().unwrap();
    rules.iter().find(|rule| rule["id"] == id).unwrap()
}

/// A workspace in which T1 was spawned, delivered and completed.
fn complete_task() -> TestWorkspace {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("complete T1");
    workspace
}

fn broken(answer: &Value) -> Vec<(&str, &str)> {
    let tasks = answer["result"]["tasks"].as_array().unwrap();
    let all = tasks
        .iter()
        .flat_map(|task| task["violations"].as_array().unwrap());
    all.map(|it| (it["rule"].as_str().unwrap(), it["code"].as_str().unwrap()))
        .collect()
}

#[test]
fn rules_are_checked_or_marked_as_advice() {
    let answer = validate(&TestWorkspace::new(), &[]);
    assert_eq!(answer["success"], true, "{answer}");
    let rules = answer["result"]["rules"].as_array().unwrap();
    let kinds: Vec<(&str, &str, &Value)> = rules
        .iter()
        .map(|it| {
            (
                it["id"].as_str().unwrap(),
                it["kind"].as_str().unwrap(),
                &it["verdict"],
            )
        })
        .collect();
    let (none, pass) = (Value::Null, json!("pass"));
    assert_eq!(
        kinds,
        [
            ("ORC-001", "advice", &none),
            ("ORC-002", "checked", &pass),
            ("ORC-003", "advice", &none),
            ("ORC-004", "checked", &pass),
            ("ORC-005", "advice", &none),
            ("OUT-003", "advice", &none),
            ("OUT-004", "advice", &none),
        ]
    );
    assert!(
        rules
            .iter()
            .all(|rule| !rule["evidence"].as_str().unwrap().is_empty())
    );
}

#[test]
fn task_that_earned_it_passes() {
    let workspace = complete_task();
    let answer = validate(&workspace, &[]);
    assert_eq!(answer["success"], true, "{answer}");
    assert_fields(&answer["result"], json!({"total": 1, "compliant": 1}));
    let shown = workspace.cleo("orchestrator validate");
    assert!(
        shown.contains("1 completed task, none with violations"),
        "{shown}"
    );
}

#[test]
fn what_was_changed_after_it_was_verified_is_found() {
    type Step = (fn(&TestWorkspace), &'static [(&'static str, &'static str)]);
    let steps: [Step; 4] = [
        (
            |it| it.write(OUTPUT, format!("{GOOD}More.\n")),
            &[("OUT-001", "E_OUTPUT_MISSING")],
        ),
        (
            |it| std::fs::remove_file(it.path(OUTPUT)).unwrap(),
            &[("OUT-001", "E_OUTPUT_MISSING")],
        ),
        (
            |it| it.write(MANIFEST, ""),
            &[("OUT-002", "E_ENTRY_MISSING")],
        ),
        (
            |it| it.write(MANIFEST, entry_with(json!({"status": "partial"}))),
            &[("STATUS", "E_NOT_VERIFIED")],
        ),
    ];
    for (step, expected) in steps {
        let workspace = complete_task();
        step(&workspace);
        let answer = validate(&workspace, &[]);
        assert_eq!(answer["error"]["code"], "E_NOT_COMPLIANT");
        assert_eq!(answer["error"]["exitCode"], 6);
        assert_eq!(answer["error"]["fix"], "cleo verify output T1");
        assert_eq!(broken(&answer), expected, "{answer}");
    }
}

#[test]
fn completions_by_force_are_named() {
    let workspace = spawn_task();
    deliver(&workspace);
    workspace.ok("update T1 --acceptance 'x :: false' --require-gate implemented");
    workspace.ok("verify T1 --gate documented --force");
    workspace.ok("complete T1 --force");
    let answer = validate(&workspace, &[]);
    let task = &answer["result"]["tasks"][0];
    says(&task["forced"], " tester");
    assert_eq!(
        broken(&answer),
        [("GATES", "E_GATE_OPEN"), ("CRITERIA", "E_CRITERION_OPEN")]
    );
}

#[test]
fn done_tasks_without_spawn_are_reported() {
    let workspace = TestWorkspace::new().with("src/a.rs", "a");
    workspace.ok("add One --file src/a.rs");
    workspace.ok("add Two");
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --file src/a.rs");
    workspace.write("src/a.rs", "b");
    workspace.ok("complete T1 --force");
    workspace.ok("complete T2");
    let result = validate(&workspace, &[])["result"].clone();
    let [one] = &result["tasks"].as_array().unwrap()[..] else {
        panic!("{result}");
    };
    assert_eq!(one["skill"], Value::Null, "{one}");
    assert_eq!(
        (&result["total"], &one["taskId"]),
        (&json!(2), &json!("T1"))
    );
    says(&one["forced"], " tester");
    assert_ne!(one["forcedReasons"], json!([]), "{one}");
}

#[test]
fn open_children_that_force_passed_over_are_told() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    let forced = workspace.ask("complete T1 --force");
    let why = "it has open children: T3, T4, T5";
    let warning = format!("completed by force: {why}");
    assert_eq!(forced["warnings"], json!([warning]));
    let result = validate(&workspace, &[])["result"].clone();
    assert_eq!(result["tasks"][0]["taskId"], "T1");
    assert_eq!(result["tasks"][0]["forcedReasons"], json!([why]));
    workspace.ok("reopen T1");
    for task in ["T3", "T4", "T5"] {
        workspace.ok(&format!("complete {task}"));
    }
    let earned = workspace.ask("complete T1 --force");
    assert_eq!(earned["warnings"], json!([]));
    assert_eq!(validate(&workspace, &[])["result"]["tasks"], json!([]));
}

#[test]
fn of_many_tasks_that_were_never_spawned_first_are_named() {
    let workspace = TestWorkspace::new();
    for number in 1..=12 {
        workspace.ok("add more");
        workspace.ok(&format!("complete T{number}"));
    }
    let answer = validate(&workspace, &[]);
    let first: Vec<String> = (1..=10).map(|number| format!("T{number}")).collect();
    let result = &answer["result"];
    assert_eq!(result["tasks"], json!([]));
    assert_fields(result, json!({"total": 12, "compliant": 12}));
    let rule = rule(&answer, "ORC-002");
    assert_fields(rule, json!({"tasks": first, "total": 12}));
}

#[test]
fn unassigned_work_breaks_orc_002() {
    let workspace = complete_task();
    workspace.ok("complete T2");
    let answer = validate(&workspace, &[]);
    let rule = rule(&answer, "ORC-002");
    assert_fields(rule, json!({"verdict": "fail", "tasks": ["T2"]}));
    assert_eq!(
        rule["evidence"],
        "1 of 2 done tasks were spawned; without: T2"
    );
    assert_eq!(answer["error"]["fix"], "cleo show T2");
}

#[test]
fn work_before_its_turn_and_agents_on_one_file_break_orc_004() {
    let workspace = TestWorkspace::with_plan().with("src/auth/x.rs", "x");
    workspace.ok("update T5 --file 'src/*/x.rs'");
    workspace.ok("start T3");
    let answer = validate(&workspace, &[]);
    assert_eq!(rule(&answer, "ORC-004")["tasks"], json!(["T3"]));
    workspace.ok("complete T2");
    workspace.ok("start T5");
    let answer = validate(&workspace, &["--epic", "T1"]);
    let found = rule(&answer, "ORC-004");
    assert_eq!(found["tasks"], json!(["T3", "T5"]));
    says(&found["evidence"], "T3 began before T2 was done");
    says(
        &found["evidence"],
        "T3 and T5 are both at work on src/auth/x.rs",
    );
    assert_eq!(
        validate(&workspace, &["--epic", "T9"])["error"]["code"],
        "E_TASK_NOT_FOUND"
    );
}

#[test]
fn work_that_was_never_started_has_its_turn_too() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    workspace.ok("add Second --depends T1");
    workspace.ok("complete T2");
    let answer = validate(&workspace, &[]);
    let found = rule(&answer, "ORC-004");
    assert_fields(found, json!({"verdict": "fail", "tasks": ["T2"]}));
    let evidence = "1 task begun, 0 at work now; T2 began before T1 was done";
    assert_eq!(found["evidence"], evidence);
    workspace.ok("reopen T2");
    workspace.ok("complete T1");
    workspace.ok("complete T2");
    let answer = validate(&workspace, &[]);
    assert_eq!(rule(&answer, "ORC-004")["verdict"], "pass", "{answer}");
}

#[test]
fn epic_answers_for_what_is_below_it_only() {
    let workspace = complete_task();
    workspace.ok("add Epic --type epic");
    workspace.ok("complete T2");
    assert_eq!(validate(&workspace, &["--epic", "T3"])["success"], true);
    assert_eq!(validate(&workspace, &[])["success"], false);
}

#[test]
fn answers_read_well() {
    let workspace = complete_task();
    workspace.ok("complete T2");
    workspace.write(OUTPUT, format!("{GOOD}More.\n"));
    insta::assert_snapshot!(workspace.text("orchestrator validate", ""));
}

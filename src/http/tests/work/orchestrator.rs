use serde_json::{Value, json};

use super::{code, planned};

#[test]
fn an_orchestrator_is_told_where_to_begin_how_far_it_is_and_what_to_hand_over() {
    let world = planned();
    let start = world.get("/api/work/start?epic=T1").with(200);
    assert_eq!(start["next"]["id"], "T2");
    let status = world.get("/api/work/status").with(200);
    assert_eq!(status["percent"], 0);
    let brief = world.get("/api/work/brief?epic=T1").with(200);
    assert_eq!(brief["ready"]["total"], 1);
    for path in ["start", "status", "brief", "validate"] {
        let told = world.get(&format!("/api/work/{path}?epic=T99")).with(404);
        assert_eq!(code(&told), "E_TASK_NOT_FOUND");
        world.get(&format!("/api/work/{path}?odd=1")).with(400);
    }
}

#[test]
fn work_that_nobody_was_given_breaks_a_rule() {
    let world = planned();
    world.get("/api/work/validate").with(200);
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let done = world.post("/api/work/tasks/T2/complete", json!({}));
    done.with(200);
    let told = world.get("/api/work/validate").with(422);
    let rules = told["result"]["rules"].as_array().unwrap();
    let broken = rules.iter().find(|rule| rule["verdict"] == "fail").unwrap();
    assert_eq!(broken["tasks"], json!(["T2"]));
}

#[test]
fn what_was_read_is_counted_against_the_limit() {
    let world = planned();
    let count = |body: Value| world.post("/api/work/context", body);
    let start = world.raw("POST", "/api/work/context", "").with(200);
    assert_eq!(start["parts"].as_array().unwrap().len(), 1);
    let told = count(json!({"texts": ["four"], "tasks": ["T2"], "tokens": 1})).with(200);
    assert_eq!(told["parts"].as_array().unwrap().len(), 3);
    assert_eq!(told["parts"][0]["of"], "tokens");
    let told = count(json!({"tokens": 7_300})).with(200);
    assert_eq!(told["warnings"].as_array().unwrap().len(), 1);
    let told = count(json!({"tokens": 9_000})).with(422);
    assert_eq!(
        (code(&told), &told["result"]["state"]),
        ("E_CONTEXT_CRITICAL", &json!("critical"))
    );
    count(json!({"tasks": ["T99"]})).with(404);
    count(json!({"texts": vec!["x"; 101]})).with(400);
    count(json!({"file": "/etc/passwd"})).with(400);
}

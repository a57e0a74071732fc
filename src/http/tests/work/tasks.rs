use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::{ME, World};
use crate::ops::tokens::Scope;

#[test]
fn a_task_is_added_shown_changed_and_deleted() {
    let world = World::new();
    let told = world
        .post("/api/work/tasks", json!({"title": "First", "key": "k"}))
        .with(201);
    assert_eq!(
        (&told["task"]["id"], &told["created"]),
        (&json!("T1"), &json!(true))
    );
    let again = world
        .post("/api/work/tasks", json!({"title": "First", "key": "k"}))
        .with(200);
    assert_eq!(
        (&again["created"], &again["operation"]),
        (&json!(false), &Value::Null)
    );
    let change =
        json!({"title": "Better", "addLabels": ["a"], "notes": ["so it is"], "clear": ["key"]});
    let told = world.call("PATCH", "/api/work/tasks/T1", change).with(200);
    assert_eq!(
        (&told["task"]["title"], &told["task"]["labels"]),
        (&json!("Better"), &json!(["a"]))
    );
    assert_eq!(told["task"]["notes"][0]["by"], ME);
    let undo = json!({"operation": told["operation"]});
    world.post("/api/work/undo", undo).with(200);
    let shown = world.get("/api/work/tasks/T1").with(200);
    assert_eq!(
        (&shown["task"]["title"], &shown["task"]["key"]),
        (&json!("First"), &json!("k"))
    );
    let told = world
        .call("DELETE", "/api/work/tasks/T1", json!({}))
        .with(200);
    assert_eq!(told["deleted"], json!(["T1"]));
    assert_eq!(
        code(&world.get("/api/work/tasks/T1").with(404)),
        "E_TASK_NOT_FOUND"
    );
}

#[test]
fn tasks_are_listed_by_what_they_are_and_page_by_page() {
    let world = planned();
    let ids = |query: &str| {
        let told = world.get(&format!("/api/work/tasks?{query}")).with(200);
        let tasks = told["tasks"].as_array().unwrap().iter();
        let ids: Vec<_> = tasks
            .map(|task| task["id"].as_str().unwrap().to_string())
            .collect();
        (ids.join(" "), told["total"].as_u64().unwrap())
    };
    assert_eq!(ids("limit=2&offset=1"), ("T2 T3".into(), 5));
    assert_eq!(ids("priority=high"), ("T3".into(), 1));
    assert_eq!(ids("label=docs&status=pending,active"), ("T5".into(), 1));
    assert_eq!(ids("type=epic"), ("T1".into(), 1));
    assert_eq!(ids("q=document"), ("T5".into(), 1));
    for query in [
        "limit=0",
        "limit=501",
        "status=nope",
        "parent=x",
        "unknown=1",
        "limit=-1",
    ] {
        world.get(&format!("/api/work/tasks?{query}")).with(400);
    }
    world.get("/api/work/tasks?parent=T99").with(404);
}

#[test]
fn a_claim_is_held_by_whoever_says_so_and_lost_when_it_is_over() {
    let world = planned();
    let claimed = world
        .post("/api/work/tasks/T2/claim", json!({"agent": "coder-1"}))
        .with(200);
    assert_eq!(
        (&claimed["claim"]["holder"], &claimed["claim"]["epoch"]),
        (&json!("coder-1"), &json!(1))
    );
    let other = world
        .post("/api/work/tasks/T2/claim", json!({"agent": "coder-2"}))
        .with(409);
    assert_eq!(code(&other), "E_CLAIMED");
    let beat = json!({"epoch": 1, "lease": 60});
    world.post("/api/work/tasks/T2/heartbeat", beat).with(200);
    let lost = world
        .post("/api/work/tasks/T2/complete", json!({"epoch": 7}))
        .with(409);
    assert_eq!(code(&lost), "E_CLAIM_LOST");
    world
        .post("/api/work/tasks/T2/release", json!({"epoch": 1}))
        .with(200);
    let next = world
        .post("/api/work/claim", json!({"epic": "T1"}))
        .with(200);
    assert_eq!(next["task"]["id"], "T2");
    assert_eq!(
        code(&world.post("/api/work/claim", json!({})).with(409)),
        "E_NOTHING_READY"
    );
    world
        .post("/api/work/tasks/T2/heartbeat", json!({"lease": 0}))
        .with(400);
    world
        .post("/api/work/tasks/T2/claim", json!({"agent": "a\nb"}))
        .with(400);
}

#[test]
fn work_goes_from_start_to_done_and_frees_what_waits() {
    let world = planned();
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let done = world
        .raw("POST", "/api/work/tasks/T2/complete", "")
        .with(200);
    assert_eq!(
        (&done["changed"], &done["unblocked"]),
        (&json!(true), &json!(["T3", "T5"]))
    );
    let again = world
        .post("/api/work/tasks/T2/complete", json!({}))
        .with(200);
    assert_eq!(
        (&again["changed"], &again["operation"]),
        (&json!(false), &Value::Null)
    );
    world.post("/api/work/tasks/T2/reopen", json!({})).with(200);
    let told = world
        .post("/api/work/tasks/T3/cancel", json!({"reason": "no longer"}))
        .with(200);
    assert!(told["warnings"][0].as_str().unwrap().contains("T4"));
    let log = world.get("/api/work/log?task=T3&limit=1").with(200);
    assert_eq!(log["operations"][0]["command"], "cancel");
}

#[test]
fn whoever_has_a_token_acts_under_its_users_name() {
    let world = planned();
    let token = world.token("ann", Scope::Write);
    let told = world
        .by(
            &token,
            "POST",
            "/api/work/tasks/T2/claim",
            json!({"agent": "bob"}),
        )
        .with(200);
    assert_eq!(told["claim"]["holder"], "ann/bob");
    let reader = world.token("ann", Scope::Read);
    world
        .by(&reader, "POST", "/api/work/tasks/T2/start", json!({}))
        .with(403);
    world
        .by(&reader, "GET", "/api/work/tasks/T2", json!({}))
        .with(200);
    world
        .by(&token, "POST", "/api/runs", json!({"allReady": true}))
        .with(403);
}

#[test]
fn a_task_is_linked_to_an_entry_once() {
    let world = planned();
    let entry = json!({"id": "e-1", "file": "e.md", "title": "E", "date": "2026-01-26", "status": "complete",
        "topics": ["x"], "key_findings": ["a", "b", "c"], "actionable": false, "needs_followup": [], "linked_tasks": ["T2"]});
    world.post("/api/manifest", entry).with(201);
    let path = "/api/work/tasks/T3/links";
    assert_eq!(world.get(path).with(200)["total"], 0);
    let linked = world.post(path, json!({"entry": "e-1"})).with(201);
    assert_eq!(linked["created"], true);
    world.post(path, json!({"entry": "e-1"})).with(200);
    let listed = world.get(path).with(200);
    assert_eq!(
        (&listed["total"], &listed["links"][0]["sources"]),
        (&json!(1), &json!(["store"]))
    );
    let told = world.post(path, json!({"entry": "nope"})).with(404);
    assert_eq!(code(&told), "E_ENTRY_NOT_FOUND");
    world.post(path, json!({})).with(400);
    world.get("/api/work/tasks/T99/links").with(404);
}

#[test]
fn the_protocol_can_be_had_with_and_without_a_task() {
    let world = planned();
    let block = |path: &str| {
        let told = world.get(path).with(200);
        told["block"].as_str().unwrap().to_string()
    };
    let (bare, bound) = (block("/api/work/block"), block("/api/work/tasks/T2/block"));
    assert!(bare.contains("BEGIN SUBAGENT PROTOCOL") && bare.contains("{{"));
    assert!(bound.contains("BEGIN SUBAGENT PROTOCOL") && bound.contains("T2"));
    world.get("/api/work/tasks/T99/block").with(404);
}

use serde_json::json;

use super::{code, planned};

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

use serde_json::json;

use super::World;
use super::work::planned;
use crate::ops::agents;

#[test]
fn skills_and_entries_are_listed_and_shown() {
    let world = planned();
    let skills = world.get("/api/skills").with(200);
    assert!(skills["total"].as_u64().unwrap() >= 15);
    assert_eq!(
        world.get("/api/skills/ct-documentor").with(200)["skill"]["tier"],
        3
    );
    world.get("/api/skills/nobody").with(404);
    let entry = json!({"id": "e-1", "file": "e.md", "title": "E", "date": "2026-01-26", "status": "complete",
        "topics": ["x"], "key_findings": ["a", "b", "c"], "actionable": false, "needs_followup": [], "linked_tasks": ["T2"]});
    let told = world.post("/api/manifest", entry.clone()).with(201);
    assert_eq!(told["entry"]["linked_tasks"], json!(["T1", "T2"]));
    world.post("/api/manifest", entry).with(409);
    world.post("/api/manifest", json!({"id": "e-2"})).with(400);
    assert_eq!(world.get("/api/manifest?task=T2").with(200)["total"], 1);
    assert_eq!(world.get("/api/manifest/e-1").with(200)["line"], 1);
    world.get("/api/manifest/nope").with(404);
    world.get("/api/manifest?status=odd").with(400);
}

#[test]
fn words_find_tasks_and_agents() {
    let world = planned();
    let found = world.get("/api/search?q=%23T4").with(200);
    assert_eq!(
        (&found["items"][0]["kind"], &found["items"][0]["href"]),
        (&json!("task"), &json!("/work/T4"))
    );
    let page = world.get("/api/work/tasks/T4").with(200);
    assert_eq!(found["items"][0]["state"], page["state"]);
    let agents = world.get("/api/search?q=ami&kinds=agent").with(200);
    assert_eq!(agents["items"][0]["id"], "ami-creative");
    world.get("/api/search?kinds=odd").with(400);
}

#[test]
fn new_agent_inherits_no_status_from_a_removed_one() {
    let world = World::new();
    let called = json!({"name": "R", "prompt": "p", "endpoint": "http://93.184.216.34/", "intents": ["a.b"]});
    let told = world.post("/api/agents/create", called).with(201);
    assert_eq!(
        (&told["agent"]["id"], &told["agent"]["standing"]),
        (&json!("r"), &json!("trusted"))
    );
    world.call("DELETE", "/api/agents/r", json!({})).with(200);
    let run = json!({"name": "R", "prompt": "p", "command": ["true"], "intents": ["a.b"]});
    let told = world.post("/api/agents/create", run.clone()).with(201);
    assert_eq!(told["agent"]["standing"], "untrusted");
    let id = agents::AgentId { id: "r".into() };
    agents::trust(&world.surroundings(), id).unwrap();
    let told = world.get("/api/agents/r").with(200);
    assert_eq!(told["agent"]["standing"], "trusted");
    world.call("DELETE", "/api/agents/r", json!({})).with(200);
    let told = world.post("/api/agents/create", run).with(201);
    assert_eq!(told["agent"]["standing"], "untrusted");
}

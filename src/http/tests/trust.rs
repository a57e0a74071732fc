//! Whether workers that were registered over HTTP may be called, and what is said of them.

use serde_json::json;

use super::World;
use crate::ops::agents;

#[test]
fn an_agent_that_was_removed_leaves_no_standing_to_the_next_of_its_name() {
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
    agents::trust(&world.surroundings(), "r").unwrap();
    let told = world.get("/api/agents/r").with(200);
    assert_eq!(told["agent"]["standing"], "trusted");
    world.call("DELETE", "/api/agents/r", json!({})).with(200);
    let told = world.post("/api/agents/create", run).with(201);
    assert_eq!(told["agent"]["standing"], "untrusted");
}

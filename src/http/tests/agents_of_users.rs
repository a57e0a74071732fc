use serde_json::json;

use super::{World, minutes_ago};
use crate::ops::tokens::Scope;

#[test]
fn agents_of_a_user_are_nobody_elses() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let agent = json!({"id": "anns", "name": "Anns", "prompt": "p", "tags": ["zebra"]});
    world
        .by(&ann, "POST", "/api/agents/create", agent)
        .with(201);
    let message = json!({"input": "a zebra"});
    let routed = |token: &str| {
        world
            .by(token, "POST", "/api/route", json!({"message": "a zebra"}))
            .with(200)["route"]["agent"]
            .clone()
    };
    assert_eq!(
        (routed(&ann), routed(&bob)),
        (json!("anns"), json!("finalize"))
    );
    let path = "/api/agents/execute?wait=true";
    let told = world.by(&bob, "POST", path, message.clone()).with(200);
    assert_eq!(told["execution"]["delegatedTo"], json!(null));
    for (method, path) in [
        ("GET", "/api/agents/anns"),
        ("PUT", "/api/agents/anns"),
        ("DELETE", "/api/agents/anns"),
    ] {
        world
            .by(&bob, method, path, json!({"description": "mine"}))
            .with(404);
    }
    for path in [
        "/api/agents/sync",
        "/api/agents/list",
        "/api/agents/metrics",
    ] {
        assert!(
            !world
                .by(&bob, "GET", path, json!(null))
                .text()
                .contains("anns"),
            "{path}"
        );
        assert!(
            world
                .by(&ann, "GET", path, json!(null))
                .text()
                .contains("anns"),
            "{path}"
        );
    }
    world
        .by(
            &bob,
            "PUT",
            "/api/agents/ami-creative",
            json!({"status": "paused"}),
        )
        .with(403);
    world
        .by(&bob, "POST", "/api/agents/cleanup", json!({}))
        .with(403);
}

#[test]
fn runtime_agent_is_shared_and_changed_by_its_owner_only() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let id = format!("custom_{}", minutes_ago(0));
    let agent = json!({"id": id, "name": "Lore", "prompt": "p", "tags": ["zebra"]});
    let register = |token: &str| world.by(token, "POST", "/api/agents/register", agent.clone());
    assert_eq!(register(&ann).with(200)["recreated"], false);
    let path = format!("/api/agents/{id}");
    register(&bob).with(403);
    let taken = json!({"description": "taken"});
    world.by(&bob, "PUT", &path, taken.clone()).with(403);
    world.by(&bob, "DELETE", &path, json!(null)).with(403);
    let input = json!({"input": "a zebra"});
    let told = world.by(&bob, "POST", "/api/agents/execute?wait=true", input);
    assert_eq!(told.with(200)["execution"]["delegatedTo"], id.as_str());
    for place in [path.as_str(), "/api/agents/list", "/api/agents/sync"] {
        let told = world.by(&bob, "GET", place, json!(null));
        assert_eq!(told.status, 200, "{place}");
        assert!(told.text().contains(&id), "{place}");
        assert!(!told.text().contains("\"ann\""), "{place}: {}", told.text());
    }
    world.by(&ann, "PUT", &path, taken).with(200);
    assert_eq!(register(&ann).with(200)["recreated"], true);
    world
        .call("PUT", &path, json!({"description": "of the admin"}))
        .with(200);
    world.by(&ann, "DELETE", &path, json!(null)).with(200);
}

#[test]
fn agent_names_are_per_user_and_ids_do_not_reveal_owners() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let create = |token: &str, agent: &serde_json::Value| {
        world.by(token, "POST", "/api/agents/create", agent.clone())
    };
    let named = json!({"name": "Lore keeper", "prompt": "p"});
    let id = |told: serde_json::Value| told["agent"]["id"].clone();
    assert_eq!(id(create(&ann, &named).with(201)), "lore-keeper");
    assert_eq!(id(create(&bob, &named).with(201)), "lore-keeper-2");
    let told = create(&bob, &named).with(409);
    assert!(told["error"].as_str().unwrap().contains("lore-keeper-2"));
    let said = json!({"id": "lore-keeper", "name": "Mine", "prompt": "p"});
    let told = create(&bob, &said).with(409);
    assert_eq!(
        told["error"],
        "the id `lore-keeper` is not free; `lore-keeper-3` is free"
    );
    assert!(!told.to_string().contains("agents show"), "{told}");
}

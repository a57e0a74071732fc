use serde_json::json;

use super::World;
use crate::ops::tokens::Scope;

/// A0-19.
#[test]
fn a_conversation_shows_what_was_said_last_oldest_first() {
    let world = World::new();
    let begun = world.post(
        "/api/conversations/create",
        json!({"agent_id": "toby-technical", "title": "War"}),
    );
    let conversation = begun.with(201)["conversation"].clone();
    let id = conversation["id"].as_str().unwrap();
    assert_eq!(
        (&conversation["agent_id"], &conversation["kind"]),
        (&json!("toby-technical"), &json!("agent"))
    );
    for number in 0..30 {
        let said =
            world.execute(json!({"input": format!("message {number}"), "conversationId": id}));
        assert_eq!(said["delegatedTo"], "toby-technical");
    }
    let path = format!("/api/conversations/{id}");
    let told = world.get(&format!("{path}?limit=50")).with(200);
    let messages = told["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &told["total"]), (50, &json!(60)));
    assert_eq!(messages[0]["content"], "message 5");
    assert_eq!(messages[48]["content"], "message 29");
    assert_eq!(
        (&messages[0]["type"], &messages[1]["type"]),
        (&json!("user"), &json!("agent"))
    );
    let first = messages[0]["id"].as_str().unwrap();
    let before = world
        .get(&format!("{path}?before={first}&limit=2"))
        .with(200);
    assert_eq!(before["messages"][0]["content"], "message 4");
    let nothing = world.get(&format!("{path}?before=zzz")).with(400);
    assert_eq!(nothing["code"], "E_INPUT_INVALID");
    let listed = world.get("/api/conversations").with(200);
    assert_eq!(
        (&listed["total"], &listed["conversations"][0]["waiting"]),
        (&json!(1), &json!(false))
    );
    let ended = world
        .call("PUT", &path, json!({"status": "archived", "title": "Over"}))
        .with(200);
    assert_eq!(ended["conversation"]["title"], "Over");
    world
        .post(
            "/api/agents/execute",
            json!({"input": "x", "conversationId": id}),
        )
        .with(409);
    world
        .post("/api/conversations/create", json!({"agent_id": "nobody"}))
        .with(404);
    world.post("/api/conversations/create", json!({})).with(400);
}

/// A0-19.
#[test]
fn a_conversation_is_its_users() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let begin = json!({"agent_id": "cleo-supervisor"});
    let told = world
        .by(&ann, "POST", "/api/conversations/create", begin)
        .with(201);
    let id = told["conversation"]["id"].as_str().unwrap();
    let path = format!("/api/conversations/{id}");
    let say = json!({"input": "a secret", "conversationId": id});
    let execution = world
        .by(&ann, "POST", "/api/agents/execute?wait=true", say.clone())
        .with(200);
    let execution = execution["execution"]["id"].as_str().unwrap();
    for (method, path, status) in [
        ("GET", path.as_str(), 404),
        ("PUT", path.as_str(), 404),
        ("GET", &format!("/api/agents/execution/{execution}"), 404),
        ("GET", "/api/conversations", 200),
        ("GET", "/api/agents/execute", 200),
        ("GET", "/api/agents/delegations", 200),
    ] {
        let told = world.by(&bob, method, path, json!({}));
        assert_eq!(told.status, status, "{path}");
        assert!(!told.text().contains("secret"), "{}", told.text());
    }
    world.by(&bob, "POST", "/api/agents/execute", say).with(404);
    assert!(
        world
            .by(&ann, "GET", &path, json!({}))
            .text()
            .contains("a secret")
    );
    let admin = world.token("root", Scope::Admin);
    assert!(
        world
            .by(&admin, "GET", &path, json!({}))
            .text()
            .contains("a secret")
    );
}

#[test]
fn conversation_keeps_its_agent_and_empty_patch_is_refused() {
    let world = World::new();
    let begin = json!({"agent_id": "toby-technical", "title": "War"});
    let told = world.post("/api/conversations/create", begin).with(201);
    let path = format!(
        "/api/conversations/{}",
        told["conversation"]["id"].as_str().unwrap()
    );
    for (body, error) in [
        (json!({}), "nothing was said that is to change"),
        (json!({"title": null}), "nothing was said that is to change"),
        (
            json!({"agent_id": "chat", "title": "Over"}),
            "agent_id: the conversation is with `toby-technical` and stays so; begin another",
        ),
    ] {
        let told = world.call("PUT", &path, body).with(400);
        assert_eq!(told["error"], error);
    }
    let same = json!({"agent_id": "toby-technical", "title": "Peace"});
    let told = world.call("PUT", &path, same).with(200);
    assert_eq!(told["conversation"]["title"], "Peace");
}

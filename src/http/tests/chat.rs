use serde_json::{Value, json};

use super::World;
use crate::ops::chat::seed;
use crate::ops::tokens::Scope;

/// A server with the client of the notes.
pub(super) fn seeded() -> World {
    let world = World::new();
    seed_client(&world);
    world
}

pub(super) fn say(world: &World, conversation: &str, message: &str) -> Value {
    let body = json!({"message": message, "conversation_id": conversation});
    let told = world.post("/api/chat", body).with(200);
    assert_eq!(told["response"]["status"], "success");
    told["response"]["data"].clone()
}

fn seed_client(world: &World) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/chat/seed.json");
    seed(&world.surroundings(), std::path::Path::new(path)).unwrap();
}

/// B-1.
#[test]
fn empty_chat_message_is_refused_as_specified() {
    let world = World::new();
    for body in [json!({}), json!({"message": "  "}), json!({"message": 7})] {
        let told = world.post("/api/chat", body).with(400);
        assert_eq!(told["response"]["status"], "error");
        assert!(told["response"]["message"].is_string());
    }
}

#[test]
fn conversation_keeps_both_sides_and_the_pending_call() {
    let world = seeded();
    let begun = world
        .post("/api/conversations/create", json!({"agent_id": "chat"}))
        .with(201);
    let id = begun["conversation"]["id"].as_str().unwrap();
    assert_eq!(begun["conversation"]["kind"], "chat");
    say(&world, id, "delete component 103 for client 6");
    let path = format!("/api/conversations/{id}");
    let shown = world.get(&path).with(200);
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["metadata"]["agent"], "editor");
    assert_eq!(shown["pending"]["tool"], "deleteComponent");
    assert_eq!(shown["pending"]["destructive"], true);
    assert_eq!(
        world.get("/api/conversations").with(200)["conversations"][0]["waiting"],
        true
    );
    let told = say(&world, id, "no");
    assert_eq!(told["settled"], "cancelled");
    let shown = world.get(&path).with(200);
    assert_eq!(shown["pending"], json!(null));
    assert_eq!(shown["messages"][1]["metadata"]["settled"], json!(null));
    assert_eq!(shown["messages"][3]["metadata"]["settled"], "cancelled");
}

#[test]
fn nobody_confirms_what_another_was_asked() {
    let world = seeded();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let say = |token: &str, message: &str, conversation: Option<&str>| {
        let body = json!({"message": message, "conversation_id": conversation});
        world.by(token, "POST", "/api/chat", body)
    };
    say(&ann, "delete component 103 for client 6", None).with(200);
    let told = say(&bob, "yes", None).with(200);
    assert_eq!(told["response"]["data"]["tool_calls"], json!([]));
    let begun = world
        .by(
            &ann,
            "POST",
            "/api/conversations/create",
            json!({"agent_id": "chat"}),
        )
        .with(201);
    let id = begun["conversation"]["id"].as_str().unwrap();
    say(&ann, "delete component 103 for client 6", Some(id)).with(200);
    say(&bob, "yes", Some(id)).with(404);
    let told = say(&ann, "yes", Some(id)).with(200);
    assert_eq!(
        told["response"]["data"]["tool_calls"][0]["name"],
        "deleteComponent"
    );
}

/// Says something with what the caller holds of the conversation.
fn say_holding(world: &World, message: &str, conversation: &str, held: Value) -> super::Told {
    let mut body = json!({"message": message, "conversation_id": conversation});
    for (name, value) in held.as_object().unwrap() {
        body[name] = value.clone();
    }
    world.post("/api/chat", body)
}

fn data(told: &super::Told) -> Value {
    told.with(200)["response"]["data"].clone()
}

/// Chat notes, section 2.1.
#[test]
fn the_client_of_a_conversation_that_the_caller_holds_is_known() {
    let world = seeded();
    let held = json!({"conversation": [
        {"role": "user", "content": "I am client 7"},
        {"role": "user", "content": "no, I am client 6"},
        {"role": "assistant", "content": "What can I do?"},
    ]});
    let change = "change button radius to full";
    let asked = data(&say_holding(&world, change, "c1", held.clone()));
    assert_eq!(asked["pending"]["args"]["clientId"], "6");
    // What is remembered here counts first.
    say(&world, "c2", "show me my design for client 7");
    let told = say_holding(&world, "show me my design", "c2", held);
    assert_eq!(data(&told)["tool_calls"][0]["args"]["clientId"], "7");
    for conversation in [json!([7]), json!([{"role": "user"}]), json!("x")] {
        let held = json!({"conversation": conversation});
        let told = say_holding(&world, "hello", "c3", held).with(400);
        assert_eq!(told["response"]["status"], "error");
    }
}

#[test]
fn pending_operation_round_trips_and_runs_once_after_yes() {
    let world = seeded();
    for (message, tool) in [
        ("change button radius to full for client 6", "updateDesign"),
        (
            "update component 101 title to A for client 6",
            "updateComponent",
        ),
        ("delete component 103 for client 6", "deleteComponent"),
        ("update my footer component for client 6", "searchComponent"),
        ("add a banner with title Hello for client 6", "addComponent"),
    ] {
        let pending = say(&world, &format!("told-{tool}"), message)["pending"].clone();
        let held = json!({"pendingOperation": pending});
        let done = data(&say_holding(&world, "yes", &format!("held-{tool}"), held));
        assert_eq!(done["tool_calls"][0]["name"], tool, "{done}");
    }
    let choice = "update title of my card component for client 6 to X";
    let held = json!({"pendingOperation": say(&world, "choice", choice)["pending"]});
    let chosen = data(&say_holding(&world, "2", "chosen", held));
    assert_eq!(chosen["pending"]["args"]["componentId"], "102");
    assert_eq!(chosen["tool_calls"], json!([]));
    let pending = json!({
        "kind": "confirm", "agent": "design", "tool": "updateDesign", "candidates": [],
        "args": {"clientId": "6", "designUpdates": {"button_radius": "medium"}},
    });
    let held = json!({"pendingOperation": pending});
    let kept = data(&say_holding(&world, "no", "e", held.clone()));
    assert_eq!(kept["tool_calls"], json!([]));
    let done = data(&say_holding(&world, "yes", "f", held));
    assert_eq!(done["tool_calls"][0]["name"], "updateDesign");
    // The same yes again finds nothing that waits.
    let asked = say(&world, "g", "delete component 102 for client 6");
    say(&world, "g", "yes");
    let held = json!({"pending": asked["pending"]});
    let again = data(&say_holding(&world, "yes", "g", held));
    assert_eq!(again["tool_calls"], json!([]), "{again}");
}

#[test]
fn an_answer_is_for_what_the_caller_holds() {
    let world = seeded();
    say(&world, "h", "change button radius to full for client 6");
    let pending =
        json!({"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "103"}});
    let told = say_holding(
        &world,
        "yes",
        "h",
        json!({"pendingOperation": pending.clone()}),
    );
    assert_eq!(data(&told)["tool_calls"], json!([]));
    assert!(
        data(&told)["reply"]
            .as_str()
            .unwrap()
            .starts_with("Nothing is waiting")
    );
    let mut late = pending;
    late["expires"] = json!("2020-01-01T00:00:00Z");
    let told = say_holding(&world, "yes", "i", json!({"pendingOperation": late}));
    assert_eq!(data(&told)["tool_calls"], json!([]));
}

#[test]
fn stale_pending_operation_overwrites_nothing() {
    let world = seeded();
    let asked = say(&world, "j", "change button radius to full for client 6");
    let held = json!({"pendingOperation": asked["pending"]});
    say(&world, "k", "change button radius to medium for client 6");
    say(&world, "k", "yes");
    let told = say_holding(&world, "yes", "l", held).with(400);
    assert!(
        told["response"]["message"]
            .as_str()
            .unwrap()
            .contains("changed since"),
        "{told}"
    );
    // Only the list of all components leads on to something else.
    let mut other = asked["pending"].clone();
    other["next"] =
        json!({"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "102"}});
    other["changes"] = json!([]);
    let told = say_holding(&world, "yes", "m", json!({"pendingOperation": other}));
    assert_eq!(data(&told)["tool_calls"][0]["name"], "updateDesign");
}

/// What cannot wait, as a caller holds it.
const FAULTY: &str = r#""yes"
[]
{"tool": "dropTables", "args": {"clientId": "6", "componentId": "103"}}
{"tool": "getComponent", "args": {"clientId": "6", "componentId": "103"}}
{"tool": "deleteComponent", "args": {"componentId": "103"}}
{"tool": "deleteComponent", "args": {"clientId": 6, "componentId": "103"}}
{"tool": "deleteComponent", "args": {"clientId": "7", "componentId": "103"}}
{"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "1' OR 1"}}
{"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "103", "x": 1}}
{"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "103"}, "sql": "DROP TABLE components"}
{"tool": "deleteComponent", "args": {"clientId": "6", "componentId": "103"}, "expires": "tomorrow"}
{"tool": "deleteComponent", "args": {"clientId": "6"}, "kind": "select", "candidates": ["101", "999"]}
{"tool": "deleteComponent", "args": {"clientId": "6"}, "kind": "select", "candidates": ["101", "101"]}
{"tool": "updateComponent", "args": {"clientId": "6", "componentId": "103", "updates": {"title": "a\u001b[31m"}}}
{"tool": "updateComponent", "args": {"clientId": "6", "componentId": "103", "updates": {"title": "a\nb"}}}
{"tool": "updateDesign", "args": {"clientId": "6", "designUpdates": {"title_font": "a\nb"}}}
{"tool": "updateDesign", "args": {"clientId": "6", "designUpdates": {"button_radius": "12px"}}}
{"tool": "updateDesign", "args": {"clientId": "99", "designUpdates": {"button_radius": "full"}}}
{"tool": "searchComponent", "args": {"clientId": "6", "criteria": {}}, "next": {"tool": "updateDesign", "args": {"clientId": "6", "designUpdates": {}}}}"#;

#[test]
fn pending_operation_of_a_caller_is_validated() {
    let world = seeded();
    for line in FAULTY.lines() {
        let pending: Value = serde_json::from_str(line).unwrap();
        let held = json!({"pendingOperation": pending});
        let told = say_holding(&world, "yes", "j", held).with(400);
        assert!(told["response"]["message"].is_string(), "{line}: {told}");
    }
    let listed = say(&world, "k", "list components for client 6");
    let reply = listed["reply"].as_str().unwrap();
    assert!(["101", "102", "103"].iter().all(|id| reply.contains(id)));
}

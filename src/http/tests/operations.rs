//! Each operation of the table, called without rights, with unknown fields and on unknown tasks.

use serde_json::{Value, json};

use super::World;
use super::work::planned;
use crate::http::operations::has_body;
use crate::http::server::Options;
use crate::ops::api;
use crate::ops::operation::{Facts, Frame};
use crate::ops::tokens::Scope;

/// Method and path of an operation about things with this id.
fn place(facts: &Facts, id: &str) -> (&'static str, String) {
    let (method, path) = facts.address.split_once(' ').unwrap();
    let path = path.replace("{id}", id).replace("{name}", id);
    let path = path.replace("{task}", "T1").replace("{attempt}", "1");
    (method, path.replace("{gate}", "testsPassed"))
}

fn all() -> impl Iterator<Item = &'static Facts> {
    api::ALL.iter().map(|row| row.facts())
}

#[test]
fn operations_need_a_token_with_their_scope() {
    let ask_tokens = true;
    let options = Options {
        ask_tokens,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let (reader, writer) = (
        world.token("ann", Scope::Read),
        world.token("ann", Scope::Write),
    );
    for facts in all() {
        let (method, path) = place(facts, "T1");
        world.call(method, &path, json!({})).with(401);
        for (token, scope) in [(&reader, Scope::Read), (&writer, Scope::Write)] {
            let told = world.by(token, method, &path, json!({}));
            let is_refused = told.status == 403;
            assert_eq!(is_refused, facts.scope > scope, "{} {scope}", facts.address);
        }
    }
}

#[test]
fn operations_refuse_fields_that_they_do_not_know() {
    let world = planned();
    for facts in all() {
        let id = match facts.address.contains("/sessions/") {
            true => "S1",
            false => "T1",
        };
        let (method, path) = place(facts, id);
        let told = match has_body(&method.parse().unwrap()) {
            true => {
                world.call(method, &path, json!([])).with(400);
                // What is told of agents of other programs is passed over, unless it seems to be misspelled.
                if facts.own.contains(&"isRuntime") {
                    let told = world.call(method, &path, json!({"temprature": 1}));
                    let error = told.with(400)["error"].to_string();
                    assert!(error.contains("`temperature` is the nearest"), "{error}");
                    continue;
                }
                world.call(method, &path, json!({"nope": 1}))
            }
            false => world.call(method, &format!("{path}?nope=1"), Value::Null),
        };
        let error = told.with(400)["error"].clone();
        let message = match facts.frame {
            Frame::Ours => error["message"].to_string(),
            _ => error.to_string(),
        };
        assert!(message.contains("nope"), "{}: {message}", facts.address);
    }
}

#[test]
fn operations_on_tasks_find_no_others() {
    let world = planned();
    let of_tasks = all().filter(|facts| facts.address.contains("/tasks/{id}"));
    for facts in of_tasks {
        let (method, path) = place(facts, "T99");
        let body = match facts.name {
            "update" | "agents.tasks.update" => json!({"title": "x"}),
            "research.link" => json!({"entry": "x"}),
            _ if path.ends_with("/accept") => json!({"criterion": 1, "notes": ["x"]}),
            _ => json!({}),
        };
        let told = world.call(method, &path, body).with(404);
        let code = match facts.frame {
            Frame::Ours => &told["error"]["code"],
            _ => &told["code"],
        };
        assert_eq!(code, "E_TASK_NOT_FOUND", "{}", facts.address);
    }
}

/// Bodies of the multi-agent specification: an operation, what is sent, its status, and which fields the reply
/// has besides `success`.
#[rustfmt::skip]
const SPECIFIED: [(&str, &str, u16, &[&str]); 20] = [
    ("GET /api/agents/sync", "", 200, &["message", "agents", "count"]),
    ("GET /api/agents/list", "", 200, &["agents", "total", "warnings"]),
    ("GET /api/agents/delegations", "", 200, &["delegations", "total"]),
    ("GET /api/agents/metrics", "", 200, &["dashboard", "agents"]),
    ("GET /api/agents/graph", "", 200, &["graph", "agents", "metrics"]),
    ("POST /api/agents/cleanup", "{}", 200, &["message", "cleanedUp", "remaining", "count"]),
    ("POST /api/agents/create", r#"{"name": "New", "prompt": "p"}"#, 201, &["agent", "created", "warnings"]),
    ("GET /api/agents/{id}", "", 200, &["agent"]),
    ("PUT /api/agents/{id}", r#"{"objective": "Order"}"#, 200, &["agent", "warnings"]),
    ("DELETE /api/agents/{id}", "", 200, &["agent", "restored", "unassigned"]),
    ("GET /api/agents/execute", "", 200, &["executions", "total"]),
    ("POST /api/conversations/create", r#"{"agent_id": "chat"}"#, 201, &["conversation"]),
    ("GET /api/conversations", "", 200, &["conversations", "total"]),
    ("GET /api/conversations/{id}", "", 200, &["conversation", "messages", "total", "pending"]),
    ("PUT /api/conversations/{id}", r#"{"title": "Over"}"#, 200, &["conversation"]),
    ("POST /api/tasks/create", r#"{"title": "One"}"#, 201, &["task", "warnings"]),
    ("GET /api/tasks/stats", "", 200, &["stats"]),
    ("GET /api/tasks", "", 200, &["tasks", "total"]),
    ("GET /api/tasks/{id}", "", 200, &["task", "warnings"]),
    ("PUT /api/tasks/{id}", r#"{"status": "doing"}"#, 200, &["task", "warnings"]),
];

#[test]
fn specified_operations_answer_in_their_form() {
    let world = World::new();
    let lore = json!({"id": "lore", "name": "Lore", "prompt": "p"});
    world.post("/api/agents/create", lore).with(201);
    let mut talk = String::new();
    let specified = all().filter(|facts| facts.frame != Frame::Ours);
    let specified: Vec<_> = specified.map(|facts| facts.address).collect();
    assert_eq!(specified, SPECIFIED.map(|(address, ..)| address));
    for (address, sent, status, fields) in SPECIFIED {
        let (method, path) = address.split_once(' ').unwrap();
        let id = match path.split('/').nth(2) {
            Some("agents") => "lore",
            Some("conversations") => &talk,
            _ => "T1",
        };
        let told = world.raw(method, &path.replace("{id}", id), sent.to_string());
        let value = told.with(status);
        assert_eq!(value["success"], true, "{address}");
        let text = told.text();
        assert!(text.starts_with("{\"success\":true,"), "{text}");
        assert!(
            fields
                .iter()
                .all(|field| !value[field].is_null() || *field == "pending"),
            "{text}"
        );
        assert_eq!(value.as_object().unwrap().len(), fields.len() + 1, "{text}");
        if let Some(begun) = value["conversation"]["id"].as_str() {
            talk = begun.to_string();
        }
    }
}

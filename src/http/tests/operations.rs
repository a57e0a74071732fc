//! Each operation of the table, called without rights, with unknown fields and on unknown tasks.

use serde_json::{Value, json};

use super::World;
use super::work::planned;
use crate::http::operations::has_body;
use crate::http::server::Options;
use crate::ops::api;
use crate::ops::operation::Facts;
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
                world.call(method, &path, json!({"nope": 1}))
            }
            false => world.call(method, &format!("{path}?nope=1"), Value::Null),
        };
        let message = told.with(400)["error"]["message"].to_string();
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
            "update" => json!({"title": "x"}),
            "research.link" => json!({"entry": "x"}),
            _ if path.ends_with("/accept") => json!({"criterion": 1, "notes": ["x"]}),
            _ => json!({}),
        };
        let code = world.call(method, &path, body).with(404)["error"]["code"].clone();
        assert_eq!(code, "E_TASK_NOT_FOUND", "{}", facts.address);
    }
}

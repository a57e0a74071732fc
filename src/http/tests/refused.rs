//! Refusals before an endpoint is reached: their form, and that repeated headers are refused.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};

use super::{JSON, Told, World};
use crate::http::guard::HEAD_MAX;
use crate::http::server::Options;
use crate::ops::tokens::Scope;

/// Endpoints whose specifications have one form for everything that goes wrong.
const SPECIFIED: [&str; 2] = ["/api/chat", "/query"];

fn body() -> Value {
    json!({"message": "hello", "query": "hello"})
}

/// Whether an answer is what a specification says of errors, and nothing else.
fn is_specified(path: &str, told: &Value) -> bool {
    match path {
        "/query" => told["detail"].is_string() && told.as_object().unwrap().len() == 1,
        _ => {
            let response = &told["response"];
            response["status"] == "error" && response["message"].is_string()
        }
    }
}

fn are_told(path: &str, refusals: Vec<(u16, Told)>) {
    for (status, told) in refusals {
        let told = told.with(status);
        assert!(is_specified(path, &told), "{path} {status}: {told}");
    }
}

#[test]
fn chat_and_queries_refuse_as_specified() {
    let options = Options {
        max_body: 1_000,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    for path in SPECIFIED {
        let by =
            |name: &str, value: &str| world.ask("POST", path, &[(name, value)], body().to_string());
        let refusals = vec![
            (403, by("origin", "http://evil.example")),
            (405, world.get(path)),
            (413, world.raw("POST", path, "x".repeat(1_001))),
            (415, by("content-type", "text/plain")),
            (431, by("x-long", &"y".repeat(HEAD_MAX))),
            (400, by("host", "127.0.0.1:4680")),
        ];
        are_told(path, refusals);
    }
}

#[test]
fn chat_and_queries_refuse_tokens_in_own_form() {
    let world = World::at("0.0.0.0:4680", Options::default());
    let read = world.token("ann", Scope::Read);
    for path in SPECIFIED {
        let refusals = vec![
            (401, world.post(path, body())),
            (401, world.by("cleo_forged", "POST", path, body())),
            (403, world.by(&read, "POST", path, body())),
        ];
        are_told(path, refusals);
        let told = world.post(path, body());
        assert!(told.header("www-authenticate").starts_with("Bearer"));
    }
}

#[test]
fn single_headers_are_refused_when_repeated() {
    let world = World::new();
    let own = world.server.address.to_string();
    for (name, one, other) in [
        ("host", own.as_str(), "evil.example"),
        ("origin", "http://127.0.0.1:4680", "http://evil.example"),
        ("authorization", "Bearer cleo_a", "Bearer cleo_b"),
        ("content-type", "application/json", "text/plain"),
        ("idempotency-key", "a", "b"),
    ] {
        for pair in [[one, other], [other, one], [one, one]] {
            let request = Request::builder().method("POST");
            let mut request = request.uri("/api/agents/execute");
            if name != "host" {
                request = request.header("host", &own);
            }
            let [first, second] = pair;
            let request = request.header(name, first).header(name, second);
            let body = Body::from(json!({"input": "x"}).to_string());
            let told = world.send(request.body(body).unwrap()).with(400);
            assert_eq!(told["error"]["code"], "E_INPUT_INVALID", "{pair:?}");
            let message = told["error"]["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("duplicate header `{name}`")),
                "{message}"
            );
        }
    }
    assert_eq!(world.get("/api/agents/execute").with(200)["total"], 0);
}

#[test]
fn other_headers_may_be_repeated() {
    let world = World::new();
    let headers = [("cookie", "a=b"), ("cookie", "c=d"), ("x", "1"), ("x", "2")];
    world.ask("GET", "/api/agents/sync", &headers, "").with(200);
}

#[test]
fn late_body_times_out_and_may_be_retried() {
    let options = Options {
        patience: Duration::from_millis(20),
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let late = |path: &str| {
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        world.ask("POST", path, &[JSON], never).with(408)
    };
    assert_eq!(late("/api/work/tasks")["error"]["retryable"], true);
    for path in SPECIFIED {
        assert!(is_specified(path, &late(path)), "{path}");
    }
}

#[test]
fn head_of_request_is_limited_to_byte() {
    let world = World::new();
    let sent = |length: usize| {
        let head = format!(
            "GET /health HTTP/1.1\r\nhost: {}\r\nx: \r\n\r\n",
            world.server.address
        );
        let long = "y".repeat(length - head.len());
        world.ask("GET", "/health", &[("x", &long)], "")
    };
    sent(HEAD_MAX).with(200);
    let told = sent(HEAD_MAX + 1).with(431);
    assert_eq!(told["error"]["code"], "E_INPUT_INVALID");
}

#[test]
fn agents_page_names_statuses_without_agents() {
    let world = World::at("0.0.0.0:4680", Options::default());
    let described = world.get("/openapi.json").with(200);
    let described = &described["paths"]["/agents"]["get"]["responses"];
    for (accept, status) in [("text/html", "303"), ("application/json", "401")] {
        let told = world.ask("GET", "/agents", &[("accept", accept)], "");
        assert_eq!(told.status.as_str(), status);
        assert!(described[status].is_object(), "{status}");
    }
}

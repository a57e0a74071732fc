//! Keys (`Idempotency-Key`) by which a message that is sent again begins nothing new.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use axum::body::Body;
use axum::http::HeaderValue;
use serde_json::json;

use super::{JSON, World};

const WAR: &str = "Explain the Second War in Warcraft history.";
const LAYOUT: &str = "Help me design a creative layout for my blog.";

#[test]
fn same_key_replies_same_execution() {
    let world = World::new();
    let send = |key: &str| {
        let body = json!({"input": WAR}).to_string();
        let headers = [JSON, ("idempotency-key", key)];
        let told = world.ask("POST", "/api/agents/execute", &headers, body);
        told.with(200)["execution"]["id"].clone()
    };
    let (first, again, other) = (send("a"), send("a"), send("b"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!(world.get("/api/agents/execute").with(200)["total"], 2);
}

#[test]
fn key_counts_from_first_call_even_if_it_is_dropped() {
    let world = World::new();
    let request = || {
        let request = world.request("POST", "/api/agents/execute?wait=true");
        let request = request.header("content-type", "application/json");
        let request = request.header("idempotency-key", "a");
        let body = json!({"input": WAR}).to_string();
        request.body(Body::from(body)).unwrap()
    };
    world.runtime.block_on(async {
        let mut answer = pin!(super::respond(&world.router, request()));
        // It is asked for, and left before anything is answered.
        let once = poll_fn(|context| {
            let _ = answer.as_mut().poll(context);
            Poll::Ready(())
        });
        once.await;
    });
    let told = world.send(request()).with(200);
    assert_eq!(told["execution"]["status"], "completed");
    assert_eq!(world.get("/api/agents/execute").with(200)["total"], 1);
}

#[test]
fn key_that_is_no_text_is_refused() {
    let world = World::new();
    for key in [&b"\xc3\xa9"[..], b"\xff", b"a b", b""] {
        let request = world.request("POST", "/api/agents/execute");
        let request = request.header("content-type", "application/json");
        let request = request.header("idempotency-key", HeaderValue::from_bytes(key).unwrap());
        let body = json!({"input": WAR}).to_string();
        world.send(request.body(body.into()).unwrap()).with(400);
    }
    assert_eq!(world.get("/api/agents/execute").with(200)["total"], 0);
    let request = world.request("GET", "/api/events");
    let request = request.header("last-event-id", HeaderValue::from_bytes(b"\xff").unwrap());
    world.send(request.body(Body::empty()).unwrap()).with(400);
}

#[test]
fn key_of_one_message_is_refused_for_another() {
    let world = World::new();
    let send = |body: serde_json::Value| {
        let headers = [JSON, ("idempotency-key", "k-1")];
        world.ask("POST", "/api/agents/execute", &headers, body.to_string())
    };
    // A refused request has no outcome to repeat.
    send(json!({"input": WAR, "conversationId": "conv_nope"})).with(404);
    let first = send(json!({"input": WAR})).with(200);
    for other in [
        json!({"input": LAYOUT}),
        json!({"input": WAR, "agentId": "peter-logical"}),
    ] {
        let told = send(other).with(422);
        assert!(told["error"].as_str().unwrap().contains("`k-1`"), "{told}");
    }
    let again = send(json!({"input": WAR})).with(200);
    assert_eq!(again["execution"]["id"], first["execution"]["id"]);
    assert_eq!(world.get("/api/agents/execute").with(200)["total"], 1);
}

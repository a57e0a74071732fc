use std::sync::Arc;

use axum::body::Body;
use serde_json::json;

use super::{World, respond};
use crate::agent::draft::Draft;
use crate::http::server::Options;
use crate::ops::agents;
use crate::ops::tokens::Scope;
use crate::ops::trust::Registrant;
use crate::ops::{Notes, Rights, Surroundings};

/// D-1.
#[test]
fn the_server_says_that_it_is_there() {
    let told = World::new().get("/health").with(200);
    assert_eq!(
        told,
        json!({"status": "ok", "message": "Supervisor is running"})
    );
}

/// D-3.
#[test]
fn empty_query_is_refused_as_specified() {
    let world = World::new();
    for query in ["", "  "] {
        let told = world.post("/query", json!({"query": query}));
        assert_eq!(told.with(400), json!({"detail": "Query cannot be empty"}));
    }
    for body in ["{}", "{", "[]", "{\"query\":7}"] {
        let told = world.raw("POST", "/query", body).with(400);
        assert!(told["detail"].is_string(), "{body}");
    }
}

#[test]
fn a_query_without_workers_is_answered_that_there_are_none() {
    let world = World::new();
    let told = world.post(
        "/query",
        json!({"query": "Summarize X", "options": {"debug": true}}),
    );
    let reply = told.with(200);
    assert_eq!(reply["error"]["type"], "no_agents");
    assert_eq!(
        (&reply["used_agents"], &reply["intermediate_results"]),
        (&json!([]), &json!({}))
    );
    assert!(told.header("x-run-id").starts_with("query_") || !told.header("x-run-id").is_empty());
}

/// D-2.
#[test]
fn the_registry_and_the_page_of_agents_have_one_address() {
    let world = World::new();
    let accepting = |accept: &str| {
        let request = world.request("GET", "/agents").header("accept", accept);
        world.send(request.body(Body::empty()).unwrap())
    };
    let told = accepting("application/json, */*;q=0.1");
    assert_eq!(told.with(200), json!([]));
    assert_eq!(told.header("vary"), "accept");
    for accept in [
        "text/html,application/xhtml+xml,*/*;q=0.8",
        "text/html, application/json;q=0.9",
        "*/*",
    ] {
        let page = accepting(accept);
        assert!(page.text().contains("<h1>Agents</h1>"), "{accept}");
    }
}

#[test]
fn the_form_works_without_a_script_and_shows_text_as_text() {
    let world = World::new();
    let request = world.request("POST", "/ask");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let body = "query=%3Cscript%3Ealert(1)%3C%2Fscript%3E&debug=1";
    let told = world.send(request.body(Body::from(body)).unwrap());
    assert_eq!(told.status, 200, "{}", told.text());
    let text = told.text();
    assert!(
        text.contains("&lt;script&gt;") && !text.contains("<script>alert"),
        "{text}"
    );
    // The application would put a page of its own in the place of the answer.
    assert!(!text.contains("<script type=\"module\""), "{text}");
}

#[test]
fn form_errors_are_shown_as_a_page_to_browsers() {
    let world = World::new();
    let sent = |accept: &str| {
        let request = world.request("POST", "/ask").header("accept", accept);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        world.send(request.body(Body::from("query=+")).unwrap())
    };
    let page = sent("text/html,application/xhtml+xml,*/*;q=0.8");
    assert_eq!(page.status, 400);
    assert!(page.header("content-type").starts_with("text/html"));
    let text = page.text();
    assert!(text.contains("<p>Query cannot be empty</p>"), "{text}");
    let told = sent("*/*").with(400);
    assert_eq!(told["error"]["message"], "Query cannot be empty");
}

#[test]
fn a_query_asks_no_worker_of_another_user() {
    let world = World::new();
    let ann = world.token("ann", Scope::Write);
    let worker = Draft {
        id: Some("anns".into()),
        name: Some("Anns".into()),
        command: Some(String::from("true").into()),
        intents: Some(vec!["a.b".into()]),
        ..Draft::default()
    };
    let surroundings = Surroundings {
        rights: Rights {
            user: Some("ann".into()),
            registrant: Registrant::Http,
            ..Rights::default()
        },
        ..world.surroundings()
    };
    agents::register(&surroundings, &mut Notes::default(), worker).unwrap();
    let asked = |token: &str| {
        let query = json!({"query": "Summarize this week"});
        let told = world.by(token, "POST", "/query", query).with(200);
        told["used_agents"].as_array().unwrap().len()
    };
    // A program that comes over HTTP is not trusted, but it is chosen.
    assert_eq!(asked(&ann), 1);
    assert_eq!(asked(&world.token("bob", Scope::Write)), 0);
}

#[test]
fn an_object_within_a_body_is_read_from_no_list() {
    let world = World::new();
    for (path, body) in [
        ("/query", json!({"query": "x", "options": []})),
        ("/query", json!({"query": "x", "options": [true]})),
        (
            "/api/chat",
            json!({"message": "x", "conversation": [["hello client 6"]]}),
        ),
    ] {
        let told = world.post(path, body).with(400).to_string();
        assert!(told.contains("a list, expected an object"), "{told}");
    }
    let told = world.post("/api/agents/execute", json!("x")).with(400);
    let told = told["error"].as_str().unwrap();
    assert!(told.contains("must be an object"), "{told}");
    let nulls = json!({"query": "x", "user_id": null, "options": null});
    world.post("/query", nulls).with(200);
}

#[test]
fn a_query_that_waits_for_its_turn_keeps_nobody_else_waiting() {
    let options = Options {
        jobs: 1,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let answers = Arc::clone(&world.server.answers);
    let place = answers.try_acquire_owned().unwrap();
    let sent = |method: &str, path: &str, body: &str| {
        let request = world.request(method, path);
        let request = request.header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        respond(&world.router, request)
    };
    let told = world.runtime.block_on(async {
        let mut asked = Box::pin(sent("POST", "/query", r#"{"query":"x"}"#));
        tokio::select! {
            biased;
            told = &mut asked => panic!("it did not wait: {}", told.status()),
            told = sent("GET", "/api/agents/sync", "") => assert_eq!(told.status(), 200),
        }
        drop(place);
        asked.await
    });
    assert_eq!(told.status(), 200);
}

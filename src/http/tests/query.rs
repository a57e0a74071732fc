use axum::body::Body;
use serde_json::json;

use super::{World, respond};
use crate::agent::draft::Draft;
use crate::http::server::Options;
use crate::ops::trust::Registrant;
use crate::ops::{Notes, Rights, Surroundings, agents};

/// D-1, D-3, and a query without workers.
#[test]
fn queries_without_workers_are_replied_or_refused() {
    let world = World::new();
    world.walk(
        r#"
        GET /health -> 200 {"status": "ok", "message": "Supervisor is running"}
        POST /query {"query": ""} -> 400 {"detail": "Query cannot be empty"}
        POST /query {"query": "  "} -> 400 {"detail": "Query cannot be empty"}
        POST /query {"query": "\n\t"} -> 400 {"detail": "Query cannot be empty"}
        POST /query {} -> 400 {"detail": "~"}
        POST /query { -> 400 {"detail": "~"}
        POST /query {"query": -> 400 {"detail": "~"}
        POST /query [] -> 400 {"detail": "~"}
        POST /query null -> 400 {"detail": "~"}
        POST /query {"query":7} -> 400 {"detail": "~"}
        POST /query {"query": "x", "options": []} -> 400 {"detail": "~a list, expected an object"}
        POST /query {"query": "x", "options": [true]} -> 400 {"detail": "~a list, expected an object"}
        POST /query {"query": "x", "user_id": null, "options": null} -> 200
        POST /query {"query": "Summarize X", "options": {"debug": true}} -> 200 {"answer": "~no worker is registered", "error": {"type": "no_agents"}, "used_agents": []} has "intermediate_results":{}
        "#,
    );
    let told = world.post("/query", json!({"query": "x"}));
    assert!(!told.header("x-run-id").is_empty());
}

/// D-2.
#[test]
fn agents_page_and_registry_share_a_path() {
    let world = World::new();
    let accepting = |accept: &str| world.ask("GET", "/agents", &[("accept", accept)], "");
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
fn query_asks_no_worker_of_another_user() {
    let world = World::new();
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
    // A program that comes over HTTP is not trusted, but it is chosen.
    world.walk(
        r##"
        ann POST /query {"query": "Summarize this week"} -> 200 {"used_agents": "#1"}
        bob POST /query {"query": "Summarize this week"} -> 200 {"used_agents": []}
        "##,
    );
}

#[test]
fn waiting_query_blocks_no_other_requests() {
    let options = Options {
        jobs: 1,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let place = world.server.answers.try_take("user eve".to_string());
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

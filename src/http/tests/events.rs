use std::time::Duration;

use axum::body::BodyDataStream;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::World;
use crate::http::guard::Pass;
use crate::ops::Notes;
use crate::ops::executions::Piece;
use crate::ops::tokens::{self, Scope};
use crate::run::RunStatus;

/// How long something may take that takes a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reads what is told within a stream until a number of events have come.
fn read_events(
    world: &World,
    token: Option<&str>,
    query: &str,
    last: &str,
    events: usize,
) -> Vec<(String, String, Value)> {
    let mut request = world.request("GET", &format!("/api/events{query}"));
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if !last.is_empty() {
        request = request.header("last-event-id", last);
    }
    let request = request.body(axum::body::Body::empty()).unwrap();
    world.runtime.block_on(async {
        let response = super::respond(&world.router, request).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut body = response.into_body().into_data_stream();
        let mut text = String::new();
        while text.matches("\n\n").count() < events {
            text += std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap();
        }
        text.split("\n\n")
            .filter(|part| part.contains("data: "))
            .map(parse)
            .collect()
    })
}

fn parse(part: &str) -> (String, String, Value) {
    let line = |name: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().to_string()
    };
    let data = serde_json::from_str(&line("data: ")).unwrap();
    (line("id: "), line("event: "), data)
}

#[test]
fn events_continue_after_last_event_id() {
    let world = World::new();
    world.execute(json!({"input": "history of war"}));
    world
        .post("/api/tasks/create", json!({"title": "a"}))
        .with(201);
    let all = read_events(&world, None, "", "", 16);
    assert_eq!(all[0].1, "hello");
    let kinds: Vec<_> = all.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert!(
        kinds.contains(&"task") && kinds.contains(&"run"),
        "{kinds:?}"
    );
    let delegation = all
        .iter()
        .find(|(.., data)| data["type"] == "agent-delegation");
    let detail = &delegation.unwrap().2["detail"];
    assert_eq!(
        (&detail["from"], &detail["to"]),
        (&json!("cleo-supervisor"), &json!("toby-technical"))
    );
    let middle = &all[5].0;
    let rest = read_events(&world, None, "", middle, all.len() - 5);
    let told = |events: &[(String, String, Value)]| -> Vec<Value> {
        events.iter().map(|(.., data)| data.clone()).collect()
    };
    assert_eq!(told(&rest[1..]), told(&all[6..]));
}

#[test]
fn events_are_those_of_caller_and_of_kinds() {
    let world = World::new();
    let [ann, bob] = ["ann", "bob"].map(|user| world.token(user, Scope::Read));
    world.walk(
        r#"
        bob POST /api/agents/execute?wait=true {"input": "a secret"} -> 200
        POST /api/tasks/create {"title": "seen by all"} -> 201
        GET /api/events?kinds=nope -> 400
        GET /api/events?since=x -> 400
        GET /api/events?since=1.2 -> 400
        GET /api/events?nope=1 -> 400
        "#,
    );
    let told = read_events(&world, Some(&ann), "", "", 2);
    assert_eq!((told.len(), told[1].1.as_str()), (2, "task"));
    let told = read_events(&world, Some(&bob), "?kinds=task", "", 2);
    assert_eq!((told.len(), told[1].1.as_str()), (2, "task"));
    let told = read_events(&world, Some(&bob), "?kinds=run", "", 3);
    assert!(told[1..].iter().all(|(_, kind, _)| kind == "run"));
}

#[test]
fn log_that_grows_is_event_for_its_owner() {
    let world = World::new();
    let ann = world.token("ann", Scope::Read);
    super::runs::ran(&world, "exec_1_b", "bob", RunStatus::Running);
    super::runs::ran(&world, "exec_2_a", "ann", RunStatus::Running);
    let told = read_events(&world, Some(&ann), "?kinds=log&since=now", "", 2);
    let log = world.folder.path().join(".cleo/runs/exec_2_a/T1-1.log");
    let bytes = std::fs::metadata(log).unwrap().len();
    let grown = json!({"runId": "exec_2_a", "taskId": "T1", "attempt": 1, "bytes": bytes});
    assert_eq!((told[1].1.as_str(), &told[1].2), ("log", &grown));
}

#[test]
fn name_of_removed_private_agent_is_not_revealed() {
    let world = World::new();
    world.walk(
        r#"
        ann POST /api/agents/create {"id": "anns", "name": "Ann's", "prompt": "p"} -> 201
        ann POST /api/work/tasks {"title": "One"} -> 201
        ann PATCH /api/work/tasks/T1 {"assignedAgent": "anns"} -> 200
        ann DELETE /api/agents/anns -> 200
        "#,
    );
    let bob = world.token("bob", Scope::Read);
    for token in [Some(bob.as_str()), None] {
        let told = read_events(&world, token, "?kinds=task&since=0.0.0.0", "", 3);
        assert_eq!(told[2].1, "task");
        assert!(!told[2].2.to_string().contains("anns"), "{told:?}");
    }
}

#[test]
fn events_of_other_users_use_none_of_listeners_queue() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let says = |token: &str| {
        let body = json!({"input": "history of war"});
        world
            .by(token, "POST", "/api/agents/execute?wait=true", body)
            .with(200)
    };
    world
        .post("/api/tasks/create", json!({"title": "seen by all"}))
        .with(201);
    let own = says(&ann)["execution"]["id"].clone();
    // More events than are told again.
    for _ in 0..45 {
        says(&bob);
    }
    let told = read_events(&world, Some(&ann), "?kinds=run", "", 3);
    assert!(
        told[1..].iter().all(|(.., data)| data["runId"] == own),
        "{told:?}"
    );
    let told = read_events(&world, Some(&ann), "", "", 3);
    assert_eq!((told.len(), told[1].1.as_str()), (3, "task"));
    let told = read_events(&world, Some(&bob), "?kinds=task", "", 2);
    assert_eq!((told.len(), told[1].1.as_str()), (2, "task"));
    // A listener that reconnects missed nothing by events of others.
    let told = read_events(&world, Some(&ann), "", "0.0.0.0", 3);
    assert_eq!((told[0].1.as_str(), told[1].1.as_str()), ("hello", "task"));
}

#[test]
fn events_of_other_processes_are_sent() {
    let world = World::new();
    let surroundings = world.surroundings();
    let command = std::thread::spawn(move || {
        let agent = serde_json::from_value(json!({"id": "new", "name": "New", "prompt": "p"}));
        crate::ops::agents::register(&surroundings, &mut Notes::default(), agent.unwrap()).unwrap();
    });
    let told = read_events(&world, None, "?since=0.0.0.0", "", 2);
    command.join().unwrap();
    assert_eq!(told[1].1, "agents");
}

/// Opens the stream of events without reading it.
fn open(world: &World, token: &str) -> BodyDataStream {
    let request = world.request("GET", "/api/events");
    let request = request.header("authorization", format!("Bearer {token}"));
    let request = request.body(axum::body::Body::empty()).unwrap();
    let response = super::respond(&world.router, request);
    let response = world.runtime.block_on(response);
    assert_eq!(response.status(), 200);
    response.into_body().into_data_stream()
}

#[test]
fn stream_ends_soon_after_its_token() {
    let world = World::new();
    let ann = tokens::create(&world.surroundings(), "ann", Scope::Read, None).unwrap();
    let mut body = open(&world, &ann.secret);
    world.runtime.block_on(async {
        let mut next = async || tokio::time::timeout(PATIENCE, body.next()).await.unwrap();
        assert!(next().await.is_some(), "it begins");
        tokens::revoke(&world.surroundings(), &ann.token.id).unwrap();
        assert!(next().await.is_none(), "it ends");
    });
}

#[test]
fn stream_of_slow_listener_ends_alone() {
    let world = World::new();
    let [ann, bob] = ["ann", "bob"].map(|user| world.token(user, Scope::Read));
    let (mut slow, mut quick) = (open(&world, &ann), open(&world, &bob));
    world.runtime.block_on(async {
        for streams in [&mut slow, &mut quick] {
            let hello = streams.next().await.unwrap().unwrap();
            assert!(hello.starts_with(b"retry: 500\nid: "), "{hello:?}");
        }
        for number in 0..300 {
            for user in ["ann", "bob"] {
                let (run, piece) = (user, &*number.to_string());
                let agent = "toby-technical";
                world.server.feed.piece(user, &Piece { run, agent, piece });
            }
            assert!(quick.next().await.is_some());
        }
        assert!(slow.next().await.is_none(), "it ends before a gap");
    });
}

#[test]
fn listener_is_disconnected_when_its_token_expires() {
    let world = World::new();
    let surroundings = world.surroundings();
    let short = tokens::create(&surroundings, "ann", Scope::Read, Some(2)).unwrap();
    let mut headers = axum::http::HeaderMap::new();
    let near = Pass::for_headers(&world.server, &headers);
    let secret = format!("Bearer {}", short.secret).parse().unwrap();
    headers.insert("authorization", secret);
    let pass = Pass::for_headers(&world.server, &headers);
    assert!(pass.check().is_ok());
    world.runtime.block_on(async {
        let ended = tokio::time::timeout(PATIENCE, pass.wait_until_refused()).await;
        assert_eq!(ended.unwrap().code, crate::error::Code::Unauthorized);
    });
    assert!(near.check().is_ok());
}

#[test]
fn gap_in_events_is_sent_as_reset() {
    let world = World::new();
    for _ in 0..45 {
        world.execute(json!({"input": "history of war"}));
    }
    let world = world.restart();
    let told = read_events(&world, None, "", "1.0.0.0", 400);
    assert_eq!((told[0].1.as_str(), told[1].1.as_str()), ("hello", "reset"));
    let foreign = read_events(&world, None, "", "99999999.0.0.0", 2);
    assert_eq!(foreign[1].1, "reset");
}

//! Queries over HTTP: scenarios of the supervisor's notes that need workers and the form of HTTP. The others are in
//! `ask.rs`, for the same function, and in `src/http/tests`.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::ask::{NAME, register, says, steps, well, with_model};
use crate::served::{Served, body};
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, assert_fields, column};

/// A world with the summarizer of the specification at an address.
fn summarizer(url: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    register(
        &workspace,
        NAME,
        "summary.create",
        &format!("--endpoint {url}/run"),
    );
    workspace
}

fn asks(server: &Served, query: &str) -> Value {
    let (status, reply) = server.call("POST", "/query", &json!({"query": query}));
    assert_eq!(status, 200, "{reply}");
    let mut keys: Vec<_> = reply.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        ["answer", "error", "intermediate_results", "used_agents"]
    );
    reply
}

fn statuses(reply: &Value) -> Vec<&str> {
    column(&reply["used_agents"], "status")
}

/// The registry, as programs are told it at the address of the page.
fn registry(server: &Served) -> Value {
    let head = format!(
        "GET /agents HTTP/1.1\r\nhost: {}\r\naccept: application/json\r\nconnection: close\r\n\r\n",
        server.address
    );
    body(&server.raw(head.as_bytes()))
}

#[test]
fn d_2_and_d_13_registry_lists_new_agents_at_once() {
    let worker = Server::start(&[well("R1")]);
    let workspace = summarizer(&worker.url);
    let server = Served::start(&workspace, &[]);
    let listed = registry(&server);
    let mut keys: Vec<_> = listed[0].as_object().unwrap().keys().collect();
    keys.sort();
    let fields = [
        "command",
        "description",
        "endpoint",
        "healthcheck",
        "intents",
        "name",
        "timeout_ms",
        "type",
    ];
    assert_eq!(keys, fields);
    assert_eq!(listed[0]["endpoint"], format!("{}/run", worker.url));
    register(
        &workspace,
        "another",
        "x.do",
        &format!("--endpoint {}/x", worker.url),
    );
    let listed = registry(&server);
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, [NAME, "another"]);
}

#[test]
fn d_4_summarizer_is_asked_without_model() {
    let worker = Server::start(&[well("R1")]);
    let workspace = summarizer(&worker.url);
    let server = Served::start(&workspace, &[]);
    let reply = asks(&server, "Summarize X");
    assert_eq!(
        reply["answer"],
        "Based on the tools, here is what I found: R1"
    );
    let used = json!([{"name": NAME, "intent": "summary.create", "status": "success"}]);
    assert_eq!(
        (&reply["used_agents"], &reply["error"]),
        (&used, &Value::Null)
    );
    let step = &reply["intermediate_results"]["step_0"];
    assert_eq!(step["output"]["result"], "R1");
    let asked = worker.read_requests().remove(0).body;
    assert_eq!(asked["request_id"], step["request_id"]);
    assert_eq!(asked["input"]["text"], "Summarize X");
    for field in ["user_id", "conversation_id", "timestamp"] {
        assert!(asked["context"].get(field).is_some(), "{field}");
    }
}

#[test]
fn d_5_and_d_11_invalid_plan_falls_back_to_worker() {
    let (one, two) = (
        Server::start(&[well("first")]),
        Server::start(&[well("second")]),
    );
    let both = steps(&[
        (0, NAME, "summary.create", "user_query"),
        (1, "two", "x.do", "step:0.output.result"),
    ]);
    let unknown = steps(&[(0, "nobody", "summary.create", "user_query")]);
    let intent = steps(&[(0, NAME, "other.intent", "user_query")]);
    for (plan, expected) in [
        (both.as_str(), 2),
        ("Use the summarizer!", 1),
        ("{}", 1),
        (&unknown, 1),
        (&intent, 1),
    ] {
        let model = Server::start(&[says(plan), says("All of it.")]);
        let workspace = with_model(summarizer(&one.url), &model)
            .env("OPENAI_API_KEY", "sk-test-0123456789abcdef");
        register(
            &workspace,
            "two",
            "x.do",
            &format!("--endpoint {}/run", two.url),
        );
        let reply = asks(&Served::start(&workspace, &[]), "Do both");
        assert_eq!(
            statuses(&reply),
            vec!["success"; expected],
            "{plan} {reply:#}"
        );
        assert_fields(&reply, json!({"answer": "All of it.", "error": null}));
    }
    assert_eq!(two.read_requests()[0].body["input"]["text"], "first");
}

#[test]
fn query_ends_when_its_token_is_revoked() {
    let worker = Server::start(&[Answer::Hang]);
    let workspace = summarizer(&worker.url);
    let server = Served::start(&workspace, &["--ask-token"]);
    let made = workspace.ask("serve token create --scope admin");
    let (secret, id) = (&made["result"]["secret"], &made["result"]["token"]["id"]);
    let (secret, id) = (secret.as_str().unwrap(), id.as_str().unwrap());
    let query = json!({"query": "Summarize X"}).to_string();
    let request = format!(
        "POST /query HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {secret}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{query}",
        server.address,
        query.len()
    );
    let answer = thread::scope(|scope| {
        let asking = scope.spawn(|| server.raw(request.as_bytes()));
        while worker.read_requests().is_empty() {
            thread::sleep(Duration::from_millis(20));
        }
        workspace.ok(&format!("serve token revoke {id}"));
        asking.join().unwrap()
    });
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    assert!(body(&answer)["detail"].is_string(), "{answer}");
}

#[test]
fn d_15_concurrent_queries_do_not_mix() {
    let worker = Server::start(&[well("R")]);
    let workspace = summarizer(&worker.url);
    let server = Served::start(&workspace, &[]);
    let replies: Vec<Value> = thread::scope(|scope| {
        let ask = |number: usize| asks(&server, &format!("query {number}"));
        let asking: Vec<_> = (0..20)
            .map(|number| scope.spawn(move || ask(number)))
            .collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let asked = worker.read_requests();
    assert_eq!(asked.len(), 20);
    for (number, reply) in replies.iter().enumerate() {
        let id = &reply["intermediate_results"]["step_0"]["request_id"];
        let own: Vec<_> = asked
            .iter()
            .filter(|one| one.body["request_id"] == *id)
            .collect();
        assert_eq!(own.len(), 1, "{id}");
        assert_eq!(own[0].body["input"]["text"], format!("query {number}"));
    }
}

#[test]
fn slow_senders_time_out_and_block_nobody() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &[]);
    // A hundred that never end their head, and as many that never send the body they promise.
    let slow: Vec<_> = (0..200)
        .map(|number| {
            let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
            let begun = match number % 2 {
                0 => "GET / HTTP/1.1\r\nx-slow: ".to_string(),
                _ => format!(
                    "POST /api/agents/execute HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
                     content-length: 100\r\n\r\n{{",
                    server.address
                ),
            };
            std::io::Write::write_all(&mut stream, begun.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/health")["status"], "ok");
    let told = server.post(
        "/api/agents/execute?wait=true",
        &json!({"input": "history of war"}),
    );
    assert_eq!(told["execution"]["status"], "completed");
    for mut stream in slow.into_iter().take(2) {
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        let mut answer = String::new();
        let ended = std::io::Read::read_to_string(&mut stream, &mut answer);
        assert!(ended.is_ok(), "it was not let go");
        assert!(
            !answer.contains(" 200 ") && !answer.contains(" 500 "),
            "{answer}"
        );
    }
    assert_eq!(server.get("/api/agents/execute")["total"], 1);
}

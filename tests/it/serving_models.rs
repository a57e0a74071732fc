//! A server whose executions wait for a model: streamed, cancelled, and ended.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::ask::{stream, with_model};
use crate::served::{Served, body};
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, assert_fields};

const WAR: &str = "Explain the Second War in Warcraft history.";
/// Longest that anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn asking(model: &Server) -> TestWorkspace {
    with_model(TestWorkspace::new(), model).env("OPENAI_API_KEY", "sk-test-0123456789abcdef")
}

/// Begins an execution and waits until the model was asked.
fn begin(server: &Served, model: &Server) -> String {
    let told = server.post("/api/agents/execute", &json!({"input": WAR}));
    let id = told["execution"]["id"].as_str().unwrap().to_string();
    assert_eq!(told["execution"]["status"], "running");
    wait_for(|| !model.read_requests().is_empty());
    id
}

fn wait_for(is_so: impl Fn() -> bool) {
    for _ in 0..PATIENCE.as_millis() / 20 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("that did not happen");
}

fn show_run(workspace: &TestWorkspace, id: &str) -> Value {
    workspace.json(&["runs", "show", id])["result"]["run"].clone()
}

/// Writes a request to have a message executed, under a key.
fn write_request(server: &Served, query: &str, key: &str, body: &Value) -> String {
    let (host, body) = (&server.address, body.to_string());
    let length = body.len();
    format!(
        "POST /api/agents/execute{query} HTTP/1.1\r\nhost: {host}\r\nidempotency-key: {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Sends a message that is to be told while it is carried out, and returns what is told, line by line.
fn follow(server: &Served, key: &str) -> impl Iterator<Item = (String, Value)> + use<> {
    let request = write_request(server, "", key, &json!({"input": WAR, "stream": true}));
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(head[0].contains(" 200 "), "{head:?}");
    assert!(
        head.iter()
            .any(|line| line == "content-type: text/event-stream")
    );
    let mut name = String::new();
    lines.filter_map(move |line| {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_string();
        }
        let data = line.strip_prefix("data: ")?;
        Some((name.clone(), serde_json::from_str(data).unwrap()))
    })
}

#[test]
fn execution_streams_pieces_of_its_output() {
    let model = Server::start(&[stream(&["Thr", "all."])]);
    let workspace = asking(&model);
    let server = Served::start(&workspace, &[]);
    let mut told = follow(&server, "once");
    let (name, first) = told.next().unwrap();
    assert_eq!(
        (name.as_str(), &first["execution"]["status"]),
        ("execution", &json!("running"))
    );
    let is_piece = |told: &(String, Value)| told.0 == "piece";
    let (_, piece) = told.find(is_piece).unwrap();
    assert_fields(&piece, json!({"agent": "toby-technical", "piece": "Thr"}));
    model.go.send(()).unwrap();
    assert_eq!(told.find(is_piece).unwrap().1["piece"], "all.");
    model.go.send(()).unwrap();
    let rest: Vec<(String, Value)> = told.collect();
    let (name, last) = rest.last().unwrap();
    assert_eq!(
        (name.as_str(), &last["execution"]["output"]),
        ("done", &json!("Thrall."))
    );
    let ended = |(name, data): &(String, Value)| name == "run" && data["type"] == "execution_end";
    assert_eq!(
        rest.iter().filter(|told| ended(told)).count(),
        1,
        "{rest:?}"
    );
    // A second request with the same key gets the same execution.
    let again: Vec<_> = follow(&server, "once").collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].1["execution"]["id"], first["execution"]["id"]);
    assert_eq!(model.read_requests().len(), 1);
}

#[test]
fn retry_with_same_key_waits_for_first_request() {
    let model = Server::start(&[stream(&["Thr", "all."])]);
    let workspace = asking(&model);
    let server = Served::start(&workspace, &[]);
    let request = write_request(&server, "?wait=true", "once", &json!({"input": WAR}));
    {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        wait_for(|| !model.read_requests().is_empty());
    }
    let told = thread::scope(|scope| {
        let again = scope.spawn(|| body(&server.raw(request.as_bytes())));
        model.go.send(()).unwrap();
        model.go.send(()).unwrap();
        again.join().unwrap()
    });
    let execution = &told["execution"];
    assert_fields(
        execution,
        json!({"status": "completed", "output": "Thrall."}),
    );
    assert_eq!(server.get("/api/agents/execute")["total"], 1);
    assert_eq!(model.read_requests().len(), 1);
}

#[test]
fn model_answer_to_cancelled_execution_is_dropped() {
    let model = Server::start(&[stream(&["Thr", "all."])]);
    let workspace = asking(&model);
    let mut server = Served::start(&workspace, &[]);
    let id = begin(&server, &model);
    let place = format!("/api/agents/execution/{id}");
    assert_eq!(server.get(&place)["execution"]["status"], "running");
    let (status, told) = server.call("POST", &format!("{place}/cancel"), &json!({}));
    assert_eq!(
        (status, &told["execution"]["status"]),
        (200, &json!("cancelled"))
    );
    let (status, _) = server.call("POST", &format!("{place}/cancel"), &json!({}));
    assert_eq!(status, 409);
    model.go.send(()).unwrap();
    model.go.send(()).unwrap();
    server.signal(Signal::SIGTERM);
    assert!(server.ends_well());
    let run = show_run(&workspace, &id);
    assert_fields(&run, json!({"status": "cancelled", "output": null}));
}

#[test]
fn ending_server_waits_for_slow_model() {
    let model = Server::start(&[stream(&["Thr", "all."])]);
    let workspace = asking(&model);
    let mut server = Served::start(&workspace, &["--grace", "600"]);
    let id = begin(&server, &model);
    server.signal(Signal::SIGTERM);
    // It accepts no more connections, and finishes its requests.
    wait_for(|| TcpStream::connect(&server.address).is_err());
    model.go.send(()).unwrap();
    model.go.send(()).unwrap();
    assert!(server.ends_well());
    let run = show_run(&workspace, &id);
    assert_fields(&run, json!({"status": "completed", "output": "Thrall."}));
}

#[test]
fn server_stops_waiting_for_model_on_timeout_or_signal() {
    for (grace, again) in [("1", None), ("600", Some(Signal::SIGINT))] {
        let model = Server::start(&[Answer::Hang]);
        let workspace = asking(&model);
        let mut server = Served::start(&workspace, &["--grace", grace]);
        let id = begin(&server, &model);
        server.signal(Signal::SIGTERM);
        if let Some(again) = again {
            wait_for(|| TcpStream::connect(&server.address).is_err());
            server.signal(again);
        }
        assert!(server.ends_well());
        model.left.recv_timeout(PATIENCE).unwrap();
        assert_eq!(show_run(&workspace, &id)["status"], "cancelled", "{grace}");
    }
}

#[test]
fn killed_servers_lose_no_acknowledged_write() {
    let workspace = TestWorkspace::new();
    let servers = [
        Served::start(&workspace, &[]),
        Served::start(&workspace, &[]),
    ];
    let execute = |server: &Served| {
        let mut told = Vec::new();
        let body = json!({"input": WAR}).to_string();
        let request = format!(
            "POST /api/agents/execute HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        );
        // Until the server is gone, in the middle of an answer too.
        while let Some(answer) = server.raw_while_there(request.as_bytes()) {
            let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
            let Ok(answer) = serde_json::from_str::<Value>(body) else {
                continue;
            };
            told.extend(answer["execution"]["id"].as_str().map(String::from));
        }
        told
    };
    let told: Vec<String> = thread::scope(|scope| {
        let execute = &execute;
        let callers = servers.iter().flat_map(|server| {
            [
                scope.spawn(move || execute(server)),
                scope.spawn(move || execute(server)),
            ]
        });
        let callers: Vec<_> = callers.collect();
        for number in 0..10 {
            workspace.ok(&format!("add 'Task {number}'"));
            workspace.ask("agents execute 'history of war'");
        }
        servers
            .iter()
            .for_each(|server| server.signal(Signal::SIGKILL));
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    assert!(told.len() > 10, "{}", told.len());
    let database = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    for id in &told {
        let sql = "SELECT count(*) FROM runs WHERE id = ?1";
        let count: u32 = database.query_row(sql, [id], |row| row.get(0)).unwrap();
        assert_eq!(count, 1, "{id} of {} is lost", told.len());
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 10);
    // The next reader marks unfinished executions as failed.
    let running = workspace.ask("runs list --status running");
    assert_eq!(running["result"]["total"], 0);
}

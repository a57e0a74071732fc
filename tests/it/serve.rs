//! `cleo serve` as a process: several on one workspace beside commands, callers that are slow or talk
//! nonsense, and an end that loses nothing.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::served::{Served, body};
use crate::world::{TestWorkspace, says};

#[test]
fn accepted_executions_complete_when_server_ends() {
    let workspace = TestWorkspace::new();
    let mut server = Served::start(&workspace, &[]);
    let begun: Vec<String> = (0..50)
        .map(|number| {
            let input = json!({"input": format!("history of war {number}")});
            let told = server.post("/api/agents/execute", &input);
            told["execution"]["id"].as_str().unwrap().to_string()
        })
        .collect();
    server.signal(Signal::SIGTERM);
    assert!(server.ends_well());
    for id in begun {
        let shown = workspace.json(&["runs", "show", &id]);
        assert_eq!(shown["result"]["run"]["status"], "unanswered", "{id}");
    }
    let left = std::fs::read_dir(workspace.path(".cleo/runs")).unwrap();
    assert_eq!(left.count(), 0, "a sign of life is left");
}

#[test]
fn accepted_execution_is_known_when_server_is_killed() {
    let workspace = TestWorkspace::new();
    let mut server = Served::start(&workspace, &[]);
    let told = server.post("/api/agents/execute", &json!({"input": "history of war"}));
    server.signal(Signal::SIGKILL);
    assert!(!server.ends_well());
    let id = told["execution"]["id"].as_str().unwrap();
    let shown = workspace.json(&["runs", "show", id]);
    let status = shown["result"]["run"]["status"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        ["unanswered", "failed"].contains(&status.as_str()),
        "{status}"
    );
}

#[test]
fn servers_and_commands_on_workspace_see_each_other() {
    let workspace = TestWorkspace::new();
    let (one, other) = (
        Served::start(&workspace, &[]),
        Served::start(&workspace, &[]),
    );
    let told = one.post(
        "/api/agents/execute?wait=true",
        &json!({"input": "history of war"}),
    );
    let id = told["execution"]["id"].as_str().unwrap();
    let shown = other.get(&format!("/api/agents/execution/{id}"));
    assert_eq!(shown["execution"]["status"], "completed");
    workspace.ok("agents update toby-technical --status paused");
    for server in [&one, &other] {
        let routed = server.post("/api/route", &json!({"message": "history of war"}));
        assert_eq!(routed["route"]["agent"], "finalize");
    }
    other.post("/api/tasks/create", &json!({"title": "a"}));
    assert_eq!(workspace.ask("list")["result"]["total"], 1);
}

#[test]
fn events_of_one_server_are_sent_by_another() {
    let workspace = TestWorkspace::new();
    let (one, other) = (
        Served::start(&workspace, &[]),
        Served::start(&workspace, &[]),
    );
    let mut stream = TcpStream::connect(&one.address).unwrap();
    let head = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\n\r\n", one.address);
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.find(|line| line.contains("event: hello")).unwrap();
    other.post("/api/agents/execute", &json!({"input": "history of war"}));
    let delegation = lines
        .find(|line| line.contains("agent-delegation"))
        .unwrap();
    assert!(delegation.contains("toby-technical"));
    workspace.ok("add 'Write it down'");
    let task = lines.find(|line| line.starts_with("event: task"));
    assert!(task.is_some());
}

#[test]
fn malformed_requests_are_refused_and_harm_no_others() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &["--max-body", "1000"]);
    let host = &server.address;
    for bytes in [
        b"\r\n\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: a\rb\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "y".repeat(200_000)).into_bytes(),
        format!("POST /api/agents/execute HTTP/1.1\r\nhost: {host}\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!").into_bytes(),
        format!("POST /api/agents/execute HTTP/1.1\r\nhost: {host}\r\ncontent-length: 99999999999\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n").into_bytes(),
    ] {
        let answer = server.raw(&bytes);
        assert!(!answer.contains(" 200 "), "{answer}");
        assert!(!answer.contains(" 500 "), "{answer}");
    }
    assert_eq!(server.get("/health")["status"], "ok");
    assert_eq!(server.get("/api/agents/execute")["total"], 0);
}

#[test]
fn body_announced_as_too_large_is_refused_at_once() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &["--max-body", "1000"]);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /api/agents/execute HTTP/1.1\r\nhost: {}\r\ncontent-length: 1073741824\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&[b'x'; 1 << 20]).unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 413 Payload Too Large\r\n");
    stream.write_all(&[b'x'; 1 << 20]).unwrap();
}

#[test]
fn refusal_leaves_connection_usable() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &[]);
    let host = &server.address;
    for size in [2, 70_000, 900_000] {
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("POST /api/nope HTTP/1.1\r\nhost: {host}\r\ncontent-length: {size}");
        stream
            .write_all(format!("{head}\r\n\r\n").as_bytes())
            .unwrap();
        stream.write_all(&vec![b'x'; size]).unwrap();
        let next = format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(next.as_bytes()).unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        assert!(told.starts_with("HTTP/1.1 404 "), "{size}: {told}");
        assert!(told.contains("HTTP/1.1 200 OK"), "{size}: {told}");
    }
}

#[test]
fn head_of_a_request_has_at_most_64_kb() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &[]);
    let head = |length: usize| {
        let line = "GET /health HTTP/1.1";
        let head = format!(
            "{line}\r\nhost: {}\r\nconnection: close\r\nx: ",
            server.address
        );
        let rest = "y".repeat(length - head.len() - "\r\n\r\n".len());
        server.raw(format!("{head}{rest}\r\n\r\n").as_bytes())
    };
    let told = head(60_000);
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    for length in [(64 << 10) + 1, 70_000, 100_000] {
        let told = head(length);
        // A connection that the server ends early may be gone before its reply is read.
        let is_refused = told.starts_with("HTTP/1.1 431 ") || told.is_empty();
        assert!(is_refused, "{length}: {told}");
    }
}

#[test]
fn token_is_shown_once() {
    let workspace = TestWorkspace::new();
    let mut server = Served::start(&workspace, &["--host", "0.0.0.0"]);
    server.address = server.address.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(
        server.get("/api/agents/sync")["error"]["code"],
        "E_UNAUTHORIZED"
    );
    let made = workspace.ask("serve token create --user ann --scope read");
    let secret = made["result"]["secret"].as_str().unwrap();
    let listed = workspace.ask("serve token list");
    assert_eq!(listed["result"]["total"], 1);
    assert!(!listed.to_string().contains(secret));
    let asked = |path: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {secret}\r\nconnection: close\r\n\r\n",
            server.address
        );
        body(&server.raw(head.as_bytes()))
    };
    assert_eq!(asked("/api/session")["session"]["user"], "ann");
    // Tokens that others may have put there are not accepted.
    let home = workspace.root().with_file_name("home");
    let files = walkdir::WalkDir::new(home).into_iter().map(Result::unwrap);
    let mut files = files.filter(|file| file.file_type().is_file());
    let file = files.find(|file| file.path().to_string_lossy().contains("server-tokens"));
    let file = file.unwrap().into_path();
    let set_mode = |mode| std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    set_mode(0o644);
    assert_eq!(asked("/api/session")["error"]["code"], "E_UNAUTHORIZED");
    workspace.fails("serve token list", "E_FILE_UNREADABLE");
    set_mode(0o600);
    assert_eq!(asked("/api/session")["session"]["user"], "ann");
    let id = made["result"]["token"]["id"].as_str().unwrap();
    workspace.ok(&format!("serve token revoke {id}"));
    assert_eq!(asked("/api/session")["error"]["code"], "E_UNAUTHORIZED");
    workspace.expect_refusal(&["serve", "token", "revoke", id], "E_TOKEN_NOT_FOUND");
}

#[test]
fn unmatchable_host_or_origin_is_refused_at_start() {
    let workspace = TestWorkspace::new();
    for (option, value) in [
        ("--allow-origin", "app.example.org"),
        ("--allow-origin", "https://app.example.org/x"),
        ("--allow-origin", "*"),
        ("--allow-host", "http://proxy.example.org"),
        ("--allow-host", "proxy.example.org/"),
        ("--allow-host", "*"),
    ] {
        // This address is unused, so that what is not refused is not served either.
        let words = ["serve", "--host", "192.0.2.1", option, value];
        let error = workspace.expect_refusal(&words, "E_USAGE");
        says(&error, "such as");
        assert_eq!(error["alternatives"][0]["command"], "cleo serve --help");
    }
}

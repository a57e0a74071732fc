//! Workers behind an address and workers that are programs: the same handshake, and what is said
//! when one fails.

use std::path::Path;
use std::time::Duration;

use crate::agent::{Agent, Kind};
use crate::worker::response::Status;
use crate::worker::{self, Context, Fault, Reach, Request, WorkerReply};
use serde_json::json;

use super::server::{Answer, Server, nobody};

const WELL: &str = r#"{"request_id":"ID","agent_name":"w","status":"success","output":{"result":"R1","confidence":0.9},"error":null}"#;

fn behind(url: &str) -> Agent {
    Agent {
        endpoint: Some(format!("{url}/run")),
        timeout_ms: 60_000,
        ..Agent::new("summarizer", Kind::Http, "document_summarizer_agent")
    }
}

fn program(command: &[&str]) -> Agent {
    Agent {
        command: command.iter().map(|word| word.to_string()).collect(),
        timeout_ms: 60_000,
        ..Agent::new("summarizer", Kind::Cli, "document_summarizer_agent")
    }
}

fn request(agent: &Agent, text: &str) -> Request {
    let context = Context {
        user_id: None,
        conversation_id: Some("C7".to_string()),
        timestamp: "2026-01-26T09:00:00.000Z".to_string(),
        run: None,
    };
    let id = "6f1c0d2e-0000-4000-8000-000000000001".to_string();
    Request::new(id, agent, "summary.create", text, context)
}

fn call_in(folder: &Path, agent: &Agent, text: &str) -> WorkerReply {
    let reach = Reach {
        folder: folder.to_path_buf(),
        public_only: false,
    };
    worker::call(agent, &request(agent, text), &reach).unwrap()
}

fn call(agent: &Agent, text: &str) -> WorkerReply {
    call_in(Path::new("/"), agent, text)
}

/// Asks a worker that must fail, and returns the fault.
#[track_caller]
fn fails(agent: &Agent, kind: &str) -> Fault {
    let reply = call(agent, "x");
    assert_eq!((reply.status, &reply.output), (Status::Error, &None));
    let fault = reply.error.unwrap();
    assert_eq!(fault.kind, kind, "{fault:?}");
    fault
}

#[test]
fn worker_behind_address_is_asked_with_handshake() {
    let server = Server::start(&[Answer::Worker(WELL.to_string())]);
    let reply = call(&behind(&server.url), "Summarize X");
    assert_eq!(
        serde_json::to_value(reply).unwrap(),
        json!({"request_id": "6f1c0d2e-0000-4000-8000-000000000001", "agent_name": "document_summarizer_agent",
            "status": "success", "output": {"result": "R1", "confidence": 0.9}, "error": null})
    );
    let asked = server.read_requests().remove(0);
    assert_eq!(asked.line, "POST /run");
    assert!(
        asked.headers.contains("content-type: application/json"),
        "{}",
        asked.headers
    );
    assert_eq!(
        asked.body,
        json!({"request_id": "6f1c0d2e-0000-4000-8000-000000000001", "agent_name": "document_summarizer_agent",
            "intent": "summary.create", "input": {"text": "Summarize X", "metadata": {"language": "en", "extra": {}}},
            "context": {"user_id": null, "conversation_id": "C7", "timestamp": "2026-01-26T09:00:00.000Z"}})
    );
}

#[test]
fn ids_of_requests_are_random_uuids() {
    let ids: Vec<String> = (0..100).map(|_| worker::request_id().unwrap()).collect();
    let distinct: std::collections::HashSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), 100);
    let is_uuid = |id: &String| id.len() == 36 && id.as_bytes()[14] == b'4';
    assert!(ids.iter().all(is_uuid), "{ids:?}");
}

#[test]
fn only_200_is_answer() {
    for status in [201, 204, 301, 400, 404, 500, 503] {
        let server = Server::start(&[Answer::Whole(status, "", WELL.to_string())]);
        let agent = behind(&server.url);
        let fault = fails(&agent, "http_error");
        assert_eq!(
            fault.message,
            format!("HTTP {status} calling {}/run", server.url)
        );
        assert_eq!(server.read_requests().len(), 1, "a worker is asked once");
    }
}

#[test]
fn worker_that_is_not_there_is_fault_of_network() {
    fails(&behind(&format!("http://{}", nobody())), "network_error");
    for answer in [
        Answer::Close,
        Answer::Garbage,
        Answer::Cut(WELL.to_string()),
    ] {
        fails(&behind(&Server::start(&[answer]).url), "network_error");
    }
}

#[test]
fn answer_that_breaks_rules_is_none() {
    let both = r#"{"request_id":"ID","status":"success","output":{"result":"R"},"error":{"type":"t","message":"m"}}"#;
    let other = r#"{"request_id":"other","status":"success","output":{"result":"R"},"error":null}"#;
    for body in ["hello", "", "{}", both, other] {
        let server = Server::start(&[Answer::Worker(body.to_string())]);
        fails(&behind(&server.url), "invalid_response");
    }
    let fault = fails(
        &behind(&Server::start(&[Answer::Endless]).url),
        "invalid_response",
    );
    assert!(fault.message.contains("larger than"), "{fault:?}");
}

#[test]
fn what_worker_says_of_own_failure_passes_through() {
    let body = r#"{"request_id":"ID","status":"error","output":null,"error":{"type":"quota","message":"none left"}}"#;
    let server = Server::start(&[Answer::Worker(body.to_string())]);
    assert_eq!(fails(&behind(&server.url), "quota").message, "none left");
}

#[test]
fn one_that_fails_does_not_hinder_another() {
    let bad = Server::start(&[Answer::Whole(500, "", String::new())]);
    let good = Server::start(&[Answer::Worker(WELL.to_string())]);
    let (bad, good) = (behind(&bad.url), behind(&good.url));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..20)
            .map(|at| {
                scope.spawn({
                    let agent = if at % 2 == 0 { &bad } else { &good };
                    move || (at, call(agent, "x"))
                })
            })
            .collect();
        for call in calls {
            let (at, reply) = call.join().unwrap();
            let expected = if at % 2 == 0 {
                Status::Error
            } else {
                Status::Success
            };
            assert_eq!(reply.status, expected, "{reply:?}");
        }
    });
}

#[test]
fn unusable_agent_is_not_set_up() {
    fails(&Agent::new("a", Kind::Persistent, "A"), "config_error");
    fails(&Agent::new("a", Kind::Http, "A"), "config_error");
    fails(&program(&[]), "config_error");
    fails(&program(&["no-such-program-at-all"]), "config_error");
}

/// A program that keeps the request in a file and answers well.
fn answering() -> Agent {
    let script = r#"cat > asked.json
        id=$(sed 's/.*"request_id":"\([^"]*\)".*/\1/' asked.json)
        printf '{"request_id":"%s","status":"success","output":{"result":"R1"},"error":null}' "$id""#;
    program(&["sh", "-c", script])
}

#[test]
fn worker_program_gets_stdin_and_stdout_without_shell() {
    let folder = tempfile::tempdir().unwrap();
    let text = "quotes \" ' and $(touch hacked) `touch hacked`\nand a line; \\ ü";
    let reply = call_in(folder.path(), &answering(), text);
    assert_eq!(reply.output.unwrap().text(), "R1");
    let asked = std::fs::read(folder.path().join("asked.json")).unwrap();
    let asked: serde_json::Value = serde_json::from_slice(&asked).unwrap();
    assert_eq!(asked["input"]["text"], text);
    assert_eq!(asked["intent"], "summary.create");
    assert!(!folder.path().join("hacked").exists());
    let literal = fails(
        &program(&["sh", "-c", "echo \"$1\" >&2; exit 1", "sh", "$(id)"]),
        "cli_error",
    );
    assert!(literal.message.ends_with(": $(id)"), "{literal:?}");
}

#[test]
fn long_request_to_non_reading_program_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x".repeat(1 << 20);
    let reply = call_in(folder.path(), &answering(), &text);
    assert_eq!(reply.status, Status::Success);
    let deaf = program(&["sh", "-c", "echo no JSON"]);
    let fault = call(&deaf, &text).error.unwrap();
    assert_eq!(fault.kind, "invalid_response");
}

#[test]
fn program_that_fails_says_why() {
    let fault = fails(&program(&["false"]), "cli_error");
    assert_eq!(fault.message, "`false` ended with exit code 1");
    let loud = program(&[
        "sh",
        "-c",
        "echo out; seq 1 50 >&2; echo the reason >&2; exit 7",
    ]);
    let fault = fails(&loud, "cli_error");
    assert_eq!(
        fault.message,
        "`sh` ended with exit code 7: 47\n48\n49\n50\nthe reason"
    );
    fails(&program(&["sh", "-c", "kill -9 $$"]), "cli_error");
    fails(&program(&["sh", "-c", "yes"]).into_short(), "timeout");
    let fault = fails(
        &program(&["sh", "-c", "yes | head -c 9000000"]),
        "invalid_response",
    );
    assert!(fault.message.contains("more than"), "{fault:?}");
}

trait Short {
    fn into_short(self) -> Agent;
}

impl Short for Agent {
    fn into_short(self) -> Agent {
        Agent {
            timeout_ms: 200,
            ..self
        }
    }
}

#[test]
fn what_program_leaves_running_does_not_hold_up_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    // The last one has nothing by which it could be found.
    for left in ["sleep 300", "setsid sleep 300", "env -i setsid sleep 30"] {
        let answer = WELL.replace("ID", "6f1c0d2e-0000-4000-8000-000000000001");
        let script = format!("{left} & echo $! > child; echo '{answer}'");
        let begun = std::time::Instant::now();
        let reply = call_in(folder.path(), &program(&["sh", "-c", &script]), "x");
        assert_eq!(reply.status, Status::Success, "{left}: {reply:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{left}");
        let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
        let is_hidden = left.starts_with("env");
        if cfg!(target_os = "linux") && !is_hidden {
            assert!(goes(child.trim()), "{left}");
        }
    }
}

#[test]
fn program_that_sleeps_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 300 & echo $! > child; echo $$ > own; sleep 300";
    let agent = Agent {
        timeout_ms: 1_000,
        ..program(&["sh", "-c", script])
    };
    let reply = call_in(folder.path(), &agent, "x");
    assert_eq!(reply.error.unwrap().kind, "timeout");
    for name in ["child", "own"] {
        let pid = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(goes(pid.trim()), "{name} {pid}");
    }
}

/// Waits a while for a process that was told to go.
fn goes(pid: &str) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        is_gone(pid)
    })
}

/// Returns whether a process is gone: not there, or dead and not yet collected by its new parent.
fn is_gone(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_err() || status.is_ok_and(|status| status.contains(") Z "))
}

#[test]
fn program_sees_little_of_env() {
    let fault = fails(&program(&["sh", "-c", "env >&2; exit 1"]), "cli_error");
    let seen = program(&[
        "sh",
        "-c",
        "env | grep -c -v -E '^(CLEO_MARK|PATH|HOME|USER|LOGNAME|LANG|LC_ALL|LC_CTYPE|TMPDIR|TZ|PWD|SHLVL|OLDPWD|_)=' >&2; exit 1",
    ]);
    let others = fails(&seen, "cli_error");
    assert!(others.message.ends_with(": 0"), "{others:?} {fault:?}");
}

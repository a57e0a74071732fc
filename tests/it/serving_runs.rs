//! Runs that are begun over HTTP: they are processes of their own and outlive the server.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;
use crate::world::TestWorkspace;

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");
/// Longest that anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A workspace whose agents do nothing before the file `go` is there.
fn waiting() -> TestWorkspace {
    let script =
        format!("while [ ! -e \"$CLEO_ROOT/go\" ]; do sleep 0.05; done\nexec sh '{AGENT}' works\n");
    let workspace = TestWorkspace::planned().with("wait.sh", script);
    let command = format!("sh {}", workspace.path("wait.sh").display());
    workspace
        .env("CLEO_RUNNERS_COMMAND", &command)
        .env("CLEO_RUNNERS_DEFAULT", "command")
}

/// Waits until a run is no longer under way, and returns it.
fn ended(workspace: &TestWorkspace, run: &str) -> Value {
    let begun = Instant::now();
    loop {
        let shown = workspace.json(&["runs", "show", run]);
        let shown = shown["result"]["run"].clone();
        if shown["status"] != "running" || begun.elapsed() > PATIENCE {
            return shown;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until tasks are worked on, and returns how many.
fn running(server: &Served) -> u64 {
    let begun = Instant::now();
    loop {
        let (_, graph) = server.call("GET", "/api/work/graph?epic=T1", &json!({}));
        let running = graph["counts"]["running"].as_u64().unwrap();
        if running > 0 || begun.elapsed() > PATIENCE {
            return running;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_goes_on_when_its_server_is_killed() {
    let workspace = waiting();
    let mut server = Served::start(&workspace, &[]);
    let (status, told) = server.call("POST", "/api/runs", &json!({"epic": "T1", "jobs": 2}));
    assert_eq!(status, 202, "{told}");
    assert_eq!(told["command"], "cleo run --epic=T1 --jobs=2");
    let run = told["run"]["id"].as_str().unwrap().to_string();
    let (_, shown) = server.call("GET", &format!("/api/runs/{run}"), &json!({}));
    assert_eq!(
        (&shown["run"]["status"], &shown["options"]["jobs"]),
        (&json!("running"), &json!(2))
    );
    assert_eq!(running(&server), 1);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    workspace.write("go", "");
    assert_eq!(ended(&workspace, &run)["status"], "completed");
    let other = Served::start(&workspace, &[]);
    let (_, graph) = other.call("GET", "/api/work/graph?epic=T1", &json!({}));
    assert_eq!(graph["counts"]["verified"], 4);
}

#[test]
fn a_run_is_given_up_and_gone_on_with_over_http() {
    let workspace = waiting();
    let server = Served::start(&workspace, &[]);
    let (status, told) = server.call("POST", "/api/runs", &json!({"tasks": ["T2"]}));
    assert_eq!(status, 202, "{told}");
    let run = told["run"]["id"].as_str().unwrap().to_string();
    let (status, told) = server.call("POST", &format!("/api/runs/{run}/cancel"), &json!({}));
    assert_eq!((status, &told["run"]["status"]), (202, &json!("cancelled")));
    workspace.write("go", "");
    let (status, told) = server.call("POST", &format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!((status, &told["run"]["id"]), (202, &json!(run)), "{told}");
    assert_eq!(ended(&workspace, &run)["status"], "completed");
    let (status, told) = server.call("POST", &format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(
        (status, &told["error"]["code"]),
        (409, &json!("E_STATUS_REFUSED"))
    );
}

#[test]
fn what_is_given_up_has_not_failed_and_nothing_is_missed_before_its_agent_has_ended() {
    let workspace = waiting();
    let server = Served::start(&workspace, &[]);
    let (_, told) = server.call("POST", "/api/runs", &json!({"tasks": ["T2"]}));
    let run = told["run"]["id"].as_str().unwrap().to_string();
    assert_eq!(running(&server), 1);
    let proof = format!("/api/runs/{run}/proof?task=T2");
    let (_, proof) = server.call("GET", &proof, &json!({}));
    let found = proof["found"].as_array().unwrap();
    let is_open = found.iter().all(|one| one["ok"].is_null());
    assert!(!found.is_empty() && is_open, "{proof}");
    server.call("POST", &format!("/api/runs/{run}/cancel"), &json!({}));
    let begun = Instant::now();
    let shown = loop {
        let (_, shown) = server.call("GET", &format!("/api/runs/{run}"), &json!({}));
        if shown["run"]["steps"]["cancelled"] == 1 || begun.elapsed() > PATIENCE {
            break shown;
        }
        thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(shown["tasks"][0]["state"], "cancelled", "{shown}");
    assert_eq!(shown["run"]["steps"]["failed"], 0);
    assert_eq!(shown["reported"]["failed"], 0);
    assert_eq!(shown["run"]["error"], Value::Null);
    let (_, graph) = server.call("GET", "/api/work/graph?epic=T1", &json!({}));
    assert_eq!(
        graph["counts"]["failed"].as_u64().unwrap_or(0),
        0,
        "{graph}"
    );
}

#[test]
fn what_a_run_refuses_is_refused_over_http_and_a_rehearsal_does_nothing() {
    let workspace = waiting();
    let server = Served::start(&workspace, &[]);
    for (wish, status, code) in [
        (json!({"tasks": ["T99"]}), 404, "E_TASK_NOT_FOUND"),
        (json!({}), 400, "E_USAGE"),
        (json!({"tasks": ["T2"], "epic": "T1"}), 400, "E_USAGE"),
        (
            json!({"tasks": ["T2"], "runner": "nobody"}),
            400,
            "E_INPUT_INVALID",
        ),
        (json!({"tasks": ["T2"], "jobs": 0}), 400, "E_USAGE"),
    ] {
        let (told, error) = server.call("POST", "/api/runs", &wish);
        assert_eq!(
            (told, error["error"]["code"].as_str()),
            (status, Some(code)),
            "{wish} {error}"
        );
    }
    let wish = json!({"epic": "T1", "dryRun": true});
    let (status, told) = server.call("POST", "/api/runs", &wish);
    assert_eq!((status, told["total"].as_u64()), (200, Some(5)), "{told}");
    let (_, runs) = server.call("GET", "/api/runs", &json!({}));
    assert_eq!(runs["total"], 0);
}

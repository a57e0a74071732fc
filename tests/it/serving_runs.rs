//! Runs that are begun over HTTP: they are processes of their own and outlive the server.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;
use crate::world::{TestWorkspace, assert_fields};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");
/// A worker of a plan: `worker.sh NAME TEXT [waits]` says TEXT; the one that waits does so until the file `go`
/// is there, or its run is to end.
const WORKER: &str = r#"
request=$(cat)
echo asked >> "$1.log"
run=$(cleo runs list --jq '.result.runs[0].id' --format json | tr -d '"')
until [ -z "$3" ] || [ -e go ] || cleo runs show "$run" --json | grep -q run.cancel; do sleep 0.05; done
id=$(printf '%s' "$request" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"request_id":"%s","status":"success","output":{"result":"%s"},"error":null}' "$id" "$2"
"#;
/// Longest that anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A workspace whose agents do nothing before the file `go` is there.
fn waiting() -> TestWorkspace {
    playing("await go")
}

/// A workspace whose agents play a script, in which `await NAME` waits for a file, and then work.
fn playing(script: &str) -> TestWorkspace {
    let wait = "await() { while [ ! -e \"$CLEO_ROOT/$1\" ]; do sleep 0.05; done; }";
    let script = format!("{wait}\n{script}\nexec sh '{AGENT}' works\n");
    let workspace = TestWorkspace::with_plan().with("play.sh", script);
    let command = format!("sh {}", workspace.path("play.sh").display());
    workspace
        .env("CLEO_RUNNERS_COMMAND", &command)
        .env("CLEO_RUNNERS_DEFAULT", "command")
}

/// A workspace with a planner and a summarizer.
fn planning() -> TestWorkspace {
    let workspace = TestWorkspace::new().with("worker.sh", WORKER);
    let agent = |capability: &str, says: &[&str]| {
        let mut command = vec!["sh", "worker.sh", capability];
        command.extend(says);
        json!({"id": format!("the-{capability}"), "name": capability, "type": "cli",
            "capability": capability, "command": command, "timeoutMs": 60_000})
    };
    let agents = json!([
        agent("planner", &["planned", "waits"]),
        agent("summarizer", &["well [done]"])
    ]);
    let reply = workspace.json_with(&["agents", "import", "-"], &agents.to_string());
    assert_eq!(reply["success"], true, "{reply:#}");
    workspace.ok("trust --yes");
    workspace
}

/// Waits until a run has ended, and returns it.
fn wait_for_end(workspace: &TestWorkspace, run: &str) -> Value {
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

/// Waits until an agent has written so many lines, and returns them as their numbers, times, channels and
/// texts.
fn wait_for_lines(server: &Served, run: &str, count: usize) -> Vec<(u64, u64, String)> {
    let begun = Instant::now();
    loop {
        let (_, log) = server.call("GET", &format!("/api/runs/{run}/log?task=T2"), &json!({}));
        let lines = log["lines"].as_array().unwrap().iter();
        let lines = lines.filter(|line| line["ch"] != "event").map(|line| {
            let (ch, text) = (line["ch"].as_str().unwrap(), line["text"].as_str().unwrap());
            let (n, ms) = (line["n"].as_u64().unwrap(), line["ms"].as_u64());
            (
                n,
                ms.unwrap_or_else(|| panic!("{line}")),
                format!("{ch} {text}"),
            )
        });
        let lines: Vec<_> = lines.collect();
        if lines.len() >= count || begun.elapsed() > PATIENCE {
            return lines;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn agent_output_is_streamed_in_order_with_times() {
    let script =
        "echo one; await a; echo two >&2; await b; printf thr; echo four >&2; await c; echo ee";
    let workspace = playing(script);
    let server = Served::start(&workspace, &[]);
    let (status, told) = server.call("POST", "/api/runs", &json!({"tasks": ["T2"]}));
    assert_eq!(status, 202, "{told}");
    let run = told["run"]["id"].as_str().unwrap().to_string();
    let texts = ["out one", "err two", "err four", "out three"];
    for (count, then) in [(1, "a"), (2, "b"), (3, "c")] {
        let lines = wait_for_lines(&server, &run, count);
        let told: Vec<&str> = lines.iter().map(|line| line.2.as_str()).collect();
        assert_eq!(told, texts[..count]);
        workspace.write(then, "");
    }
    assert_eq!(wait_for_end(&workspace, &run)["status"], "completed");
    let lines = wait_for_lines(&server, &run, 5);
    let told: Vec<&str> = lines.iter().map(|line| line.2.as_str()).collect();
    assert_eq!(told[..4], texts);
    assert!(told[4].starts_with("out Task complete."), "{told:?}");
    assert!(lines.is_sorted_by(|one, next| one.0 + 1 == next.0 && one.1 <= next.1));
    // Each of these was waited for.
    assert!(lines[0].1 < lines[1].1 && lines[1].1 < lines[2].1 && lines[2].1 < lines[3].1);
}

#[test]
fn run_continues_when_its_server_is_killed() {
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
    assert_eq!(wait_for_end(&workspace, &run)["status"], "completed");
    let other = Served::start(&workspace, &[]);
    let (_, graph) = other.call("GET", "/api/work/graph?epic=T1", &json!({}));
    assert_eq!(graph["counts"]["verified"], 4);
}

#[test]
fn run_is_cancelled_and_resumed_over_http() {
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
    assert_eq!(wait_for_end(&workspace, &run)["status"], "completed");
    let (status, told) = server.call("POST", &format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(
        (status, &told["error"]["code"]),
        (409, &json!("E_STATUS_REFUSED"))
    );
}

#[test]
fn cancelled_run_counts_no_failures() {
    let workspace = waiting();
    let server = Served::start(&workspace, &[]);
    let (_, told) = server.call("POST", "/api/runs", &json!({"tasks": ["T2"]}));
    let run = told["run"]["id"].as_str().unwrap().to_string();
    assert_eq!(running(&server), 1);
    let path = format!("/api/runs/{run}/proof?task=T2");
    let begun = Instant::now();
    // The claim shows before the attempt is recorded.
    let proof = loop {
        let (status, proof) = server.call("GET", &path, &json!({}));
        if status == 200 || begun.elapsed() > PATIENCE {
            break proof;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let found = proof["found"]
        .as_array()
        .unwrap_or_else(|| panic!("{proof}"));
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
    assert_eq!(shown["run"]["fault"], Value::Null);
    let (_, graph) = server.call("GET", "/api/work/graph?epic=T1", &json!({}));
    assert_eq!(
        graph["counts"]["failed"].as_u64().unwrap_or(0),
        0,
        "{graph}"
    );
}

#[test]
fn runs_are_refused_alike_over_http() {
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

#[test]
fn plan_is_run_cancelled_and_resumed_over_http() {
    let workspace = planning();
    let server = Served::start(&workspace, &[]);
    let text = "goal: Reach it\nsteps:\n- {id: a, agent: the-planner, instruction: Plan}\n\
                - {id: b, agent: the-summarizer, instruction: Report, dependsOn: [a]}\n";
    let wish = json!({"text": text, "jobs": 2});
    let (status, told) = server.call("POST", "/api/plans/run", &wish);
    assert_eq!(status, 202, "{told}");
    assert_eq!(told["command"], "cleo plan run --jobs=2 -");
    let run = told["run"]["id"].as_str().unwrap().to_string();
    let post = |verb: &str| server.call("POST", &format!("/api/runs/{run}/{verb}"), &json!({}));
    let (status, told) = post("cancel");
    assert_eq!(status, 202, "{told}");
    assert_eq!(wait_for_end(&workspace, &run)["status"], "cancelled");
    workspace.write("go", "");
    let (status, told) = post("resume");
    assert_eq!((status, &told["run"]["id"]), (202, &json!(run)), "{told}");
    let shown = wait_for_end(&workspace, &run);
    assert_fields(
        &shown,
        json!({"kind": "plan", "status": "completed", "output": "[a] planned\n\n[b] well [done]"}),
    );
    assert_eq!(workspace.read("planner.log").lines().count(), 1);
}

#[test]
fn goal_is_planned_and_reached_over_http() {
    let workspace = planning().with("go", "");
    let server = Served::start(&workspace, &[]);
    // A file of that name is not a plan.
    workspace.write("plan and summarize", "");
    let wish = json!({"goal": "plan and summarize", "maxLoops": 2, "refine": "last-step"});
    let (status, told) = server.call("POST", "/api/plans/run", &wish);
    assert_eq!(status, 202, "{told}");
    assert_eq!(
        told["command"],
        "cleo plan --json -- 'plan and summarize' | cleo plan run --max-loops=2 --refine=last-step -"
    );
    let run = told["run"]["id"].as_str().unwrap().to_string();
    let shown = wait_for_end(&workspace, &run);
    assert_fields(
        &shown,
        json!({"status": "completed", "input": "plan and summarize", "user": "tester"}),
    );
    let wish = json!({"goal": "plan and summarize", "jobs": 0});
    let (status, told) = server.call("POST", "/api/plans/run", &wish);
    assert_eq!(
        (status, &told["error"]["code"]),
        (400, &json!("E_USAGE")),
        "{told}"
    );
    let (_, runs) = server.call("GET", "/api/runs", &json!({}));
    assert_eq!(runs["total"], 1);
}

#[test]
fn commands_of_calls_do_not_see_server_env() {
    let workspace = TestWorkspace::new();
    let shows = "update T1 --acceptance 'It holds :: sh -c \"env >seen\"'";
    workspace.ok("add One");
    workspace.ok(shows);
    let names = ["CLEO_RUN_ID", "CLEO_TASK_ID", "CLEO_SESSION"];
    let values = ["exec_1", "T77", "S9"];
    let given = names.into_iter().zip(values);
    let workspace = given.fold(workspace, |all, (name, value)| all.env(name, value));
    let server = Served::start(&workspace, &[]);
    let (status, told) = server.call("POST", "/api/work/tasks/T1/renew", &json!({}));
    assert_eq!(
        (status, &told["ran"][0]["outcome"]),
        (200, &json!("passed")),
        "{told}"
    );
    let seen = workspace.read("seen");
    for name in names {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
}

#[test]
fn cancelled_failed_run_keeps_its_time_and_error() {
    let workspace = playing("exit 1");
    workspace.text("run T2 --repair 0", "");
    let failed = workspace.ask("runs list")["result"]["runs"][0].clone();
    assert_eq!(failed["status"], "failed", "{failed}");
    let (id, cause) = (
        failed["id"].as_str().unwrap(),
        failed["error"].as_str().unwrap(),
    );
    let server = Served::start(&workspace, &[]);
    let (_, before) = server.call("GET", &format!("/api/runs/{id}"), &json!({}));
    let (status, told) = server.call("POST", &format!("/api/runs/{id}/cancel"), &json!({}));
    assert_eq!((status, &told["run"]["status"]), (202, &json!("cancelled")));
    let given_up = workspace.json(&["runs", "show", id])["result"]["run"].clone();
    let expected = json!({"status": "cancelled", "error": format!("it was cancelled; before: {cause}"),
        "completedAt": failed["completedAt"], "executionTimeMs": failed["executionTimeMs"]});
    let fields = ["status", "error", "completedAt", "executionTimeMs"];
    let shown: Value = fields
        .map(|name| (name, given_up[name].clone()))
        .into_iter()
        .collect();
    assert_eq!(shown, expected);
    for name in ["completedAt", "durationMs", "fault"] {
        assert_eq!(told["run"][name], before["run"][name], "{name}");
    }
}

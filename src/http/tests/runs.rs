use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{JSON, World};
use crate::run::log::{LINES_MAX, Stream, write};
use crate::run::{Run, RunKind, RunStatus};
use crate::store::Store;

/// Puts a run into the store, as if a process had carried it out.
pub(super) fn ran(world: &World, id: &str, user: &str, status: RunStatus) {
    let mut context = world.server.lend_context().unwrap();
    let mut transaction = context.store.write_records().unwrap();
    let mut run = Run::new(
        id.to_string(),
        RunKind::Tasks,
        "cleo",
        format!("secret of {user}"),
    );
    run.user = user.to_string();
    run.status = status;
    run.started_at = "2026-11-22T09:00:00.000Z".to_string();
    run.completed_at = Some("2026-11-22T09:01:00.000Z".to_string());
    transaction.put_run(&run).unwrap();
    let task = json!({"taskId": "T1", "title": format!("task of {user}")});
    let events = [
        (
            "run.started",
            json!({"tasks": [task], "options": {"jobs": 2}}),
        ),
        (
            "task.started",
            json!({"taskId": "T1", "attempt": 1, "runner": "codex"}),
        ),
        ("agent.started", json!({"taskId": "T1", "attempt": 1})),
        (
            "agent.ended",
            json!({"taskId": "T1", "attempt": 1, "outcome": "ok", "exitCode": 0, "message": format!("word of {user}")}),
        ),
        (
            "task.verification_failed",
            json!({"taskId": "T1", "attempt": 1, "outcome": "protocol_violation", "violations": ["no entry"]}),
        ),
        (
            "task.failed",
            json!({"taskId": "T1", "reason": "no entry", "outcome": "protocol_violation"}),
        ),
    ];
    for (second, (kind, detail)) in events.into_iter().enumerate() {
        let at = format!("2026-11-22T09:00:0{second}.000Z");
        let detail = detail.as_object().unwrap();
        transaction
            .add_event(id, &at, kind, detail.clone())
            .unwrap();
    }
    transaction.commit().unwrap();
    let folder = world.folder.path().join(".cleo/runs").join(id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("T1-1.log"),
        write(Stream::Out, &format!("output of {user}\nsecond line\n")),
    )
    .unwrap();
    std::fs::write(folder.join("T1-1.prompt.md"), format!("prompt of {user}")).unwrap();
}

fn with_task() -> World {
    let world = World::new();
    world.walk(r#"POST /api/work/tasks {"title": "One"} -> 201"#);
    world
}

#[test]
fn run_is_listed_and_shown_with_its_log() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    world.walk(
        r##"
        GET /api/runs?kind=tasks&status=failed&q=secret -> 200 {"total": 1, "runs": [{"fault": {"message": "no entry"}, "bar": ["failed"]}]}
        GET /api/runs/exec_1_a -> 200 {"run": {"limit": 2, "durationMs": 60000}, "tasks": {"0": {"history": {"0": {"state": "failed"}}}}}
        GET /api/runs/exec_1_a/events?limit=2 -> 200 {"events": "#2", "next": "$next"}
        GET /api/runs/exec_1_a/events?since=$next -> 200 {"events": "#4", "next": null}
        GET /api/runs/exec_1_a/log?task=T1&attempt=1&q=second -> 200 {"lines": "~\"output of ann\"", "matches": "#1"}
        GET /api/runs/exec_1_a/log?task=T1&attempt=1&q=second -> 200 {"lines": "~\"second line\""}
        GET /api/runs/exec_1_a/tasks/T1/attempts/1/prompt -> 200 {"text": "prompt of ann"}
        GET /api/runs/exec_1_a/proof?task=T1 -> 200 {"said": {"message": "word of ann"}, "verdict": "Refused: no entry"}
        GET /api/work/tasks/T1 -> 200 {"state": "failed", "refused": {"reason": "no entry"}}
        "##,
    );
    let report = world.get("/api/runs/exec_1_a/report");
    assert_eq!(report.status.as_u16(), 200);
    assert!(report.text().starts_with("<!doctype html>"));
    assert!(report.header("content-security-policy").contains("sandbox"));
    assert!(
        report
            .header("content-disposition")
            .starts_with("attachment")
    );
}

#[test]
fn present_names_workers_needs_and_deliveries() {
    let world = with_task();
    world.walk(
        r#"
        POST /api/work/tasks {"title": "Two"} -> 201
        POST /api/work/tasks {"title": "Three"} -> 201
        POST /api/work/tasks/T2/complete -> 200
        POST /api/work/tasks/T3/start -> 200
        "#,
    );
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    world.walk(
        r##"
        GET /api/work/now -> 200 {"atWork": [{"task": "T3", "run": null, "verifying": false}], "needsYouTotal": 1, "deliveredTotal": 1}
        GET /api/work/now -> 200 {"needsYou": [{"kind": "failed", "task": "T1", "run": "exec_1_a", "attempt": 1, "why": "no entry"}]}
        GET /api/work/now -> 200 {"delivered": [{"task": "T2", "verified": false, "run": null}]}
        GET /api/work/now?since=2999-01-01 -> 200 {"delivered": "#0", "deliveredTotal": 0}
        GET /api/work/now?since=soon -> 400 {"error": {"code": "E_INPUT_INVALID"}}
        GET /api/status -> 200 {"status": {"counts": {"atWork": 1}}}
        GET /api/runs/exec_1_a/tasks/T1/attempts/1/diff -> 200 {"place": "workspace", "base": null, "files": "#0", "total": 0}
        GET /api/runs/exec_1_a/tasks/T1/attempts/2/diff -> 404
        "##,
    );
    let task = world.get("/api/work/tasks/T1").with(200);
    let stale = world.ask(
        "PATCH",
        "/api/work/tasks/T1",
        &[
            ("content-type", "application/json"),
            ("if-match", "\"2020-01-01T00:00:00.000Z\""),
        ],
        r#"{"title": "Late"}"#,
    );
    assert_eq!(stale.with(409)["error"]["code"], "E_TASK_CHANGED");
    let tag = format!("\"{}\"", task["task"]["updatedAt"].as_str().unwrap());
    let timely = world.ask(
        "PATCH",
        "/api/work/tasks/T1",
        &[("content-type", "application/json"), ("if-match", &tag)],
        r#"{"title": "Timely"}"#,
    );
    timely.with(200);
    for (method, path, body) in [
        ("PUT", "/api/tasks/T1", r#"{"status": "doing"}"#),
        ("DELETE", "/api/work/tasks/T1", ""),
        ("POST", "/api/work/tasks/T1/start", "{}"),
        ("POST", "/api/work/tasks/T1/claim", "{}"),
        ("POST", "/api/work/tasks/T1/cancel", "{}"),
        ("POST", "/api/work/tasks/T1/complete", "{}"),
        ("POST", "/api/work/tasks/T2/reopen", "{}"),
    ] {
        let stale = [JSON, ("if-match", "\"2020-01-01T00:00:00.000Z\"")];
        let told = world.ask(method, path, &stale, body).with(409);
        assert!(
            told.to_string().contains("E_TASK_CHANGED"),
            "{path}: {told}"
        );
    }
    let task = world.get("/api/work/tasks/T1").with(200);
    let tag = format!("\"{}\"", task["task"]["updatedAt"].as_str().unwrap());
    let moved = r#"{"status": "doing", "title": "Moved"}"#;
    let timely = [JSON, ("if-match", tag.as_str())];
    world.ask("PUT", "/api/tasks/T1", &timely, moved).with(200);
}

#[test]
fn diff_shows_what_an_agent_committed() {
    let world = World::new();
    world.walk(r#"POST /api/work/tasks {"title": "One", "files": ["src/**"]} -> 201"#);
    let folder = world.folder.path();
    let git = |line: &str| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t.example"];
        let mut command = Command::new("git");
        command.args(identity).args(line.split(' '));
        let done = command
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let done = done.output().unwrap();
        assert!(done.status.success(), "git {line}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_string()
    };
    git("init -q");
    git("commit -q --allow-empty -m begin");
    let commit = git("rev-parse HEAD");
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    {
        let mut context = world.server.lend_context().unwrap();
        let mut transaction = context.store.write_records().unwrap();
        let detail = json!({"taskId": "T1", "attempt": 2, "commit": commit});
        let detail = detail.as_object().unwrap().clone();
        let at = "2026-11-22T09:00:07.000Z";
        transaction
            .add_event("exec_1_a", at, "task.started", detail)
            .unwrap();
        transaction.commit().unwrap();
    }
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/a.rs"), "one\n").unwrap();
    fs::write(folder.join("other.rs"), "two\n").unwrap();
    git("add src other.rs");
    git("commit -q -m work");
    world.walk(&format!(
        r#"GET /api/runs/exec_1_a/tasks/T1/attempts/2/diff -> 200 {{"place": "workspace", "base": "{commit}", "files": [{{"path": "src/a.rs", "added": 1}}], "total": 1, "outside": ["other.rs"]}}"#
    ));
}

/// Returns the lines of a log as its channels, times and texts; of events the kind alone.
fn list_lines(log: &Value) -> Vec<String> {
    let lines = log["lines"].as_array().unwrap().iter().enumerate();
    let told = lines.map(|(n, line)| {
        assert_eq!(line["n"], n);
        let (ch, text) = (line["ch"].as_str().unwrap(), line["text"].as_str().unwrap());
        let text = match ch {
            "event" => text.split(' ').next().unwrap_or_default(),
            _ => text,
        };
        format!("{} {ch} {text}", line["ms"])
    });
    told.collect()
}

#[test]
fn log_is_between_events_of_its_agent() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    let place = world.folder.path().join(".cleo/runs/exec_1_a/T1-1.log");
    let begun = 1_795_338_000_000_i64;
    let entries = [
        ("out", "one", 0),
        ("err", "two", 2_500),
        ("out", "three", 9_000),
    ];
    let line = |(stream, text, ms): &(&str, &str, i64)| {
        json!({"ms": begun + ms, "stream": stream, "text": text}).to_string() + "\n"
    };
    let lines: String = entries.iter().map(line).collect();
    std::fs::write(place, format!("{lines}damaged\n{{\"ms\":1,\"str")).unwrap();
    let log = world.get("/api/runs/exec_1_a/log?task=T1").with(200);
    let told = list_lines(&log);
    assert_eq!(
        told[..7],
        [
            "1000 event task.started",
            "2000 event agent.started",
            "0 out one",
            "2500 err two",
            "9000 out three",
            "null out damaged",
            "3000 event agent.ended",
        ]
    );
    assert_eq!((&log["total"], told.len()), (&json!(9), 9));
}

#[test]
fn very_long_log_says_that_there_is_more() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    let place = world.folder.path().join(".cleo/runs/exec_1_a/T1-1.log");
    std::fs::write(place, "\n".repeat(LINES_MAX + 1)).unwrap();
    let log = world
        .get("/api/runs/exec_1_a/log?task=T1&from=-4&limit=1")
        .with(200);
    // Two lines are before all that the agent wrote, and three behind it.
    assert_eq!(log["total"], LINES_MAX + 6);
    let (n, text) = (&log["lines"][0]["n"], &log["lines"][0]["text"]);
    assert_eq!(n, LINES_MAX + 2);
    let fix = "`cleo runs logs exec_1_a --task T1 --raw` shows the end";
    assert!(text.as_str().unwrap().contains(fix), "{text}");
}

#[test]
fn finished_runs_and_invalid_requests_are_refused() {
    let world = with_task();
    world.walk(
        r#"
        POST /api/runs {"runner": "a\nb", "allReady": true} -> 400
        POST /api/runs {"model": "", "tasks": ["T1"]} -> 400
        POST /api/runs {"command": "sh"} -> 400
        POST /api/runs {"tasks": ["x"]} -> 400
        ann POST /api/runs {"allReady": true} -> 403
        GET /api/runs -> 200 {"total": 0}
        "#,
    );
    ran(&world, "exec_1_a", "ann", RunStatus::Completed);
    world.walk(
        r#"
        POST /api/runs/exec_1_a/cancel {} -> 409 E_STATUS_REFUSED
        POST /api/runs/nope/cancel {} -> 404
        POST /api/runs/nope/resume {} -> 404
        POST /api/runs/exec_1_a/resume {"dryRun": true} -> 400 {"error": {"message": "~`dryRun`; no fields are taken here"}}
        GET /api/runs?sort=color -> 400
        "#,
    );
}

#[test]
fn execution_says_who_cancelled_it() {
    let world = with_task();
    {
        let mut context = world.server.lend_context().unwrap();
        let mut transaction = context.store.write_records().unwrap();
        for (id, kind) in [
            ("exec_1_a", RunKind::Execution),
            ("exec_2_b", RunKind::Tasks),
        ] {
            let mut run = Run::new(id.to_string(), kind, "cleo", "Explain it".to_string());
            run.status = RunStatus::Cancelled;
            run.started_at = "2026-11-22T09:00:00.000Z".to_string();
            run.error = Some("cancelled by ann".to_string());
            transaction.put_run(&run).unwrap();
        }
        transaction.commit().unwrap();
    }
    let error = |id: &str| world.get(&format!("/api/runs/{id}")).with(200)["run"]["fault"].clone();
    assert_eq!(error("exec_1_a")["message"], "cancelled by ann");
    assert_eq!(error("exec_2_b"), Value::Null);
}

#[test]
fn runs_of_users_are_kept_apart() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    ran(&world, "exec_2_b", "bob", RunStatus::Interrupted);
    for end in [
        "",
        "/events",
        "/log?task=T1",
        "/proof?task=T1",
        "/report",
        "/tasks/T1/attempts/1/prompt",
    ] {
        world.walk(&format!(
            "ann GET /api/runs/exec_1_a{end} -> 200
            root/admin GET /api/runs/exec_1_a{end} -> 200
            bob GET /api/runs/exec_1_a{end} -> 404 lacks of ann"
        ));
    }
    for (own, other) in [("ann", "bob"), ("bob", "ann")] {
        world.walk(&format!(
            r#"{own} GET /api/runs -> 200 {{"total": 1}} lacks of {other}
            {own} GET /api/runs?q=secret -> 200 lacks of {other}
            {own} GET /api/search?q=secret -> 200 lacks of {other}
            {own} GET /api/search?q= -> 200 lacks of {other}"#
        ));
    }
    world.walk(
        r#"
        ann POST /api/runs/exec_2_b/cancel {} -> 404
        ann POST /api/runs/exec_2_b/resume {} -> 403
        root/admin GET /api/runs -> 200 {"total": 2, "summary": {"needsYou": 1}}
        GET /api/runs -> 200 {"total": 2}
        # Tasks are everybody's; words of agents in a run of somebody else are not.
        bob GET /api/work/tasks/T1 -> 200 lacks word of ann
        "#,
    );
}

#[test]
fn runs_are_sorted() {
    let world = with_task();
    for (id, status, ms, cost) in [
        ("exec_1_a", RunStatus::Failed, Some(30), None),
        ("exec_2_b", RunStatus::Completed, Some(10), Some(0.5)),
        ("exec_3_c", RunStatus::Running, None, Some(0.25)),
    ] {
        ran(&world, id, "ann", status);
        let mut context = world.server.lend_context().unwrap();
        let mut transaction = context.store.write_records().unwrap();
        let mut run = transaction.run(id).unwrap().unwrap();
        run.started_at = format!("2026-11-22T09:00:0{}.000Z", &id[5..6]);
        (run.execution_time_ms, run.cost) = (ms, cost);
        // A run without a process would be marked as interrupted.
        run.status = if status == RunStatus::Running {
            RunStatus::Cancelled
        } else {
            status
        };
        transaction.put_run(&run).unwrap();
        transaction.commit().unwrap();
    }
    for (query, expected) in [
        ("", "3 2 1"),
        ("?sort=started", "3 2 1"),
        ("?sort=started&dir=asc", "1 2 3"),
        ("?sort=duration", "1 2 3"),
        ("?sort=duration&dir=asc", "2 1 3"),
        ("?sort=cost", "2 3 1"),
        ("?sort=cost&dir=asc", "3 2 1"),
        ("?sort=status&dir=asc", "3 2 1"),
        ("?sort=duration&limit=1&offset=1", "2"),
    ] {
        let rows = world.get(&format!("/api/runs{query}")).with(200);
        let runs = rows["runs"].as_array().unwrap().iter();
        let order: Vec<&str> = runs.map(|run| &run["id"].as_str().unwrap()[5..6]).collect();
        assert_eq!(
            (order.join(" ").as_str(), &rows["total"]),
            (expected, &json!(3)),
            "{query}"
        );
    }
}

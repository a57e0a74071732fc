use serde_json::{Value, json};

use super::World;
use crate::ops::tokens::Scope;
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
            "task.lacking",
            json!({"taskId": "T1", "attempt": 1, "outcome": "protocol_violation", "missing": ["no entry"]}),
        ),
        (
            "task.failed",
            json!({"taskId": "T1", "reason": "no entry", "outcome": "protocol_violation"}),
        ),
    ];
    for (second, (kind, detail)) in events.into_iter().enumerate() {
        let at = format!("2026-11-22T09:00:0{second}.000Z");
        let detail = detail.as_object().unwrap();
        transaction.add_event(id, &at, kind, detail).unwrap();
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
    world
        .post("/api/work/tasks", json!({"title": "One"}))
        .with(201);
    world
}

#[test]
fn a_run_is_listed_shown_and_read_line_by_line() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    let rows = world
        .get("/api/runs?kind=tasks&status=failed&q=secret")
        .with(200);
    assert_eq!(
        (&rows["total"], &rows["runs"][0]["fault"]["message"]),
        (&json!(1), &json!("no entry"))
    );
    assert_eq!(rows["runs"][0]["bar"], json!(["failed"]));
    let run = world.get("/api/runs/exec_1_a").with(200);
    assert_eq!(
        (&run["run"]["limit"], &run["run"]["durationMs"]),
        (&json!(2), &json!(60_000))
    );
    assert_eq!(run["tasks"][0]["history"][0]["state"], "failed");
    let events = world.get("/api/runs/exec_1_a/events?limit=2").with(200);
    assert_eq!(events["events"].as_array().unwrap().len(), 2);
    let next = events["next"].as_u64().unwrap();
    let rest = world
        .get(&format!("/api/runs/exec_1_a/events?since={next}"))
        .with(200);
    assert_eq!(
        (rest["events"].as_array().unwrap().len(), &rest["next"]),
        (4, &Value::Null)
    );
    let log = world
        .get("/api/runs/exec_1_a/log?task=T1&attempt=1&q=second")
        .with(200);
    let texts: Vec<_> = log["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert!(
        texts.contains(&"output of ann") && texts.contains(&"second line"),
        "{texts:?}"
    );
    assert_eq!(log["matches"].as_array().unwrap().len(), 1);
    let prompt = world
        .get("/api/runs/exec_1_a/tasks/T1/attempts/1/prompt")
        .with(200);
    assert_eq!(prompt["text"], "prompt of ann");
    let proof = world.get("/api/runs/exec_1_a/proof?task=T1").with(200);
    assert_eq!(
        (&proof["said"]["message"], &proof["verdict"]),
        (&json!("word of ann"), &json!("Refused: no entry"))
    );
    let page = world.get("/api/work/tasks/T1").with(200);
    assert_eq!(
        (&page["state"], &page["refused"]["reason"]),
        (&json!("failed"), &json!("no entry"))
    );
}

/// Returns the lines of a log as its channels, times and texts; of events the kind alone.
fn told(log: &Value) -> Vec<String> {
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
fn a_log_is_told_between_the_events_of_its_agent() {
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
    let told = told(&log);
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
fn a_very_long_log_says_that_there_is_more() {
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
fn a_report_can_be_looked_at_and_does_nothing() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    let told = world.get("/api/runs/exec_1_a/report");
    assert_eq!(told.status.as_u16(), 200);
    assert!(told.text().starts_with("<!doctype html>"));
    assert!(told.header("content-security-policy").contains("sandbox"));
    assert!(told.header("content-disposition").starts_with("attachment"));
}

#[test]
fn a_run_that_is_over_cannot_be_given_up() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Completed);
    let told = world.post("/api/runs/exec_1_a/cancel", json!({})).with(409);
    assert_eq!(told["error"]["code"], "E_STATUS_REFUSED");
    world.post("/api/runs/nope/cancel", json!({})).with(404);
    world.post("/api/runs/nope/resume", json!({})).with(404);
    let told = world.post("/api/runs/exec_1_a/resume", json!({"dryRun": true}));
    let told = told.with(400)["error"]["message"].clone();
    let told = told.as_str().unwrap();
    assert!(
        told.contains("`dryRun`; no fields are taken here"),
        "{told}"
    );
}

#[test]
fn who_cancelled_an_execution_is_told() {
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
fn what_is_no_wish_is_refused_before_anything_begins() {
    let world = with_task();
    for body in [
        json!({"runner": "a\nb", "allReady": true}),
        json!({"model": "", "tasks": ["T1"]}),
        json!({"command": "sh"}),
        json!({"tasks": ["x"]}),
    ] {
        world.post("/api/runs", body).with(400);
    }
    assert_eq!(world.get("/api/runs").with(200)["total"], 0);
}

/// Everything that is bound to a user, asked for by another one.
#[test]
fn users_are_kept_apart() {
    let world = with_task();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    ran(&world, "exec_2_b", "bob", RunStatus::Interrupted);
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let root = world.token("root", Scope::Admin);
    let ends = [
        "",
        "/events",
        "/log?task=T1",
        "/proof?task=T1",
        "/report",
        "/tasks/T1/attempts/1/prompt",
    ];
    for end in ends {
        let path = format!("/api/runs/exec_1_a{end}");
        let get = |token: &str| world.by(token, "GET", &path, json!({}));
        assert_eq!(get(&ann).status.as_u16(), 200, "{path}");
        assert_eq!(get(&root).status.as_u16(), 200, "{path}");
        let told = get(&bob);
        assert_eq!(told.status.as_u16(), 404, "{path}");
        assert!(!told.text().contains("of ann"), "{}", told.text());
    }
    let cancel = "/api/runs/exec_2_b/cancel";
    world.by(&ann, "POST", cancel, json!({})).with(404);
    world
        .by(&ann, "POST", "/api/runs/exec_2_b/resume", json!({}))
        .with(403);
    for (token, own, other) in [(&ann, "ann", "of bob"), (&bob, "bob", "of ann")] {
        for path in [
            "/api/runs",
            "/api/runs?q=secret",
            "/api/search?q=secret",
            "/api/search?q=",
        ] {
            let told = world.by(token, "GET", path, json!({}));
            assert!(
                !told.text().contains(other),
                "{own} {path}: {}",
                told.text()
            );
            told.with(200);
        }
        let rows = world.by(token, "GET", "/api/runs", json!({})).with(200);
        assert_eq!(rows["total"], 1, "{own}");
    }
    let all = world.by(&root, "GET", "/api/runs", json!({})).with(200);
    assert_eq!(
        (&all["total"], &all["summary"]["needsYou"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(world.get("/api/runs").with(200)["total"], 2);
    // Tasks are everybody's; what agents said in a run of somebody else is not.
    let page = world.by(&bob, "GET", "/api/work/tasks/T1", json!({}));
    assert!(!page.text().contains("word of ann"), "{}", page.text());
}

#[test]
fn runs_are_sorted_by_what_is_asked_for() {
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
        // What nobody carries out would be ended by the next who looks.
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
    world.get("/api/runs?sort=color").with(400);
}

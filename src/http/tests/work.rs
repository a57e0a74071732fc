use axum::body::Body;
use serde_json::{Value, json};

use super::{ME, World};
use crate::ops::tokens::Scope;

/// Adds a task and returns its id.
fn add(world: &World, task: Value) -> String {
    let told = world.post("/api/work/tasks", task).with(201);
    told["task"]["id"].as_str().unwrap().to_string()
}

/// A world with an epic: T2, then T3 and T5, and T4 after T3.
fn planned() -> World {
    let world = World::new();
    add(
        &world,
        json!({"title": "Release the thing", "type": "epic"}),
    );
    add(&world, json!({"title": "Research it", "parent": "T1"}));
    add(
        &world,
        json!({"title": "Implement it", "parent": "T1", "depends": ["T2"], "priority": "high"}),
    );
    add(
        &world,
        json!({"title": "Test it", "parent": "T1", "depends": ["T3"]}),
    );
    add(
        &world,
        json!({"title": "Document it", "parent": "T1", "depends": ["T2"], "labels": ["docs"]}),
    );
    world
}

fn code(told: &Value) -> &str {
    told["error"]["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn a_task_is_added_shown_changed_and_deleted() {
    let world = World::new();
    let told = world
        .post("/api/work/tasks", json!({"title": "First", "key": "k"}))
        .with(201);
    assert_eq!(
        (&told["task"]["id"], &told["created"]),
        (&json!("T1"), &json!(true))
    );
    let again = world
        .post("/api/work/tasks", json!({"title": "First", "key": "k"}))
        .with(200);
    assert_eq!(
        (&again["created"], &again["operation"]),
        (&json!(false), &Value::Null)
    );
    let change =
        json!({"title": "Better", "addLabels": ["a"], "notes": ["so it is"], "clear": ["key"]});
    let told = world.call("PATCH", "/api/work/tasks/T1", change).with(200);
    assert_eq!(
        (&told["task"]["title"], &told["task"]["labels"]),
        (&json!("Better"), &json!(["a"]))
    );
    assert_eq!(told["task"]["notes"][0]["by"], ME);
    let undo = json!({"operation": told["operation"]});
    world.post("/api/work/undo", undo).with(200);
    let shown = world.get("/api/work/tasks/T1").with(200);
    assert_eq!(
        (&shown["task"]["title"], &shown["task"]["key"]),
        (&json!("First"), &json!("k"))
    );
    let told = world
        .call("DELETE", "/api/work/tasks/T1", json!({}))
        .with(200);
    assert_eq!(told["deleted"], json!(["T1"]));
    assert_eq!(
        code(&world.get("/api/work/tasks/T1").with(404)),
        "E_TASK_NOT_FOUND"
    );
}

#[test]
fn tasks_are_listed_by_what_they_are_and_page_by_page() {
    let world = planned();
    let ids = |query: &str| {
        let told = world.get(&format!("/api/work/tasks?{query}")).with(200);
        let tasks = told["tasks"].as_array().unwrap().iter();
        let ids: Vec<_> = tasks
            .map(|task| task["id"].as_str().unwrap().to_string())
            .collect();
        (ids.join(" "), told["total"].as_u64().unwrap())
    };
    assert_eq!(ids("limit=2&offset=1"), ("T2 T3".into(), 5));
    assert_eq!(ids("priority=high"), ("T3".into(), 1));
    assert_eq!(ids("label=docs&status=pending,active"), ("T5".into(), 1));
    assert_eq!(ids("type=epic"), ("T1".into(), 1));
    assert_eq!(ids("q=document"), ("T5".into(), 1));
    for query in [
        "limit=0",
        "limit=501",
        "status=nope",
        "parent=x",
        "unknown=1",
        "limit=-1",
    ] {
        world.get(&format!("/api/work/tasks?{query}")).with(400);
    }
    world.get("/api/work/tasks?parent=T99").with(404);
}

#[test]
fn the_graph_is_drawn_and_not_again_while_nothing_changes() {
    let world = planned();
    let told = world.get("/api/work/graph?epic=T1");
    let graph = told.with(200);
    assert_eq!(
        (&graph["counts"]["total"], &graph["counts"]["ready"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(graph["criticalPath"]["tasks"], json!(["T2", "T3", "T4"]));
    assert_eq!(graph["lanes"].as_array().unwrap().len(), 3);
    let known = |path: &str| {
        let request = world
            .request("GET", path)
            .header("if-none-match", told.header("etag"));
        world.send(request.body(Body::empty()).unwrap())
    };
    let same = known("/api/work/graph?epic=T1");
    assert_eq!((same.status.as_u16(), same.bytes.len()), (304, 0));
    known("/api/work/graph?epic=T1&only=ready").with(200);
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let after = known("/api/work/graph?epic=T1").with(200);
    assert_eq!(after["counts"]["running"], 1);
    assert_eq!(
        world.get("/api/work/graph?only=ready").with(200)["nodes"],
        json!([])
    );
    world.get("/api/work/graph?epic=T99").with(404);
    world.get("/api/work/graph?only=odd").with(400);
}

#[test]
fn rows_say_how_many_stand_where() {
    let world = planned();
    let told = world
        .get("/api/work/rows?epic=T1&state=waiting&sort=id&dir=desc&limit=2")
        .with(200);
    let ids: Vec<_> = told["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].clone())
        .collect();
    assert_eq!(
        (ids, &told["total"]),
        (vec![json!("T5"), json!("T4")], &json!(3))
    );
    assert_eq!(
        (&told["counts"]["ready"], &told["counts"]["done"]),
        (&json!(1), &json!(0))
    );
    world.get("/api/work/rows?sort=odd").with(400);
}

#[test]
fn a_claim_is_held_by_whoever_says_so_and_lost_when_it_is_over() {
    let world = planned();
    let claimed = world
        .post("/api/work/tasks/T2/claim", json!({"agent": "coder-1"}))
        .with(200);
    assert_eq!(
        (&claimed["claim"]["holder"], &claimed["claim"]["epoch"]),
        (&json!("coder-1"), &json!(1))
    );
    let other = world
        .post("/api/work/tasks/T2/claim", json!({"agent": "coder-2"}))
        .with(409);
    assert_eq!(code(&other), "E_CLAIMED");
    let beat = json!({"epoch": 1, "lease": 60});
    world.post("/api/work/tasks/T2/heartbeat", beat).with(200);
    let lost = world
        .post("/api/work/tasks/T2/complete", json!({"epoch": 7}))
        .with(409);
    assert_eq!(code(&lost), "E_CLAIM_LOST");
    world
        .post("/api/work/tasks/T2/release", json!({"epoch": 1}))
        .with(200);
    let next = world
        .post("/api/work/claim", json!({"epic": "T1"}))
        .with(200);
    assert_eq!(next["task"]["id"], "T2");
    assert_eq!(
        code(&world.post("/api/work/claim", json!({})).with(409)),
        "E_NOTHING_READY"
    );
    world
        .post("/api/work/tasks/T2/heartbeat", json!({"lease": 0}))
        .with(400);
    world
        .post("/api/work/tasks/T2/claim", json!({"agent": "a\nb"}))
        .with(400);
}

#[test]
fn work_goes_from_start_to_done_and_frees_what_waits() {
    let world = planned();
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let done = world
        .raw("POST", "/api/work/tasks/T2/complete", "")
        .with(200);
    assert_eq!(
        (&done["changed"], &done["unblocked"]),
        (&json!(true), &json!(["T3", "T5"]))
    );
    let again = world
        .post("/api/work/tasks/T2/complete", json!({}))
        .with(200);
    assert_eq!(
        (&again["changed"], &again["operation"]),
        (&json!(false), &Value::Null)
    );
    world.post("/api/work/tasks/T2/reopen", json!({})).with(200);
    let told = world
        .post("/api/work/tasks/T3/cancel", json!({"reason": "no longer"}))
        .with(200);
    assert!(told["warnings"][0].as_str().unwrap().contains("T4"));
    let log = world.get("/api/work/log?task=T3&limit=1").with(200);
    assert_eq!(log["operations"][0]["command"], "cancel");
}

#[test]
fn the_engine_says_what_is_ready_what_is_next_and_in_which_waves() {
    let world = planned();
    assert_eq!(
        world.get("/api/work/ready").with(200)["tasks"][0]["id"],
        "T2"
    );
    assert_eq!(
        world.get("/api/work/next?epic=T1").with(200)["task"]["id"],
        "T2"
    );
    let waves = world.get("/api/work/waves?epic=T1&limit=1").with(200);
    assert_eq!(
        (&waves["total"], waves["waves"].as_array().unwrap().len()),
        (&json!(3), 1)
    );
    let analysis = world.get("/api/work/analysis?epic=T1").with(200);
    assert_eq!(analysis["criticalPath"]["total"], 3);
    let deps = world.get("/api/work/tasks/T3/deps").with(200);
    assert_eq!(
        (&deps["depends"][0]["id"], &deps["ready"]),
        (&json!("T2"), &json!(false))
    );
}

#[test]
fn a_prompt_can_be_looked_at_and_is_recorded_only_when_it_is_handed_out() {
    let world = planned();
    let dispatch = world.get("/api/work/tasks/T3/dispatch").with(200);
    assert_eq!(dispatch["skill"], "ct-task-executor");
    assert!(!dispatch["rejected"].as_array().unwrap().is_empty());
    let shown = world.get("/api/work/tasks/T2/prompt").with(200);
    assert_eq!(
        code(&world.get("/api/work/tasks/T2/why").with(404)),
        "E_RECEIPT_NOT_FOUND"
    );
    let spawned = world.post("/api/work/tasks/T2/spawn", json!({})).with(200);
    assert_eq!(shown["promptDigest"], spawned["promptDigest"]);
    assert_eq!(
        world.get("/api/work/tasks/T2/why").with(200)["reproduced"],
        true
    );
    let refused = world.post("/api/work/tasks/T2/verify", json!({})).with(422);
    assert_eq!(refused["result"]["verdict"], "fail");
    assert_eq!(code(&refused), "E_ENTRY_MISSING");
    let left = world.get("/api/work/tasks/T2/manifest").with(200);
    assert_eq!(
        (&left["verdict"], &left["entry"], &left["text"]),
        (&json!("fail"), &Value::Null, &Value::Null)
    );
    let refused = world
        .post("/api/work/tasks/T2/complete", json!({}))
        .with(422);
    assert_eq!(code(&refused), "E_NOT_VERIFIED");
    let page = world.get("/api/work/tasks/T2").with(200);
    assert_eq!(page["spawns"][0]["manifestId"], spawned["manifestId"]);
    world
        .get("/api/work/tasks/T2/prompt?template=nobody")
        .with(404);
}

#[test]
fn a_gate_is_what_its_command_says_and_only_admins_have_commands_run() {
    let world = planned();
    let path = |gate: &str| format!("/api/work/tasks/T2/gates/{gate}");
    let told = world
        .post(&path("implemented"), json!({"notes": ["seen"]}))
        .with(200);
    assert_eq!(told["gates"]["implemented"]["passed"], true);
    let told = world
        .post(&path("testsPassed"), json!({"run": ["false"]}))
        .with(200);
    assert_eq!(told["gates"]["testsPassed"]["passed"], false);
    let evidence = &told["gates"]["testsPassed"]["evidence"][0];
    assert_eq!(
        (&evidence["kind"], &evidence["exitCode"]),
        (&json!("command"), &json!(1))
    );
    let page = world.get("/api/work/tasks/T2").with(200);
    assert_eq!(
        (&page["state"], &page["gates"]["states"][1]),
        (&json!("failed"), &json!("failed"))
    );
    let token = world.token("ann", Scope::Write);
    let refused = world.by(
        &token,
        "POST",
        &path("testsPassed"),
        json!({"run": ["true"]}),
    );
    assert_eq!(code(&refused.with(403)), "E_FORBIDDEN");
    world
        .by(
            &token,
            "POST",
            &path("testsPassed"),
            json!({"notes": ["x"]}),
        )
        .with(200);
    assert_eq!(
        code(&world.post(&path("odd"), json!({})).with(400)),
        "E_GATE_UNKNOWN"
    );
    world
        .post(&path("qaPassed"), json!({"files": ["../../etc/passwd"]}))
        .with(400);
}

#[test]
fn whoever_has_a_token_acts_under_its_users_name() {
    let world = planned();
    let token = world.token("ann", Scope::Write);
    let told = world
        .by(
            &token,
            "POST",
            "/api/work/tasks/T2/claim",
            json!({"agent": "bob"}),
        )
        .with(200);
    assert_eq!(told["claim"]["holder"], "ann/bob");
    let reader = world.token("ann", Scope::Read);
    world
        .by(&reader, "POST", "/api/work/tasks/T2/start", json!({}))
        .with(403);
    world
        .by(&reader, "GET", "/api/work/tasks/T2", json!({}))
        .with(200);
    world
        .by(&token, "POST", "/api/runs", json!({"allReady": true}))
        .with(403);
}

#[test]
fn skills_and_entries_are_listed_and_shown() {
    let world = planned();
    let skills = world.get("/api/skills").with(200);
    assert!(skills["total"].as_u64().unwrap() >= 15);
    assert_eq!(
        world.get("/api/skills/ct-documentor").with(200)["skill"]["tier"],
        3
    );
    world.get("/api/skills/nobody").with(404);
    let entry = json!({"id": "e-1", "file": "e.md", "title": "E", "date": "2026-01-26", "status": "complete",
        "topics": ["x"], "key_findings": ["a", "b", "c"], "actionable": false, "needs_followup": [], "linked_tasks": ["T2"]});
    let told = world.post("/api/manifest", entry.clone()).with(201);
    assert_eq!(told["entry"]["linked_tasks"], json!(["T1", "T2"]));
    world.post("/api/manifest", entry).with(409);
    world.post("/api/manifest", json!({"id": "e-2"})).with(400);
    assert_eq!(world.get("/api/manifest?task=T2").with(200)["total"], 1);
    assert_eq!(world.get("/api/manifest/e-1").with(200)["line"], 1);
    world.get("/api/manifest/nope").with(404);
    world.get("/api/manifest?status=odd").with(400);
}

#[test]
fn words_find_tasks_and_agents() {
    let world = planned();
    let found = world.get("/api/search?q=%23T4").with(200);
    assert_eq!(
        (&found["items"][0]["kind"], &found["items"][0]["href"]),
        (&json!("task"), &json!("/work/T4"))
    );
    let agents = world.get("/api/search?q=ami&kinds=agent").with(200);
    assert_eq!(agents["items"][0]["id"], "ami-creative");
    world.get("/api/search?kinds=odd").with(400);
    assert_eq!(world.get("/api/doctor").with(200)["failed"], 0);
}

/// Every path with ids that are none, or lead elsewhere.
#[test]
fn ids_that_are_none_are_not_found_or_refused_and_never_a_failure() {
    let world = planned();
    let ids = [
        "T0",
        "T99",
        "x",
        "T-1",
        "T99999999999",
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "T1%0a",
        "'%20OR%201=1",
        "%f0%9f%92%a9",
    ];
    let under = [
        "",
        "/deps",
        "/dispatch",
        "/prompt",
        "/why",
        "/manifest",
        "/gates",
    ];
    for id in ids {
        for end in under {
            let told = world.get(&format!("/api/work/tasks/{id}{end}"));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}{end}: {}",
                told.text()
            );
            assert!(
                !told.text().contains("src/") && !told.text().contains("SELECT"),
                "{}",
                told.text()
            );
        }
        for verb in [
            "start",
            "complete",
            "reopen",
            "cancel",
            "claim",
            "heartbeat",
            "release",
            "spawn",
            "verify",
            "gates/implemented",
        ] {
            let told = world.post(&format!("/api/work/tasks/{id}/{verb}"), json!({}));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}/{verb}: {}",
                told.text()
            );
        }
        for end in [
            "",
            "/events",
            "/log",
            "/report",
            "/proof?task=T1",
            "/tasks/T1/attempts/1/prompt",
        ] {
            let told = world.get(&format!("/api/runs/{id}{end}"));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}{end}: {}",
                told.text()
            );
        }
    }
}

/// Bodies that are not what is read.
#[test]
fn what_is_no_body_is_refused_and_changes_nothing() {
    let world = planned();
    let before = world.get("/api/work/log").with(200)["total"].clone();
    let bodies = [
        "{",
        "[]",
        "7",
        "null",
        "\"x\"",
        "{\"title\":7}",
        "{\"title\":\"x\"} y",
        "\u{0}",
        "{\"nope\":1}",
        "{\"title\":\"\"}",
        "{\"force\":\"yes\"}",
    ];
    let paths = [
        ("POST", "/api/work/tasks"),
        ("PATCH", "/api/work/tasks/T2"),
        ("POST", "/api/work/tasks/T2/claim"),
        ("POST", "/api/work/tasks/T2/gates/implemented"),
        ("POST", "/api/work/undo"),
        ("POST", "/api/manifest"),
        ("POST", "/api/runs"),
    ];
    for (method, path) in paths {
        for body in bodies {
            let told = world.raw(method, path, body.to_string());
            assert_eq!(
                told.status.as_u16(),
                400,
                "{method} {path} {body:?}: {}",
                told.text()
            );
            assert!(told.json()["error"]["code"].is_string());
        }
    }
    let deep = "[".repeat(100_000);
    world.raw("POST", "/api/work/tasks", deep).with(400);
    let long = json!({"title": "x", "description": "y".repeat(2 << 20)}).to_string();
    assert_eq!(
        world.raw("POST", "/api/work/tasks", long).status.as_u16(),
        413
    );
    assert_eq!(world.get("/api/work/log").with(200)["total"], before);
}

/// Text that a page or a terminal could mistake for something else goes in and comes out as it is.
#[test]
fn text_of_strangers_stays_text() {
    let world = World::new();
    let evil = "<script>alert(1)</script>\"'&{{TASK_ID}} $(rm -rf /) %0d%0aSet-Cookie: a=b";
    let id = add(
        &world,
        json!({"title": evil, "description": evil, "labels": [evil]}),
    );
    let told = world.get(&format!("/api/work/tasks/{id}"));
    assert_eq!(told.with(200)["task"]["title"], evil);
    assert!(told.header("content-type").starts_with("application/json"));
    assert_eq!(told.header("x-content-type-options"), "nosniff");
    let found = world.get("/api/search?q=script").with(200);
    assert_eq!(found["items"][0]["title"], evil);
    let refused = world
        .post("/api/work/tasks", json!({"title": "a\u{1b}[31mb"}))
        .with(400);
    assert_eq!(code(&refused), "E_TEXT_CONTROL");
}

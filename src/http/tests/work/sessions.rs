use serde_json::{Value, json};

use super::{add, code, planned};
use crate::http::tests::World;
use crate::id::TaskId;
use crate::ops::Assignment;
use crate::session::SessionId;

/// A world in which somebody leads a session about the epic.
fn led() -> World {
    let world = planned();
    let new = json!({"agent": "lead", "scope": "T1", "name": "Release"});
    let told = world.post("/api/work/sessions", new).with(201);
    assert_eq!(
        (&told["session"]["id"], &told["session"]["holder"]),
        (&json!("S1"), &json!("lead"))
    );
    world
}

#[test]
fn a_session_is_started_ended_and_resumed() {
    let world = led();
    let shown = world.get("/api/work/sessions/S1").with(200);
    assert_eq!(shown["next"], "T2");
    let end = |body: Value| world.post("/api/work/sessions/S1/end", body);
    assert_eq!(code(&end(json!({})).with(409)), "E_SESSION_CLOSE_BLOCKED");
    let told = end(json!({"agent": "lead", "note": "T4 waits"})).with(200);
    assert_eq!(told["session"]["status"], "ended");
    assert_eq!(told["session"]["notes"][0]["text"], "T4 waits");
    let open = "/api/work/sessions?status=open";
    assert_eq!(world.get(open).with(200)["total"], 0);
    let again = world
        .raw("POST", "/api/work/sessions/S1/resume", "")
        .with(200);
    assert_eq!(again["session"]["holder"], crate::http::tests::ME);
    assert_eq!(world.get(open).with(200)["total"], 1);
}

#[test]
fn the_focus_is_that_of_whoever_leads_the_session() {
    let world = led();
    let set = |body: Value| world.call("PUT", "/api/work/focus", body);
    let told = set(json!({"agent": "lead", "task": "T2"})).with(200);
    assert_eq!(
        (&told["focus"]["id"], &told["session"]["focus"]),
        (&json!("T2"), &json!("T2"))
    );
    let told = world.get("/api/work/focus?session=S1").with(200);
    assert_eq!(told["focus"]["id"], "T2");
    let told = world.get("/api/work/focus?agent=lead").with(200);
    assert_eq!(told["session"]["id"], "S1");
    let nobody = world.get("/api/work/focus").with(409);
    assert_eq!(code(&nobody), "E_SESSION_REQUIRED");
    set(json!({"agent": "lead", "task": "T99"})).with(404);
    let told = set(json!({"agent": "lead"})).with(200);
    assert_eq!(told["focus"], Value::Null);
}

#[test]
fn sessions_that_are_none_or_in_the_way_are_refused() {
    let world = led();
    let start = |body: Value| world.post("/api/work/sessions", body);
    let same = start(json!({"agent": "other", "scope": "T2"})).with(409);
    assert_eq!(code(&same), "E_SCOPE_CONFLICT");
    let second = start(json!({"agent": "lead"})).with(409);
    assert_eq!(code(&second), "E_SESSION_EXISTS");
    start(json!({"odd": 1})).with(400);
    for (id, status) in [("S9", 404), ("T1", 400), ("%00", 400)] {
        world.get(&format!("/api/work/sessions/{id}")).with(status);
        for verb in ["end", "resume"] {
            let path = format!("/api/work/sessions/{id}/{verb}");
            world.post(&path, json!({})).with(status);
        }
    }
    let note = json!({"agent": "lead", "note": ""});
    world.post("/api/work/sessions/S1/end", note).with(400);
    world.get("/api/work/sessions?status=odd").with(400);
}

#[test]
fn environment_of_the_server_gives_callers_no_task() {
    let world = World::given(Assignment {
        run: Some("exec_1_a".to_string()),
        task: Some(TaskId(1)),
        epoch: Some(7),
        session: Some(SessionId(9)),
        ..Assignment::default()
    });
    add(&world, json!({"title": "One"}));
    for verb in ["claim", "start", "complete"] {
        let path = format!("/api/work/tasks/T1/{verb}");
        world.post(&path, json!({"agent": "ann"})).with(200);
    }
    world
        .post("/api/work/sessions", json!({"agent": "ann"}))
        .with(201);
    let told = world.get("/api/work/focus?agent=ann").with(200);
    assert_eq!(told["session"]["id"], "S1");
    let end = json!({"agent": "ann", "note": "half of it"});
    world.post("/api/work/sessions/S1/end", end).with(200);
}

fn with_phases() -> World {
    let world = planned();
    for (task, slug) in [("T2", "build"), ("T3", "ship")] {
        let path = format!("/api/work/tasks/{task}");
        let phase = json!({"phase": slug});
        world.call("PATCH", &path, phase).with(200);
    }
    world
}

#[test]
fn phases_go_from_named_to_completed() {
    let world = with_phases();
    let listed = world.get("/api/work/phases").with(200);
    assert_eq!(
        (&listed["total"], &listed["current"]),
        (&json!(2), &Value::Null)
    );
    let begun = world.raw("POST", "/api/work/phases/build/start", "");
    assert_eq!(begun.with(200)["phase"]["status"], "active");
    let path = "/api/work/phases/build/complete";
    let refused = world.post(path, json!({})).with(409);
    assert_eq!(code(&refused), "E_STATUS_REFUSED");
    let told = world.post(path, json!({"force": true})).with(200);
    assert_eq!(
        (&told["phase"]["status"], &told["changed"]),
        (&json!("completed"), &json!(true))
    );
    let told = world.post("/api/work/phases/ship/set", json!({"agent": "lead"}));
    assert_eq!(told.with(200)["phase"]["status"], "active");
    assert_eq!(world.get("/api/work/phases").with(200)["current"], "ship");
}

#[test]
fn unknown_phases_and_fields_are_refused() {
    let world = with_phases();
    let odd = json!({"odd": 1});
    world.post("/api/work/phases/build/set", odd).with(400);
    for name in ["nope", "%00", &"a".repeat(5_000)] {
        for verb in ["set", "start", "complete"] {
            let path = format!("/api/work/phases/{name}/{verb}");
            let refused = world.post(&path, json!({})).with(404);
            assert_eq!(code(&refused), "E_PHASE_NOT_FOUND");
        }
    }
}

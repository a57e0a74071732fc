use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;

fn with_phases() -> World {
    let world = planned();
    for slug in ["build", "ship"] {
        let told = world
            .post("/api/work/phases", json!({"slug": slug}))
            .with(201);
        assert_eq!(told["phase"]["slug"], slug);
    }
    let phase = json!({"phase": "build"});
    world.call("PATCH", "/api/work/tasks/T2", phase).with(200);
    world
}

#[test]
fn phases_go_from_added_to_completed() {
    let world = with_phases();
    let listed = world.get("/api/work/phases").with(200);
    assert_eq!(
        (&listed["total"], &listed["current"]),
        (&json!(2), &Value::Null)
    );
    let begun = world.raw("POST", "/api/work/phases/build/start", "");
    assert_eq!(begun.with(200)["phase"]["status"], "active");
    let shown = world.get("/api/work/phases/build").with(200);
    assert_eq!(shown["tasks"][0]["id"], "T2");
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
fn phases_that_are_none_or_there_already_are_refused() {
    let world = with_phases();
    let add = |body: Value| world.post("/api/work/phases", body);
    assert_eq!(code(&add(json!({"slug": "build"})).with(409)), "E_EXISTS");
    add(json!({"slug": "not a slug"})).with(400);
    add(json!({"slug": "x", "position": 0})).with(400);
    add(json!({"slug": "x", "odd": 1})).with(400);
    for name in ["nope", "%00", &"a".repeat(5_000)] {
        let told = world.get(&format!("/api/work/phases/{name}")).with(404);
        assert_eq!(code(&told), "E_PHASE_NOT_FOUND");
        for verb in ["set", "start", "complete"] {
            let path = format!("/api/work/phases/{name}/{verb}");
            world.post(&path, json!({})).with(404);
        }
    }
}

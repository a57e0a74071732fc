use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;

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

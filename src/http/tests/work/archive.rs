use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;

fn archived(world: &World) -> Value {
    world.get("/api/work/tasks?archived=only").with(200)["total"].clone()
}

#[test]
fn closed_tasks_are_put_away_taken_back_and_taken_out() {
    let world = planned();
    let done = |id: &str| {
        let told = world.post(&format!("/api/work/tasks/{id}/complete"), json!({}));
        told.with(200);
    };
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    done("T2");
    let wanted = json!({"tasks": ["T2"], "dryRun": true});
    let tried = world.post("/api/work/archive", wanted).with(200);
    assert_eq!(
        (&tried["tasks"], &tried["operation"]),
        (&json!(["T2"]), &Value::Null)
    );
    assert_eq!(archived(&world), 0);
    let wanted = json!({"tasks": ["T2"], "agent": "tidy"});
    let told = world.post("/api/work/archive", wanted).with(200);
    assert_eq!(
        (&told["total"], &told["dryRun"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(archived(&world), 1);
    let undo = json!({"operation": told["operation"]});
    world.post("/api/work/undo", undo).with(200);
    assert_eq!(archived(&world), 0);
    let wanted = json!({"doneBefore": "2999-01-01", "epic": "T1"});
    let told = world.post("/api/work/archive", wanted).with(200);
    assert_eq!(told["tasks"], json!(["T2"]));
    let wanted = json!({"tasks": ["T2"]});
    let told = world.post("/api/work/unarchive", wanted).with(200);
    assert_eq!(told["tasks"], json!(["T2"]));
    assert_eq!(archived(&world), 0);
}

#[test]
fn what_is_open_or_not_said_is_not_put_away() {
    let world = planned();
    let refused = |body: Value, status: u16| {
        let told = world.post("/api/work/archive", body).with(status);
        code(&told).to_string()
    };
    assert_eq!(refused(json!({"tasks": ["T2"]}), 409), "E_STATUS_REFUSED");
    assert_eq!(refused(json!({"tasks": ["T99"]}), 404), "E_TASK_NOT_FOUND");
    for body in [
        json!({}),
        json!({"doneBefore": "soon"}),
        json!({"epic": "T1", "tasks": ["T2"]}),
        json!({"tasks": ["T2"], "odd": 1}),
    ] {
        assert_eq!(refused(body, 400), "E_INPUT_INVALID");
    }
    world
        .post("/api/work/unarchive", json!({"tasks": ["T99"]}))
        .with(404);
    for body in [json!({}), json!({"tasks": []})] {
        world.post("/api/work/unarchive", body).with(400);
    }
}

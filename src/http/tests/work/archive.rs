use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;
use crate::ops::tokens::Scope;

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
    let wanted = json!({"olderThan": "2999-01-01", "epic": "T1"});
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
        json!({"olderThan": "soon"}),
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

#[test]
fn what_was_exported_can_be_imported_elsewhere_and_again() {
    let world = planned();
    let told = world.get("/api/work/export");
    assert_eq!(told.header("content-type"), "application/x-ndjson");
    let text = told.text();
    let other = World::new();
    let import = |body: Value| other.post("/api/work/import", body);
    let tried = import(json!({"text": text, "dryRun": true})).with(200);
    assert_eq!(
        (&tried["added"], &tried["dryRun"]),
        (&json!(5), &json!(true))
    );
    assert_eq!(other.get("/api/work/tasks").with(200)["total"], 0);
    assert_eq!(import(json!({"text": text})).with(200)["added"], 5);
    assert_eq!(import(json!({"text": text})).with(200)["unchanged"], 5);
}

#[test]
fn a_faulty_text_is_refused_with_its_faults_and_imports_nothing() {
    let world = World::new();
    let import = |body: Value| world.post("/api/work/import", body);
    let text = "{\"cleo\":\"tasks\",\"version\":1}\n{\"id\":\n";
    let told = import(json!({"text": text})).with(400);
    assert_eq!(
        (code(&told), &told["result"]["faults"]["total"]),
        ("E_IMPORT_INVALID", &json!(1))
    );
    for text in ["", "what is this"] {
        let told = import(json!({"text": text})).with(400);
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("the text"), "{message}");
    }
    import(json!({"text": text, "from": "odd"})).with(400);
    // What lies on the server's machine is not reached.
    import(json!({"text": "x", "from": "backlog"})).with(400);
    import(json!({"file": "/etc/passwd"})).with(400);
    assert_eq!(world.get("/api/work/tasks").with(200)["total"], 0);
}

#[test]
fn only_admins_export_and_import_tasks_with_agents() {
    let world = planned();
    let ann = world.token("ann", Scope::Write);
    let body = json!({"text": "{}"});
    for (method, path) in [("GET", "/api/work/export"), ("POST", "/api/work/import")] {
        let told = world.by(&ann, method, path, body.clone()).with(403);
        assert_eq!(code(&told), "E_FORBIDDEN");
    }
}

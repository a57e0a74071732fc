use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::{ME, World};

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

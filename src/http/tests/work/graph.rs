use axum::body::Body;
use serde_json::{Value, json};

use super::{code, planned};

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
    let tagged = |path: &str, tag: &str| {
        let request = world.request("GET", path).header("if-none-match", tag);
        world.send(request.body(Body::empty()).unwrap())
    };
    let known = |path: &str| tagged(path, told.header("etag"));
    for tag in [told.header("etag"), "*"] {
        let same = tagged("/api/work/graph?epic=T1", tag);
        assert_eq!((same.status.as_u16(), same.bytes.len()), (304, 0), "{tag}");
    }
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
fn graph_endpoints_tell_ready_next_and_waves() {
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
fn orchestrator_endpoints_tell_start_status_and_brief() {
    let world = planned();
    let start = world.get("/api/work/start?epic=T1").with(200);
    assert_eq!(start["ready"]["shown"][0]["id"], "T2");
    let status = world.get("/api/work/status").with(200);
    assert_eq!(status["percent"], 0);
    let brief = world.get("/api/work/brief?epic=T1").with(200);
    assert_eq!(brief["ready"]["total"], 1);
    for path in ["start", "status", "brief", "validate"] {
        let told = world.get(&format!("/api/work/{path}?epic=T99")).with(404);
        assert_eq!(code(&told), "E_TASK_NOT_FOUND");
        world.get(&format!("/api/work/{path}?odd=1")).with(400);
    }
}

#[test]
fn work_that_nobody_was_given_breaks_a_rule() {
    let world = planned();
    world.get("/api/work/validate").with(200);
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let done = world.post("/api/work/tasks/T2/complete", json!({}));
    done.with(200);
    let told = world.get("/api/work/validate").with(422);
    let rules = told["result"]["rules"].as_array().unwrap();
    let broken = rules.iter().find(|rule| rule["verdict"] == "fail").unwrap();
    assert_eq!(broken["tasks"], json!(["T2"]));
}

#[test]
fn what_was_read_is_counted_against_the_limit() {
    let world = planned();
    let count = |body: Value| world.post("/api/work/context", body);
    let start = world.raw("POST", "/api/work/context", "").with(200);
    assert_eq!(start["parts"].as_array().unwrap().len(), 1);
    let told = count(json!({"texts": ["four"], "tasks": ["T2"], "tokens": 1})).with(200);
    assert_eq!(told["parts"].as_array().unwrap().len(), 3);
    assert_eq!(told["parts"][0]["of"], "tokens");
    let told = count(json!({"tokens": 7_300})).with(200);
    assert_eq!(told["warnings"].as_array().unwrap().len(), 1);
    let told = count(json!({"tokens": 9_000})).with(422);
    assert_eq!(
        (code(&told), &told["result"]["state"]),
        ("E_CONTEXT_CRITICAL", &json!("critical"))
    );
    count(json!({"tasks": ["T99"]})).with(404);
    count(json!({"texts": vec!["x"; 101]})).with(400);
    count(json!({"file": "/etc/passwd"})).with(400);
}

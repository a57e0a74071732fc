use serde_json::json;

use super::plan_epic;

#[test]
fn graph_is_sent_again_when_it_changed() {
    let world = plan_epic();
    let told = world.get("/api/work/graph?epic=T1");
    let graph = told.with(200);
    assert_eq!(
        (&graph["counts"]["total"], &graph["counts"]["ready"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(graph["criticalPath"]["tasks"], json!(["T2", "T3", "T4"]));
    assert_eq!(graph["lanes"].as_array().unwrap().len(), 3);
    let tagged = |path: &str, tag: &str| world.ask("GET", path, &[("if-none-match", tag)], "");
    let known = |path: &str| tagged(path, told.header("etag"));
    for tag in [told.header("etag"), "*"] {
        let same = tagged("/api/work/graph?epic=T1", tag);
        assert_eq!((same.status.as_u16(), same.bytes.len()), (304, 0), "{tag}");
    }
    known("/api/work/graph?epic=T1&only=ready").with(200);
    world.post("/api/work/tasks/T2/start", json!({})).with(200);
    let after = known("/api/work/graph?epic=T1").with(200);
    assert_eq!(after["counts"]["running"], 1);
}

#[test]
fn views_of_plan_of_work() {
    plan_epic().walk(
        r##"
        GET /api/work/graph?epic=T99 -> 404
        GET /api/work/graph?only=odd -> 400
        GET /api/work/rows?epic=T1&state=waiting&sort=id&dir=desc&limit=2 -> 200 {"rows": [{"id": "T5"}, {"id": "T4"}], "total": 3, "counts": {"ready": 1, "done": 0}}
        GET /api/work/rows?sort=odd -> 400
        GET /api/work/ready -> 200 {"tasks": {"0": {"id": "T2"}}}
        GET /api/work/next?epic=T1 -> 200 {"task": {"id": "T2"}}
        GET /api/work/waves?epic=T1&limit=1 -> 200 {"total": 3, "waves": "#1"}
        GET /api/work/analysis?epic=T1 -> 200 {"criticalPath": {"total": 3}}
        GET /api/work/tasks/T3/deps -> 200 {"depends": {"0": {"id": "T2"}}, "ready": false}
        GET /api/work/start?epic=T1 -> 200 {"ready": {"shown": {"0": {"id": "T2"}}}}
        GET /api/work/status -> 200 {"percent": 0}
        GET /api/work/brief?epic=T1 -> 200 {"ready": {"total": 1}}
        GET /api/work/start?epic=T99 -> 404 E_TASK_NOT_FOUND
        GET /api/work/status?epic=T99 -> 404 E_TASK_NOT_FOUND
        GET /api/work/brief?epic=T99 -> 404 E_TASK_NOT_FOUND
        GET /api/work/validate?epic=T99 -> 404 E_TASK_NOT_FOUND
        # A task that is done without a prompt breaks a rule.
        GET /api/work/validate -> 200
        POST /api/work/tasks/T2/start {} -> 200
        GET /api/work/graph?only=ready -> 200 {"nodes": []}
        POST /api/work/tasks/T2/complete {} -> 200
        GET /api/work/validate -> 422 {"result": {"rules": "~\"tasks\":[\"T2\"]"}} has "verdict":"fail"
        "##,
    );
}

#[test]
fn context_is_counted_against_limit() {
    let world = plan_epic();
    world.walk(
        r##"
        POST /api/work/context -> 200 {"parts": "#1"}
        POST /api/work/context {"texts": ["four"], "tasks": ["T2"], "tokens": 1} -> 200 {"parts": [{"of": "tokens"}, {}, {}]}
        POST /api/work/context {"tokens": 7300} -> 200 {"warnings": "#1"}
        POST /api/work/context {"tokens": 9000} -> 422 E_CONTEXT_CRITICAL {"result": {"state": "critical"}}
        POST /api/work/context {"tasks": ["T99"]} -> 404
        "##,
    );
    let many = json!({"texts": vec!["x"; 101]});
    world.post("/api/work/context", many).with(400);
}

use serde_json::{Value, json};

use super::{code, planned};
use crate::ops::tokens::Scope;

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

use serde_json::{Value, json};

use super::World;
use super::work::code;
use crate::ops::tokens::Scope;

/// A plan of one step for an agent.
fn plan(agent: &str) -> Value {
    let text = format!("goal: Reach it\nsteps:\n- {{id: a, agent: {agent}, instruction: Do it}}\n");
    json!({"text": text})
}

#[test]
fn a_plan_is_made_checked_and_drawn() {
    let world = World::new();
    let goal = json!({"goal": "Search the web for caches and report which is best", "maxLoops": 3});
    let made = world.post("/api/plans", goal).with(200);
    assert!(!made["plan"]["steps"].as_array().unwrap().is_empty());
    assert_eq!(made["plan"]["maxLoops"], 3);
    let told = world.post("/api/plans/check", plan("ami-creative"));
    let told = told.with(200);
    assert_eq!(
        (&told["total"], &told["assignments"][0]["agent"]),
        (&json!(0), &json!("ami-creative"))
    );
    let drawn = world.post("/api/plans/draw", plan("ami-creative"));
    let drawn = drawn.with(200);
    assert!(drawn["svg"].as_str().unwrap().starts_with("<svg"));
    assert!(drawn["dot"].as_str().unwrap().contains("digraph"));
    // Nothing of it is kept.
    assert_eq!(world.get("/api/runs").with(200)["total"], 0);
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_told_all_its_faults() {
    let world = World::new();
    let check = |body: Value| world.post("/api/plans/check", body);
    let told = check(plan("nobody")).with(404);
    assert_eq!(
        (code(&told), &told["result"]["total"]),
        ("E_AGENT_NOT_FOUND", &json!(1))
    );
    let told = check(json!({"text": "steps: 7"})).with(400);
    assert_eq!(code(&told), "E_PLAN_INVALID");
    let told = world.post("/api/plans/draw", json!({"text": "steps: 7"}));
    assert_eq!(code(&told.with(400)), "E_PLAN_INVALID");
    check(json!({"file": "/etc/passwd"})).with(400);
    let make = |body: Value| world.post("/api/plans", body);
    make(json!({"goal": " "})).with(400);
    make(json!({"goal": "x", "maxLoops": 0})).with(400);
}

#[test]
fn only_agents_that_the_caller_sees_get_steps() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Read),
    );
    let agent = json!({"id": "anns", "name": "Ann's", "prompt": "p"});
    let told = world.by(&ann, "POST", "/api/agents/create", agent);
    told.with(201);
    let check = |token: &str| world.by(token, "POST", "/api/plans/check", plan("anns"));
    check(&ann).with(200);
    check(&bob).with(404);
}

#[test]
fn what_cannot_be_carried_out_is_refused_before_anything_begins() {
    let world = World::new();
    let run = |body: Value| world.post("/api/plans/run", body);
    let with = |name: &str, value: Value| {
        let mut body = plan("ami-creative");
        body[name] = value;
        body
    };
    for body in [
        json!({}),
        with("goal", json!("Reach it")),
        with("maxLoops", json!(0)),
        with("maxLoops", json!(101)),
        with("refine", json!("again")),
        with("jobs", json!(70_000)),
        with("satisfiedBy", json!("sh")),
        with("planner", json!("sh")),
        json!({"goal": " "}),
        json!({"text": null}),
    ] {
        let told = run(body.clone()).with(400);
        assert_eq!(code(&told), "E_INPUT_INVALID", "{body}");
    }
    let told = run(json!({"text": "steps: 7"})).with(400);
    assert_eq!(code(&told), "E_PLAN_INVALID");
    assert!(told["result"]["total"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(code(&run(plan("nobody")).with(404)), "E_AGENT_NOT_FOUND");
    let goal = json!({"goal": "query the database"});
    assert_eq!(code(&run(goal).with(404)), "E_AGENT_NOT_FOUND");
    assert_eq!(world.get("/api/runs").with(200)["total"], 0);
}

#[test]
fn only_admins_have_plans_carried_out() {
    let world = World::new();
    let token = world.token("ann", Scope::Write);
    let told = world.by(&token, "POST", "/api/plans/run", plan("ami-creative"));
    assert_eq!(code(&told.with(403)), "E_FORBIDDEN");
}

use serde_json::{Value, json};

use super::{add, code};
use crate::http::tests::World;
use crate::ops::tokens::Scope;

/// A world with a task of two criteria: one by word, one by command.
fn with_criteria() -> World {
    let world = World::new();
    let acceptance = json!(["looks good", "it fails :: false"]);
    add(&world, json!({"title": "One", "acceptance": acceptance}));
    world
}

#[test]
fn criterion_is_accepted_with_a_note_on_how_it_is_known() {
    let world = with_criteria();
    let accept = |body: Value| world.post("/api/work/tasks/T1/accept", body);
    let told = accept(json!({"criterion": 1, "notes": ["seen"], "agent": "lead"})).with(200);
    assert_eq!(told["criteria"][0]["state"], "claimed");
    for body in [
        json!({"criterion": 1}),
        json!({"criterion": 2, "notes": ["x"]}),
        json!({"criterion": 9, "notes": ["x"]}),
        json!({"criterion": 1, "files": ["../../etc/passwd"]}),
        json!({"criterion": 1, "files": ["a", "a"], "notes": ["T3", "x"]}),
    ] {
        let told = accept(body.clone());
        assert_eq!(told.status.as_u16(), 400, "{body}: {}", told.text());
    }
}

#[test]
fn commands_of_criteria_are_run_for_admins_only_and_decide() {
    let world = with_criteria();
    let path = "/api/work/tasks/T1/renew";
    let told = world.raw("POST", path, "").with(200);
    assert_eq!(
        (&told["ran"][0]["criterion"], &told["ran"][0]["outcome"]),
        (&json!(2), &json!("failed"))
    );
    world.post(path, json!({"timeLimit": 0})).with(400);
    let ann = world.token("ann", Scope::Write);
    let refused = world.by(&ann, "POST", path, json!({})).with(403);
    assert_eq!(code(&refused), "E_FORBIDDEN");
}

#[test]
fn a_command_is_given_by_admins_only() {
    let world = World::new();
    let ann = world.token("ann", Scope::Write);
    let one = |title: &str, command: &str| json!({"title": title, "acceptance": ["in words", format!("holds :: {command}")]});
    let path = "/api/work/tasks";
    let refused = world.by(&ann, "POST", path, one("One", "false")).with(403);
    assert_eq!(code(&refused), "E_FORBIDDEN");
    assert_eq!(world.get(path).with(200)["total"], 0);
    let words = json!({"title": "Words", "acceptance": ["in words"]});
    world.by(&ann, "POST", path, words).with(201);
    let change = json!({"addAcceptance": ["holds :: false"]});
    let refused = world.by(&ann, "PATCH", "/api/work/tasks/T1", change.clone());
    assert_eq!(code(&refused.with(403)), "E_FORBIDDEN");
    // What an admin has given before is known, and an admin may have it run.
    world.call("PATCH", "/api/work/tasks/T1", change).with(200);
    world.by(&ann, "POST", path, one("Two", "false")).with(201);
    world.by(&ann, "POST", path, one("Three", "true")).with(403);
    let told = world.post("/api/work/tasks/T2/renew", json!({})).with(200);
    assert_eq!(told["ran"][0]["outcome"], "failed");
}

#[test]
fn a_command_of_an_import_is_not_run_before_it_is_trusted() {
    let world = World::new();
    let task = json!({
        "id": "T1", "title": "x", "type": "task", "status": "pending", "priority": "medium",
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
        "acceptance": ["holds :: touch pwned"],
    });
    let text = format!("{}\n{task}\n", json!({"cleo": "tasks", "version": 1}));
    world
        .post("/api/work/import", json!({"text": text}))
        .with(200);
    let refused = world.post("/api/work/tasks/T1/renew", json!({})).with(403);
    assert_eq!(code(&refused), "E_UNTRUSTED");
    assert!(!world.folder.path().join("pwned").exists());
}

#[test]
fn an_agent_with_a_command_is_registered_by_admins_only() {
    let world = World::new();
    let ann = world.token("ann", Scope::Write);
    let agent = json!({"id": "w", "name": "W", "command": ["true"]});
    for path in ["/api/agents/create", "/api/agents/register"] {
        world.by(&ann, "POST", path, agent.clone()).with(403);
    }
    world.post("/api/agents/create", agent).with(201);
}

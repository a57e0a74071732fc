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
fn a_criterion_is_taken_at_somebodys_word_that_says_how_it_is_known() {
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

mod archive;
mod criteria;
mod graph;
mod proofs;
mod refusals;
mod sessions;
mod tasks;

use serde_json::{Value, json};

use super::World;

/// Adds a task and returns its id.
pub(super) fn add(world: &World, task: Value) -> String {
    let told = world.post("/api/work/tasks", task).with(201);
    told["task"]["id"].as_str().unwrap().to_string()
}

/// A world with an epic: T2, then T3 and T5, and T4 after T3.
pub(super) fn planned() -> World {
    let world = World::new();
    add(
        &world,
        json!({"title": "Release the thing", "type": "epic"}),
    );
    add(&world, json!({"title": "Research it", "parent": "T1"}));
    add(
        &world,
        json!({"title": "Implement it", "parent": "T1", "depends": ["T2"], "priority": "high"}),
    );
    add(
        &world,
        json!({"title": "Test it", "parent": "T1", "depends": ["T3"]}),
    );
    add(
        &world,
        json!({"title": "Document it", "parent": "T1", "depends": ["T2"], "labels": ["docs"]}),
    );
    world
}

pub(super) fn code(told: &Value) -> &str {
    told["error"]["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{told}"))
}

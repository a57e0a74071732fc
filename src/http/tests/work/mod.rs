mod archive;
mod criteria;
mod graph;
mod proofs;
mod sessions;
mod tasks;

use super::World;
use super::walk::Names;

/// A world with an epic: T2, then T3 and T5, and T4 after T3.
pub(super) fn plan_epic() -> World {
    let world = World::new();
    world.walk(
        r#"
        POST /api/work/tasks {"title": "Release the thing", "type": "epic"} -> 201
        POST /api/work/tasks {"title": "Research it", "parent": "T1"} -> 201
        POST /api/work/tasks {"title": "Implement it", "parent": "T1", "depends": ["T2"], "priority": "high"} -> 201
        POST /api/work/tasks {"title": "Test it", "parent": "T1", "depends": ["T3"]} -> 201
        POST /api/work/tasks {"title": "Document it", "parent": "T1", "depends": ["T2"], "labels": ["docs"]} -> 201
        "#,
    );
    world
}

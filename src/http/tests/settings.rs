use serde_json::json;

use super::World;
use crate::ops::tokens::Scope;

#[test]
fn settings_are_listed_to_admins_with_who_says_so() {
    let world = World::new();
    let told = world.get("/api/config").with(200);
    let settings = told["settings"].as_array().unwrap();
    assert_eq!(told["total"].as_u64(), Some(settings.len() as u64));
    assert!(settings.iter().all(|one| one["origin"] == "default"));
    let ann = world.token("ann", Scope::Write);
    world.by(&ann, "GET", "/api/config", json!(null)).with(403);
}

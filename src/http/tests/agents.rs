use std::collections::BTreeSet;

use serde_json::json;

use super::walk::Names;
use super::{World, minutes_ago};
use crate::agent::{Agent, Kind};
use crate::http::route;
use crate::ops::Notes;
use crate::ops::agents::{self, AgentId};

/// Names for ids of runtime agents that are some minutes old.
fn minted<const N: usize>(agents: [(&str, i64); N]) -> Names {
    let id = |minutes| json!(format!("custom_{}", minutes_ago(minutes)));
    let named = |(name, minutes): (&str, i64)| (name.to_string(), id(minutes));
    agents.map(named).into()
}

/// A0-1.
#[test]
fn fresh_server_has_four_agents() {
    World::new().walk(
        r#"GET /api/agents/sync -> 200 {"success": true, "count": 4, "agents": [{"id": "cleo-supervisor"}, {"id": "toby-technical"}, {"id": "ami-creative"}, {"id": "peter-logical"}]} lacks "prompt":"#,
    );
}

/// A0-6.
#[test]
fn runtime_agent_wins_its_matches_until_cleanup() {
    World::new().walk_with(
        minted([("id", 0)]),
        r#"
        POST /api/agents/register {"id": "$id", "name": "A", "prompt": "p", "tags": ["warcraft", "wow", "lore", "second war"]} -> 200
        GET /api/agents/sync -> 200 {"count": 5}
        POST /api/agents/execute?wait=true {"input": "Explain the Second War in Warcraft."} -> 200 {"execution": {"delegatedTo": "$id"}}
        POST /api/agents/cleanup {} -> 200 {"cleanedUp": ["$id"], "count": {"before": 5, "after": 4, "removed": 1}}
        POST /api/agents/execute?wait=true {"input": "Explain the Second War in Warcraft."} -> 200 {"execution": {"delegatedTo": "toby-technical"}}
        GET /api/agents/sync -> 200 {"count": 4}
        "#,
    );
}

/// A0-12.
#[test]
fn runtime_agent_ids_are_generated_or_plain_and_unique() {
    let names = World::new().walk(
        r#"
        POST /api/agents/register {"id": "x", "name": "A", "prompt": "p"} -> 400
        POST /api/agents/register {"id": "toby-technical", "name": "A", "prompt": "p"} -> 409
        POST /api/agents/register { -> 400 {"error": "Invalid JSON"}
        POST /api/agents/register null -> 400 {"error": "Invalid agent payload"}
        POST /api/agents/register [] -> 400 {"error": "Invalid agent payload: it must be an object"}
        GET /api/agents/sync -> 200 {"count": 4}
        POST /api/agents/register {"name": "A", "prompt": "p"} -> 200 {"agentId": "$id"}
        POST /api/agents/register {"id": "$id", "name": "A", "prompt": "p"} -> 200 {"recreated": true}
        "#,
    );
    assert!(names["id"].as_str().unwrap().starts_with("custom_"));
}

/// A0-14.
#[test]
fn cleanup_of_old_agents_keeps_young_and_named_ones() {
    let mut names = minted([("old", 31), ("young", 29)]);
    let young = names["young"].as_str().unwrap().rsplit('_').next().unwrap();
    let young: i64 = young.parse().unwrap();
    // Exactly as old as agents may become.
    names.insert("then".into(), json!(young + 30 * 60_000));
    World::new().walk_with(
        names,
        r#"
        POST /api/agents/register {"id": "$old", "name": "O", "prompt": "p"} -> 200
        POST /api/agents/register {"id": "$young", "name": "Y", "prompt": "p"} -> 200
        POST /api/agents/create {"id": "agent-1", "name": "One", "prompt": "p"} -> 201
        POST /api/agents/cleanup {"olderThan": true} -> 200 {"cleanedUp": ["$old"]}
        POST /api/agents/cleanup {"now": 1} -> 400
        POST /api/agents/cleanup {"olderThan": true, "now": $then} -> 200 {"cleanedUp": []}
        GET /api/agents/sync -> 200 {"count": 6}
        "#,
    );
}

/// A0-13.
#[test]
fn paused_agent_gets_no_further_messages() {
    World::new().walk(
        r#"
        PUT /api/agents/ami-creative {"status": "active"} -> 200 {"agent": {"status": "active"}}
        POST /api/agents/execute?wait=true {"input": "Help me design a creative layout"} -> 200 {"execution": {"delegatedTo": "ami-creative"}}
        PUT /api/agents/ami-creative {"status": "paused"} -> 200 {"agent": {"status": "paused"}}
        POST /api/agents/execute?wait=true {"input": "Help me design a creative layout"} -> 200 {"execution": {"delegatedTo": null}}
        PUT /api/agents/ami-creative {"status": "active"} -> 200 {"agent": {"status": "active"}}
        POST /api/agents/execute?wait=true {"input": "Help me design a creative layout"} -> 200 {"execution": {"delegatedTo": "ami-creative"}}
        PUT /api/agents/ami-creative {"status": "archived"} -> 200 {"agent": {"status": "archived"}}
        POST /api/agents/execute?wait=true {"input": "Help me design a creative layout"} -> 200 {"execution": {"delegatedTo": null}}
        GET /api/agents/metrics -> 200 {"dashboard": {"mostUsedAgents": [{"agentId": "ami-creative", "count": 2}]}}
        "#,
    );
}

/// A0-16.
#[test]
fn first_registered_agent_wins_a_tie() {
    World::new().walk_with(
        minted([("a", 1), ("b", 0)]),
        r#"
        POST /api/agents/register {"id": "$a", "name": "A", "prompt": "p", "tags": ["alpha"]} -> 200
        POST /api/agents/register {"id": "$b", "name": "B", "prompt": "p", "tags": ["beta"]} -> 200
        GET /api/agents/sync -> 200 {"agents": {"4": {"id": "$first"}}}
        GET /api/work/log?limit=1 -> 200 {"total": 2, "operations": [{"summary": "~Graph rebuilt to include runtime agent: custom_"}]}
        POST /api/agents/execute?wait=true {"input": "alpha beta"} -> 200 {"execution": {"delegatedTo": "$first"}}
        "#,
    );
}

#[test]
fn agents_are_created_changed_and_removed() {
    World::new().walk(
        r#"
        POST /api/agents/create {"name": "Lore keeper", "prompt": "p", "dryRun": true} -> 200 {"agent": {"id": "lore-keeper"}}
        GET /api/agents/lore-keeper -> 404
        POST /api/agents/create {"name": "Lore keeper", "prompt": "p", "tags": ["lore"], "max_tokens": 100} -> 201 {"agent": {"role": "custom", "max_tokens": 100, "updated_at": "$seen"}}
        POST /api/agents/create {"name": "Lore keeper", "prompt": "p"} -> 409
        PUT /api/agents/lore-keeper {"description": "old", "updated_at": "2020-01-01T00:00:00.000Z"} -> 409 E_STATUS_REFUSED
        PUT /api/agents/lore-keeper {"description": "new", "updated_at": "$seen"} -> 200 {"agent": {"description": "new"}}
        GET /api/agents/lore-keeper -> 200 {"agent": {"description": "new"}}
        DELETE /api/agents/lore-keeper -> 200 {"restored": false, "agent": {"executions": 0}}
        DELETE /api/agents/lore-keeper -> 404
        DELETE /api/agents/peter-logical -> 400
        # A change is judged as what is made.
        POST /api/agents/create {"id": "lore", "name": "Lore", "prompt": "p"} -> 201
        PUT /api/agents/lore {"prompt": ""} -> 400 {"field": "prompt"}
        PUT /api/agents/ami-creative {"prompt": ""} -> 400 {"field": "prompt"}
        PUT /api/agents/lore {"prompt": " \n"} -> 400 {"field": "prompt"}
        PUT /api/agents/ami-creative {"prompt": " \n"} -> 400 {"field": "prompt"}
        GET /api/agents/lore -> 200 {"agent": {"prompt": "p"}}
        # A duplicate field.
        POST /api/agents/create {"name": "A", "name": "B", "prompt": "p"} -> 400 {"success": false, "error": "~duplicate field `name`"}
        POST /api/agents/register {"name": "A", "name": "B", "prompt": "p"} -> 400 {"success": false}
        PUT /api/agents/ami-creative {"name": "A", "name": "B", "prompt": "p"} -> 400 {"success": false}
        GET /api/agents/list -> 200 lacks "B"
        # A program that comes over HTTP is not trusted.
        POST /api/agents/create {"id": "tool", "name": "Tool", "command": "rm -rf x", "intents": ["a.b"]} -> 201 {"agent": {"standing": "untrusted"}}
        GET /api/agents/registry -> 200 {"0": {"name": "Tool", "type": "cli"}}
        POST /api/agents/execute?wait=true {"input": "x", "agentId": "tool"} -> 200 {"execution": {"status": "failed"}}
        "#,
    );
}

#[test]
fn names_without_latin_letters_get_different_ids() {
    World::new().walk(
        r#"
        POST /api/agents/create {"name": "Хранитель", "prompt": "p"} -> 201
        POST /api/agents/create {"name": "Хранитель", "prompt": "p"} -> 409
        POST /api/agents/create {"name": "Башня", "prompt": "p"} -> 201
        POST /api/agents/create {"name": "Башня", "prompt": "p"} -> 409
        POST /api/agents/create {"name": "日本", "prompt": "p"} -> 201
        POST /api/agents/create {"name": "日本", "prompt": "p"} -> 409
        POST /api/agents/create {"name": "🚀", "prompt": "p"} -> 201
        POST /api/agents/create {"name": "🚀", "prompt": "p"} -> 409
        GET /api/agents/sync -> 200 {"count": 8}
        "#,
    );
}

#[test]
fn registered_worker_is_checked_and_reachable() {
    World::new().walk(
        r#"
        POST /api/agents/register {"name": "w", "type": "http"} -> 400 {"field": "endpoint"}
        POST /api/agents/register {"name": "w", "type": "nothing"} -> 400
        POST /api/agents/register {"name": "w", "type": "http", "endpoint": "http://127.0.0.1:9/"} -> 400
        POST /api/agents/register {"name": "w", "description": "giraffe worker", "type": "http", "endpoint": "http://worker.example:9/", "intents": ["giraffe.go"]} -> 200 {"agentId": "$id"}
        GET /api/agents/$id -> 200 {"agent": {"kind": "http", "is_runtime": true, "standing": "trusted"}}
        GET /api/agents/registry -> 200 {"0": {"intents": ["giraffe.go"]}}
        POST /api/agents/cleanup {} -> 200 {"cleanedUp": ["$id"]}
        "#,
    );
}

#[test]
fn invalid_agents_are_refused() {
    let world = World::new();
    for (field, value) in [
        ("name", json!("x".repeat(101))),
        ("prompt", json!("")),
        ("role", json!("worker")),
        ("status", json!("gone")),
        ("color", json!("red")),
        ("temperature", json!(2.5)),
        ("temperature", json!(0.123)),
        ("temperature", json!("hot")),
        ("tags", json!([7])),
        ("endpoint", json!("http://127.0.0.1:9000/run")),
        ("endpoint", json!("http://169.254.169.254/latest")),
        ("endpoint", json!("http://[::1]/run")),
        ("endpoint", json!("http://127.1/run")),
        ("endpoint", json!("http://0x7f000001/run")),
        ("endpoint", json!("http://0177.0.0.1/run")),
        ("endpoint", json!("http://2130706433:9000/run")),
        ("endpoint", json!("http://0/run")),
        ("endpoint", json!("http://%3127.0.0.1/run")),
        ("endpoint", json!("http://localhost./run")),
        ("endpoint", json!("http://[::ffff:127.0.0.1]/run")),
        ("healthcheck", json!("http://10.1/health")),
    ] {
        let mut agent = json!({"id": "bad", "name": "Bad", "prompt": "p"});
        agent[field] = value.clone();
        let told = world.post("/api/agents/create", agent).with(400);
        assert_eq!(
            (&told["success"], &told["field"]),
            (&json!(false), &json!(field)),
            "{value} {told}"
        );
        assert!(told["code"].is_string());
    }
    let near = json!({"name": "Near", "prompt": "p", "endpoint": "http://127.1/run"});
    let told = world.post("/api/agents/register", near).with(400);
    assert_eq!(told["field"], "endpoint");
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 4);
}

#[test]
fn no_agent_gets_path_of_endpoint() {
    let world = World::new();
    let below = route::all().iter();
    let below = below.filter_map(|route| route.path.strip_prefix("/api/agents/"));
    let words = below.filter_map(|rest| rest.split('/').next());
    let words: BTreeSet<&str> = words.filter(|word| !word.starts_with('{')).collect();
    assert!(words.contains("metrics") && words.contains("execution"));
    for word in words {
        let said = json!({"id": word, "name": "X", "prompt": "p"});
        let told = world.post("/api/agents/create", said).with(400);
        assert_eq!(told["field"], "id", "{word}: {told}");
        let named = json!({"name": word, "prompt": "p"});
        let told = world.post("/api/agents/create", named).with(201);
        let id = told["agent"]["id"].as_str().unwrap();
        assert_eq!(id, format!("{word}-2"));
        let path = format!("/api/agents/{id}");
        world.call("DELETE", &path, json!(null)).with(200);
    }
}

#[test]
fn agent_with_reserved_id_can_be_changed_and_removed() {
    let world = World::new();
    let surroundings = world.surroundings();
    let workspace = surroundings.workspace().unwrap();
    let agent = Agent {
        prompt: "p".into(),
        ..Agent::new("metrics", Kind::Persistent, "Metrics")
    };
    agents::write(&workspace, |transaction| transaction.put_agent(&agent)).unwrap();
    let notes = &mut Notes::default();
    let draft = json!({"id": "metrics", "description": "new"});
    let draft = serde_json::from_value(draft).unwrap();
    agents::update(&surroundings, notes, draft).unwrap();
    let id = || AgentId {
        id: "metrics".into(),
    };
    let one = agents::show(&surroundings, notes, id()).unwrap();
    assert_eq!(one.agent.agent.description, "new");
    agents::remove(&surroundings, notes, id()).unwrap();
    assert!(agents::show(&surroundings, notes, id()).is_err());
}

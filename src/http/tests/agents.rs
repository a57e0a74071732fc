use std::collections::BTreeSet;

use serde_json::json;

use super::{World, minutes_ago};
use crate::agent::{Agent, Kind};
use crate::http::route;
use crate::ops::Notes;
use crate::ops::agents::{self, AgentId};

/// A0-1.
#[test]
fn a_fresh_server_knows_the_four_that_are_always_there() {
    let told = World::new().get("/api/agents/sync").with(200);
    assert_eq!(
        (&told["success"], &told["count"]),
        (&json!(true), &json!(4))
    );
    let ids: Vec<_> = told["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(
        ids,
        [
            "cleo-supervisor",
            "toby-technical",
            "ami-creative",
            "peter-logical"
        ]
    );
    assert!(told["agents"][1].get("prompt").is_none());
}

/// A0-6.
#[test]
fn runtime_agent_wins_its_matches_until_the_cleanup() {
    let world = World::new();
    let id = format!("custom_{}", minutes_ago(0));
    world.register(&id, json!(["warcraft", "wow", "lore", "second war"]));
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 5);
    let message = json!({"input": "Explain the Second War in Warcraft."});
    assert_eq!(world.execute(message.clone())["delegatedTo"], id.as_str());
    let told = world.post("/api/agents/cleanup", json!({})).with(200);
    assert_eq!(told["cleanedUp"], json!([id]));
    assert_eq!(
        told["count"],
        json!({"before": 5, "after": 4, "removed": 1})
    );
    assert_eq!(world.execute(message)["delegatedTo"], "toby-technical");
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 4);
}

/// A0-12.
#[test]
fn runtime_agent_ids_are_generated_or_plain_and_unique() {
    let world = World::new();
    let agent = |id| json!({"id": id, "name": "A", "prompt": "p"});
    world.post("/api/agents/register", agent("x")).with(400);
    world
        .post("/api/agents/register", agent("toby-technical"))
        .with(409);
    let told = world.raw("POST", "/api/agents/register", "{").with(400);
    assert_eq!(told["error"], "Invalid JSON");
    let told = world.post("/api/agents/register", json!(null)).with(400);
    assert_eq!(told["error"], "Invalid agent payload");
    let told = world.post("/api/agents/register", json!([])).with(400);
    assert_eq!(told["error"], "Invalid agent payload: it must be an object");
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 4);
    let told = world
        .post("/api/agents/register", json!({"name": "A", "prompt": "p"}))
        .with(200);
    assert!(told["agentId"].as_str().unwrap().starts_with("custom_"));
    let again = world.post(
        "/api/agents/register",
        agent(told["agentId"].as_str().unwrap()),
    );
    assert_eq!(again.with(200)["recreated"], true);
}

/// A0-14.
#[test]
fn only_agents_whose_id_is_old_go_when_the_old_are_swept() {
    let world = World::new();
    let (old, young) = (minutes_ago(31), minutes_ago(29));
    world.register(&format!("custom_{old}"), json!([]));
    world.register(&format!("custom_{young}"), json!([]));
    let agent = json!({"id": "agent-1", "name": "One", "prompt": "p"});
    world.post("/api/agents/create", agent).with(201);
    let told = world
        .post("/api/agents/cleanup", json!({"olderThan": true}))
        .with(200);
    assert_eq!(told["cleanedUp"], json!([format!("custom_{old}")]));
    let sweep = |body| world.post("/api/agents/cleanup", body);
    sweep(json!({"now": 1})).with(400);
    let then = json!({"olderThan": true, "now": young + 30 * 60_000});
    assert_eq!(sweep(then).with(200)["cleanedUp"], json!([]));
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 6);
}

/// A0-13.
#[test]
fn paused_agent_gets_no_further_messages() {
    let world = World::new();
    let message = json!({"input": "Help me design a creative layout"});
    for (status, agent) in [
        ("active", json!("ami-creative")),
        ("paused", json!(null)),
        ("active", json!("ami-creative")),
        ("archived", json!(null)),
    ] {
        let told = world.call("PUT", "/api/agents/ami-creative", json!({"status": status}));
        assert_eq!(told.with(200)["agent"]["status"], status);
        assert_eq!(
            world.execute(message.clone())["delegatedTo"],
            agent,
            "{status}"
        );
    }
    let dashboard = &world.get("/api/agents/metrics").with(200)["dashboard"];
    assert_eq!(
        dashboard["mostUsedAgents"],
        json!([{"agentId": "ami-creative", "count": 2}])
    );
}

/// A0-16.
#[test]
fn who_was_registered_first_wins_a_tie() {
    let world = World::new();
    for (at, tag) in [(1, "alpha"), (0, "beta")] {
        world.register(&format!("custom_{}", minutes_ago(at)), json!([tag]));
    }
    let first = world.get("/api/agents/sync").with(200)["agents"][4]["id"].clone();
    assert_eq!(
        world.execute(json!({"input": "alpha beta"}))["delegatedTo"],
        first
    );
}

#[test]
fn an_agent_is_made_changed_and_taken_away() {
    let world = World::new();
    let agent = json!({"name": "Lore keeper", "prompt": "p", "tags": ["lore"], "max_tokens": 100});
    let mut tried = agent.clone();
    tried["dryRun"] = true.into();
    let dry = world.post("/api/agents/create", tried).with(200);
    assert_eq!(dry["agent"]["id"], "lore-keeper");
    assert_eq!(world.get("/api/agents/lore-keeper").status, 404);
    let made = world.post("/api/agents/create", agent.clone()).with(201)["agent"].clone();
    assert_eq!(
        (&made["role"], &made["max_tokens"]),
        (&json!("custom"), &json!(100))
    );
    world.post("/api/agents/create", agent).with(409);
    let path = "/api/agents/lore-keeper";
    let seen = made["updated_at"].clone();
    let change = json!({"description": "new", "updated_at": seen});
    let changed = world.call("PUT", path, change.clone()).with(200)["agent"].clone();
    assert_eq!(changed["description"], "new");
    assert_eq!(world.get(path).with(200)["agent"]["description"], "new");
    if changed["updated_at"] != seen {
        let told = world.call("PUT", path, change).with(409);
        assert_eq!(told["code"], "E_STATUS_REFUSED");
    }
    let removed = world.call("DELETE", path, json!(null)).with(200);
    assert_eq!(
        (&removed["restored"], &removed["agent"]["executions"]),
        (&json!(false), &json!(0))
    );
    world.call("DELETE", path, json!(null)).with(404);
    world
        .call("DELETE", "/api/agents/peter-logical", json!(null))
        .with(400);
}

#[test]
fn what_an_agent_cannot_be_is_refused_and_nothing_is_kept() {
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
fn a_change_is_judged_as_what_is_made() {
    let world = World::new();
    let agent = json!({"id": "lore", "name": "Lore", "prompt": "p"});
    world.post("/api/agents/create", agent).with(201);
    for prompt in ["", " \n"] {
        for id in ["lore", "ami-creative"] {
            let path = format!("/api/agents/{id}");
            let told = world.call("PUT", &path, json!({"prompt": prompt}));
            assert_eq!(told.with(400)["field"], "prompt", "{id}");
        }
    }
    let told = world.get("/api/agents/lore").with(200);
    assert_eq!(told["agent"]["prompt"], "p");
}

#[test]
fn names_without_letters_for_an_id_are_told_apart() {
    let world = World::new();
    let mut ids = Vec::new();
    for name in ["Хранитель", "Башня", "日本", "🚀"] {
        let agent = json!({"name": name, "prompt": "p"});
        let told = world.post("/api/agents/create", agent.clone()).with(201);
        ids.push(told["agent"]["id"].as_str().unwrap().to_string());
        world.post("/api/agents/create", agent).with(409);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 8);
}

#[test]
fn a_program_that_comes_over_http_is_not_trusted() {
    let world = World::new();
    let agent = json!({"id": "tool", "name": "Tool", "command": "rm -rf x", "intents": ["a.b"]});
    let told = world.post("/api/agents/create", agent).with(201);
    assert_eq!(told["agent"]["standing"], "untrusted");
    let entry = &world.get("/api/agents/registry").with(200)[0];
    assert_eq!(
        (&entry["name"], &entry["type"]),
        (&json!("Tool"), &json!("cli"))
    );
    let asked = json!({"input": "x", "agentId": "tool"});
    assert_eq!(world.execute(asked)["status"], "failed");
}

#[test]
fn no_agent_takes_the_place_of_an_endpoint() {
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
fn agent_with_a_reserved_id_can_be_changed_and_removed() {
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

#[test]
fn runtime_worker_is_checked_like_a_persistent_one() {
    let world = World::new();
    let register = |worker: serde_json::Value| world.post("/api/agents/register", worker);
    let told = register(json!({"name": "w", "type": "http"})).with(400);
    assert_eq!(told["field"], "endpoint");
    register(json!({"name": "w", "type": "nothing"})).with(400);
    let near = json!({"name": "w", "type": "http", "endpoint": "http://127.0.0.1:9/"});
    register(near).with(400);
    let worker = json!({
        "name": "w", "description": "giraffe worker", "type": "http",
        "endpoint": "http://worker.example:9/", "intents": ["giraffe.go"],
    });
    let told = register(worker.clone()).with(200);
    let id = told["agentId"].as_str().unwrap();
    let shown = world.get(&format!("/api/agents/{id}")).with(200);
    let agent = &shown["agent"];
    assert_eq!(
        (&agent["kind"], &agent["is_runtime"], &agent["standing"]),
        (&json!("http"), &json!(true), &json!("trusted"))
    );
    let entry = &world.get("/api/agents/registry").with(200)[0];
    assert_eq!(entry["intents"], worker["intents"]);
    let told = world.post("/api/agents/cleanup", json!({})).with(200);
    assert_eq!(told["cleanedUp"], json!([id]));
}

#[test]
fn duplicate_agent_fields_are_refused() {
    let world = World::new();
    let twice = r#"{"name": "A", "name": "B", "prompt": "p"}"#;
    for (method, path) in [
        ("POST", "/api/agents/create"),
        ("POST", "/api/agents/register"),
        ("PUT", "/api/agents/ami-creative"),
    ] {
        let told = world.raw(method, path, twice).with(400);
        assert_eq!(told["success"], false, "{path}");
    }
    let told = world.raw("POST", "/api/agents/create", twice).with(400);
    let error = told["error"].as_str().unwrap();
    assert!(error.contains("`name` is there twice"), "{error}");
    let listed = world.get("/api/agents/list").with(200);
    assert!(!listed.to_string().contains("\"B\""), "{listed}");
}

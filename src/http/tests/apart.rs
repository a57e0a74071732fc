//! Two users on one server: whatever one asks for, nothing of the other's is told or changed.

use serde_json::{Value, json};

use super::World;
use super::runs::ran;
use crate::http::route;
use crate::ops::tokens::Scope;
use crate::run::RunStatus;

/// A word that stands in everything that is Ann's.
const SECRET: &str = "xylograph";

/// What Ann has: a token, and the ids of her things.
struct Ann {
    token: String,
    ids: Vec<String>,
    /// Where her things are shown to her.
    places: Vec<String>,
}

impl Ann {
    fn of(world: &World) -> Ann {
        let token = world.token("ann", Scope::Write);
        let post = |path: &str, body: Value| world.by(&token, "POST", path, body).json();
        let agent = json!({"id": "anns", "name": format!("Ann's {SECRET}"), "prompt": SECRET, "tags": [SECRET]});
        assert_eq!(post("/api/agents/create", agent)["success"], true);
        let input = json!({"input": format!("a {SECRET}")});
        let told = post("/api/agents/execute?wait=true", input);
        assert_eq!(told["execution"]["delegatedTo"], "anns", "{told}");
        let execution = told["execution"]["id"].as_str().unwrap().to_string();
        let begin = |agent: &str| {
            let body = json!({"agent_id": agent, "title": format!("about {SECRET}")});
            let told = post("/api/conversations/create", body);
            told["conversation"]["id"].as_str().unwrap().to_string()
        };
        let (talk, chat) = (begin("anns"), begin("chat"));
        post(
            "/api/agents/execute?wait=true",
            json!({"input": SECRET, "conversationId": talk}),
        );
        post(
            "/api/chat",
            json!({"message": format!("delete component 103 for client 6 {SECRET}"), "conversation_id": chat}),
        );
        post("/query", json!({"query": format!("what of {SECRET}")}));
        ran(world, "tasks_1_a", "ann", RunStatus::Failed);
        let places = vec![
            "/api/agents/anns".to_string(),
            format!("/api/agents/execution/{execution}"),
            format!("/api/conversations/{talk}"),
            format!("/api/conversations/{chat}"),
            "/api/runs/tasks_1_a".to_string(),
        ];
        let ids = ["anns", &execution, &talk, &chat, "tasks_1_a"];
        Ann {
            ids: ids.map(String::from).to_vec(),
            places,
            token,
        }
    }

    fn shown(&self, world: &World) -> Vec<Value> {
        let places = self.places.iter();
        let show = |place: &String| world.by(&self.token, "GET", place, json!(null)).with(200);
        places.map(show).collect()
    }
}

/// Bodies with which somebody might get at another's things.
fn bodies(ids: &[String]) -> Vec<Value> {
    let mut bodies = vec![json!({}), json!({"title": "taken", "status": "archived"})];
    for id in ids {
        bodies.extend([
            json!({"message": "yes", "conversation_id": id}),
            json!({"input": "yes", "conversationId": id}),
            json!({"input": "yes", "agentId": id}),
            json!({"message": "yes", "agent": id, "explain": 100}),
            json!({"draft": {"id": id, "name": "Taken", "tags": ["x"]}}),
            json!({"agent_id": id, "title": "taken"}),
            json!({"id": id, "name": "Taken", "prompt": "p"}),
            json!({"name": "Taken", "description": "taken", "status": "paused"}),
            json!({"query": "yes", "conversation_id": id, "user_id": "ann"}),
        ]);
    }
    bodies
}

#[test]
fn two_users_never_see_or_change_each_others_data() {
    let world = World::new();
    world
        .post("/api/work/tasks", json!({"title": "One"}))
        .with(201);
    let ann = Ann::of(&world);
    let before = ann.shown(&world);
    assert!(
        before
            .iter()
            .all(|one| one.to_string().contains(SECRET) || one.to_string().contains("ann"))
    );
    let bob = world.token("bob", Scope::Write);
    for route in route::all() {
        if route.path == "/api/events" {
            continue;
        }
        let ids: &[String] = match route.path.contains("{id}") {
            true => &ann.ids,
            false => &ann.ids[..1],
        };
        let bodies = match route.method == "GET" {
            true => vec![json!(null)],
            false => bodies(&ann.ids),
        };
        for id in ids {
            let path = route.path.replace("{id}", id).replace("{task}", "T1");
            let path = path
                .replace("{name}", "ct-documentor")
                .replace("{attempt}", "1");
            let path = path.replace("{gate}", "testsPassed");
            let query = match route.path {
                "/api/search" => format!("?q={SECRET}"),
                "/api/runs/{id}/proof" => "?task=T1".to_string(),
                _ => String::new(),
            };
            for body in &bodies {
                let told = world.by(
                    &bob,
                    route.method.as_str(),
                    &format!("{path}{query}"),
                    body.clone(),
                );
                let asked = format!("{} {path} {body}", route.method);
                // What was looked for is told again, and is the caller's own.
                let text = told.text().replace(&format!("\"q\":\"{SECRET}\""), "");
                assert!(!told.status.is_server_error(), "{asked}: {text}");
                let echo = body.to_string().contains(SECRET);
                assert!(echo || !text.contains(SECRET), "{asked}: {text}");
                assert!(!text.contains("of ann"), "{asked}: {text}");
            }
        }
    }
    let mut after = ann.shown(&world);
    // A run says when it is looked at.
    after[4]["now"] = before[4]["now"].clone();
    assert_eq!(after, before);
    let events = format!("/api/search?q={SECRET}");
    let found = world.by(&ann.token, "GET", &events, json!(null)).with(200);
    assert!(
        found["total"].as_u64().unwrap() > 0,
        "she finds her own: {found}"
    );
}

#[test]
fn tasks_are_the_workspaces_and_all_users_see_and_change_them() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let agent = json!({"id": "anns", "name": "Ann's", "prompt": "p"});
    world
        .by(&ann, "POST", "/api/agents/create", agent)
        .with(201);
    let task = json!({"title": "One", "assigned_to": "anns"});
    let made = world.by(&ann, "POST", "/api/tasks/create", task).with(201);
    assert_eq!(made["task"]["assigned_to"], "anns");
    let path = format!("/api/tasks/{}", made["task"]["id"].as_str().unwrap());
    let change = json!({"title": "Two"});
    let changed = world.by(&bob, "PUT", &path, change).with(200);
    assert_eq!(changed["task"]["title"], "Two");
    assert_eq!(
        world.by(&ann, "GET", &path, json!(null)).with(200)["task"]["title"],
        "Two"
    );
    // To whom it is assigned is told of agents only whom the caller sees.
    for place in [path.as_str(), "/api/tasks"] {
        let told = world.by(&bob, "GET", place, json!(null));
        assert!(!told.text().contains("anns"), "{place}: {}", told.text());
        let told = world.by(&ann, "GET", place, json!(null));
        assert!(told.text().contains("anns"), "{place}: {}", told.text());
    }
    assert!(!changed.to_string().contains("anns"), "{changed}");
}

#[test]
fn tasks_never_reveal_or_assign_agents_of_other_users() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let agent = json!({"id": "anns", "name": "Ann's", "prompt": "p"});
    world
        .by(&ann, "POST", "/api/agents/create", agent)
        .with(201);
    let (path, one) = ("/api/work/tasks", "/api/work/tasks/T1");
    let task = json!({"title": "One", "assignedAgent": "anns"});
    world.by(&ann, "POST", path, task.clone()).with(201);
    let change = json!({"assignedAgent": "toby-technical"});
    let changed = world.by(&ann, "PATCH", one, change).with(200);
    let undo = json!({"operation": changed["operation"], "dryRun": true});
    let told = world.by(&bob, "POST", "/api/work/undo", undo);
    assert!(!told.text().contains("anns"), "{}", told.text());
    let back = json!({"assignedAgent": "anns"});
    world.by(&ann, "PATCH", one, back.clone()).with(200);
    for place in [path, one, "/api/work/log", "/api/tasks", "/api/work/next"] {
        let told = world.by(&bob, "GET", place, json!(null));
        assert!(!told.text().contains("anns"), "{place}: {}", told.text());
    }
    assert!(
        world
            .by(&ann, "GET", one, json!(null))
            .text()
            .contains("anns")
    );
    for place in [path, "/api/tasks"] {
        let asked = format!("{place}?agent=anns");
        for (token, total) in [(&ann, 1), (&bob, 0)] {
            let told = world.by(token, "GET", &asked, json!(null)).with(200);
            assert_eq!(told["total"], total, "{asked}");
        }
    }
    let stats = world
        .by(&bob, "GET", "/api/tasks/stats?agent=anns", json!(null))
        .with(200);
    assert_eq!(stats["stats"]["total"], 0);
    // An agent that is another's cannot be told from one that is not there.
    for name in ["anns", "nobody"] {
        let assigned = json!({"title": "Two", "assignedAgent": name});
        let told = world.by(&bob, "POST", path, assigned).with(404);
        assert_eq!(told["error"]["code"], "E_AGENT_NOT_FOUND", "{name}");
        let assigned = json!({"assignedAgent": name});
        world.by(&bob, "PATCH", one, assigned).with(404);
    }
    // Nor is one told that is not there any more.
    world
        .by(&ann, "DELETE", "/api/agents/anns", json!(null))
        .with(200);
    for place in [path, one, "/api/work/log", "/api/tasks", "/api/work/next"] {
        let told = world.by(&bob, "GET", place, json!(null));
        assert!(!told.text().contains("anns"), "{place}: {}", told.text());
    }
    world
        .call("PATCH", one, json!({"assignedAgent": "dana"}))
        .with(200);
}

#[test]
fn when_others_had_an_agent_last_is_not_told() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let (path, input) = ("/api/agents/execute?wait=true", json!({"input": "history"}));
    let told = world.by(&ann, "POST", path, input).with(200);
    assert_eq!(told["execution"]["delegatedTo"], "toby-technical");
    let used = |token: &str, place: &str| {
        let told = world.by(token, "GET", place, json!(null)).with(200);
        let all = told["agents"].as_array().cloned().unwrap_or_default();
        let all = all.into_iter().chain([told["agent"].clone()]);
        let named = all.filter(|agent| agent["id"] == "toby-technical");
        let times = |agent: Value| {
            let camel = agent["lastUsedAt"].is_string();
            camel || agent["last_used_at"].is_string()
        };
        named.map(times).collect::<Vec<_>>()
    };
    for place in ["/api/agents/list", "/api/agents/toby-technical"] {
        assert_eq!(used(&ann, place), [true], "{place}");
        assert_eq!(used(&bob, place), [false], "{place}");
    }
}

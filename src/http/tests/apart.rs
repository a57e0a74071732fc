//! Two users on one server: whatever one asks for, nothing of the other's is told or changed.

use serde_json::{Value, json};

use super::World;
use super::runs::ran;
use crate::http::route;
use crate::ops::tokens::Scope;
use crate::run::RunStatus;

/// A word in everything that belongs to Ann.
const SECRET: &str = "xylograph";

/// Ann's token, and the ids of her things.
struct Ann {
    token: String,
    ids: Vec<String>,
    /// Where her things are shown to her.
    places: Vec<String>,
}

impl Ann {
    fn from_world(world: &World) -> Ann {
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

    fn show_places(&self, world: &World) -> Vec<Value> {
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
    world.walk(r#"POST /api/work/tasks {"title": "One"} -> 201"#);
    let ann = Ann::from_world(&world);
    let before = ann.show_places(&world);
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
            true => |_: &[String]| vec![json!(null)],
            false => bodies,
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
            // In a body the id of the address, or each one if the address has none.
            let inside = if ids.len() > 1 {
                std::slice::from_ref(id)
            } else {
                &ann.ids
            };
            for body in &bodies(inside) {
                let told = world.by(
                    &bob,
                    route.method.as_str(),
                    &format!("{path}{query}"),
                    body.clone(),
                );
                let asked = format!("{} {path} {body}", route.method);
                // The reply repeats the query, which is the caller's own.
                let text = told.text().replace(&format!("\"q\":\"{SECRET}\""), "");
                assert!(!told.status.is_server_error(), "{asked}: {text}");
                let echo = body.to_string().contains(SECRET);
                assert!(echo || !text.contains(SECRET), "{asked}: {text}");
                assert!(!text.contains("of ann"), "{asked}: {text}");
            }
        }
    }
    let mut after = ann.show_places(&world);
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
fn tasks_are_shared_and_name_agents_to_their_users_only() {
    World::new().walk(
        r#"
        ann POST /api/agents/create {"id": "anns", "name": "Ann's", "prompt": "p"} -> 201
        ann POST /api/tasks/create {"title": "One", "assigned_to": "anns"} -> 201 {"task": {"id": "T1", "assigned_to": "anns"}}
        bob PUT /api/tasks/T1 {"title": "Two"} -> 200 {"task": {"title": "Two"}} lacks anns
        ann GET /api/tasks/T1 -> 200 {"task": {"title": "Two"}} has anns
        ann GET /api/tasks -> 200 has anns
        bob GET /api/tasks/T1 -> 200 lacks anns
        bob GET /api/tasks -> 200 lacks anns
        "#,
    );
}

#[test]
fn epoch_of_another_user_is_no_claim() {
    World::new().walk(
        r#"
        ann POST /api/work/tasks {"title": "One"} -> 201
        ann POST /api/work/tasks/T1/claim {"agent": "coder"} -> 200 {"claim": {"holder": "ann/coder", "epoch": 1}}
        bob POST /api/work/tasks/T1/complete {"epoch": 1} -> 409 E_CLAIMED
        bob POST /api/work/tasks/T1/release {"epoch": 1} -> 409 E_CLAIMED
        bob POST /api/work/tasks/T1/heartbeat {"epoch": 1} -> 409 E_CLAIMED
        bob POST /api/work/tasks/T1/start {"epoch": 1} -> 409 E_CLAIMED
        ann POST /api/work/tasks/T1/release {"epoch": 1} -> 200
        "#,
    );
}

#[test]
fn tasks_never_reveal_or_assign_agents_of_other_users() {
    World::new().walk(
        r#"
        ann POST /api/agents/create {"id": "anns", "name": "Ann's", "prompt": "p"} -> 201
        ann POST /api/work/tasks {"title": "One", "assignedAgent": "anns"} -> 201
        ann PATCH /api/work/tasks/T1 {"assignedAgent": "toby-technical"} -> 200 {"operation": "$operation"}
        bob POST /api/work/undo {"operation": "$operation", "dryRun": true} -> 200 lacks anns
        ann PATCH /api/work/tasks/T1 {"assignedAgent": "anns"} -> 200
        bob GET /api/work/tasks -> 200 lacks anns
        bob GET /api/work/tasks/T1 -> 200 lacks anns
        bob GET /api/work/log -> 200 lacks anns
        bob GET /api/tasks -> 200 lacks anns
        bob GET /api/work/next -> 200 lacks anns
        ann GET /api/work/next?agent=anns -> 200 {"task": {"id": "T1"}}
        bob GET /api/work/next?agent=anns -> 200 {"task": null}
        ann GET /api/work/tasks/T1 -> 200 has anns
        ann GET /api/work/tasks?agent=anns -> 200 {"total": 1}
        bob GET /api/work/tasks?agent=anns -> 200 {"total": 0}
        ann GET /api/tasks?agent=anns -> 200 {"total": 1}
        bob GET /api/tasks?agent=anns -> 200 {"total": 0}
        bob GET /api/tasks/stats?agent=anns -> 200 {"stats": {"total": 0}}
        # An agent of another user cannot be told from one that is not there.
        bob POST /api/work/tasks {"title": "Two", "assignedAgent": "anns"} -> 404 E_AGENT_NOT_FOUND
        bob POST /api/work/tasks {"title": "Two", "assignedAgent": "nobody"} -> 404 E_AGENT_NOT_FOUND
        bob PATCH /api/work/tasks/T1 {"assignedAgent": "anns"} -> 404
        bob PATCH /api/work/tasks/T1 {"assignedAgent": "nobody"} -> 404
        # Nor is one told that is not there any more.
        ann DELETE /api/agents/anns -> 200
        bob GET /api/work/tasks -> 200 lacks anns
        bob GET /api/work/tasks/T1 -> 200 lacks anns
        bob GET /api/work/log -> 200 lacks anns
        bob GET /api/tasks -> 200 lacks anns
        bob GET /api/work/next -> 200 lacks anns
        PATCH /api/work/tasks/T1 {"assignedAgent": "dana"} -> 200
        "#,
    );
}

#[test]
fn last_use_of_agent_is_told_to_its_caller_only() {
    World::new().walk(
        r#"
        ann POST /api/agents/execute?wait=true {"input": "history"} -> 200 {"execution": {"delegatedTo": "toby-technical"}}
        ann GET /api/agents/toby-technical -> 200 {"agent": {"last_used_at": "*"}}
        bob GET /api/agents/toby-technical -> 200 {"agent": {"last_used_at": null}}
        ann GET /api/agents/list -> 200 {"agents": "~\"last_used_at\":\"20"}
        bob GET /api/agents/list -> 200 {"agents": "~toby-technical"} lacks "last_used_at":"20
        "#,
    );
}

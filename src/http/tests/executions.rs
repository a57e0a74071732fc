use serde_json::{Value, json};

use super::World;
use crate::run::{Run, RunKind, RunStatus};
use crate::store::Store;

const WAR: &str = "Explain the Second War in Warcraft history.";

/// A0-2 to A0-5.
#[test]
fn messages_are_routed_as_specified_with_score() {
    World::new().walk(
        r#"
        POST /api/agents/execute?wait=true {"input": "Explain the Second War in Warcraft history."} -> 200 {"execution": {"status": "completed", "delegatedTo": "toby-technical", "user": "me@here", "output": "~, and start the server again"}}
        POST /api/agents/execute?wait=true {"input": "Help me design a creative layout for my blog."} -> 200 {"execution": {"status": "completed", "delegatedTo": "ami-creative"}}
        POST /api/agents/execute?wait=true {"input": "Solve 2x + 5 = 15 and explain the steps."} -> 200 {"execution": {"status": "completed", "delegatedTo": "peter-logical"}}
        POST /api/agents/execute?wait=true {"input": "zzzz qqqq"} -> 200 {"execution": {"status": "completed", "delegatedTo": null, "output": "~, and start the server again"}}
        GET /api/agents/delegations -> 200 {"total": 4, "delegations": [{}, {}, {}, {"from": "cleo-supervisor", "to": "toby-technical", "score": 9, "reason": "Best match with score 9"}]}
        GET /api/agents/delegations?limit=1&before=999999 -> 200 {"delegations": {"0": {"to": "finalize"}}}
        "#,
    );
}

#[test]
fn execution_is_accepted_at_once() {
    let world = World::new();
    let told = world
        .post("/api/agents/execute", json!({"input": WAR}))
        .with(200);
    assert_eq!(
        (&told["success"], &told["execution"]["status"]),
        (&json!(true), &json!("running"))
    );
    let id = told["execution"]["id"].as_str().unwrap().to_string();
    world.execute(json!({"input": "another that ends later"}));
    let told = world.get(&format!("/api/agents/execution/{id}")).with(200);
    let execution = &told["execution"];
    assert_eq!(execution["status"], "completed");
    let steps = execution["steps"].as_array().unwrap();
    let progress: Vec<_> = steps
        .iter()
        .map(|step| step["progress"].as_u64().unwrap())
        .collect();
    assert_eq!(progress, [10, 30, 40, 55, 70, 80, 95, 100]);
    let messages = execution["messages"].as_array().unwrap();
    let kinds: Vec<_> = messages
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["human", "ai"]);
    assert_eq!(messages[0]["metadata"]["execution_id"], id.as_str());
}

/// A0-7 to A0-9.
#[test]
fn named_agent_answers_and_supervisor_routes() {
    World::new().walk(
        r#"
        POST /api/agents/execute?wait=true {"input": "a creative layout", "agentId": "peter-logical"} -> 200 {"execution": {"delegatedTo": "peter-logical", "routing": {"by": "requested"}}}
        POST /api/agents/execute?wait=true {"input": "a creative layout", "agentId": "cleo-supervisor"} -> 200 {"execution": {"delegatedTo": "ami-creative", "routing": {"by": "rule"}}}
        POST /api/agents/execute?wait=true {"input": "a creative layout", "agentId": "nobody"} -> 200 {"execution": {"delegatedTo": "ami-creative", "routing": {"by": "rule"}}}
        POST /api/agents/execute?wait=true {"input": "a creative layout", "metadata": {"requested_agent_id": "peter-logical"}} -> 200 {"execution": {"delegatedTo": "peter-logical", "routing": {"by": "requested"}}}
        POST /api/agents/execute?wait=true {"message": "a creative layout", "context": {"requested_agent_id": "peter-logical"}} -> 200 {"execution": {"delegatedTo": "peter-logical", "routing": {"by": "requested"}}}
        POST /api/agents/execute?wait=true {"input": null, "message": "a creative layout", "agentId": null, "agent_id": "peter-logical"} -> 200 {"execution": {"delegatedTo": "peter-logical", "routing": {"by": "requested"}}}
        "#,
    );
}

/// A0-10 and A0-11.
#[test]
fn invalid_executions_are_refused() {
    let world = World::new();
    for place in ["metadata", "context"] {
        for wrong in ["\"x\"", "7", "[]", r#"{"requested_agent_id": 7}"#] {
            let body = format!(r#"{{"input": "x", "{place}": {wrong}}}"#);
            world.walk(&format!(
                r#"POST /api/agents/execute {body} -> 400 {{"error": "~"}}"#
            ));
        }
    }
    world.walk(
        r#"
        POST /api/agents/execute {} -> 400 {"error": "Input is required"} lacks success
        POST /api/agents/execute {"input": "   "} -> 400 {"error": "Input is required"}
        POST /api/agents/execute {"input": null} -> 400 {"error": "Input is required"}
        POST /api/agents/execute { -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute [] -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute 7 -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute "x" -> 400 {"error": "~must be an object"} lacks src/
        POST /api/agents/execute {"input":7} -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute {"input":"x"} y -> 400 {"error": "~"} lacks src/
        POST /api/agents/execute {"input": " ", "stream": true} -> 400 {"error": "Input is required"}
        POST /api/agents/execute {"input": "x", "stream": true, "conversationId": "conv_nope"} -> 404
        GET /api/agents/execution/nope -> 404 {"success": false, "error": "Execution not found"}
        GET /api/agents/execute -> 200 {"total": 0}
        # What is over cannot be cancelled, and another user's is not there.
        POST /api/agents/execute?wait=true {"input": "history"} -> 200 {"execution": {"id": "$over"}}
        POST /api/agents/execution/$over/cancel {} -> 409 E_STATUS_REFUSED
        POST /api/agents/execution/nope/cancel {} -> 404
        ann POST /api/agents/execution/$over/cancel {} -> 404
        "#,
    );
}

/// A0-15.
#[test]
fn concurrent_executions_do_not_mix() {
    let world = World::new();
    let requests = (0..40).map(|number| match number % 2 {
        0 => json!({"input": "creative content design", "agentId": "peter-logical"}),
        _ => json!({"input": "creative content design"}),
    });
    let told: Vec<_> = requests
        .map(|body| world.post("/api/agents/execute", body).with(200)["execution"]["id"].clone())
        .collect();
    world.execute(json!({"input": "last"}));
    for (number, id) in told.iter().enumerate() {
        let id = id.as_str().unwrap();
        let shown = world.get(&format!("/api/agents/execution/{id}")).with(200);
        let (own, other) = match number % 2 {
            0 => ("peter-logical", "ami-creative"),
            _ => ("ami-creative", "peter-logical"),
        };
        assert_eq!(shown["execution"]["delegatedTo"], own);
        assert!(!shown["execution"]["steps"].to_string().contains(other));
    }
    let dashboard = world.get("/api/agents/metrics").with(200)["dashboard"].clone();
    assert_eq!(dashboard["completedExecutions"], 41);
}

#[test]
fn route_gives_its_reasons() {
    let world = World::new();
    world.walk(
        r#"
        PUT /api/agents/ami-creative {"status": "paused"} -> 200
        POST /api/route {"message": "history of war", "explain": 5} -> 200 {"route": {"agent": "toby-technical"}, "notScored": [{"why": "supervisor"}, {"why": "paused"}], "delegation": {"to": "toby-technical"}}
        POST /api/route {} -> 400
        "#,
    );
    let told = world
        .post("/api/route", json!({"message": WAR, "explain": 5}))
        .with(200);
    let best = &told["route"]["candidates"][0];
    let sum = best["base"].as_u64().unwrap() + best["tagBoost"].as_u64().unwrap();
    assert_eq!(best["score"], sum);
}

#[test]
fn draft_is_scored_like_stored_agent() {
    World::new().walk(
        r#"
        POST /api/route {"message": "Explain the Second War in Warcraft history.", "draft": {"name": "Lore", "tags": ["warcraft", "second war", "history", "explain"]}} -> 200 {"route": {"agent": "draft"}}
        POST /api/agents/execute?wait=true {"input": "Explain the Second War in Warcraft history."} -> 200
        POST /api/route/try {"draft": {"name": "Lore", "tags": ["warcraft", "second war", "history", "explain"]}} -> 200 {"messages": 1, "reachesNow": 1, "gained": {"0": {"from": "toby-technical"}}}
        POST /api/route/try {"draft": {"id": "toby-technical", "tags": ["nothing"]}} -> 200 {"reachedBefore": 1}
        GET /api/agents/sync -> 200 {"count": 4}
        "#,
    );
}

#[test]
fn execution_streams_its_events_on_request() {
    let world = World::new();
    let told = world.post("/api/agents/execute", json!({"input": WAR, "stream": true}));
    assert_eq!(told.header("content-type"), "text/event-stream");
    let text = told.text();
    let events: Vec<(&str, serde_json::Value)> = text
        .split("\n\n")
        .filter_map(|part| {
            let (name, data) = part.split_once("\ndata: ")?;
            Some((
                name.strip_prefix("event: ")?,
                serde_json::from_str(data).unwrap(),
            ))
        })
        .collect();
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!(
        (first.0, &first.1["execution"]["status"]),
        ("execution", &json!("running"))
    );
    assert_eq!(
        (last.0, &last.1["execution"]["status"]),
        ("done", &json!("completed"))
    );
    assert!(!last.1["execution"]["output"].as_str().unwrap().is_empty());
    let all = last.1["execution"]["steps"].as_array().unwrap().len();
    let before = first.1["execution"]["steps"].as_array().unwrap().len();
    let steps = events
        .iter()
        .filter(|(name, data)| *name == "run" && data["type"] == "execution_step");
    assert_eq!(
        steps.count(),
        all - before,
        "each step is told once: {text}"
    );
}

#[test]
fn execution_of_killed_server_is_shown_as_failed() {
    let world = World::new();
    let id = "exec_1_dead";
    {
        let mut context = world.server.lend_context().unwrap();
        let mut transaction = context.store.write_records().unwrap();
        let mut run = Run::new(id.into(), RunKind::Execution, "cleo", WAR.into());
        run.status = RunStatus::Running;
        run.started_at = "2026-11-22T09:00:00.000Z".to_string();
        run.owner = "dead".to_string();
        transaction.put_run(&run).unwrap();
        transaction.commit().unwrap();
    }
    let told = world.get(&format!("/api/agents/execution/{id}")).with(200);
    assert_eq!(told["execution"]["status"], "failed");
    let error = told["execution"]["error"].as_str().unwrap();
    assert!(error.starts_with("interrupted"), "{error}");
    assert!(told["execution"]["endTime"].is_string(), "{told}");
}

/// A0-17.
#[test]
fn executions_are_counted() {
    let world = World::new();
    for number in 0..20 {
        let message = ["creative design", "history of war"][number % 2];
        world.execute(json!({"input": message}));
    }
    let told = world.get("/api/agents/metrics").with(200);
    let dashboard = &told["dashboard"];
    assert_eq!(dashboard["completedExecutions"], 20);
    assert!(dashboard["averageResponseTimeMs"].as_f64().unwrap() > 0.0);
    let agents = told["agents"].as_array().unwrap();
    let sum = |all: &[Value], path: &str| -> u64 {
        all.iter()
            .filter_map(|one| one.pointer(path)?.as_u64())
            .sum()
    };
    assert_eq!(sum(agents, "/executionCount"), 20);
    for one in agents.iter().filter(|one| one["executionCount"] != 0) {
        assert_eq!(one["successRate"], Value::Null, "no model was asked");
        assert!(one["lastUsedAt"].is_string());
    }
}

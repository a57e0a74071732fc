use serde_json::json;

use super::{ME, World};
use crate::run::{Run, RunKind, RunStatus};
use crate::store::Store;

const WAR: &str = "Explain the Second War in Warcraft history.";
const LAYOUT: &str = "Help me design a creative layout for my blog.";

/// A0-2 to A0-5.
#[test]
fn messages_are_routed_as_specified_with_the_score() {
    let world = World::new();
    for (message, agent) in [
        (WAR, Some("toby-technical")),
        (LAYOUT, Some("ami-creative")),
        (
            "Solve 2x + 5 = 15 and explain the steps.",
            Some("peter-logical"),
        ),
        ("zzzz qqqq", None),
    ] {
        let execution = world.execute(json!({"input": message}));
        assert_eq!(execution["status"], "completed");
        assert_eq!(execution["delegatedTo"], json!(agent), "{message}");
        // It keeps the settings that it was started with.
        let output = execution["output"].as_str().unwrap();
        assert!(output.ends_with(", and start the server again"), "{output}");
        assert_eq!(execution["user"], ME);
    }
    let told = world.get("/api/agents/delegations").with(200);
    let delegations = told["delegations"].as_array().unwrap();
    assert_eq!((delegations.len(), &told["total"]), (4, &json!(4)));
    let war = &delegations[3];
    assert_eq!(war["from"], "cleo-supervisor");
    assert_eq!(
        (&war["to"], &war["score"]),
        (&json!("toby-technical"), &json!(9))
    );
    assert_eq!(war["reason"], "Best match with score 9");
    let page = world
        .get("/api/agents/delegations?limit=1&before=999999")
        .with(200);
    assert_eq!(page["delegations"][0]["to"], "finalize");
}

#[test]
fn execution_is_accepted_at_once_and_can_be_polled() {
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
fn named_agent_answers_and_the_supervisor_routes() {
    let world = World::new();
    for (body, agent, by) in [
        (
            json!({"input": LAYOUT, "agentId": "peter-logical"}),
            "peter-logical",
            "requested",
        ),
        (
            json!({"input": LAYOUT, "agentId": "cleo-supervisor"}),
            "ami-creative",
            "rule",
        ),
        (
            json!({"input": LAYOUT, "agentId": "nobody"}),
            "ami-creative",
            "rule",
        ),
        (
            json!({"input": LAYOUT, "metadata": {"requested_agent_id": "peter-logical"}}),
            "peter-logical",
            "requested",
        ),
        (
            json!({"message": LAYOUT, "context": {"requested_agent_id": "peter-logical"}}),
            "peter-logical",
            "requested",
        ),
        (
            json!({"input": null, "message": LAYOUT, "agentId": null, "agent_id": "peter-logical"}),
            "peter-logical",
            "requested",
        ),
    ] {
        let execution = world.execute(body);
        assert_eq!(execution["delegatedTo"], agent);
        assert_eq!(execution["routing"]["by"], by, "{execution}");
    }
}

/// A0-10 and A0-11.
#[test]
fn what_is_no_input_is_refused_in_the_form_of_the_specification() {
    let world = World::new();
    for body in [json!({}), json!({"input": "   "}), json!({"input": null})] {
        let told = world.post("/api/agents/execute", body);
        assert_eq!(told.with(400), json!({"error": "Input is required"}));
    }
    for body in [
        "{",
        "",
        "[]",
        "7",
        "{\"input\":7}",
        "{\"input\":\"x\"} y",
        "\u{0}",
    ] {
        let told = world
            .raw("POST", "/api/agents/execute", body.to_string())
            .with(400);
        assert!(
            told["error"].is_string() && !told.to_string().contains("src/"),
            "{told}"
        );
    }
    for place in ["metadata", "context"] {
        for wrong in [
            json!("x"),
            json!(7),
            json!([]),
            json!({"requested_agent_id": 7}),
        ] {
            let body = json!({"input": WAR, place: wrong});
            let told = world.post("/api/agents/execute", body).with(400);
            assert!(told["error"].is_string(), "{place} {wrong}");
        }
    }
    let told = world.get("/api/agents/execution/nope");
    let expected = json!({"success": false, "error": "Execution not found"});
    assert_eq!(told.with(404), expected);
    let listed = world.get("/api/agents/execute").with(200);
    assert_eq!(listed["total"], 0);
}

/// A0-15.
#[test]
fn executions_side_by_side_do_not_mix() {
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
fn finished_and_foreign_executions_cannot_be_cancelled() {
    let world = World::new();
    let over = world.execute(json!({"input": WAR}));
    let path = format!(
        "/api/agents/execution/{}/cancel",
        over["id"].as_str().unwrap()
    );
    let told = world.post(&path, json!({})).with(409);
    assert_eq!(told["code"], "E_STATUS_REFUSED");
    world
        .post("/api/agents/execution/nope/cancel", json!({}))
        .with(404);
    let ann = world.token("ann", crate::ops::tokens::Scope::Write);
    world.by(&ann, "POST", &path, json!({})).with(404);
}

#[test]
fn the_router_alone_says_why() {
    let world = World::new();
    world
        .call(
            "PUT",
            "/api/agents/ami-creative",
            json!({"status": "paused"}),
        )
        .with(200);
    let told = world
        .post("/api/route", json!({"message": WAR, "explain": 5}))
        .with(200);
    assert_eq!(told["route"]["agent"], "toby-technical");
    let best = &told["route"]["candidates"][0];
    let sum = best["base"].as_u64().unwrap() + best["tagBoost"].as_u64().unwrap();
    assert_eq!(best["score"], sum);
    let not: Vec<_> = told["notScored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["why"])
        .collect();
    assert_eq!(not, ["supervisor", "paused"]);
    assert_eq!(told["delegation"]["to"], "toby-technical");
    world.post("/api/route", json!({})).with(400);
}

#[test]
fn a_draft_is_scored_as_if_it_were_kept() {
    let world = World::new();
    let draft = json!({"name": "Lore", "tags": ["warcraft", "second war", "history", "explain"]});
    let told = world
        .post("/api/route", json!({"message": WAR, "draft": draft}))
        .with(200);
    assert_eq!(told["route"]["agent"], "draft");
    world.execute(json!({"input": WAR}));
    let told = world
        .post("/api/route/try", json!({"draft": draft}))
        .with(200);
    assert_eq!(
        (&told["messages"], &told["reachesNow"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(told["gained"][0]["from"], "toby-technical");
    let weaker = json!({"id": "toby-technical", "tags": ["nothing"]});
    let told = world
        .post("/api/route/try", json!({"draft": weaker}))
        .with(200);
    assert_eq!(told["reachedBefore"], 1);
    assert_eq!(world.get("/api/agents/sync").with(200)["count"], 4);
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
    let refused = world.post("/api/agents/execute", json!({"input": " ", "stream": true}));
    assert_eq!(refused.with(400), json!({"error": "Input is required"}));
    let nowhere = json!({"input": WAR, "stream": true, "conversationId": "conv_nope"});
    world.post("/api/agents/execute", nowhere).with(404);
}

#[test]
fn execution_of_a_killed_server_is_shown_as_failed() {
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
fn twenty_executions_are_counted() {
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
    let counts = agents
        .iter()
        .map(|one| one["executionCount"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 20);
    let used = agents.iter().filter(|one| one["executionCount"] != 0);
    for one in used {
        assert_eq!(one["successRate"], 1.0);
        assert!(one["lastUsedAt"].is_string());
    }
    let window = &dashboard["window"];
    let hours = window["hours"].as_array().unwrap();
    let counted: u64 = hours
        .iter()
        .map(|hour| hour["executions"].as_u64().unwrap())
        .sum();
    assert_eq!(
        (hours.len(), counted, &window["executions"]),
        (24, 20, &json!(20))
    );
    // Nobody answered these: there is no model.
    assert_eq!(
        (&window["answered"], &window["medianMs"]),
        (&json!(0), &json!(null))
    );
    let of_agents = agents
        .iter()
        .map(|one| one["window"]["executions"].as_u64().unwrap());
    assert_eq!(of_agents.sum::<u64>(), 20);
}

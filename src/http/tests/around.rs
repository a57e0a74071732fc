use regex::Regex;
use serde_json::json;

use super::World;
use super::work::plan_epic;
use crate::config::Settings;
use crate::ops::Notes;
use crate::ops::review::{accept, review};

#[test]
fn skills_and_manifest_entries_are_listed_and_shown() {
    let world = plan_epic();
    let skills = world.get("/api/skills").with(200);
    assert!(skills["total"].as_u64().unwrap() >= 15);
    world.walk(
        r#"
        GET /api/skills/ct-documentor -> 200 {"skill": {"tier": 3}}
        GET /api/skills/nobody -> 404
        POST /api/manifest {"id": "e-1", "file": "e.md", "title": "E", "date": "2026-01-26", "status": "complete", "topics": ["x"], "key_findings": ["a", "b", "c"], "actionable": false, "needs_followup": [], "linked_tasks": ["T2"]} -> 201 {"entry": {"linked_tasks": ["T1", "T2"]}}
        POST /api/manifest {"id": "e-1", "file": "e.md", "title": "E", "date": "2026-01-26", "status": "complete", "topics": ["x"], "key_findings": ["a", "b", "c"], "actionable": false, "needs_followup": [], "linked_tasks": ["T2"]} -> 409
        POST /api/manifest {"id": "e-2"} -> 400
        GET /api/manifest?task=T2 -> 200 {"total": 1}
        GET /api/manifest/e-1 -> 200 {"line": 1}
        GET /api/manifest/nope -> 404
        GET /api/manifest?status=odd -> 400
        # A task is linked to an entry once.
        GET /api/work/tasks/T3/links -> 200 {"total": 0}
        POST /api/work/tasks/T3/links {"entry": "e-1"} -> 201 {"created": true}
        POST /api/work/tasks/T3/links {"entry": "e-1"} -> 200
        GET /api/work/tasks/T3/links -> 200 {"total": 1, "links": [{"sources": ["store"]}]}
        POST /api/work/tasks/T3/links {"entry": "nope"} -> 404 E_ENTRY_NOT_FOUND
        POST /api/work/tasks/T3/links {} -> 400
        "#,
    );
}

#[test]
fn search_finds_tasks_and_agents() {
    plan_epic().walk(
        r#"
        GET /api/work/tasks/T4 -> 200 {"state": "$state"}
        GET /api/search?q=%23T4 -> 200 {"items": {"0": {"kind": "task", "href": "/work/T4", "state": "$state"}}}
        GET /api/search?q=ami&kinds=agent -> 200 {"items": {"0": {"id": "ami-creative"}}}
        GET /api/search?kinds=odd -> 400
        "#,
    );
}

#[test]
fn new_agent_inherits_no_status_from_removed_one() {
    let world = World::new();
    world.walk(
        r#"
        POST /api/agents/create {"name": "R", "prompt": "p", "endpoint": "http://93.184.216.34/", "intents": ["a.b"]} -> 201 {"agent": {"id": "r", "standing": "trusted"}}
        DELETE /api/agents/r -> 200
        POST /api/agents/create {"name": "R", "prompt": "p", "command": ["true"], "intents": ["a.b"]} -> 201 {"agent": {"standing": "untrusted"}}
        "#,
    );
    let (around, mut notes) = (world.surroundings(), Notes::default());
    let workers = review(&around, &mut notes, &Settings::default(), Some("r")).unwrap();
    accept(&around, workers).unwrap();
    world.walk(
        r#"
        GET /api/agents/r -> 200 {"agent": {"standing": "trusted"}}
        DELETE /api/agents/r -> 200
        POST /api/agents/create {"name": "R", "prompt": "p", "command": ["true"], "intents": ["a.b"]} -> 201 {"agent": {"standing": "untrusted"}}
        "#,
    );
}

#[test]
fn probes_tell_health_and_figures() {
    let world = World::new();
    world
        .post("/api/work/tasks", json!({"title": "One"}))
        .with(201);
    assert_eq!(world.get("/ready?nocache=1").with(200)["status"], "ok");
    assert_eq!(world.get("/nothing").status, 404);
    let told = world.get("/metrics");
    assert!(
        told.header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    let seconds = Regex::new(r"(seconds_total|_info\S+) [0-9.]+").unwrap();
    insta::assert_snapshot!(seconds.replace_all(&told.text(), "$1 N"), @r#"
    # TYPE cleo_build_info gauge
    cleo_build_info{version="0.1.0"} N
    # TYPE cleo_request_seconds_total counter
    cleo_request_seconds_total N
    # TYPE cleo_requests_total counter
    cleo_requests_total{class="1xx"} 0
    cleo_requests_total{class="2xx"} 2
    cleo_requests_total{class="3xx"} 0
    cleo_requests_total{class="4xx"} 1
    cleo_requests_total{class="5xx"} 0
    # TYPE cleo_requests_in_progress gauge
    cleo_requests_in_progress 1
    # TYPE cleo_answers_in_progress gauge
    cleo_answers_in_progress 0
    # TYPE cleo_listeners gauge
    cleo_listeners 0
    # TYPE cleo_open_tasks gauge
    cleo_open_tasks 1
    # TYPE cleo_ready_tasks gauge
    cleo_ready_tasks 1
    # TYPE cleo_live_runs gauge
    cleo_live_runs 0
    # TYPE cleo_agents_at_work gauge
    cleo_agents_at_work 0
    # TYPE cleo_agents gauge
    cleo_agents 4
    # TYPE cleo_conversations gauge
    cleo_conversations 0
    "#);
}

//! Each operation of the table, called without rights, with unknown fields and on unknown tasks.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::World;
use super::runs::ran;
use super::work::plan_epic;
use crate::http::operations::has_body;
use crate::http::route::{self, Route};
use crate::http::server::Options;
use crate::ops::api;
use crate::ops::operation::{Described, Facts, Frame, Operation, Visitor};
use crate::ops::tokens::Scope;
use crate::run::RunStatus;

/// Puts an id into a path, and things that are there into its other parts.
pub(super) fn fill(path: &str, id: &str) -> String {
    let path = path
        .replace("{id}", id)
        .replace("{name}", id)
        .replace("{key}", id);
    let path = path.replace("{task}", "T1").replace("{attempt}", "1");
    path.replace("{gate}", "testsPassed")
}

/// Method and path of an operation on this id.
fn place(facts: &Facts, id: &str) -> (&'static str, String) {
    let (method, path) = facts.address.split_once(' ').unwrap();
    (method, fill(path, id))
}

impl Visitor for Vec<&'static Facts> {
    fn visit<Request: DeserializeOwned + Described, Reply: Serialize + Described>(
        &mut self,
        operation: &'static Operation<Request, Reply>,
    ) {
        self.push(&operation.facts);
    }
}

fn all() -> impl Iterator<Item = &'static Facts> {
    let mut all = Vec::new();
    api::visit_all(&mut all);
    all.into_iter()
}

#[test]
fn endpoints_need_token_with_their_scope() {
    let ask_tokens = true;
    let options = Options {
        ask_tokens,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let (reader, writer) = (
        world.token("ann", Scope::Read),
        world.token("ann", Scope::Write),
    );
    let is_closed = |route: &&Route| !route.is_open && !route.path.starts_with("/agents");
    for route in route::all().iter().filter(is_closed) {
        let (method, path) = (route.method.as_str(), fill(route.path, "T1"));
        world.call(method, &path, json!({})).with(401);
        for (token, scope) in [(&reader, Scope::Read), (&writer, Scope::Write)] {
            // A stream of events has no end.
            if path == "/api/events" && route.scope <= scope {
                continue;
            }
            let told = world.by(token, method, &path, json!({}));
            let is_refused = told.status == 403;
            assert_eq!(is_refused, route.scope > scope, "{method} {path} {scope}");
        }
    }
}

#[test]
fn operations_refuse_unknown_fields() {
    let world = plan_epic();
    for facts in all() {
        let id = match facts.address.contains("/sessions/") {
            true => "S1",
            false => "T1",
        };
        let (method, path) = place(facts, id);
        let told = match has_body(&method.parse().unwrap()) {
            true => {
                world.call(method, &path, json!([])).with(400);
                // Unknown fields of agents of other programs are ignored, unless they look
                // misspelled.
                if facts.own.contains(&"isRuntime") {
                    let told = world.call(method, &path, json!({"temprature": 1}));
                    let error = told.with(400)["error"].to_string();
                    assert!(error.contains("`temperature` is the nearest"), "{error}");
                    continue;
                }
                world.call(method, &path, json!({"nope": 1}))
            }
            false => world.call(method, &format!("{path}?nope=1"), Value::Null),
        };
        let error = told.with(400)["error"].clone();
        let message = match facts.frame {
            Frame::Ours => error["message"].to_string(),
            _ => error.to_string(),
        };
        let expected = "there is no field `nope`; ";
        assert!(message.contains(expected), "{}: {message}", facts.address);
    }
}

#[test]
fn operations_refuse_unknown_tasks() {
    let world = plan_epic();
    let of_tasks = all().filter(|facts| facts.address.contains("/tasks/{id}"));
    for facts in of_tasks {
        let (method, path) = place(facts, "T99");
        let body = match facts.name {
            "update" | "agents.tasks.update" => json!({"title": "x"}),
            "research.link" => json!({"entry": "x"}),
            _ if path.ends_with("/accept") => json!({"criterion": 1, "notes": ["x"]}),
            _ => json!({}),
        };
        let told = world.call(method, &path, body).with(404);
        let code = match facts.frame {
            Frame::Ours => &told["error"]["code"],
            _ => &told["code"],
        };
        assert_eq!(code, "E_TASK_NOT_FOUND", "{}", facts.address);
    }
}

/// Bodies of the multi-agent specification: an operation, what is sent, its status, and which fields the reply
/// has besides `success`.
#[rustfmt::skip]
const SPECIFIED: [(&str, &str, u16, &[&str]); 19] = [
    ("GET /api/agents/sync", "", 200, &["message", "agents", "count"]),
    ("GET /api/agents/list", "", 200, &["agents", "total", "warnings"]),
    ("GET /api/agents/delegations", "", 200, &["delegations", "total"]),
    ("GET /api/agents/metrics", "", 200, &["dashboard", "agents"]),
    ("POST /api/agents/cleanup", "{}", 200, &["message", "cleanedUp", "remaining", "count"]),
    ("POST /api/agents/create", r#"{"name": "New", "prompt": "p"}"#, 201, &["agent", "created", "warnings"]),
    ("GET /api/agents/{id}", "", 200, &["agent"]),
    ("PUT /api/agents/{id}", r#"{"objective": "Order"}"#, 200, &["agent", "warnings"]),
    ("DELETE /api/agents/{id}", "", 200, &["agent", "restored", "unassigned"]),
    ("GET /api/agents/execute", "", 200, &["executions", "total"]),
    ("POST /api/conversations/create", r#"{"agent_id": "chat"}"#, 201, &["conversation"]),
    ("GET /api/conversations", "", 200, &["conversations", "total"]),
    ("GET /api/conversations/{id}", "", 200, &["conversation", "messages", "total", "pending"]),
    ("PUT /api/conversations/{id}", r#"{"title": "Over"}"#, 200, &["conversation"]),
    ("POST /api/tasks/create", r#"{"title": "One"}"#, 201, &["task", "warnings"]),
    ("GET /api/tasks/stats", "", 200, &["stats"]),
    ("GET /api/tasks", "", 200, &["tasks", "total"]),
    ("GET /api/tasks/{id}", "", 200, &["task", "warnings"]),
    ("PUT /api/tasks/{id}", r#"{"status": "doing"}"#, 200, &["task", "warnings"]),
];

#[test]
fn specified_operations_answer_in_their_form() {
    let world = World::new();
    let lore = json!({"id": "lore", "name": "Lore", "prompt": "p"});
    world.post("/api/agents/create", lore).with(201);
    let mut talk = String::new();
    let specified = all().filter(|facts| facts.frame != Frame::Ours);
    let specified: Vec<_> = specified.map(|facts| facts.address).collect();
    assert_eq!(specified, SPECIFIED.map(|(address, ..)| address));
    for (address, sent, status, fields) in SPECIFIED {
        let (method, path) = address.split_once(' ').unwrap();
        let id = match path.split('/').nth(2) {
            Some("agents") => "lore",
            Some("conversations") => &talk,
            _ => "T1",
        };
        let told = world.raw(method, &path.replace("{id}", id), sent.to_string());
        let value = told.with(status);
        assert_eq!(value["success"], true, "{address}");
        let text = told.text();
        assert!(text.starts_with("{\"success\":true,"), "{text}");
        assert!(
            fields
                .iter()
                .all(|field| !value[field].is_null() || *field == "pending"),
            "{text}"
        );
        assert_eq!(value.as_object().unwrap().len(), fields.len() + 1, "{text}");
        if let Some(begun) = value["conversation"]["id"].as_str() {
            talk = begun.to_string();
        }
    }
}

const PLAN: &str = r#"{"text": "{\"goal\": \"g\", \"steps\": [{\"id\": \"a\", \"title\": \"A\", \"agent\": \"ami-creative\", \"instruction\": \"b\"}]}"}"#;

/// All other operations, in an order in which each finds what it needs: the operation, what it is about, the query or
/// the body, the status, and which fields the reply has besides warnings and the number of the operation.
#[rustfmt::skip]
const ANSWERED: [(&str, &str, &str, u16, &[&str]); 84] = [
    ("GET /api/work/tasks", "", "", 200, &["tasks", "total"]),
    ("POST /api/work/tasks", "", r#"{"title": "Sixth"}"#, 201, &["created", "task"]),
    ("PATCH /api/work/tasks/{id}", "T6", r#"{"phase": "build"}"#, 200, &["task"]),
    ("GET /api/work/tasks/{id}", "T6", "", 200, &["attempts", "children", "claim", "critical", "dependents", "depends", "dispatch", "gates", "live", "missing", "position", "problems", "refused", "spawns", "state", "task", "unblocks", "verified", "wave"]),
    ("GET /api/work/now", "", "", 200, &["atWork", "delivered", "deliveredTotal", "needsYou", "needsYouTotal", "now"]),
    ("GET /api/work/rows", "", "", 200, &["counts", "rows", "total", "version"]),
    ("GET /api/work/epics", "", "", 200, &["groups"]),
    ("GET /api/work/graph", "", "", 200, &["counts", "criticalPath", "edges", "epic", "groups", "lanes", "nodes", "problems", "size", "stacks", "version"]),
    ("GET /api/search", "", "", 200, &["items", "q", "total"]),
    ("GET /api/work/tasks/{id}/deps", "T3", "", 200, &["dependents", "depends", "missing", "problems", "ready", "task", "unblocks"]),
    ("GET /api/work/ready", "", "", 200, &["delivered", "problems", "tasks", "total"]),
    ("GET /api/work/next", "", "", 200, &["command", "conflicts", "conflictsTotal", "problems", "reason", "task", "total", "unblocks"]),
    ("GET /api/work/waves", "", "", 200, &["conflicts", "outside", "problems", "stuck", "total", "waves"]),
    ("GET /api/work/analysis", "", "", 200, &["bottlenecks", "conflicts", "conflictsTotal", "criticalPath", "epic", "problems", "totals", "waves"]),
    ("GET /api/work/start", "", "", 200, &["active", "budget", "expiredClaims", "followups", "percent", "problems", "ready", "recommended", "state", "total"]),
    ("GET /api/work/status", "", "", 200, &["active", "entries", "epics", "expiredClaims", "followups", "percent", "problems", "ready", "recommended", "state", "total"]),
    ("GET /api/work/brief", "", "", 200, &["active", "at", "done", "expiredClaims", "followups", "heldUp", "notes", "percent", "problems", "ready", "recommended", "sessions", "state", "total", "waiting"]),
    ("GET /api/work/validate", "", "", 200, &["compliant", "rules", "tasks", "total"]),
    ("POST /api/work/context", "", r#"{"tokens": 1}"#, 200, &["limit", "method", "parts", "percent", "state", "tokens"]),
    ("POST /api/work/claim", "", "{}", 200, &["changed", "claim", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/heartbeat", "T2", "{}", 200, &["changed", "claim", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/release", "T2", "{}", 200, &["changed", "claim", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/claim", "T2", "{}", 200, &["changed", "claim", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/start", "T2", "{}", 200, &["changed", "claim", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/complete", "T2", "{}", 200, &["changed", "task", "unblocked"]),
    ("POST /api/work/archive", "", r#"{"tasks": ["T2"]}"#, 200, &["dryRun", "tasks", "total"]),
    ("POST /api/work/unarchive", "", r#"{"tasks": ["T2"]}"#, 200, &["dryRun", "tasks", "total"]),
    ("POST /api/work/tasks/{id}/reopen", "T2", "{}", 200, &["changed", "task", "unblocked"]),
    ("POST /api/work/tasks/{id}/cancel", "T5", "{}", 200, &["changed", "task", "unblocked"]),
    ("POST /api/work/undo", "", r#"{"operation": 16}"#, 200, &["changes", "dryRun", "total", "undo"]),
    ("POST /api/work/sessions", "", "{}", 201, &["changed", "session"]),
    ("GET /api/work/sessions", "", "", 200, &["sessions", "total"]),
    ("GET /api/work/sessions/{id}", "S1", "", 200, &["claims", "counts", "focus", "next", "session"]),
    ("PUT /api/work/focus", "", r#"{"task": "T2"}"#, 200, &["focus", "session"]),
    ("GET /api/work/focus", "", "", 200, &["focus", "session"]),
    ("POST /api/work/sessions/{id}/end", "S1", r#"{"note": "half"}"#, 200, &["changed", "session"]),
    ("POST /api/work/sessions/{id}/resume", "S1", "{}", 200, &["changed", "session"]),
    ("GET /api/work/phases", "", "", 200, &["current", "phases", "total"]),
    ("POST /api/work/phases/{name}/set", "build", "{}", 200, &["changed", "phase"]),
    ("POST /api/work/phases/{name}/start", "build", "{}", 200, &["changed", "phase"]),
    ("POST /api/work/phases/{name}/complete", "build", r#"{"force": true}"#, 200, &["changed", "phase"]),
    ("GET /api/skills", "", "", 200, &["shadowed", "skills", "total"]),
    ("GET /api/skills/{name}", "ct-research-agent", "", 200, &["body", "skill"]),
    ("POST /api/work/skills/validate", "", r#"{"name": "a", "text": "---\nname: a\ndescription: b\n---\nc\n"}"#, 200, &["faults", "path", "valid"]),
    ("GET /api/work/tasks/{id}/dispatch", "T2", "", 200, &["candidates", "matched", "reason", "runnerUp", "skill", "strategy", "taskId"]),
    ("GET /api/work/tasks/{id}/prompt", "T2", "", 200, &["manifestId", "outputFile", "prompt", "promptDigest", "protocols", "receipt", "skill", "strategy", "taskId", "tokenEstimate", "tokenResolution"]),
    ("POST /api/work/tasks/{id}/spawn", "T2", "{}", 200, &["manifestId", "outputFile", "prompt", "promptDigest", "protocols", "receipt", "skill", "strategy", "taskId", "tokenEstimate", "tokenResolution"]),
    ("GET /api/work/tasks/{id}/why", "T2", "", 200, &["at", "changed", "fault", "forced", "outputDigest", "promptDigestNow", "receipt", "reproduced", "taskId", "verifiedAt"]),
    ("GET /api/work/tasks/{id}/manifest", "T2", "", 200, &["entry", "entryStatus", "line", "manifestId", "outputDigest", "outputFile", "spawnedAt", "taskId", "text", "textBytes", "verdict", "violations"]),
    ("POST /api/work/tasks/{id}/verify", "T2", "{}", 422, &["entryStatus", "manifestId", "outputDigest", "outputFile", "spawnedAt", "taskId", "verdict", "violations"]),
    ("POST /api/work/verify/prompt", "", r#"{"text": "a"}"#, 422, &["verdict", "violations"]),
    ("POST /api/work/verify/message", "", r#"{"message": "a"}"#, 422, &["nearest", "status", "verdict", "violations"]),
    ("POST /api/work/verify/manifest", "", "{}", 200, &["faults", "verdict", "violations"]),
    ("GET /api/work/tasks/{id}/gates", "T2", "", 200, &["criteria", "failures", "gates", "missing", "passed", "required", "round", "roundsMax", "stale", "states", "taskId", "tree"]),
    ("POST /api/work/tasks/{id}/gates/{gate}", "T2", r#"{"force": true, "notes": ["seen"]}"#, 200, &["criteria", "failures", "gates", "missing", "passed", "required", "round", "roundsMax", "stale", "states", "taskId", "tree"]),
    ("POST /api/work/tasks/{id}/accept", "T2", r#"{"criterion": 1, "notes": ["seen"]}"#, 200, &["criteria", "failures", "gates", "missing", "passed", "required", "round", "roundsMax", "stale", "states", "taskId", "tree"]),
    ("POST /api/work/tasks/{id}/renew", "T2", "{}", 200, &["criteria", "criteriaWordsOnly", "failures", "gates", "missing", "passed", "ran", "required", "round", "roundsMax", "stale", "states", "taskId", "tree", "wordsOnly"]),
    ("POST /api/work/import", "", r#"{"text": "{\"cleo\":\"tasks\",\"version\":1}\n"}"#, 200, &["added", "byStatus", "changed", "cycles", "dryRun", "edges", "extraFields", "faults", "format", "kept", "leftOut", "newerHere", "parents", "phases", "read", "renamed", "repeatedIds", "replaced", "unchanged", "updated", "withoutCreated"]),
    ("POST /api/plans", "", r#"{"goal": "write a report"}"#, 200, &["assignments", "plan", "skills", "source", "waves"]),
    ("POST /api/plans/check", "", PLAN, 200, &["assignments", "faults", "plan", "total", "waves"]),
    ("POST /api/plans/draw", "", PLAN, 200, &["dot", "svg", "total"]),
    ("POST /api/work/tasks/{id}/links", "T2", r#"{"entry": "one"}"#, 201, &["created", "entry", "task"]),
    ("GET /api/work/tasks/{id}/links", "T2", "", 200, &["links", "task", "total"]),
    ("GET /api/work/tasks/{id}/block", "T2", "", 200, &["block"]),
    ("GET /api/work/block", "", "", 200, &["block"]),
    ("GET /api/manifest", "", "", 200, &["entries", "total"]),
    ("GET /api/manifest/{id}", "one", "", 200, &["entry", "line"]),
    ("GET /api/work/manifest/validate", "", "", 200, &["entries", "faults", "valid"]),
    ("POST /api/work/manifest/compact", "", "{}", 200, &["dryRun", "file", "kept", "rejected", "total"]),
    ("GET /api/work/log", "", "", 200, &["operations", "total"]),
    ("GET /api/runs", "", "", 200, &["runs", "summary", "total"]),
    ("GET /api/runs/{id}", "exec_1_a", "", 200, &["cursor", "messages", "now", "options", "run", "steps", "tasks"]),
    ("GET /api/runs/{id}/events", "exec_1_a", "", 200, &["events", "next"]),
    ("GET /api/runs/{id}/log", "exec_1_a", "task=T1&attempt=1", 200, &["following", "from", "lines", "matches", "total"]),
    ("GET /api/runs/{id}/tasks/{task}/attempts/{attempt}/prompt", "exec_1_a", "", 200, &["bytes", "digest", "text"]),
    ("GET /api/runs/{id}/tasks/{task}/attempts/{attempt}/diff", "exec_1_a", "", 200, &["attempt", "base", "branch", "commit", "files", "outside", "place", "task", "total"]),
    ("GET /api/runs/{id}/proof", "exec_1_a", "task=T1", 200, &["attempt", "found", "next", "said", "task", "verdict"]),
    ("POST /api/runs/{id}/tasks/{task}/words", "exec_1_a", r#"{"text": "Wait."}"#, 409, &["error"]),
    ("POST /api/runs/{id}/tasks/{task}/stop", "exec_1_a", "", 409, &["error"]),
    ("GET /api/config", "", "", 200, &["settings", "total"]),
    ("GET /api/config/{key}", "run.jobs", "", 200, &["setting"]),
    ("GET /api/doctor", "", "", 200, &["failed", "findings", "total", "warned"]),
    ("POST /api/workers/check", "", "", 200, &["checks", "down", "total", "up"]),
    ("DELETE /api/work/tasks/{id}", "T6", "", 200, &["deleted", "dryRun", "released"]),
];

#[test]
fn every_operation_answers_with_fields_of_its_reply() {
    let world = plan_epic();
    ran(&world, "exec_1_a", "ann", RunStatus::Failed);
    let entry = json!({"id": "one", "file": "one.md", "title": "One", "date": "2026-11-22",
        "status": "complete", "agent_type": "research", "topics": ["a"], "key_findings": ["a", "b", "c"],
        "actionable": true, "needs_followup": [], "linked_tasks": ["T2"]});
    world.post("/api/manifest", entry).with(201);
    let criterion = json!({"addAcceptance": ["it was read"]});
    world
        .call("PATCH", "/api/work/tasks/T2", criterion)
        .with(200);
    let mut wrong = Vec::new();
    for (address, id, sent, status, fields) in ANSWERED {
        let (method, _) = address.split_once(' ').unwrap();
        let facts = all().find(|facts| facts.address == address).unwrap();
        let (_, mut path) = place(facts, id);
        let mut body = sent;
        if !has_body(&method.parse().unwrap()) && !sent.is_empty() {
            (path, body) = (format!("{path}?{sent}"), "");
        }
        let told = world.raw(method, &path, body.to_string());
        let mut value = told.json();
        let reply = value.as_object_mut().unwrap();
        if reply.contains_key("result") {
            *reply = reply["result"].as_object().unwrap().clone();
        }
        reply.retain(|name, _| name != "warnings" && name != "operation");
        let names: Vec<&String> = reply.keys().collect();
        if told.status != status || names != fields {
            wrong.push(format!("{address} {} {names:?}", told.text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> = all()
        .filter(|facts| facts.frame == Frame::Ours)
        .map(|facts| facts.address)
        .filter(|address| ANSWERED.iter().all(|(answered, ..)| answered != address))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

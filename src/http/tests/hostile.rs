//! Every endpoint is called with invalid input: it is refused in the documented form, and what
//! was there before is there afterwards.

use serde_json::{Value, json};

use super::World;
use super::operations::fill;
use super::runs::ran;
use crate::http::fault::Shape;
use crate::http::route;
use crate::http::route::Route;
use crate::run::RunStatus;

fn path(route: &Route, id: &str) -> String {
    fill(route.path, id)
}

/// Endpoints that read a body.
fn writing() -> impl Iterator<Item = &'static Route> {
    let routes = route::all().iter();
    routes.filter(|route| route.description.body.is_some())
}

/// Whether an answer tells an error in the form that its endpoint is described with, or in ours.
fn is_told_well(route: &Route, told: &Value) -> bool {
    let ours = told["error"]["code"].is_string() && told["error"]["message"].is_string();
    ours || match route.shape {
        Shape::Ours => false,
        Shape::Success => told["success"] == false && told["code"].is_string(),
        Shape::Plain => told["success"] == false && told["error"].is_string(),
        Shape::Bare => told["error"].is_string(),
        Shape::Chat => told["response"]["message"].is_string(),
        Shape::Detail => told["detail"].is_string(),
    }
}

fn with_things() -> World {
    let world = World::new();
    world
        .post("/api/work/tasks", json!({"title": "One"}))
        .with(201);
    let agent = json!({"id": "mine", "name": "Mine", "prompt": "p"});
    world.post("/api/agents/create", agent).with(201);
    ran(&world, "tasks_1_a", super::ME, RunStatus::Completed);
    world
}

/// Everything that is kept, as far as it can be asked for.
fn read_all(world: &World) -> Vec<Value> {
    [
        "/api/work/tasks",
        "/api/agents/sync",
        "/api/runs",
        "/api/conversations",
        "/api/agents/execute",
        "/api/manifest",
    ]
    .map(|path| world.get(path).with(200))
    .to_vec()
}

#[test]
fn invalid_bodies_are_refused() {
    let world = with_things();
    let before = read_all(&world);
    let deep = "[".repeat(100_000);
    let nested = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let wrong = json!({
        "agent": [], "agentId": {}, "agent_id": {}, "args": 7, "conversation_id": [], "depends": "x",
        "draft": 7, "dryRun": "yes", "epic": {}, "epoch": "x", "explain": "x", "fields": 1, "files": 7, "id": [],
        "input": {}, "key": [], "lease": "x", "message": [], "name": [], "olderThan": "x", "operation": "x",
        "passed": "x", "priority": {}, "prompt": [], "query": [], "reason": [], "run": 7, "status": 7,
        "tags": 7, "tasks": "x", "title": [], "token": [], "wait": 7, "force": "x", "strict": "x",
        "template": [], "assigned_to": [], "task_id": 7, "linked_tasks": 7,
    });
    for route in writing() {
        for body in [
            "{",
            "nul",
            "\u{0}",
            "{\"a\":1,}",
            "[]",
            "[{}]",
            "7",
            "\"text\"",
            "{} {}",
            &deep,
            &nested,
            &wrong.to_string(),
        ] {
            let told = world.raw(route.method.as_str(), &path(route, "T1"), body.to_string());
            let (name, shown) = (route.path, &body[..body.len().min(40)]);
            let status = told.status.as_u16();
            assert!(
                (400..500).contains(&status),
                "{name} {shown}: {status} {}",
                told.text()
            );
            assert!(
                is_told_well(route, &told.json()),
                "{name} {shown}: {}",
                told.text()
            );
            assert!(told.text().len() < 4_000, "{name} {shown}");
            assert!(
                !told.text().contains("src/"),
                "{name} {shown}: {}",
                told.text()
            );
        }
        let bytes = vec![0xff, 0xfe, 0x7b];
        let told = world.raw(route.method.as_str(), &path(route, "T1"), bytes);
        assert!(
            told.status.is_client_error(),
            "{}: {}",
            route.path,
            told.text()
        );
    }
    assert_eq!(read_all(&world), before);
}

#[test]
fn body_is_optional_where_described() {
    let world = with_things();
    for route in writing() {
        let told = world.ask(route.method.as_str(), &path(route, "T1"), &[], "");
        let is_missed = told.status == 415;
        let is_needed = !route.description.is_bodiless;
        assert_eq!(is_missed, is_needed, "{}: {}", route.path, told.text());
    }
}

#[test]
fn bodies_of_ten_megabytes_are_refused_and_not_kept() {
    let world = with_things();
    let before = read_all(&world);
    let large = json!({"input": "x".repeat(10 << 20)}).to_string();
    for route in route::all() {
        if route.path == "/api/events" {
            continue;
        }
        let told = world.raw(route.method.as_str(), &path(route, "T1"), large.clone());
        assert!(is_told_well(route, &told.with(413)), "{}", route.path);
    }
    assert_eq!(read_all(&world), before);
}

#[test]
fn invalid_ids_and_queries_are_client_errors() {
    let world = with_things();
    let before = read_all(&world);
    for route in route::all() {
        if route.path == "/api/events" {
            continue;
        }
        for id in [
            "nope",
            "T0",
            "T-1",
            "T1%0a",
            "%f0%9f%92%a9",
            "T99999999999999999999",
            "..%2f..%2fetc%2fpasswd",
            "%2e%2e",
            "%00",
            "%0d%0aset-cookie:a=b",
            "%ff%fe",
            "'%20OR%201=1--",
            "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
            &"a".repeat(5_000),
        ] {
            if !route.path.contains('{') {
                continue;
            }
            let told = world.raw(route.method.as_str(), &path(route, id), "{}");
            let status = told.status.as_u16();
            assert!(status < 500, "{} {id}: {}", route.path, told.text());
            assert!(status >= 400, "{} {id}: {}", route.path, told.text());
            assert!(told.headers.get("set-cookie").is_none());
            for word in ["root:", "src/", "SELECT"] {
                assert!(!told.text().contains(word), "{} {id}", route.path);
            }
        }
        for query in [
            "limit=-1",
            "limit=99999999999999999999",
            "limit=x&offset=y",
            "status=%00",
            "q=%ff",
            "%",
            "a[]=1",
            &format!("q={}", "a".repeat(20_000)),
        ] {
            if route.method != "GET" {
                continue;
            }
            let told = world.get(&format!("{}?{query}", path(route, "T1")));
            assert!(
                !told.status.is_server_error(),
                "{} {query}: {}",
                route.path,
                told.text()
            );
        }
    }
    assert_eq!(read_all(&world), before);
}

#[test]
fn unexpected_query_parameter_is_refused_before_any_work() {
    let world = with_things();
    let before = read_all(&world);
    for route in route::all().iter().filter(|route| !route.takes_query) {
        let place = format!("{}?dryRun=true", path(route, "T1"));
        let told = world.raw(route.method.as_str(), &place, "{}");
        assert!(is_told_well(route, &told.with(400)), "{}", told.text());
        assert!(told.text().contains("`dryRun`"), "{}", told.text());
    }
    let told = world.call("DELETE", "/api/agents/mine?dryRun=true", json!(null));
    assert_eq!(told.with(400)["code"], "E_INPUT_INVALID");
    world.post("/api/route?", json!({"message": "x"})).with(200);
    for page in [
        "/?dryRun=true",
        "/work?view=list",
        "/agents?x=1",
        "/health?t=1",
    ] {
        assert_eq!(world.get(page).status, 200, "{page}");
    }
    assert_eq!(read_all(&world), before);
}

#[test]
fn markup_is_sent_as_text() {
    let world = World::new();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(1)>";
    let task = json!({"title": evil, "description": evil, "labels": ["x"], "notes": [evil]});
    world.post("/api/work/tasks", task).with(201);
    let agent =
        json!({"id": "a", "name": evil, "prompt": evil, "description": evil, "tags": ["zebra"]});
    world.post("/api/agents/create", agent).with(201);
    world.execute(json!({"input": format!("zebra {evil}")}));
    let talk = json!({"agent_id": "a", "title": evil});
    let talk = world.post("/api/conversations/create", talk).with(201);
    let talk = talk["conversation"]["id"].as_str().unwrap().to_string();
    world.execute(json!({"input": evil, "conversationId": talk}));
    world.post("/api/chat", json!({"message": evil})).with(200);
    ran(&world, "tasks_1_a", evil, RunStatus::Failed);
    for route in route::all() {
        if route.method != "GET" || route.path == "/api/events" {
            continue;
        }
        for id in ["T1", "a", &talk, "tasks_1_a"] {
            let told = world.get(&path(route, id));
            let kind = told.header("content-type").to_string();
            assert_eq!(
                told.header("x-content-type-options"),
                "nosniff",
                "{}",
                route.path
            );
            match kind.starts_with("text/html") {
                true => assert!(!told.text().contains("<script>alert"), "{}", route.path),
                false => assert!(!kind.contains("html"), "{} {kind}", route.path),
            }
        }
    }
    for page in [
        "/work/%3Cscript%3Ealert(1)%3C/script%3E",
        "/%22onload=%22alert(1)",
    ] {
        let told = world.get(page);
        assert!(!told.text().contains("alert(1)"), "{page} {}", told.text());
    }
}

#[test]
fn sign_in_redirect_injects_no_header() {
    let world = World::at("0.0.0.0:4680", crate::http::server::Options::default());
    for path in [
        "/work/%0d%0aset-cookie:a=b",
        "/work?next=//evil.example",
        "//evil.example/x",
    ] {
        let told = world.get(path);
        let place = told.header("location");
        assert!(
            place.starts_with("/sign-in?next=/") && !place.contains(['\r', '\n']),
            "{place}"
        );
        assert!(told.headers.get("set-cookie").is_none(), "{path}");
    }
}

use serde_json::json;

use super::{add, code, plan_epic};
use crate::http::tests::World;

/// Every path with ids that are none, or lead elsewhere.
#[test]
fn invalid_ids_are_refused_and_never_a_server_error() {
    let world = plan_epic();
    let ids = [
        "T0",
        "T99",
        "x",
        "T-1",
        "T99999999999",
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "T1%0a",
        "'%20OR%201=1",
        "%f0%9f%92%a9",
    ];
    let under = [
        "",
        "/deps",
        "/dispatch",
        "/prompt",
        "/why",
        "/manifest",
        "/gates",
    ];
    for id in ids {
        for end in under {
            let told = world.get(&format!("/api/work/tasks/{id}{end}"));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}{end}: {}",
                told.text()
            );
            assert!(
                !told.text().contains("src/") && !told.text().contains("SELECT"),
                "{}",
                told.text()
            );
        }
        for verb in [
            "start",
            "complete",
            "reopen",
            "cancel",
            "claim",
            "heartbeat",
            "release",
            "spawn",
            "verify",
            "gates/implemented",
        ] {
            let told = world.post(&format!("/api/work/tasks/{id}/{verb}"), json!({}));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}/{verb}: {}",
                told.text()
            );
        }
        for end in [
            "",
            "/events",
            "/log",
            "/report",
            "/proof?task=T1",
            "/tasks/T1/attempts/1/prompt",
        ] {
            let told = world.get(&format!("/api/runs/{id}{end}"));
            assert!(
                matches!(told.status.as_u16(), 400 | 404),
                "{id}{end}: {}",
                told.text()
            );
        }
    }
}

/// Bodies that are not what is read.
#[test]
fn what_is_no_body_is_refused_and_changes_nothing() {
    let world = plan_epic();
    let before = world.get("/api/work/log").with(200)["total"].clone();
    let bodies = [
        "{",
        "[]",
        "7",
        "null",
        "\"x\"",
        "{\"title\":7}",
        "{\"title\":\"x\"} y",
        "\u{0}",
        "{\"nope\":1}",
        "{\"title\":\"\"}",
        "{\"force\":\"yes\"}",
    ];
    let paths = [
        ("POST", "/api/work/tasks"),
        ("PATCH", "/api/work/tasks/T2"),
        ("POST", "/api/work/tasks/T2/claim"),
        ("POST", "/api/work/tasks/T2/gates/implemented"),
        ("POST", "/api/work/undo"),
        ("POST", "/api/manifest"),
        ("POST", "/api/runs"),
    ];
    for (method, path) in paths {
        for body in bodies {
            let told = world.raw(method, path, body.to_string());
            assert_eq!(
                told.status.as_u16(),
                400,
                "{method} {path} {body:?}: {}",
                told.text()
            );
            assert!(told.json()["error"]["code"].is_string());
        }
    }
    let deep = "[".repeat(100_000);
    world.raw("POST", "/api/work/tasks", deep).with(400);
    let long = json!({"title": "x", "description": "y".repeat(2 << 20)}).to_string();
    assert_eq!(
        world.raw("POST", "/api/work/tasks", long).status.as_u16(),
        413
    );
    assert_eq!(world.get("/api/work/log").with(200)["total"], before);
}

/// Text that a page or a terminal could mistake for something else goes in and comes out as it is.
#[test]
fn text_of_strangers_stays_text() {
    let world = World::new();
    let evil = "<script>alert(1)</script>\"'&{{TASK_ID}} $(rm -rf /) %0d%0aSet-Cookie: a=b";
    let id = add(
        &world,
        json!({"title": evil, "description": evil, "labels": [evil]}),
    );
    let told = world.get(&format!("/api/work/tasks/{id}"));
    assert_eq!(told.with(200)["task"]["title"], evil);
    assert!(told.header("content-type").starts_with("application/json"));
    assert_eq!(told.header("x-content-type-options"), "nosniff");
    let found = world.get("/api/search?q=script").with(200);
    assert_eq!(found["items"][0]["title"], evil);
    let refused = world
        .post("/api/work/tasks", json!({"title": "a\u{1b}[31mb"}))
        .with(400);
    assert_eq!(code(&refused), "E_TEXT_CONTROL");
}

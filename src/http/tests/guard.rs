use std::convert::Infallible;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;

use super::{JSON, World};
use crate::http::server::Options;
use crate::ops::tokens::{self, Scope};

const OUTSIDE: &str = "0.0.0.0:4680";

fn elsewhere() -> World {
    World::at(OUTSIDE, Options::default())
}

#[test]
fn allowed_origin_may_call() {
    let origin = "https://app.example.org";
    let options = Options {
        origins: vec![origin.to_string()],
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    for method in ["GET", "OPTIONS"] {
        let told = world.ask(method, "/api/agents/sync", &[("origin", origin)], "");
        assert_eq!(
            (
                told.status.as_u16(),
                told.header("access-control-allow-origin")
            ),
            (200, origin)
        );
        let header = match method {
            "GET" => ("access-control-expose-headers", "cleo-damaged-rows"),
            _ => ("access-control-allow-methods", "GET,POST,PUT,PATCH,DELETE"),
        };
        assert_eq!(told.header(header.0), header.1);
    }
}

#[test]
fn image_of_another_site_is_refused() {
    let world = World::at("127.0.0.1:4680", Options::default());
    for (path, site, mode, status) in [
        ("/api/doctor", "cross-site", "no-cors", 403),
        ("/api/doctor", "cross-site", "navigate", 403),
        ("/api/doctor", "same-origin", "cors", 200),
        ("/api/doctor", "none", "navigate", 200),
        ("/", "cross-site", "navigate", 200),
        ("/", "cross-site", "no-cors", 403),
    ] {
        let headers = [("sec-fetch-site", site), ("sec-fetch-mode", mode)];
        let told = world.ask("GET", path, &headers, "");
        assert_eq!(told.status.as_u16(), status, "{path} {site} {mode}");
    }
}

#[test]
fn local_calls_need_tokens_when_required_or_proxied() {
    let wanted = Options {
        ask_tokens: true,
        ..Options::default()
    };
    let behind = Options {
        hosts: vec!["cleo.example.org".to_string()],
        ..Options::default()
    };
    for options in [wanted, behind] {
        let world = World::at("127.0.0.1:4680", options);
        world.get("/health").with(200);
        world.get("/api/agents/sync").with(401);
        let token = world.token("ann", Scope::Read);
        world
            .by(&token, "GET", "/api/agents/sync", json!(null))
            .with(200);
    }
}

#[test]
fn remote_calls_need_token() {
    let world = elsewhere();
    world.get("/health").with(200);
    world.get("/openapi.json").with(200);
    for path in [
        "/api/agents/sync",
        "/api/events",
        "/api/status",
        "/api/session",
        "/api/tasks",
    ] {
        let told = world.get(path);
        assert_eq!(told.with(401)["error"]["code"], "E_UNAUTHORIZED", "{path}");
        assert!(told.header("www-authenticate").starts_with("Bearer"));
    }
    world
        .post("/api/agents/execute", json!({"input": "x"}))
        .with(401);
    let page = world.get("/work/T1");
    assert_eq!(
        (page.status.as_u16(), page.header("location")),
        (303, "/sign-in?next=/work/T1")
    );
    let page = world.get("/work?view=list&q=%22");
    assert_eq!(
        page.header("location"),
        "/sign-in?next=/work%3Fview%3Dlist%26q%3D%2522"
    );
    assert_eq!(world.get("/agents").status, 303);
    assert_eq!(world.get("/sign-in").status, 200);
}

#[test]
fn token_holds_for_its_scope_until_it_is_revoked() {
    let world = elsewhere();
    let read = world.token("ann", Scope::Read);
    let write = world.token("ann", Scope::Write);
    let body = json!({"input": "x"});
    world
        .by(&read, "GET", "/api/agents/sync", json!(null))
        .with(200);
    let told = world
        .by(&read, "POST", "/api/agents/execute", body.clone())
        .with(403);
    assert_eq!(told["error"]["code"], "E_FORBIDDEN");
    world
        .by(&read, "POST", "/api/route", json!({"message": "x"}))
        .with(200);
    world
        .by(&write, "POST", "/api/agents/execute", body.clone())
        .with(200);
    world
        .by(&write, "POST", "/api/agents/cleanup", json!({}))
        .with(403);
    for forged in [
        "",
        "cleo_",
        "x",
        &write[..20],
        &format!("{write}0"),
        &"a".repeat(5_000),
    ] {
        let told = world.by(forged, "GET", "/api/agents/sync", json!(null));
        assert_eq!(told.status, 401, "{forged}");
    }
    let listed = tokens::list(&world.surroundings()).unwrap();
    for token in listed.tokens {
        tokens::revoke(&world.surroundings(), &token.id).unwrap();
    }
    world
        .by(&write, "GET", "/api/agents/sync", json!(null))
        .with(401);
}

#[test]
fn expired_token_is_refused() {
    let world = elsewhere();
    let past = crate::ops::Surroundings {
        clock: crate::clock::Clock::from_setting(Some("2020-01-01T00:00:00Z")).unwrap(),
        ..world.surroundings()
    };
    let old = tokens::create(&past, "ann", Scope::Write, Some(60)).unwrap();
    world
        .by(&old.secret, "GET", "/api/agents/sync", json!(null))
        .with(401);
}

#[test]
fn token_is_stored_as_digest() {
    let world = elsewhere();
    let token = world.token("ann", Scope::Admin);
    let secret = token.trim_start_matches("cleo_");
    for entry in walkdir::WalkDir::new(world.folder.path())
        .into_iter()
        .flatten()
    {
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            assert!(
                !String::from_utf8_lossy(&bytes).contains(secret),
                "{}",
                entry.path().display()
            );
        }
    }
    for path in ["/api/session", "/api/status"] {
        assert!(
            !world
                .by(&token, "GET", path, json!(null))
                .text()
                .contains(secret)
        );
    }
}

#[test]
fn sign_in_sets_cookie_for_page_only() {
    let world = elsewhere();
    let token = world.token("ann", Scope::Write);
    let told = world.post("/api/session", json!({"token": token}));
    let session = told.with(200)["session"].clone();
    assert_eq!(
        (&session["user"], &session["scopes"]),
        (&json!("ann"), &json!(["read", "write"]))
    );
    let cookie = told.header("set-cookie").to_string();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let pair = cookie.split(';').next().unwrap();
    let cookies = format!("a=b; {pair}");
    let told = world.ask("GET", "/api/status", &[("cookie", &cookies)], "");
    let status = told.with(200)["status"].clone();
    assert_eq!(
        (&status["user"], &status["local"]),
        (&json!("ann"), &json!(false))
    );
    assert_eq!(status["workspace"]["root"], json!(null));
    world
        .post("/api/session", json!({"token": "cleo_forged"}))
        .with(401);
    let out = world.call("DELETE", "/api/session", json!(null));
    assert!(out.header("set-cookie").contains("Max-Age=0"));
}

#[test]
fn sign_in_is_separate_for_each_server_of_machine() {
    let (one, other) = (elsewhere(), World::at("0.0.0.0:4681", Options::default()));
    let [first, second] = [&one, &other].map(|world| {
        let token = json!({"token": world.token("ann", Scope::Read)});
        let told = world.post("/api/session", token);
        let pair = told.header("set-cookie").split(';').next();
        pair.unwrap().to_string()
    });
    let both = format!("{first}; {second}");
    let near = World::new();
    for (world, cookie, status) in [
        (&one, &both, 200),
        (&other, &both, 200),
        (&one, &second, 401),
        (&other, &first, 401),
        (&near, &both, 200),
    ] {
        let told = world.ask("GET", "/api/session", &[("cookie", cookie)], "");
        assert_eq!(told.status, status, "{cookie}: {}", told.text());
    }
    let held = format!("cleo_token_4680={}", near.token("ann", Scope::Read));
    for (cookie, user) in [(&first, super::ME), (&held, "ann")] {
        let told = near.ask("GET", "/api/session", &[("cookie", cookie)], "");
        let told = told.with(200);
        assert_eq!(told["session"]["user"], user);
    }
}

#[test]
fn large_frequent_and_untyped_requests_are_refused() {
    let options = Options {
        max_body: 100,
        rate: Some(1),
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let told = world.raw("POST", "/api/agents/execute", "x".repeat(101));
    assert_eq!(told.with(413)["error"]["code"], "E_BODY_TOO_LARGE");
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let headers = [("content-type", kind)];
        let told = world.ask("POST", "/api/agents/execute", &headers, r#"{"input":"x"}"#);
        assert_eq!(told.with(415)["error"]["code"], "E_MEDIA_TYPE", "{kind}");
    }
    let refused = (0..20)
        .map(|_| world.get("/health"))
        .find(|told| told.status == 429);
    let refused = refused.expect("ten seconds' calls are soon used up");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.json()["error"]["retryable"], true);
}

#[test]
fn slow_sender_blocks_no_other_requests() {
    let options = Options {
        max_calls: 1,
        ..Options::default()
    };
    let world = World::at("127.0.0.1:4680", options);
    let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
    let slow = world
        .request("POST", "/api/agents/execute")
        .header("content-type", "application/json")
        .body(never)
        .unwrap();
    let quick = world.request("GET", "/health").body(Body::empty()).unwrap();
    let status = world.runtime.block_on(async {
        tokio::select! {
            biased;
            _ = super::respond(&world.router, slow) => panic!("it has no end"),
            told = super::respond(&world.router, quick) => told.status(),
        }
    });
    assert_eq!(status, 200);
}

#[test]
fn places_in_use_by_one_user_leave_some_to_others() {
    let options = Options {
        max_calls: 2,
        ..Options::default()
    };
    let world = World::at(OUTSIDE, options);
    let [ann, bob] = ["ann", "bob"].map(|user| world.token(user, Scope::Read));
    let status = |path: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let told = world.ask("GET", path, &[("authorization", &bearer)], "");
        told.status.as_u16()
    };
    let call = world.server.calls.try_take("user ann".to_string()).unwrap();
    assert_eq!(status("/api/agents/sync", &ann), 503);
    assert_eq!(status("/health", &ann), 200);
    assert_eq!(status("/api/agents/sync", &bob), 200);
    drop(call);
    let take = || world.server.listeners.try_take("user ann".to_string());
    let listeners: Vec<_> = std::iter::from_fn(take).collect();
    assert_eq!(listeners.len(), 256);
    assert_eq!(status("/api/events?since=now", &ann), 503);
    assert_eq!(status("/api/agents/sync", &ann), 200);
}

#[test]
fn large_body_without_token_is_refused() {
    let world = elsewhere();
    let told = world.post("/api/session", json!({"token": "x".repeat(5_000)}));
    assert_eq!(told.with(413)["error"]["code"], "E_BODY_TOO_LARGE");
}

#[test]
fn refusal_of_host_names_option_that_allows_it() {
    let world = World::new();
    let long = format!("{}.example", "x".repeat(300));
    for (host, fix) in [
        (
            "cleo.example.org:4680",
            "cleo serve --allow-host cleo.example.org",
        ),
        (
            "cleo.example.org:8443",
            "cleo serve --allow-host cleo.example.org:8443",
        ),
        ("-x;reboot", ""),
        (long.as_str(), ""),
    ] {
        let request = axum::http::Request::builder().uri("/api/agents/sync");
        let request = request.header("host", host);
        let told = world.send(request.body(Body::empty()).unwrap()).with(403);
        let other = &told["error"]["alternatives"][0]["command"];
        assert_eq!(other.as_str().unwrap_or_default(), fix, "{host}");
    }
    for (origin, fix) in [
        (
            "https://app.example.org",
            "cleo serve --allow-origin https://app.example.org",
        ),
        ("null", ""),
        ("http://$(reboot)", ""),
    ] {
        let told = world.ask("GET", "/api/agents/sync", &[("origin", origin)], "");
        let told = told.with(403);
        let other = &told["error"]["alternatives"][0]["command"];
        assert_eq!(other.as_str().unwrap_or_default(), fix, "{origin}");
    }
}

#[test]
fn compressed_and_non_utf_8_bodies_are_refused() {
    let world = World::new();
    for (name, value, status) in [
        ("content-encoding", "gzip", 415),
        ("content-encoding", "identity", 200),
        ("content-type", "application/json; charset=utf-16", 415),
        ("content-type", "application/json; charset=\"UTF-8\"", 200),
    ] {
        let headers = [(name, value), JSON];
        let n_headers = 1 + usize::from(name != JSON.0);
        let told = world.ask(
            "POST",
            "/api/route",
            &headers[..n_headers],
            r#"{"message":"x"}"#,
        );
        assert_eq!(told.status, status, "{value}: {}", told.text());
    }
}

//! Under which names `cleo serve` answers. A page of somebody else can have its name turned to this
//! machine, and then speaks to the server as if it were its own: the browser connects to 127.0.0.1, and
//! names the page's host in what it sends.

use crate::served::{Served, body};
use crate::world::TestWorkspace;

/// Sends a request line with headers, and returns the status, the code of the error and all of it.
fn send(server: &Served, line: &str, headers: &[&str]) -> (u16, String, String) {
    let port = server.address.rsplit(':').next().unwrap();
    let mut head = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    let answer = server.raw((head + "\r\n").replace("PORT", port).as_bytes());
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let code = body(&answer)["error"]["code"].clone();
    (status, code.as_str().unwrap_or_default().into(), answer)
}

fn is_answered(server: &Served, line: &str, headers: &[&str]) {
    let (status, _, answer) = send(server, line, headers);
    assert_eq!(status, 200, "{line} {headers:?}: {answer}");
}

fn is_refused(server: &Served, line: &str, headers: &[&str]) {
    let (status, code, answer) = send(server, line, headers);
    assert_eq!(
        (status, code.as_str()),
        (403, "E_FORBIDDEN"),
        "{line} {headers:?}: {answer}"
    );
    assert!(
        !answer.to_lowercase().contains("access-control-allow"),
        "{answer}"
    );
}

#[test]
fn dns_rebinding_page_is_refused() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Keep this to yourself'");
    let server = Served::start(&workspace, &[]);
    let json = "content-type: application/json";
    for host in ["host: evil.example:PORT", "host: evil.example"] {
        for line in [
            "GET /",
            "GET /api/work/rows",
            "GET /api/events",
            "GET /health",
        ] {
            is_refused(&server, line, &[host]);
            is_refused(&server, line, &[host, "origin: http://evil.example:PORT"]);
        }
        let make = ["content-length: 13", json, host, "\r\n{\"title\":\"x\"}"];
        is_refused(&server, "POST /api/work/tasks", &make);
    }
    let own = "host: 127.0.0.1:PORT";
    is_answered(
        &server,
        "GET /api/work/rows",
        &[own, "origin: http://127.0.0.1:PORT"],
    );
    for origin in [
        "origin: http://evil.example:PORT",
        "origin: http://127.0.0.1:1",
        "origin: null",
    ] {
        is_refused(&server, "GET /api/work/rows", &[own, origin]);
        is_refused(&server, "OPTIONS /api/work/rows", &[own, origin]);
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 1);
}

#[test]
fn host_is_compared_with_its_port() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &[]);
    for own in [
        "127.0.0.1:PORT",
        "localhost:PORT",
        "LocalHost:PORT",
        "[::1]:PORT",
    ] {
        is_answered(&server, "GET /health", &[&format!("host: {own}")]);
    }
    for other in [
        "[::1]",
        "[::1]:1",
        "[::ffff:127.0.0.1]:PORT",
        "[0:0:0:0:0:0:0:1]:PORT",
        "127.1:PORT",
        "2130706433:PORT",
        "0.0.0.0:PORT",
        "127.0.0.1",
        "127.0.0.1:PORT.evil.example",
        "evil.example@127.0.0.1:PORT",
        "localhost.:PORT",
    ] {
        is_refused(&server, "GET /health", &[&format!("host: {other}")]);
    }
}

#[test]
fn server_on_ipv6_loopback_has_own_name_only() {
    // Where a machine has none of these addresses, there is nothing to be called by.
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return crate::world::skip("there is no IPv6 on this machine");
    }
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &["--host", "::1"]);
    is_answered(&server, "GET /health", &["host: [::1]:PORT"]);
    is_refused(&server, "GET /health", &["host: evil.example:PORT"]);
    is_refused(&server, "GET /health", &["host: [::2]:PORT"]);
}

#[test]
fn request_has_one_host() {
    let workspace = TestWorkspace::new();
    let server = Served::start(&workspace, &[]);
    let own = "host: 127.0.0.1:PORT";
    let evil = "host: evil.example:PORT";
    let whole = "GET http://127.0.0.1:PORT/health";
    is_answered(&server, whole, &[own]);
    is_answered(&server, whole, &[]);
    is_refused(&server, "GET http://evil.example:PORT/health", &[own]);
    is_refused(&server, "GET http://evil.example:PORT/health", &[evil]);
    is_refused(&server, "GET http://x@127.0.0.1:PORT/health", &[own]);
    // A page's origin is compared with the host that the request went to.
    is_refused(&server, whole, &[evil, "origin: http://evil.example:PORT"]);
    is_refused(&server, "GET /health", &[]);
    is_refused(&server, "GET /health", &["host:"]);
    for both in [[own, evil], [evil, own], [own, own]] {
        let (status, code, answer) = send(&server, "GET /health", &both);
        assert_eq!(
            (status, code.as_str()),
            (400, "E_INPUT_INVALID"),
            "{answer}"
        );
        assert!(!answer.to_lowercase().contains("access-control-allow"));
    }
}

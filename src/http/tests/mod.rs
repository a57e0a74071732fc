//! The server in its own process: a workspace of its own, and calls without a network. A test of a
//! scenario of the notes has its number; those that need workers or models (D-4 to D-15) are in
//! `tests/it/serving_queries.rs`, those of the pages in `web/tests/browser`.

mod agents;
mod agents_of_users;
mod apart;
mod around;
mod chat;
mod chat_scenarios;
mod conversations;
mod events;
mod executions;
mod guard;
#[cfg(feature = "schemas")]
mod hostile;
mod keys;
#[cfg(feature = "schemas")]
mod openapi;
mod operations;
mod pages;
mod panics;
mod plans;
mod query;
mod refused;
mod runs;
mod tasks;
mod walk;
mod work;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower_service::Service as _;

use super::respond::router;
use super::server::{Options, Server};
use crate::clock::Clock;
use crate::ops::tokens::{self, Scope};
use crate::ops::{Assignment, Surroundings};
use crate::workspace::Workspace;

/// The caller without a token.
const ME: &str = "me@here";
const JSON: (&str, &str) = ("content-type", "application/json");
/// Where calls come from.
const PEER: [u8; 4] = [127, 0, 0, 1];

/// A server with a workspace of its own.
pub(in crate::http) struct World {
    folder: TempDir,
    pub(in crate::http) runtime: Runtime,
    pub(in crate::http) server: Arc<Server>,
    router: Router,
}

async fn respond(router: &Router, mut request: Request<Body>) -> Response<Body> {
    request.extensions_mut().insert(IpAddr::from(PEER));
    router.clone().call(request).await.unwrap()
}

/// A reply of the server.
#[derive(Debug)]
struct Told {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Told {
    fn json(&self) -> Value {
        let text = || String::from_utf8_lossy(&self.bytes).into_owned();
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", text()))
    }

    /// Takes the JSON of an answer with this status.
    fn with(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self.json()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl World {
    pub(in crate::http) fn new() -> World {
        World::at("127.0.0.1:4680", Options::default())
    }

    pub(in crate::http) fn at(address: &str, options: Options) -> World {
        World::open(address, options, Assignment::default())
    }

    /// Opens a server whose starter was given something to do.
    fn with_assignment(assignment: Assignment) -> World {
        World::open("127.0.0.1:4680", Options::default(), assignment)
    }

    fn open(address: &str, options: Options, assignment: Assignment) -> World {
        let folder = tempfile::tempdir().unwrap();
        Workspace::create(folder.path()).unwrap();
        let surroundings = Surroundings {
            assignment,
            ..surroundings(folder.path().to_path_buf())
        };
        World::serve(folder, surroundings, address.parse().unwrap(), options)
    }

    /// Opens another server of the same workspace, which knows at once all that was written.
    fn restart(self) -> World {
        let surroundings = self.surroundings();
        let address = self.server.address;
        World::serve(self.folder, surroundings, address, Options::default())
    }

    fn serve(
        folder: TempDir,
        surroundings: Surroundings,
        address: SocketAddr,
        options: Options,
    ) -> World {
        let server = Server::open(surroundings, options, address, |_| {}).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        World {
            folder,
            runtime,
            router: router(&server),
            server,
        }
    }

    fn surroundings(&self) -> Surroundings {
        surroundings(self.folder.path().to_path_buf())
    }

    /// Makes a token for a user.
    fn token(&self, user: &str, scope: Scope) -> String {
        tokens::create(&self.surroundings(), user, scope, None)
            .unwrap()
            .secret
    }

    fn send(&self, request: Request<Body>) -> Told {
        self.runtime.block_on(async {
            let response = respond(&self.router, request).await;
            let (parts, body) = response.into_parts();
            Told {
                status: parts.status,
                headers: parts.headers,
                bytes: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
            }
        })
    }

    fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.server.address.to_string())
    }

    /// Sends a request with these headers.
    fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Told {
        let mut request = self.request(method, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap())
    }

    fn get(&self, path: &str) -> Told {
        self.ask("GET", path, &[], "")
    }

    fn call(&self, method: &str, path: &str, body: Value) -> Told {
        self.raw(method, path, body.to_string())
    }

    fn raw(&self, method: &str, path: &str, body: impl Into<Body>) -> Told {
        self.ask(method, path, &[JSON], body)
    }

    fn post(&self, path: &str, body: Value) -> Told {
        self.call("POST", path, body)
    }

    /// Calls as a user with a token.
    fn by(&self, token: &str, method: &str, path: &str, body: Value) -> Told {
        let bearer = format!("Bearer {token}");
        let headers = [JSON, ("authorization", &bearer)];
        self.ask(method, path, &headers, body.to_string())
    }

    /// Has something executed and waits for its end.
    fn execute(&self, body: Value) -> Value {
        let told = self.post("/api/agents/execute?wait=true", body);
        told.with(200)["execution"].clone()
    }
}

fn surroundings(root: PathBuf) -> Surroundings {
    let home = root.join("home");
    Surroundings {
        command: "serve",
        directory: root,
        root: None,
        clock: Clock::System,
        actor: ME.to_string(),
        assignment: Assignment::default(),
        judges_workspace: true,
        skills_dirs: Vec::new(),
        data_home: Some(home.join("data")),
        rights: Default::default(),
        defaults: Default::default(),
        settings: std::sync::Arc::new(Ok(Default::default())),
        home: Some(home),
    }
}

/// Returns a moment in milliseconds, some minutes ago.
fn minutes_ago(minutes: i64) -> i64 {
    Clock::System.now().timestamp_millis() - minutes * 60_000
}

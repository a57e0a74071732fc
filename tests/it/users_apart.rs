//! Two users send random requests over all endpoints, and no reply names a private row of the other. Tasks and the log
//! are shared, so they get words that belong to no user. Left out is the stream of events, which the server filters.
//!
//! `CLEO_TEST_REQUESTS` is how many are sent. With the feature `faults` the checks of the server are off, and row-level
//! security of PostgreSQL alone keeps the rows apart.

use std::env;

use serde_json::{Map, Value, json};

use crate::postgres::init;
use crate::served::Served;
use crate::world::TestWorkspace;

/// Numbers that depend on a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

struct User {
    secret: String,
    /// The word that is in all private texts.
    word: &'static str,
    runs: Vec<String>,
    conversations: Vec<String>,
    agents: Vec<String>,
}

impl User {
    /// Returns true if a reply names something of this user that the request did not name.
    fn is_named_in(&self, reply: &str, request: &str) -> bool {
        let ids = self.runs.iter().chain(&self.conversations);
        reply.contains(self.word)
            || ids
                .filter(|id| reply.contains(*id))
                .any(|id| !request.contains(id))
    }
}

/// An operation of the description: method, path, names of query parameters and of fields of the body.
struct Endpoint {
    method: String,
    path: String,
    parameters: Vec<String>,
    fields: Vec<String>,
}

fn list_endpoints() -> Vec<Endpoint> {
    let all: Value = serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
    let mut endpoints = Vec::new();
    for (path, operations) in all["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let parameters = parameters.filter(|one| one["in"] == "query");
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let name = schema["$ref"].as_str().unwrap_or_default();
            let named = name.trim_start_matches('#');
            let schema = match named {
                "" => schema,
                named => all.pointer(named).unwrap(),
            };
            let fields = schema["properties"].as_object();
            endpoints.push(Endpoint {
                method: method.to_uppercase(),
                path: path.clone(),
                parameters: parameters
                    .map(|one| one["name"].as_str().unwrap().to_string())
                    .collect(),
                fields: fields
                    .into_iter()
                    .flat_map(|fields| fields.keys().cloned())
                    .collect(),
            });
        }
    }
    endpoints.retain(|one| one.path != "/api/events");
    assert!(endpoints.len() > 100);
    endpoints
}

/// Makes requests of a user, which also name rows of the other.
struct Requests<'a> {
    random: &'a mut Random,
    own: &'a User,
    other: &'a User,
}

impl Requests<'_> {
    fn pick_id(&mut self, ids: impl Fn(&User) -> &Vec<String>) -> String {
        let of = [self.own, self.other][self.random.below(2)];
        match &ids(of)[..] {
            [] => "none".to_string(),
            ids => self.random.pick(ids).clone(),
        }
    }

    fn fill_path(&mut self, path: &str) -> String {
        let id = match path {
            path if path.contains("/execution/") || path.starts_with("/api/runs") => {
                self.pick_id(|user| &user.runs)
            }
            path if path.starts_with("/api/agents") => self.pick_id(|user| &user.agents),
            path if path.starts_with("/api/conversations") => {
                self.pick_id(|user| &user.conversations)
            }
            _ => format!("T{}", 1 + self.random.below(8)),
        };
        let path = path.replace("{id}", &id).replace("{task}", "T1");
        let path = path.replace("{attempt}", "1").replace("{gate}", "tests");
        path.replace("{key}", "llm.provider")
            .replace("{name}", "ct-test")
    }

    /// Returns a value for a parameter or field, or none for one that is left out.
    fn value(&mut self, endpoint: &Endpoint, name: &str) -> Option<Value> {
        let is_private = ["agents", "conversations", "chat", "plans", "route", "query"];
        let is_private = is_private
            .iter()
            .any(|part| endpoint.path.contains(part) && !endpoint.path.contains("register"));
        Some(match name {
            // Runs start processes, workers are called, and runtime agents are shared.
            "stream" | "endpoint" | "command" | "healthcheck" | "run" | "is_runtime"
            | "isRuntime" | "pendingOperation" | "runner" => return None,
            "agent" | "agentId" | "agent_id" | "assigned_to" | "assignedAgent" => {
                match self.random.below(3) {
                    0 => "ami-creative".into(),
                    _ => self.pick_id(|user| &user.agents).into(),
                }
            }
            "conversation" | "conversationId" | "conversation_id" => {
                self.pick_id(|user| &user.conversations).into()
            }
            "id" if endpoint.path == "/api/agents/create" => match self.random.below(3) {
                0 => self.pick_id(|user| &user.agents).into(),
                _ => format!("agent-{}", self.random.below(100_000)).into(),
            },
            "id" => format!(
                "custom_{}",
                1_700_000_000_000_u64 + self.random.below(99) as u64
            )
            .into(),
            "user_id" | "userId" => (*self.random.pick(&["ann", "bob"])).into(),
            "limit" | "offset" | "explain" | "maxLoops" => (1 + self.random.below(20)).into(),
            "all" | "wait" | "dryRun" | "force" | "again" | "strict" => {
                (self.random.below(2) == 0).into()
            }
            "kind" => (*self.random.pick(&["execution", "query", "plan"])).into(),
            "status" => (*self
                .random
                .pick(&["active", "completed", "failed", "pending"]))
            .into(),
            "role" => (*self.random.pick(&["specialist", "custom"])).into(),
            "priority" => (*self.random.pick(&["low", "high", "urgent", "critical"])).into(),
            "tags" | "tools" | "labels" | "acceptance" | "files" | "notes" | "capabilities" => {
                json!(["one", "two"])
            }
            "tasks" | "depends" => json!([format!("T{}", 1 + self.random.below(8))]),
            "task" | "parent" | "scope" | "epic" => format!("T{}", 1 + self.random.below(8)).into(),
            "draft" => json!({"name": "New", "prompt": "p", "tags": [self.own.word]}),
            "dir" => (*self.random.pick(&["asc", "desc"])).into(),
            "q" => (*self
                .random
                .pick(&["help", "talk", self.own.word, "private"]))
            .into(),
            _ if is_private => format!("help with {} private", self.own.word).into(),
            _ => format!("help with things {}", self.random.below(100)).into(),
        })
    }

    fn body(&mut self, endpoint: &Endpoint) -> Value {
        let text = format!(
            "help {} with private {}",
            self.own.word,
            self.random.below(1_000)
        );
        let base = match endpoint.path.as_str() {
            "/api/agents/execute" | "/api/route" => json!({"input": text}),
            "/api/agents/create" => {
                let id = format!("agent-{}", self.random.below(100_000));
                json!({"id": id, "name": text, "prompt": text, "role": "specialist"})
            }
            "/api/agents/register" => {
                json!({"id": self.value(endpoint, "id"), "name": "Shared", "prompt": "p"})
            }
            "/api/conversations/create" => json!({"agent_id": "ami-creative", "title": text}),
            "/api/chat" => json!({"message": text}),
            "/query" => json!({"query": text}),
            "/api/runs" => json!({"dryRun": true, "tasks": ["T1"]}),
            "/api/plans/run" => json!({}),
            "/api/tasks/create" | "/api/work/tasks" => json!({"title": "Shared task"}),
            _ => json!({}),
        };
        let Value::Object(mut body) = base else {
            return base;
        };
        if endpoint.path.starts_with("/api/runs") || endpoint.path == "/api/plans/run" {
            return body.into();
        }
        let mut more = Map::new();
        for name in &endpoint.fields {
            if self.random.below(if body.is_empty() { 2 } else { 6 }) == 0 {
                more.extend(
                    self.value(endpoint, name)
                        .map(|value| (name.clone(), value)),
                );
            }
        }
        more.append(&mut body);
        more.into()
    }

    /// Returns the path with its query, and the body.
    fn make(&mut self, endpoint: &Endpoint) -> (String, String) {
        let mut path = self.fill_path(&endpoint.path);
        let mut mark = '?';
        for name in &endpoint.parameters {
            if self.random.below(3) == 0
                && let Some(value) = self.value(endpoint, name)
            {
                let value = value.as_str().map_or(value.to_string(), String::from);
                path += &format!("{mark}{name}={}", value.replace(' ', "+"));
                mark = '&';
            }
        }
        let body = match endpoint.method.as_str() {
            "GET" => String::new(),
            _ => self.body(endpoint).to_string(),
        };
        (path, body)
    }
}

/// Keeps the id of what a user has just made.
fn note_made(user: &mut User, path: &str, reply: &str) {
    let reply: Value = serde_json::from_str(reply).unwrap_or_default();
    let id = |field: &str| reply[field]["id"].as_str().map(String::from);
    match path.split('?').next().unwrap() {
        "/api/agents/execute" => user.runs.extend(id("execution")),
        "/api/conversations/create" => user.conversations.extend(id("conversation")),
        "/api/agents/create" => user.agents.extend(id("agent")),
        _ => {}
    }
}

#[allow(clippy::print_stderr, reason = "figures of a longer run")]
fn send_random_requests(workspace: &TestWorkspace, may_fail: bool) {
    let count = env::var("CLEO_TEST_REQUESTS").map_or(300, |count| count.parse().unwrap());
    for number in 1..=8 {
        workspace.ok(&format!("add 'Task {number}'"));
    }
    let server = Served::start(workspace, &["--ask-token"]);
    let mut users = [("ann", "annonly"), ("bob", "bobonly")].map(|(name, word)| {
        let made = workspace.result(format!("serve token create --user {name} --scope write"));
        User {
            secret: made["secret"].as_str().unwrap().to_string(),
            word,
            runs: Vec::new(),
            conversations: Vec::new(),
            agents: Vec::new(),
        }
    });
    let endpoints = list_endpoints();
    let makers = [
        "/api/agents/execute",
        "/api/conversations/create",
        "/api/agents/create",
    ];
    let makers: Vec<&Endpoint> = endpoints
        .iter()
        .filter(|one| one.method == "POST" && makers.contains(&&*one.path))
        .collect();
    let mut random = Random(0x5eed);
    let (mut done, mut own, mut faults) = (0, 0, Vec::new());
    for number in 0..count {
        let who = number % 2;
        // Both have rows before they look for those of the other.
        let endpoint = match number < 24 || random.below(8) == 0 {
            true => *random.pick(&makers),
            false => random.pick(&endpoints),
        };
        let (path, body) = Requests {
            random: &mut random,
            own: &users[who],
            other: &users[1 - who],
        }
        .make(endpoint);
        let secret = Some(&*users[who].secret);
        let (status, reply) = server.send(secret, &endpoint.method, &path, &body);
        let request = format!("{} {path} {body}", endpoint.method);
        let is_foreign = users[1 - who].is_named_in(&reply, &request);
        assert!(
            !is_foreign,
            "{number}: {} {request}: {reply}",
            users[who].word
        );
        if status < 300 {
            done += 1;
            note_made(&mut users[who], &path, &reply);
        }
        if status == 500 {
            faults.push(format!("{request}: {reply}"));
        }
        own += usize::from(users[who].is_named_in(&reply, &request));
    }
    eprintln!(
        "{count} requests: {done} done, {own} with own rows, {} faults",
        faults.len()
    );
    assert!(done * 3 > count && own * 20 > count, "{done} {own}");
    assert!(faults.is_empty() || may_fail, "{}", faults.join("\n"));
}

#[test]
fn file_shows_no_rows_of_other_users() {
    send_random_requests(&TestWorkspace::new(), false);
}

/// The requests would find rows of others if nothing kept them apart.
#[test]
#[cfg(feature = "faults")]
#[should_panic(expected = "private")]
fn file_without_checks_shows_rows_of_other_users() {
    let workspace = TestWorkspace::new().env("CLEO_UNCHECKED_USERS", "1");
    send_random_requests(&workspace, true);
}

#[test]
fn server_shows_no_rows_of_other_users() {
    let Some((_scratch, workspace)) = init("apart") else {
        return;
    };
    send_random_requests(&workspace, false);
}

#[test]
#[cfg(feature = "faults")]
fn row_security_alone_shows_no_rows_of_other_users() {
    let Some((_scratch, workspace)) = init("alone") else {
        return;
    };
    // A write that only the policy refuses is an internal fault.
    send_random_requests(&workspace.env("CLEO_UNCHECKED_USERS", "1"), true);
}

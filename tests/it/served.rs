//! `cleo serve` in a process of its own, on a workspace of a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::world::{CLEO, TestWorkspace};

/// A server that runs.
pub(crate) struct Served {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(workspace: &TestWorkspace, options: &[&str]) -> Served {
        let mut command = workspace.surround(Command::new(CLEO));
        command
            .args(["serve", "--port", "0", "--json"])
            .args(options);
        // Executions are told apart by when they began.
        command.env_remove("CLEO_NOW");
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        let address = reply["result"]["server"]["address"]
            .as_str()
            .unwrap()
            .to_string();
        Served { process, address }
    }

    /// Sends bytes and returns all that is answered.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        self.raw_while_there(bytes).unwrap()
    }

    /// Sends bytes and returns all that is answered, as long as there is a server.
    pub(crate) fn raw_while_there(&self, bytes: &[u8]) -> Option<String> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Some(String::from_utf8_lossy(&answer).into_owned())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.address
        );
        body(&self.raw(head.as_bytes()))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", path, body).1
    }

    /// Calls and returns the status and what was answered, where that is JSON.
    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.call_as(None, method, path, body)
    }

    /// Calls with the secret of a token, if there is one.
    pub(crate) fn call_as(
        &self,
        secret: Option<&str>,
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let (status, reply) = self.send(secret, method, path, &body.to_string());
        (status, serde_json::from_str(&reply).unwrap_or(Value::Null))
    }

    /// Sends a request, and returns the status and the body of the answer.
    pub(crate) fn send(
        &self,
        secret: Option<&str>,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, String) {
        let token = secret.map(|secret| format!("authorization: Bearer {secret}\r\n"));
        let token = token.unwrap_or_default();
        let answer = self.raw(
            format!(
                "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{token}\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                self.address,
                body.len()
            )
            .as_bytes(),
        );
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_string())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id().try_into().unwrap()), signal).unwrap();
    }

    /// Waits for the end and returns whether it was a good one.
    pub(crate) fn ends_well(&mut self) -> bool {
        self.process.wait().unwrap().success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads the body of an answer.
pub(crate) fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

/// Begins a conversation with an agent, over HTTP, and returns its id.
pub(crate) fn begin_conversation(workspace: &TestWorkspace, agent: &str) -> String {
    let server = Served::start(workspace, &[]);
    let wanted = json!({"agent_id": agent, "title": "Orcs"});
    let told = server.post("/api/conversations/create", &wanted);
    told["conversation"]["id"].as_str().unwrap().to_string()
}

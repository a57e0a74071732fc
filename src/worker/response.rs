//! The answer of a worker: form, rules and error messages. Pure.

use serde::Serialize;
use serde_json::Value;

use super::Request;
use crate::agent::Agent;
use crate::words::closed;

/// Longest type of a fault, in characters.
const TYPE_MAX: usize = 100;
/// Longest message of a fault, in characters.
const MESSAGE_MAX: usize = 2_000;

/// A valid answer, or the fault in its place.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct WorkerReply {
    pub(crate) request_id: String,
    pub(crate) agent_name: String,
    pub(crate) status: Status,
    /// The result; null if it failed.
    pub(crate) output: Option<Output>,
    /// Why it failed; null if it did not.
    pub(crate) error: Option<Fault>,
}

closed! {
    /// How a request to a worker went.
    Status, "status of a reply":
    Success = "success",
    Error = "error",
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Output {
    pub(crate) result: Value,
    /// The confidence of the worker, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
}

impl Output {
    pub(crate) fn text(&self) -> String {
        match &self.result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    /// One of [`FaultKind`], or the worker's own word.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The message. May hold untrusted text.
    pub(crate) message: String,
}

closed! {
    /// Kinds of faults that cleo names itself.
    FaultKind, "kind of fault":
    HttpError = "http_error",
    NetworkError = "network_error",
    Timeout = "timeout",
    InvalidResponse = "invalid_response",
    /// It is not set up so that it can be asked.
    ConfigError = "config_error",
    CliError = "cli_error",
    /// It reported a failure without a type.
    AgentError = "agent_error",
    /// It was not asked: what it was to work on is not there.
    DependencyError = "dependency_error",
    /// There is no worker.
    NoAgents = "no_agents",
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind: kind.word().to_string(),
            message: message.into().chars().take(MESSAGE_MAX).collect(),
        }
    }
}

impl WorkerReply {
    pub(crate) fn failure(request_id: String, agent: &Agent, fault: Fault) -> WorkerReply {
        WorkerReply {
            request_id,
            agent_name: agent.name.clone(),
            status: Status::Error,
            output: None,
            error: Some(fault),
        }
    }
}

/// Parses an answer and checks the rules: it repeats the id, and has a status and the output or error that
/// fits it.
pub(crate) fn read(answer: &[u8], request: &Request) -> Result<WorkerReply, Fault> {
    let answer: Value = serde_json::from_slice(answer)
        .map_err(|cause| invalid(format!("the answer is not JSON: {cause}")))?;
    if answer["request_id"] != request.request_id.as_str() {
        return Err(invalid("the answer repeats another request_id or none"));
    }
    let there = |name: &str| answer.get(name).filter(|value| !value.is_null());
    let (output, error) = match (there("output"), there("error")) {
        (Some(_), Some(_)) => return Err(invalid("the answer has both an output and an error")),
        (None, None) => return Err(invalid("the answer has neither an output nor an error")),
        both => both,
    };
    let (status, output, error) = match (answer["status"].as_str(), output, error) {
        (Some("success"), Some(output), None) => {
            (Status::Success, Some(read_output(output)?), None)
        }
        (Some("error"), None, Some(error)) => (Status::Error, None, Some(read_error(error)?)),
        (Some("success" | "error"), _, _) => {
            return Err(invalid(
                "the status says something else than output and error",
            ));
        }
        _ => return Err(invalid("the status is neither `success` nor `error`")),
    };
    Ok(WorkerReply {
        request_id: request.request_id.clone(),
        agent_name: request.agent_name.clone(),
        status,
        output,
        error,
    })
}

fn read_output(output: &Value) -> Result<Output, Fault> {
    let result = output.get("result").filter(|result| !result.is_null());
    let Some(result) = result else {
        return Err(invalid("the output has no result"));
    };
    Ok(Output {
        result: result.clone(),
        confidence: output["confidence"].as_f64(),
        details: output.get("details").filter(|it| !it.is_null()).cloned(),
    })
}

fn read_error(error: &Value) -> Result<Fault, Fault> {
    let Some(message) = error["message"].as_str() else {
        return Err(invalid("the error has no message"));
    };
    let kind = error["type"]
        .as_str()
        .filter(|kind| !kind.trim().is_empty());
    let kind = kind.unwrap_or(FaultKind::AgentError.word());
    Ok(Fault {
        kind: kind.chars().take(TYPE_MAX).collect(),
        ..Fault::new(FaultKind::AgentError, message)
    })
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::InvalidResponse, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Kind;
    use crate::worker::Context;
    use serde_json::json;

    fn request() -> Request {
        let agent = Agent::new("w", Kind::Http, "worker");
        Request::new("id-1".into(), &agent, "x.do", "text", Context::default())
    }

    fn read_value(answer: Value) -> Result<WorkerReply, Fault> {
        read(answer.to_string().as_bytes(), &request())
    }

    #[test]
    fn request_has_form_of_handshake() {
        let agent = Agent::new("w", Kind::Http, "document_summarizer_agent");
        let context = Context {
            timestamp: "2026-01-26T09:00:00.000Z".into(),
            ..Context::default()
        };
        let request = Request::new(
            "id-1".into(),
            &agent,
            "summary.create",
            "Summarize X",
            context,
        );
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({
                "request_id": "id-1",
                "agent_name": "document_summarizer_agent",
                "intent": "summary.create",
                "input": {"text": "Summarize X", "metadata": {"language": "en", "extra": {}}},
                "context": {"user_id": null, "conversation_id": null, "timestamp": "2026-01-26T09:00:00.000Z"},
            })
        );
    }

    #[test]
    fn output_is_taken_unchanged() {
        let reply = read_value(
            json!({"request_id": "id-1", "agent_name": "other", "status": "success",
            "output": {"result": "R1", "confidence": 0.9, "details": {"a": 1}, "more": 1}, "error": null}),
        );
        let reply = serde_json::to_value(reply.unwrap()).unwrap();
        assert_eq!(
            reply,
            json!({"request_id": "id-1", "agent_name": "worker", "status": "success",
                "output": {"result": "R1", "confidence": 0.9, "details": {"a": 1}}, "error": null})
        );
        let bare = json!({"request_id": "id-1", "status": "success", "output": {"result": [1]}});
        assert_eq!(read_value(bare).unwrap().output.unwrap().text(), "[1]");
    }

    #[test]
    fn error_types_of_workers_are_passed_on() {
        let fault = |error: Value| {
            let answer =
                json!({"request_id": "id-1", "status": "error", "output": null, "error": error});
            read_value(answer).unwrap().error.unwrap()
        };
        assert_eq!(
            fault(json!({"type": "quota", "message": "m"})).kind,
            "quota"
        );
        assert_eq!(fault(json!({"message": "m"})).kind, "agent_error");
        assert_eq!(
            fault(json!({"type": "", "message": "m"})).kind,
            "agent_error"
        );
        assert_eq!(
            fault(json!({"message": "x".repeat(9_999)})).message.len(),
            MESSAGE_MAX
        );
    }

    #[test]
    fn answer_that_breaks_rule_is_none() {
        let output = json!({"result": "R"});
        let error = json!({"type": "t", "message": "m"});
        for (answer, word) in [
            (
                json!({"request_id": "id-2", "status": "success", "output": output}),
                "another request_id",
            ),
            (
                json!({"status": "success", "output": output}),
                "another request_id",
            ),
            (
                json!({"request_id": 1, "status": "success", "output": output}),
                "another request_id",
            ),
            (
                json!({"request_id": "id-1", "status": "success", "output": output, "error": error}),
                "both",
            ),
            (
                json!({"request_id": "id-1", "status": "success"}),
                "neither an output",
            ),
            (
                json!({"request_id": "id-1", "status": "success", "error": error}),
                "something else",
            ),
            (
                json!({"request_id": "id-1", "status": "error", "output": output}),
                "something else",
            ),
            (
                json!({"request_id": "id-1", "status": "ok", "output": output}),
                "neither `success`",
            ),
            (
                json!({"request_id": "id-1", "output": output}),
                "neither `success`",
            ),
            (
                json!({"request_id": "id-1", "status": "success", "output": "R"}),
                "no result",
            ),
            (
                json!({"request_id": "id-1", "status": "success", "output": {"result": null}}),
                "no result",
            ),
            (
                json!({"request_id": "id-1", "status": "error", "error": "m"}),
                "no message",
            ),
            (json!([1]), "another request_id"),
            (json!("x"), "another request_id"),
            (json!(null), "another request_id"),
        ] {
            let fault = read_value(answer.clone()).unwrap_err();
            assert_eq!(fault.kind, "invalid_response", "{answer}");
            assert!(fault.message.contains(word), "{answer}: {}", fault.message);
        }
        for bytes in [&b""[..], b"hello", b"{", b"\xff\xfe", b"{}{}"] {
            assert_eq!(
                read(bytes, &request()).unwrap_err().kind,
                "invalid_response"
            );
        }
    }
}

//! Replies to errors: the only place with the HTTP status of each code, and the forms of the
//! specifications.

use axum::http::StatusCode;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{Answer, JSON};
use crate::error::{Code, Error, Result};
use crate::reply::Failure;

/// Form of an error reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"error":{"code","message","fix",…}}`, as in the envelope of the command line.
    #[default]
    Ours,
    /// `{"success":false,"error":"…","code":"E_…"}`, of agents, conversations and tasks; with the `field`
    /// of the input that is at fault, where it is one.
    Success,
    /// `{"success":false,"error":"…"}`, of executions.
    Plain,
    /// `{"error":"…"}`, of what is to be executed.
    Bare,
    /// `{"response":{"status":"error","message":"…"}}`, of the chat.
    Chat,
    /// `{"detail":"…"}`, of queries.
    Detail,
}

impl Shape {
    /// Returns the form of refusals outside of the endpoint, such as for a token: ours, except
    /// where a specification has one form for all errors.
    pub(super) fn refusal_shape(self) -> Shape {
        match self {
            Shape::Chat | Shape::Detail => self,
            _ => Shape::Ours,
        }
    }
}

pub(super) fn status(code: Code) -> StatusCode {
    let (name, exit) = (code.name(), code.exit_code());
    match code {
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::Untrusted => StatusCode::FORBIDDEN,
        Code::MethodRefused => StatusCode::METHOD_NOT_ALLOWED,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::ServerBusy | Code::LockTimeout | Code::DiskFull => StatusCode::SERVICE_UNAVAILABLE,
        Code::Interrupted | Code::Terminated => StatusCode::SERVICE_UNAVAILABLE,
        Code::ProgramMissing => StatusCode::UNPROCESSABLE_ENTITY,
        Code::ModelTimeout | Code::RunTimeout => StatusCode::GATEWAY_TIMEOUT,
        Code::WorkspaceNotFound => StatusCode::INTERNAL_SERVER_ERROR,
        Code::NothingReady | Code::SessionRequired => StatusCode::CONFLICT,
        _ if name.ends_with("_NOT_FOUND") => StatusCode::NOT_FOUND,
        _ if is_conflict(code) => StatusCode::CONFLICT,
        _ if is_verdict(code) => StatusCode::UNPROCESSABLE_ENTITY,
        Code::PathOutside | Code::GateUnknown | Code::AgentUnknown | Code::TooDeep => {
            StatusCode::BAD_REQUEST
        }
        _ if matches!(exit, 2 | 6) => StatusCode::BAD_REQUEST,
        _ if exit == 80 => StatusCode::BAD_GATEWAY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the status of an error. A file that cannot be read is the server's own, unless the caller named it.
pub(super) fn status_of(error: &Error) -> StatusCode {
    match is_of_named_file(error) {
        true => StatusCode::BAD_REQUEST,
        false => status(error.code),
    }
}

/// Returns whether an error is about a file, a program or a setting that the caller named.
fn is_of_named_file(error: &Error) -> bool {
    matches!(error.code, Code::FileUnreadable | Code::ConfigInvalid) && error.field.is_some()
}

/// Removes a command with a path from the error about a file that the caller named, because it
/// reveals the place of the workspace.
pub(super) fn strip_place(error: Error) -> Error {
    match is_of_named_file(&error) || error.code == Code::PathOutside {
        true => Error { fix: None, ..error },
        false => error,
    }
}

fn is_conflict(code: Code) -> bool {
    matches!(
        code,
        Code::Exists
            | Code::StatusRefused
            | Code::NotReady
            | Code::Claimed
            | Code::ClaimLost
            | Code::Cycle
            | Code::HasChildren
            | Code::UndoConflict
            | Code::NothingToUndo
            | Code::FileChanged
            | Code::SessionExists
            | Code::SessionBlocked
            | Code::ScopeConflict
            | Code::ScopeInvalid
            | Code::NotInScope
            | Code::RunNested
            | Code::RunCancelled
            | Code::SkillInactive
            | Code::Clock
    )
}

fn is_verdict(code: Code) -> bool {
    matches!(
        code,
        Code::NotVerified
            | Code::NotCompliant
            | Code::GateFailed
            | Code::GateOpen
            | Code::GateOrder
            | Code::GateRounds
            | Code::EvidenceStale
            | Code::CriterionFailed
            | Code::CriterionOpen
            | Code::TokensUnresolved
            | Code::ProtocolMissing
            | Code::ReturnMessage
            | Code::EntryMissing
            | Code::OutputMissing
            | Code::ContextCritical
            | Code::StepsFailed
            | Code::DoctorFound
            | Code::AgentDown
    )
}

pub(super) fn answer(error: &Error, shape: Shape) -> Answer {
    let status = status_of(error);
    let body = body(error, shape).to_string();
    let answer = Answer::bytes(JSON, body).under(status);
    match error.code {
        Code::RateLimited | Code::ServerBusy | Code::LockTimeout => answer.header(RETRY_AFTER, "1"),
        Code::Unauthorized => answer.header(WWW_AUTHENTICATE, "Bearer realm=\"cleo\""),
        _ => answer,
    }
}

fn body(error: &Error, shape: Shape) -> Value {
    let message = error.display_message();
    match shape {
        Shape::Ours => json!({"error": Failure::from_error(error)}),
        Shape::Plain => json!({"success": false, "error": message}),
        Shape::Bare => json!({"error": message}),
        Shape::Chat => json!({"response": {"status": "error", "message": message}}),
        Shape::Detail => json!({"detail": message}),
        Shape::Success => {
            let mut body = json!({"success": false, "error": message, "code": error.code.name()});
            if let Some(fix) = &error.fix {
                body["fix"] = json!(fix);
            }
            if let Some(field) = &error.field {
                body["field"] = json!(field);
            }
            body
        }
    }
}

pub(super) fn verdict<T: Serialize>(value: &T, error: &Error) -> Result<Answer> {
    let whole = json!({"result": value, "error": Failure::from_error(error)});
    Answer::json(status_of(error), &whole)
}

pub(super) fn busy() -> Error {
    Error::new(Code::ServerBusy, "the server is busy; try again later")
}

/// Hides details of this machine in internal errors from remote callers.
pub(super) fn hide_details(error: Error) -> Error {
    match status_of(&error) {
        StatusCode::INTERNAL_SERVER_ERROR => {
            Error::new(error.code, "internal error; see the messages of the server")
        }
        _ => error,
    }
}

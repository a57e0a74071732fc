//! Replies to errors, in the forms of the specifications.

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
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
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

pub(super) fn answer(error: &Error, shape: Shape) -> Answer {
    let status = status_of(error);
    let body = body(error, shape).to_string();
    let answer = Answer::bytes(JSON, body).under(status);
    match error.code {
        Code::RateLimited | Code::ServerBusy | Code::LockTimeout | Code::StoreUnavailable => {
            answer.header(RETRY_AFTER, "1")
        }
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

//! A call as a handler gets it: who calls, and what was sent, taken apart.

use std::str::FromStr;
use std::sync::{Arc, MutexGuard, PoisonError};

use axum::extract::Query;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::caller::Caller;
use super::guard;
use super::pool::Lent;
use super::server::Server;
use crate::error::{Code, Error, Result};
use crate::ops::tokens::Scope;
use crate::ops::work::Memory;
use crate::ops::{Context, Surroundings};
use crate::store::sqlite::SqliteAgency;

/// Longest account of what is wrong with a value, in characters.
const FAULT_MAX: usize = 200;

/// A call.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    /// The parts of the path that have names.
    pub(super) parts: Vec<(String, String)>,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    /// Returns a part of the path.
    pub(super) fn part(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(there, _)| there == name);
        found.map_or("", |(_, value)| value)
    }

    /// Reads a part of the path that has a form.
    pub(super) fn id<T: FromStr<Err = String>>(&self, name: &str) -> Result<T> {
        let read = self.part(name).parse();
        read.map_err(|what: String| Error::new(Code::InputInvalid, short(&what)))
    }

    /// Reads the query of the address.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T> {
        let read = Query::try_from_uri(&self.uri);
        let refuse = |what: String| {
            let message = format!("the query of the address cannot be used: {what}");
            Error::new(Code::InputInvalid, short(&message))
        };
        read.map(|Query(read)| read)
            .map_err(|cause| refuse(cause.body_text()))
    }

    /// Reads the body, which must be JSON.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T> {
        self.require_json()?;
        self.require_object()?;
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let read = serde_path_to_error::deserialize(&mut reader).map_err(|fault| {
            let what = fault.inner().to_string();
            // A body that is no JSON has no field that would be at fault.
            let is_field = fault.inner().is_data() && fault.path().iter().next().is_some();
            let message = match is_field {
                true => format!("{}: {what}", fault.path()),
                false => format!("the body is not what is read here: {what}"),
            };
            Error::new(Code::InputInvalid, short(&message))
        })?;
        let rest = reader.end().map_err(|fault| {
            Error::new(
                Code::InputInvalid,
                format!("something stands after the body: {fault}"),
            )
        });
        rest.map(|()| read)
    }

    /// Refuses a list, which would otherwise be read as the fields of an object in their order.
    fn require_object(&self) -> Result<()> {
        match self.body.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'[') => {
                let message = "the body is a list, and what is read here is an object";
                Err(Error::new(Code::InputInvalid, message))
            }
            _ => Ok(()),
        }
    }

    fn require_json(&self) -> Result<()> {
        let kind = self.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/json") {
            return Ok(());
        }
        let message = "the body must be sent as JSON, with `Content-Type: application/json`";
        Err(Error::new(Code::MediaType, message))
    }

    /// Returns a header; one that is no text is refused, and not taken for one that is not there.
    pub(super) fn header(&self, name: &str) -> Result<Option<&str>> {
        let value = self.headers.get(name).map(|value| value.to_str());
        value.transpose().map_err(|_| {
            let message = format!("the header `{name}` has other than visible ASCII characters");
            Error::new(Code::InputInvalid, message)
        })
    }

    /// Returns whose rows may be seen; none: everybody's.
    pub(super) fn only(&self) -> Option<&str> {
        self.caller.only()
    }

    /// Says whether it is known who calls; what is open to all answers others too.
    pub(super) fn is_signed_in(&self) -> bool {
        !self.caller.user.is_empty()
    }

    /// Returns who calls.
    pub(super) fn user(&self) -> &str {
        &self.caller.user
    }

    /// Returns what surrounds a command that is carried out for the caller.
    pub(super) fn surroundings(&self, command: &'static str) -> Surroundings {
        Surroundings {
            command,
            actor: self.caller.user.clone(),
            ..self.server.surroundings.clone()
        }
    }

    /// Lends the open workspace for a command.
    pub(super) fn context(&self, command: &'static str) -> Result<Lent<'_, Context>> {
        let surroundings = self.surroundings(command);
        let open = || Context::open(surroundings.clone());
        let mut lent = self.server.contexts.lend(open)?;
        lent.surroundings = surroundings;
        Ok(lent)
    }

    /// Returns what is remembered of tasks and runs between two looks.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        let memory = &self.server.memory;
        // Whatever a look left half done can be forgotten.
        memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a caller who may not do what needs a scope.
    pub(super) fn require(&self, scope: Scope) -> Result<()> {
        guard::check_scope(&self.caller, scope)
    }

    /// Lends the open store of agents.
    pub(super) fn agency(&self) -> Result<Lent<'_, SqliteAgency>> {
        self.server.agency()
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(FAULT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

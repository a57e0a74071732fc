//! A call as a handler gets it: the caller and the parsed request.

use std::sync::Arc;

use axum::extract::Query;
use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Uri};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::body;
use super::guard::Caller;
use super::server::{Lent, Server};
use crate::error::{Code, Error, Result, is_control_character, shorten};
use crate::ops::agents::View;
use crate::ops::operation::Nothing;
use crate::ops::{Notes, Surroundings, checks_users};
use crate::strict::Input;

/// Maximum length of an error about a value, in characters.
const FAULT_MAX: usize = 200;
/// Maximum length of a parameter name in an error, in characters.
pub(super) const NAME_MAX: usize = 60;

#[derive(Clone)]
pub(super) struct Call {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    /// Under which name the places that the caller takes are counted.
    pub(super) limited_as: String,
    /// The named parts of the path.
    pub(super) parts: Vec<(String, String)>,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    pub(super) fn path_segment(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(there, _)| there == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the names and values in the query of the address.
    pub(super) fn pairs(&self) -> Result<Vec<(String, String)>> {
        let read = Query::try_from_uri(&self.uri);
        read.map(|Query(read)| read)
            .map_err(|cause| unusable(&cause.body_text()))
    }

    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T> {
        let texts = self.pairs()?;
        let body = Default::default();
        let read = Input { texts, body }.read();
        read.map_err(|fault| unusable(&fault.to_string()))
    }

    /// Refuses query parameters where none are read, because the caller expects them to have an
    /// effect, such as a dry run.
    pub(super) fn refuse_query(&self) -> Result<()> {
        if self.uri.query().is_none() {
            return Ok(());
        }
        let given = self.pairs()?;
        let Some((name, _)) = given.first() else {
            return Ok(());
        };
        let shown = name
            .chars()
            .filter(|c| !is_control_character(*c))
            .take(NAME_MAX);
        let shown: String = shown.collect();
        let message = format!(
            "there is no parameter `{shown}`: this takes none in its address; /openapi.json says what it takes"
        );
        Err(Error::new(Code::InputInvalid, message))
    }

    /// Reads the body, which must be a JSON object.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T> {
        self.object().and_then(body::read).map_err(shorten_message)
    }

    /// Refuses a body with fields if none are read.
    pub(super) fn refuse_body(&self) -> Result<()> {
        match self.body.is_empty() {
            true => Ok(()),
            false => self.body::<Nothing>().map(drop),
        }
    }

    /// Reads the body; null fields count as missing.
    pub(super) fn parse_body<T: DeserializeOwned>(&self) -> Result<T> {
        let object = self.object().map(body::drop_nulls);
        object.and_then(body::read).map_err(shorten_message)
    }

    fn object(&self) -> Result<Value> {
        self.require_json()?;
        body::object(&self.body)
    }

    fn require_json(&self) -> Result<()> {
        let kind = self.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let mut parts = kind.split(';').map(str::trim);
        let is_json = parts
            .next()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
        let mut encodings = self.headers.get_all(CONTENT_ENCODING).iter();
        let is_plain = encodings.all(|how| how.as_bytes().eq_ignore_ascii_case(b"identity"));
        let is_utf8 = |parameter: &str| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = value.trim().trim_matches('"');
            !name.trim().eq_ignore_ascii_case("charset") || value.eq_ignore_ascii_case("utf-8")
        };
        if is_json && parts.all(is_utf8) && is_plain {
            return Ok(());
        }
        let message = "the body must be sent as JSON, with `Content-Type: application/json`, in UTF-8 \
                       and without `Content-Encoding`";
        Err(Error::new(Code::MediaType, message))
    }

    /// Returns whether the header `Accept` names a type. Weights are not read.
    pub(super) fn accepts(&self, kind: &str) -> bool {
        let values = self.headers.get_all(ACCEPT).into_iter();
        let mut names = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split([',', ';']));
        names.any(|name| name.trim().eq_ignore_ascii_case(kind))
    }

    /// Returns a header, or an error if it is not text.
    pub(super) fn header(&self, name: &str) -> Result<Option<&str>> {
        let value = self.headers.get(name).map(|value| value.to_str());
        value.transpose().map_err(|_| {
            let message = format!("the header `{name}` has characters other than visible ASCII");
            Error::new(Code::InputInvalid, message)
        })
    }

    /// Returns the user whose rows are visible, or `None` for all users.
    pub(super) fn visible_user(&self) -> Option<&str> {
        self.caller.visible_user().filter(|_| checks_users())
    }

    /// Returns the agents that the caller sees.
    pub(super) fn agents(&self) -> Result<Arc<View>> {
        let (owner, user) = (self.caller.visible_user(), self.visible_user());
        self.server.agents(owner, user)
    }

    /// Returns whether the caller is known; open endpoints also answer others.
    pub(super) fn is_signed_in(&self) -> bool {
        !self.caller.user.is_empty()
    }

    pub(super) fn user(&self) -> &str {
        &self.caller.user
    }

    pub(super) fn surroundings(&self, command: &'static str) -> Surroundings {
        Surroundings {
            command,
            actor: self.caller.user.clone(),
            rights: self.caller.rights(),
            ..self.server.surroundings.clone()
        }
    }

    pub(super) fn context(&self, command: &'static str) -> Result<Lent<'_>> {
        let mut lent = self.server.lend_context()?;
        lent.cache = Arc::clone(&self.server.cache);
        lent.act_for(self.caller.visible_user());
        lent.surroundings = self.surroundings(command);
        lent.notes = Notes::default();
        lent.expected = None;
        Ok(lent)
    }
}

fn unusable(what: &str) -> Error {
    let message = format!("invalid query parameters: {what}");
    Error::new(Code::InputInvalid, shorten(&message, FAULT_MAX))
}

fn shorten_message(error: Error) -> Error {
    Error {
        message: shorten(&error.message, FAULT_MAX).into_owned(),
        ..error
    }
}

pub(super) fn limit_within(limit: Option<u32>, usual: u32, max: u32) -> Result<u32> {
    let limit = limit.unwrap_or(usual);
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    Err(error!(
        InputInvalid,
        "limit is {limit}; it can be 1 to {max}"
    ))
}

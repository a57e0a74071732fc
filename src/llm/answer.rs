//! Reads an answer of a model as it arrives, or classifies the error and whether a retry may help.

use std::time::Duration;

use chrono::Utc;
use serde_json::Value;

use super::client::Client;
use crate::error::{Code, Error};
use crate::llm::reply::Reader;
use crate::llm::settings::{Key, Redactor};
use crate::llm::{Delta, Model, client, reply};
use crate::net::{Fault, FaultKind, Head};

/// How much of a refusal is read, in bytes.
const REFUSAL_MAX: usize = 64 << 10;

pub(super) struct Answer<'a> {
    model: &'a Model,
    key: Option<&'a Key>,
    /// Redacts the key in the text, also across its pieces.
    redactor: Redactor<'a>,
    seen: &'a mut dyn FnMut(&str),
    /// The body, unless it is streamed.
    pub(super) whole: String,
    /// Reads a streamed body.
    reader: Option<Reader>,
    pub(super) found: Delta,
    fault: Option<String>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        model: &'a Model,
        key: Option<&'a Key>,
        seen: &'a mut dyn FnMut(&str),
    ) -> Answer<'a> {
        Answer {
            model,
            key,
            redactor: Redactor::new(key),
            seen,
            whole: String::new(),
            reader: None,
            found: Delta::default(),
            fault: None,
        }
    }

    pub(super) fn push(&mut self, head: &Head, line: &str) {
        let kind = head.content_type.as_deref().unwrap_or_default();
        // Some servers send an answer as a whole although they were asked to stream.
        let is_whole = kind.to_ascii_lowercase().starts_with("application/json");
        if head.status == 200 && self.model.stream && !is_whole {
            let event = self.reader.get_or_insert_default().push(line);
            event.iter().for_each(|event| self.event(event));
        } else if head.status == 200 || self.whole.len() < REFUSAL_MAX {
            self.whole += line;
        }
    }

    fn event(&mut self, event: &str) {
        if self.fault.is_some() || event.trim() == "[DONE]" || event.trim().is_empty() {
            return;
        }
        let Ok(event) = json(event, self.key) else {
            self.fault = Some("an event is not JSON".to_string());
            return;
        };
        let mut delta = self.model.provider.parse_delta(&event);
        delta.text = self.redactor.push(&delta.text);
        self.add(delta);
    }

    fn add(&mut self, delta: Delta) {
        if !delta.text.is_empty() {
            (self.seen)(&delta.text);
        }
        self.found.add(delta);
    }

    pub(super) fn end(&mut self) -> std::result::Result<(), String> {
        match self.reader.as_mut().map(Reader::finish) {
            Some(Some(last)) => self.event(&last),
            Some(None) => {}
            None => {
                let body = json(&self.whole, self.key).map_err(|_| "it is not JSON".to_string())?;
                let mut whole = self.model.provider.parse_reply(&body);
                whole.text = match whole.error {
                    None => self.redactor.push(&whole.text),
                    Some(_) => String::new(),
                };
                self.add(whole);
            }
        }
        let text = std::mem::replace(&mut self.redactor, Redactor::new(None)).finish();
        self.add(Delta {
            text,
            ..Delta::default()
        });
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match self.found.error.take() {
            Some(error) => Err(format!("the server says: {error}")),
            None => Ok(()),
        }
    }
}

/// Reads JSON and redacts the key, which JSON can spell in many ways.
pub(super) fn json(text: &str, key: Option<&Key>) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    if let Some(key) = key {
        key.redact_all(&mut value);
    }
    Ok(value)
}

pub(super) struct AttemptError {
    pub(super) error: Error,
    /// How long the server asks to wait.
    pub(super) after: Option<Duration>,
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> AttemptError {
        let after = None;
        AttemptError { error, after }
    }
}

impl Client {
    pub(super) fn describe_unreached(&self, fault: &Fault) -> AttemptError {
        let server = &self.model.base_url;
        let (code, message) = match fault.kind {
            FaultKind::Timeout => {
                let limit = self.model.timeout.as_secs();
                let message = format!("the model at {server} did not answer within {limit} s");
                (Code::ModelTimeout, message)
            }
            FaultKind::TooLarge | FaultKind::Protocol => {
                let message = format!("the answer of {server} cannot be used: {}", fault.message);
                (Code::ModelAnswer, message)
            }
            _ => {
                let message = format!(
                    "the model at {server} could not be reached: {}",
                    fault.message
                );
                (Code::ModelUnreachable, message)
            }
        };
        let is_transient = fault.kind.is_transient() || fault.kind == FaultKind::Timeout;
        self.error(code, &message).passing(is_transient).into()
    }

    pub(super) fn describe_refusal(&self, head: &Head, body: &str) -> AttemptError {
        let (server, status) = (&self.model.base_url, head.status);
        let (code, what) = match status {
            401 | 403 => (Code::ModelRefused, self.no_entry()),
            300..=399 => (
                Code::ModelRefused,
                "answers with a redirect, which is not followed".to_string(),
            ),
            404 => (
                Code::ModelRefused,
                "does not know the address or the model".to_string(),
            ),
            500..=599 => (Code::ModelUnreachable, "is in trouble".to_string()),
            _ => (Code::ModelRefused, "refused the request".to_string()),
        };
        let said = read_message(body, self.key.as_ref());
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        let message = format!("{server} {what}: HTTP {status}{said}");
        let after = head.retry_after.as_deref();
        AttemptError {
            error: self
                .error(code, &message)
                .passing(client::is_transient(status)),
            after: after.and_then(|text| client::read_retry_after(text, Utc::now())),
        }
    }

    fn no_entry(&self) -> String {
        match (&self.key, &self.model.key_variable) {
            (Some(_), Some(variable)) => format!("refused the key in {variable}"),
            (None, Some(variable)) => format!("wants a key, and {variable} is not set"),
            _ if self.model.is_of_project => {
                "wants a key and gets none, because the project's file names the server".to_string()
            }
            _ => "wants a key, and llm.apiKeyEnv does not say which variable holds it".to_string(),
        }
    }

    pub(super) fn unusable(&self, why: &str) -> AttemptError {
        let message = format!(
            "the answer of {} cannot be used: {why}",
            self.model.base_url
        );
        self.error(Code::ModelAnswer, &message).into()
    }

    /// Makes an error without the key.
    fn error(&self, code: Code, message: &str) -> Error {
        let message = redact(message, self.key.as_ref());
        Error::new(code, message).fix("cleo config list --show-origin")
    }
}

pub(super) fn too_long(error: Error, pause: Duration) -> Error {
    let seconds = pause.as_secs_f64().ceil();
    let message = format!(
        "{}; it can be tried again in {seconds} s, which llm.timeout does not allow",
        error.message
    );
    Error { message, ..error }
}

fn read_message(body: &str, key: Option<&Key>) -> Option<String> {
    let json = json(body, key).ok();
    let text = match json.as_ref().and_then(reply::error) {
        Some(said) => said,
        None if json.is_some() || body.trim_start().starts_with('<') => return None,
        // Redacted before it is cut.
        None => redact(body, key).chars().take(300).collect(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" ")).filter(|text| !text.is_empty())
}

fn redact(text: &str, key: Option<&Key>) -> String {
    key.map_or_else(|| text.to_string(), |key| key.redact(text))
}

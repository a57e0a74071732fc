//! Asks the configured model: sends the request through `cleo-net`, tries again what may pass, reads
//! the answer as it comes, and keeps the key out of everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::Utc;
use serde_json::Value;

use super::key::{self, Key, Redactor};
use super::stream::{Framing, Reader};
use super::{Delta, Model, Reply, Request, Usage, reply, retry};
use crate::error::{Code, Error, Result, quote};
use crate::exchange::wire::{Call, Fault, FaultKind, Head};
use crate::exchange::{self, Failure};
use crate::runner::{self, signals};

/// Largest answer, in bytes: with everything around the text.
const ANSWER_MAX: u64 = 16 << 20;
/// How much of a refusal is read, in bytes.
const REFUSAL_MAX: usize = 64 << 10;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// What is needed to ask a model.
pub struct Client {
    model: Model,
    key: Option<Key>,
    program: PathBuf,
}

/// Why one attempt brought no answer.
struct Missed {
    error: Error,
    /// Whether the same request may succeed later.
    again: bool,
    /// How long the server asks to wait.
    after: Option<Duration>,
}

impl From<Error> for Missed {
    fn from(error: Error) -> Missed {
        Missed {
            error,
            again: false,
            after: None,
        }
    }
}

impl Client {
    /// Gets ready to ask the configured model: finds `cleo-net`, reads the key from its variable.
    pub fn open(model: &Model) -> Result<Client> {
        let program = runner::beside(exchange::PROGRAM);
        exchange::check(&program)?;
        let key = match &model.key_variable {
            Some(variable) => read_key(model, variable)?,
            None => None,
        };
        Ok(Client::new(model, key, program))
    }

    /// Takes what is needed from the caller.
    pub fn new(model: &Model, key: Option<Key>, program: PathBuf) -> Client {
        let model = model.clone();
        Client {
            model,
            key,
            program,
        }
    }

    /// Asks the model and waits for the whole answer. `seen` gets its text as it comes, if the
    /// settings say so, and otherwise all at once. What fails before any text came is tried again.
    ///
    /// Errors: `E_MODEL_TIMEOUT`, `E_MODEL_UNREACHABLE` and `E_MODEL_REFUSED` of the server,
    /// `E_MODEL_ANSWER` for an answer that is none, `E_INTERRUPTED` and `E_TERMINATED`.
    pub fn ask(&self, request: &Request, seen: &mut dyn FnMut(&str)) -> Result<Reply> {
        let mut counted = Usage::default();
        let reply = self.ask_counting(request, &mut counted, seen)?;
        Ok(Reply {
            usage: counted,
            ..reply
        })
    }

    /// Asks as [`Client::ask`] does. `counted` grows by what every attempt takes, also one that brings no
    /// answer: the server has it paid all the same.
    pub fn ask_counting(
        &self,
        request: &Request,
        counted: &mut Usage,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Reply> {
        let begun = Instant::now();
        let mut any = false;
        for attempt in 0.. {
            let left = self.model.timeout.saturating_sub(begun.elapsed());
            let mut shown = |text: &str| {
                any = true;
                seen(text);
            };
            let missed = match self.attempt(request, left, counted, &mut shown) {
                Ok(reply) => return Ok(reply),
                Err(missed) => missed,
            };
            if any || !missed.again || attempt >= self.model.retries {
                return Err(missed.error);
            }
            let pause = retry::pause(attempt, missed.after, getrandom::u32().unwrap_or(0));
            if begun.elapsed().saturating_add(pause) >= self.model.timeout {
                return Err(too_long(missed.error, pause));
            }
            signals::sleep(pause, "cleo waited to ask the model again")?;
        }
        Err(Error::new(Code::Internal, "the model was not asked"))
    }

    fn attempt(
        &self,
        request: &Request,
        left: Duration,
        counted: &mut Usage,
        seen: &mut dyn FnMut(&str),
    ) -> std::result::Result<Reply, Missed> {
        let call = self.call(request, left);
        let mut redactor = Redactor::new(self.key.as_ref());
        let mut answer = Answer::new(&self.model, self.key.as_ref(), seen);
        let done = exchange::perform(&self.program, &call, &mut |head, text| {
            answer.push(head, &redactor.push(text));
        });
        let head = match done {
            Ok(head) => head,
            Err(failure) => {
                counted.add(answer.found.usage);
                return Err(match failure {
                    Failure::Own(error) => error.into(),
                    Failure::Fault(fault) => self.unreached(&fault),
                });
            }
        };
        answer.push(&head, &redactor.finish());
        if head.status != 200 {
            return Err(self.refused(&head, &answer.whole));
        }
        let ended = answer.end();
        counted.add(answer.found.usage);
        let asked = self.model.name_for(request);
        let reply = ended.and_then(|()| answer.found.finished(asked));
        reply.map_err(|why| self.unusable(&why))
    }

    fn call(&self, request: &Request, left: Duration) -> Call {
        let draft = self
            .model
            .provider
            .draft(&self.model, request, self.model.stream);
        let plain = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers = plain.iter().chain(&draft.headers);
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
        let key = self
            .key
            .as_ref()
            .map(|key| self.model.provider.key_header(key));
        Call {
            method: "POST".to_string(),
            url: draft.url,
            headers: headers.chain(key).collect(),
            body: Some(draft.body.to_string()),
            connect_timeout_ms: millis(CONNECT.min(left)),
            timeout_ms: millis(left),
            max_bytes: ANSWER_MAX,
            public_only: false,
        }
    }

    /// Makes the error of a server that gave no whole answer.
    fn unreached(&self, fault: &Fault) -> Missed {
        let server = &self.model.base_url;
        let (code, message) = match fault.kind {
            FaultKind::Timeout => {
                let limit = self.model.timeout.as_secs();
                (
                    Code::ModelTimeout,
                    format!("the model at {server} did not answer within {limit} s"),
                )
            }
            FaultKind::TooLarge | FaultKind::Protocol => (
                Code::ModelAnswer,
                format!("the answer of {server} cannot be used: {}", fault.message),
            ),
            _ => (
                Code::ModelUnreachable,
                format!(
                    "the model at {server} could not be reached: {}",
                    fault.message
                ),
            ),
        };
        let fix = match fault.kind {
            FaultKind::Timeout => {
                let more = self
                    .model
                    .timeout
                    .as_secs()
                    .saturating_mul(3)
                    .clamp(1, 3_600);
                format!("cleo config set llm.timeout {more}s")
            }
            _ => "cleo config get llm.baseUrl".to_string(),
        };
        let passing = fault.kind.is_passing() || fault.kind == FaultKind::Timeout;
        Missed {
            error: self.error(code, &message).fix(fix).passing(passing),
            again: fault.kind.is_passing(),
            after: None,
        }
    }

    /// Makes the error of a server that answered with another status than 200.
    fn refused(&self, head: &Head, body: &str) -> Missed {
        let (server, status) = (&self.model.base_url, head.status);
        let again = retry::is_passing(status);
        let said = said(body, self.key.as_ref());
        let (code, message, fix) = match status {
            401 | 403 => {
                let (message, fix) = self.no_entry(status);
                (Code::ModelRefused, message, fix)
            }
            300..=399 => (
                Code::ModelRefused,
                format!("{server} answers HTTP {status}, a redirect, which is not followed"),
                "cleo config get llm.baseUrl".to_string(),
            ),
            500..=599 => (
                Code::ModelUnreachable,
                format!("the model at {server} is in trouble: HTTP {status}"),
                "cleo config get llm.baseUrl".to_string(),
            ),
            404 => (
                Code::ModelRefused,
                format!("{server} does not know the address or the model: HTTP 404"),
                "cleo config list".to_string(),
            ),
            _ => (
                Code::ModelRefused,
                format!("the model at {server} refused the request: HTTP {status}"),
                "cleo config list".to_string(),
            ),
        };
        let message = message + &said.map(|said| format!(": {said}")).unwrap_or_default();
        let after = head.retry_after.as_deref();
        Missed {
            error: self.error(code, &message).fix(fix).passing(again),
            again,
            after: after.and_then(|text| retry::retry_after(text, Utc::now())),
        }
    }

    /// Says which key was refused, and how to set another.
    fn no_entry(&self, status: u16) -> (String, String) {
        let server = &self.model.base_url;
        match (&self.key, &self.model.key_variable) {
            (Some(_), Some(variable)) => (
                format!("{server} refused the key in {variable}: HTTP {status}"),
                key::ask_for(variable),
            ),
            (None, Some(variable)) => (
                format!("{server} wants a key, and {variable} is not set: HTTP {status}"),
                key::ask_for(variable),
            ),
            _ if !self.model.is_of_project => (
                format!(
                    "{server} wants a key, and llm.apiKeyEnv does not say which variable holds it: HTTP {status}"
                ),
                "cleo config set llm.apiKeyEnv OLLAMA_API_KEY --user".to_string(),
            ),
            _ => (
                format!(
                    "{server} wants a key and gets none, because the project's file names the server: HTTP {status}"
                ),
                format!("cleo config set llm.baseUrl {} --user", quote(server)),
            ),
        }
    }

    /// Makes the error of an answer that is none.
    fn unusable(&self, why: &str) -> Missed {
        let message = format!(
            "the answer of {} cannot be used: {why}",
            self.model.base_url
        );
        let error = self.error(Code::ModelAnswer, &message);
        error.fix("cleo config get llm.provider").into()
    }

    /// Makes an error without the key, whoever repeated it.
    fn error(&self, code: Code, message: &str) -> Error {
        let redacted = self.key.as_ref().map(|key| key.redact(message));
        Error::new(code, redacted.unwrap_or_else(|| message.to_string()))
    }
}

fn read_key(model: &Model, variable: &str) -> Result<Option<Key>> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    match value {
        Some(value) => Key::new(variable, &value.to_string_lossy()).map(Some),
        None if model.needs_key => Err(no_key(model, variable)),
        None => Ok(None),
    }
}

/// Makes the error of a key that is needed and not there.
pub fn no_key(model: &Model, variable: &str) -> Error {
    let word = model.provider.word();
    let message = format!("the model of {word} needs a key, and {variable} is not set");
    Error::new(Code::ConfigInvalid, message).fix(key::ask_for(variable))
}

fn too_long(error: Error, pause: Duration) -> Error {
    let seconds = pause.as_secs_f64().ceil();
    let message = format!(
        "{}; it can be tried again in {seconds} s, which llm.timeout does not allow",
        error.message
    );
    Error { message, ..error }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Finds what a server says about a refusal, on one line.
fn said(body: &str, key: Option<&Key>) -> Option<String> {
    let json = json(body, key).ok();
    let text = match json.as_ref().and_then(reply::error) {
        Some(said) => said,
        None if json.is_some() || body.trim_start().starts_with('<') => return None,
        None => body.chars().take(300).collect(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" ")).filter(|text| !text.is_empty())
}

/// Reads JSON without the key: in its text a key may be written in many ways, but read it is the key.
fn json(text: &str, key: Option<&Key>) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    if let Some(key) = key {
        key.redact_all(&mut value);
    }
    Ok(value)
}

/// An answer as it comes.
struct Answer<'a> {
    model: &'a Model,
    key: Option<&'a Key>,
    /// Takes the key out of the text, over whose pieces it may be spread.
    redactor: Redactor<'a>,
    seen: &'a mut dyn FnMut(&str),
    /// The body, unless it comes piece by piece.
    whole: String,
    /// What reads the pieces, once the answer has begun.
    reader: Option<Reader>,
    found: Delta,
    fault: Option<String>,
}

impl<'a> Answer<'a> {
    fn new(model: &'a Model, key: Option<&'a Key>, seen: &'a mut dyn FnMut(&str)) -> Answer<'a> {
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

    fn push(&mut self, head: &Head, text: &str) {
        if head.status != 200 {
            if self.whole.len() < REFUSAL_MAX {
                self.whole += text;
            }
        } else if self.comes_in_pieces(head) {
            self.pieces(text);
        } else {
            self.whole += text;
        }
    }

    /// Says whether the answer comes piece by piece: some servers send it whole all the same.
    fn comes_in_pieces(&self, head: &Head) -> bool {
        let kind = head
            .content_type
            .as_deref()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_whole = kind.starts_with("application/json");
        self.model.stream && !(is_whole && self.model.provider.framing() == Framing::Events)
    }

    fn pieces(&mut self, text: &str) {
        let framing = self.model.provider.framing();
        let reader = self.reader.get_or_insert_with(|| Reader::new(framing));
        match reader.push(text) {
            Ok(events) => events.iter().for_each(|event| self.event(event)),
            Err(_) => {
                self.fault = self
                    .fault
                    .take()
                    .or(Some("an event is too long".to_string()))
            }
        }
    }

    fn event(&mut self, event: &str) {
        if self.fault.is_some() || event.trim() == "[DONE]" || event.trim().is_empty() {
            return;
        }
        let Ok(event) = json(event, self.key) else {
            self.fault = Some("an event is no JSON".to_string());
            return;
        };
        let mut delta = self.model.provider.delta(&event);
        delta.text = self.redactor.push(&delta.text);
        self.add(delta);
    }

    fn add(&mut self, delta: Delta) {
        if !delta.text.is_empty() {
            (self.seen)(&delta.text);
        }
        self.found.add(delta);
    }

    /// Takes in what has not been read yet; the error says why it is no answer.
    fn end(&mut self) -> std::result::Result<(), String> {
        match self.reader.as_mut().map(Reader::finish) {
            Some(Some(last)) => self.event(&last),
            Some(None) => {}
            None => self.take_whole()?,
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

    fn take_whole(&mut self) -> std::result::Result<(), String> {
        let body = json(&self.whole, self.key).map_err(|_| "it is no JSON".to_string())?;
        let mut whole = self.model.provider.whole(&body);
        whole.text = match whole.error {
            None => self.redactor.push(&whole.text),
            Some(_) => String::new(),
        };
        self.add(whole);
        Ok(())
    }
}

//! Asks the configured model: sends the request through `cleo-net`, tries again what may pass, reads
//! the answer as it comes, and keeps the key out of everything.

mod answer;
mod missed;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use self::answer::Answer;
use self::missed::{Missed, too_long};
use super::key::{self, Key, Redactor};
use super::{Model, Reply, Request, Usage, retry};
use crate::error::{Code, Error, Result};
use crate::exchange::wire::Call;
use crate::exchange::{self, Failure};
use crate::runner::{self, signals};

/// Largest answer, in bytes: with everything around the text.
const ANSWER_MAX: u64 = 16 << 20;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// What is needed to ask a model.
pub struct Client {
    model: Model,
    key: Option<Key>,
    program: PathBuf,
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
}

fn read_key(model: &Model, variable: &str) -> Result<Option<Key>> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    match value {
        Some(value) => Key::new(variable, &value.to_string_lossy()).map(Some),
        None if model.needs_key => Err(no_key(model, variable)),
        None => Ok(None),
    }
}

/// Takes the key of the configured model out of a text, before that is kept or sent anywhere.
pub fn without_key(model: &Model, text: &str) -> String {
    let variable = model.key_variable.as_deref();
    let key = variable.and_then(|variable| read_key(model, variable).ok()?);
    key.map_or_else(|| text.to_string(), |key| key.redact(text))
}

/// Makes the error of a key that is needed and not there.
pub fn no_key(model: &Model, variable: &str) -> Error {
    let word = model.provider.word();
    let message = format!("the model of {word} needs a key, and {variable} is not set");
    Error::new(Code::ConfigInvalid, message).fix(key::ask_for(variable))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

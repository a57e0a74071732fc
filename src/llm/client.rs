//! Asks the configured model, retries transient errors, streams the answer, and redacts the key everywhere.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use chrono::{DateTime, Utc};

use super::answer::{Answer, AttemptError, too_long};
use super::settings::Key;
use super::{Model, Reply, Request, Usage};
use crate::error::{Code, Error, Result};
use crate::net::{self, Call, Failure};
use crate::runner::signals;

/// Largest answer, in bytes: with everything around the text.
const ANSWER_MAX: u64 = 16 << 20;
const CONNECT: Duration = Duration::from_secs(10);
/// Shortest timeout: none at all would mean no limit.
const LEAST: Duration = Duration::from_millis(1);

pub(crate) struct Client {
    pub(super) model: Model,
    pub(super) key: Option<Key>,
}

impl Client {
    /// Reads the key of the configured model from its variable.
    pub(crate) fn open(model: &Model) -> Result<Client> {
        let key = match &model.key_variable {
            Some(variable) => read_key(model, variable)?,
            None => None,
        };
        Ok(Client::new(model, key))
    }

    pub(crate) fn new(model: &Model, key: Option<Key>) -> Client {
        let model = model.clone();
        Client { model, key }
    }

    /// Asks the model and waits for the answer. `seen` gets the text as it arrives or at once, as configured.
    /// Errors before any text are retried.
    ///
    /// Errors: `E_MODEL_TIMEOUT`, `E_MODEL_UNREACHABLE` and `E_MODEL_REFUSED` of the server, `E_MODEL_ANSWER`
    /// for an invalid answer, `E_INTERRUPTED` and `E_TERMINATED`.
    pub(crate) fn ask(&self, request: &Request, seen: &mut dyn FnMut(&str)) -> Result<Reply> {
        let mut counted = Usage::default();
        let reply = self.ask_counting(request, &mut counted, seen)?;
        Ok(Reply {
            usage: counted,
            ..reply
        })
    }

    /// Asks like [`Client::ask`]. `counted` adds up the tokens of every attempt, also failed ones, because
    /// the server bills them.
    pub(crate) fn ask_counting(
        &self,
        request: &Request,
        counted: &mut Usage,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Reply> {
        let begun = Instant::now();
        let mut pauses = pauses(self.model.retries);
        let mut any = false;
        loop {
            let left = self.model.timeout.saturating_sub(begun.elapsed());
            let mut shown = |text: &str| {
                any = true;
                seen(text);
            };
            let failed = match self.attempt(request, left, counted, &mut shown) {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            // No time is left after a timeout.
            let can_retry = failed.error.is_retryable() && failed.error.code != Code::ModelTimeout;
            let Some(pause) = pauses.next().filter(|_| can_retry && !any) else {
                return Err(failed.error);
            };
            // Not sooner than the server asks.
            let pause = failed.after.map_or(pause, |after| after.max(pause));
            if begun.elapsed().saturating_add(pause) >= self.model.timeout {
                return Err(too_long(failed.error, pause));
            }
            signals::sleep(pause, "cleo waited to ask the model again")?;
        }
    }

    fn attempt(
        &self,
        request: &Request,
        left: Duration,
        counted: &mut Usage,
        seen: &mut dyn FnMut(&str),
    ) -> std::result::Result<Reply, AttemptError> {
        let call = self.call(request, left);
        let mut answer = Answer::new(&self.model, self.key.as_ref(), seen);
        let head = match net::perform(&call, &mut |head, line| answer.push(head, line)) {
            Ok(head) => head,
            Err(failure) => {
                *counted = counted.plus(answer.found.usage);
                return Err(match failure {
                    Failure::Own(error) => error.into(),
                    Failure::Fault(fault) => self.describe_unreached(&fault),
                });
            }
        };
        if head.status != 200 {
            return Err(self.describe_refusal(&head, &answer.whole));
        }
        let ended = answer.end();
        *counted = counted.plus(answer.found.usage);
        let asked = self.model.name_for(request);
        let reply = ended.and_then(|()| answer.found.finish(asked));
        reply.map_err(|why| self.unusable(&why))
    }

    fn call(&self, request: &Request, left: Duration) -> Call {
        let draft = self
            .model
            .provider
            .make_request(&self.model, request, self.model.stream);
        let plain = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers = plain.iter().chain(&draft.headers);
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
        let key = self.key.as_ref();
        let key = key.map(|key| self.model.provider.key_header(key));
        Call {
            method: "POST",
            url: draft.url,
            headers: headers.chain(key).collect(),
            body: Some(draft.body.to_string()),
            connect_timeout: CONNECT.min(left).max(LEAST),
            timeout: left.max(LEAST),
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

/// Redacts the key of the configured model, before a text is stored or sent anywhere.
pub(crate) fn redact_key(model: &Model, text: &str) -> String {
    let variable = model.key_variable.as_deref();
    let key = variable.and_then(|variable| read_key(model, variable).ok()?);
    key.map_or_else(|| text.to_string(), |key| key.redact(text))
}

pub(crate) fn no_key(model: &Model, variable: &str) -> Error {
    let word = model.provider.word();
    let message =
        format!("the model of {word} needs a key, and {variable} is not set; set it to the key");
    Error::new(Code::ConfigInvalid, message).fix("cleo config list --show-origin")
}

/// Returns the pauses before retries: they double, with jitter, so that clients that failed together do not return
/// together.
fn pauses(retries: u32) -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(500))
        .with_max_delay(Duration::from_secs(20))
        .with_max_times(retries as usize)
        .with_jitter()
        .build()
}

pub(super) fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || (500..=599).contains(&status)
}

/// Parses a Retry-After: seconds or a date, `None` if invalid; huge values are the maximum.
pub(super) fn read_retry_after(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        let asked = Duration::try_from_secs_f64(seconds.max(0.0));
        return (!seconds.is_infinite()).then(|| asked.unwrap_or(Duration::MAX));
    }
    let then = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    Some((then - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_bound() {
        for _ in 0..100 {
            let pauses: Vec<u128> = pauses(9).map(|pause| pause.as_millis()).collect();
            assert_eq!(pauses.len(), 9);
            let full = [
                500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000, 20_000,
            ];
            for (pause, full) in pauses.into_iter().zip(full) {
                assert!((full..=2 * full).contains(&pause), "{full}: {pause}");
            }
        }
    }

    #[test]
    fn what_passes_is_tried_again_and_nothing_else() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529, 599] {
            assert!(is_transient(status), "{status}");
        }
        for status in [200, 201, 301, 400, 401, 403, 404, 413, 422, 600, 0] {
            assert!(!is_transient(status), "{status}");
        }
    }

    #[test]
    fn server_asks_for_seconds_or_names_date() {
        let now = DateTime::parse_from_rfc3339("2015-10-21T07:27:30Z")
            .unwrap()
            .to_utc();
        for (text, expected) in [
            ("30", Some(30_000)),
            (" 1.5 ", Some(1_500)),
            ("0", Some(0)),
            ("-7", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(30_000)),
            ("Wed, 21 Oct 2015 07:00:00 GMT", Some(0)),
            ("soon", None),
            ("", None),
            ("NaN", Some(0)),
            ("1e999", None),
        ] {
            let found = read_retry_after(text, now).map(|time| time.as_millis() as u64);
            assert_eq!(found, expected, "{text}");
        }
        let longest = read_retry_after("99999999999999999999", now);
        assert_eq!(longest, Some(Duration::MAX));
    }
}

//! Idempotency keys: a repeated call with a key gets the result of the first one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::OwnedMutexGuard;

use super::answer::Answer;
use super::fault::{self, Shape};
use crate::error::{Code, Error, Result};
use crate::id;

const REMEMBERED: Duration = Duration::from_secs(600);
const KEYS_MAX: usize = 20_000;
/// Longest key, in bytes.
const KEY_MAX: usize = 200;

/// Result of the first call with a key. Locked until that has begun.
type Outcome = Arc<tokio::sync::Mutex<Option<First>>>;

#[derive(Debug)]
struct First {
    body: String,
    execution: String,
}

pub(super) enum Known {
    /// A new key, whose result has to be recorded.
    New(Note),
    /// The execution started by the same body.
    Begun(String),
    /// The key was used with another body.
    Other,
}

/// Records the result of a call with a key. Calls with the same key wait for it; dropping it
/// without a result frees the key.
#[derive(Debug)]
pub(super) struct Note {
    place: OwnedMutexGuard<Option<First>>,
    body: String,
}

impl Note {
    pub(super) fn set_begun(self, execution: &str) {
        let Note { mut place, body } = self;
        let execution = execution.to_string();
        *place = Some(First { body, execution });
    }
}

/// Refuses a key that came with another body before.
pub(super) fn refuse_reuse(key: &str) -> Answer {
    let message = format!("Idempotency-Key: `{key}` was used with another body; use a new key");
    let error = Error::new(Code::InputInvalid, message);
    fault::answer(&error, Shape::Bare).under(StatusCode::UNPROCESSABLE_ENTITY)
}

#[derive(Debug, Default)]
pub(super) struct Keys {
    known: Mutex<HashMap<(String, String), (Instant, Outcome)>>,
}

impl Keys {
    pub(super) async fn find_or_begin(&self, user: &str, key: &str, body: &[u8]) -> Result<Known> {
        let place = self.outcome(user, key, Instant::now())?;
        let (place, body) = (place.lock_owned().await, id::digest(body));
        Ok(match &*place {
            None => Known::New(Note { place, body }),
            Some(first) if first.body == body => Known::Begun(first.execution.clone()),
            Some(_) => Known::Other,
        })
    }

    /// Returns the result for a key of a user; empty for a new key.
    fn outcome(&self, user: &str, key: &str, now: Instant) -> Result<Outcome> {
        let is_plain =
            (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain {
            let message = format!("Idempotency-Key: must have 1 to {KEY_MAX} visible characters");
            return Err(Error::new(Code::InputInvalid, message));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEYS_MAX {
            known.retain(|_, (since, _)| now.duration_since(*since) < REMEMBERED);
        }
        if known.len() >= KEYS_MAX {
            return Err(fault::busy());
        }
        let entry = known.entry((user.to_string(), key.to_string()));
        let (since, outcome) = entry.or_insert_with(|| (now, Outcome::default()));
        if now.duration_since(*since) >= REMEMBERED {
            (*since, *outcome) = (now, Outcome::default());
        }
        Ok(Arc::clone(outcome))
    }
}

//! Keys by which a caller that sends something again, because it does not know whether it came the first
//! time, is answered with what came of the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Code, Error, Result};

/// How long a key is remembered.
const REMEMBERED: Duration = Duration::from_secs(600);
/// Most keys that are remembered.
const KEYS_MAX: usize = 20_000;
/// Longest key, in bytes.
const KEY_MAX: usize = 200;

/// What came of the first call with a key: the id of an execution. Locked while that is on its way.
pub(super) type Outcome = Arc<tokio::sync::Mutex<Option<String>>>;

/// Keys of callers.
#[derive(Debug, Default)]
pub(super) struct Keys {
    known: Mutex<HashMap<(String, String), (Instant, Outcome)>>,
}

impl Keys {
    /// Finds what came of a key of a user; empty for a new one.
    pub(super) fn outcome(&self, user: &str, key: &str, now: Instant) -> Result<Outcome> {
        let is_plain =
            (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain {
            let message = format!("Idempotency-Key: 1 to {KEY_MAX} visible characters are needed");
            return Err(Error::new(Code::InputInvalid, message));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEYS_MAX {
            known.retain(|_, (since, _)| now.duration_since(*since) < REMEMBERED);
        }
        if known.len() >= KEYS_MAX {
            return Err(super::fault::busy());
        }
        let entry = known.entry((user.to_string(), key.to_string()));
        let (since, outcome) = entry.or_insert_with(|| (now, Outcome::default()));
        if now.duration_since(*since) >= REMEMBERED {
            (*since, *outcome) = (now, Outcome::default());
        }
        Ok(Arc::clone(outcome))
    }
}

//! The feed of changes: each once, in order, from any cursor on.

use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::Context;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::{Recorded, Store};

/// How many changes are read at once.
const BATCH: u32 = 500;

/// What to watch.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Changes after this cursor; none: from now on.
    pub since: Option<u64>,
    /// Changes of this task only.
    pub task: Option<TaskId>,
    /// How often to look for more; none: end with what is there.
    pub interval: Option<Duration>,
}

/// Where a feed ended.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Watched {
    /// The cursor to go on from.
    pub cursor: u64,
    /// How many changes were told.
    pub total: u64,
    /// The changes, when they are told all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Recorded>>,
}

/// Who is told.
pub trait Listener {
    /// Takes a change; false when nobody listens any more.
    fn tell(&mut self, change: &Recorded) -> bool;

    /// Says, between changes, whether anybody still listens.
    fn listens(&mut self) -> bool;
}

/// Tells each change after the cursor, and those that come, until nobody listens. Writers take
/// turns, so a change that becomes visible always has a larger cursor than all before it, and
/// whoever goes on from the last cursor neither misses a change nor sees one twice.
pub fn watch(context: &mut Context, watch: &Watch, listener: &mut dyn Listener) -> Result<Watched> {
    let cursor = start(context, watch.since)?;
    let mut told = Watched {
        cursor,
        total: 0,
        changes: None,
    };
    loop {
        // Asked before reading: what is committed meanwhile is read the next time at the latest.
        let version = context.store.version()?;
        let goes_on = tell_all(context, watch.task, &mut told, listener)?;
        match watch.interval {
            Some(interval) if goes_on => {
                while context.store.version()? == version {
                    if !listener.listens() {
                        return Ok(told);
                    }
                    thread::sleep(interval);
                }
            }
            _ => return Ok(told),
        }
    }
}

/// Returns the cursor to start from. One that the log has not reached would hide changes.
fn start(context: &mut Context, since: Option<u64>) -> Result<u64> {
    let last = context.read(|transaction| transaction.last_cursor())?;
    match since {
        Some(since) if since > last => {
            let message = format!("the cursor {since} lies behind the end of the log, {last}");
            Err(Error::new(Code::InputInvalid, message)
                .instead(since.to_string(), last.to_string()))
        }
        since => Ok(since.unwrap_or(last)),
    }
}

/// Tells what is there; false when nobody listens any more.
fn tell_all(
    context: &mut Context,
    task: Option<TaskId>,
    told: &mut Watched,
    listener: &mut dyn Listener,
) -> Result<bool> {
    loop {
        let (changes, last) = context.read(|transaction| {
            let changes = transaction.changes(told.cursor, task, BATCH)?;
            Ok((changes, transaction.last_cursor()?))
        })?;
        for change in &changes {
            if !listener.tell(change) {
                return Ok(false);
            }
            (told.cursor, told.total) = (change.cursor, told.total + 1);
        }
        if changes.len() < BATCH as usize {
            told.cursor = last;
            return Ok(true);
        }
    }
}

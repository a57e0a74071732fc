//! Completing a task, which a spawned task must earn.

use super::tasks::{Moved, finish};
use super::{Context, require};
use crate::error::Result;
use crate::id::TaskId;

/// Marks a task done. A task that was spawned must verify first, unless forced; that is recorded.
pub fn complete(context: &mut Context, id: TaskId, force: bool) -> Result<Moved> {
    let now = context.now();
    context.write(|transaction| {
        let task = require(transaction, id)?;
        finish(transaction, task, force, &now)
    })
}

//! Who works on which task.

use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;

/// Claims of tasks, and what there is to claim.
pub trait Claims {
    /// Reads the last claim of a task, also one that was given back.
    fn claim(&self, task: TaskId) -> Result<Option<Claim>>;

    /// Writes the claim of a task in the place of its last one.
    fn put_claim(&mut self, claim: &Claim) -> Result<()>;

    /// Reads the claims that are held although their lease is over at `now` (RFC 3339 in UTC), the
    /// longest over first.
    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>>;

    /// Reads the claims that somebody holds, by task, also those whose lease is over.
    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>>;

    /// Finds the most urgent task that is ready and that nobody holds: pending, nothing before it
    /// open, no container. With a scope only below that task, to any depth.
    fn first_ready(&self, scope: Option<TaskId>) -> Result<Option<TaskId>>;
}

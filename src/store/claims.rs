//! Who works on which task.

use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;

pub(crate) trait Claims {
    /// Reads the last claim of a task, also one that was given back.
    fn claim(&self, task: TaskId) -> Result<Option<Claim>>;

    fn put_claim(&mut self, claim: &Claim) -> Result<()>;

    /// Reads the claims that are held although their lease is over at `now` (RFC 3339 in UTC), the
    /// longest over first.
    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>>;

    /// Reads the claims that somebody holds, by task, also those whose lease is over.
    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>>;

    /// Reads claims whose lease is running at `now` (RFC 3339 in UTC), at most `limit`, the ones
    /// that end last first.
    fn running_claims(&self, now: &str, limit: u32) -> Result<Vec<Claim>>;
}

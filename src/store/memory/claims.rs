//! Claims in memory.

use super::MemoryTransaction;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Claims;

impl Claims for MemoryTransaction<'_> {
    fn claim(&self, task: TaskId) -> Result<Option<Claim>> {
        Ok(self.state.claims.get(&task).cloned())
    }

    fn put_claim(&mut self, claim: &Claim) -> Result<()> {
        self.state.claims.insert(claim.task, claim.clone());
        Ok(())
    }

    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>> {
        let mut over: Vec<Claim> = self.state.claims.values().cloned().collect();
        over.retain(|claim| claim.is_expired(now));
        over.sort_by(|a, b| (&a.expires, a.task).cmp(&(&b.expires, b.task)));
        Ok(over)
    }

    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>> {
        let claims = self.state.claims.values();
        let held = claims.filter(|claim| claim.holder.as_deref() == Some(holder));
        Ok(held.cloned().collect())
    }

    fn running_claims(&self, now: &str, limit: u32) -> Result<Vec<Claim>> {
        let mut running: Vec<Claim> = self.state.claims.values().cloned().collect();
        running.retain(|claim| claim.live_holder(now).is_some());
        running.sort_by(|a, b| (&b.expires, b.task).cmp(&(&a.expires, a.task)));
        running.truncate(limit as usize);
        Ok(running)
    }
}

//! Claims in memory.

use super::MemoryTransaction;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Claims, Graph};

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

    fn first_ready(&self, scope: Option<TaskId>) -> Result<Option<TaskId>> {
        let is_held = |id: &TaskId| {
            let claim = self.state.claims.get(id);
            claim.is_some_and(|claim| claim.holder.is_some())
        };
        let mut ready = self
            .ready(scope, None)?
            .tasks
            .into_iter()
            .map(|task| task.id);
        Ok(ready.find(|id| !is_held(id)))
    }
}

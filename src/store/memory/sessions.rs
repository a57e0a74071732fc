//! Sessions in memory.

use super::MemoryTransaction;
use crate::error::Result;
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::Sessions;

impl Sessions for MemoryTransaction<'_> {
    fn session(&self, id: SessionId) -> Result<Option<Session>> {
        Ok(self.state.sessions.get(&id).cloned())
    }

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>> {
        let wanted = |session: &&Session| status.is_none_or(|status| session.status == status);
        Ok(self
            .state
            .sessions
            .values()
            .filter(wanted)
            .cloned()
            .collect())
    }

    fn next_session(&self) -> Result<SessionId> {
        let last = self.state.sessions.keys().last();
        Ok(SessionId(last.map_or(1, |last| last.0 + 1)))
    }

    fn put_session(&mut self, session: &Session) -> Result<()> {
        self.state.sessions.insert(session.id, session.clone());
        Ok(())
    }
}

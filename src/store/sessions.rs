//! Stretches of work.

use crate::error::Result;
use crate::session::{Session, SessionId, SessionStatus};

/// Sessions. They are never deleted.
pub(crate) trait Sessions {
    fn session(&self, id: SessionId) -> Result<Option<Session>>;

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>>;

    /// Returns the id for the next session; it is taken when that is written.
    fn next_session(&self) -> Result<SessionId>;

    fn put_session(&mut self, session: &Session) -> Result<()>;
}

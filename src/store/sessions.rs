//! Stretches of work.

use crate::error::Result;
use crate::session::{Session, SessionId, SessionStatus};

/// Sessions. They are never deleted.
pub(crate) trait Sessions {
    /// Reads a session.
    fn session(&self, id: SessionId) -> Result<Option<Session>>;

    /// Reads the sessions with a status, or all, by id.
    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>>;

    /// Returns the id for the next session; it is taken when that is written.
    fn next_session(&self) -> Result<SessionId>;

    /// Writes a session, new or changed, whole.
    fn put_session(&mut self, session: &Session) -> Result<()>;
}

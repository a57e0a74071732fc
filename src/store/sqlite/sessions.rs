//! SQL of sessions.

use rusqlite::{Row, named_params};

use super::SqliteTransaction;
use super::tasks::{from_json, word};
use crate::error::Result;
use crate::id::TaskId;
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::Sessions;

const COLUMNS: &str = "number, name, status, scope, focus, holder, notes, started_at, ended_at";

impl Sessions for SqliteTransaction<'_> {
    fn session(&self, id: SessionId) -> Result<Option<Session>> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE number = ?1");
        self.first(&sql, [id.0], read)
    }

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions WHERE {} ORDER BY number",
            status.map_or("?1 IS NULL", |_| "status = ?1")
        );
        self.all(&sql, [status.map(SessionStatus::word)], read)
    }

    fn next_session(&self) -> Result<SessionId> {
        let sql = "SELECT coalesce(max(number), 0) + 1 FROM sessions";
        let next = self.first(sql, (), |row| row.get(0))?;
        Ok(SessionId(next.unwrap_or(1)))
    }

    fn put_session(&mut self, session: &Session) -> Result<()> {
        let sql = "INSERT INTO sessions VALUES (:number, :name, :status, :scope, :focus, :holder,
                       :notes, :started_at, :ended_at)
                   ON CONFLICT (number) DO UPDATE SET name = excluded.name,
                       status = excluded.status, scope = excluded.scope, focus = excluded.focus,
                       holder = excluded.holder, notes = excluded.notes,
                       started_at = excluded.started_at, ended_at = excluded.ended_at";
        let notes = serde_json::to_string(&session.notes).unwrap_or_else(|_| "[]".to_string());
        self.execute(
            sql,
            named_params! {
                ":number": session.id.0, ":name": session.name, ":status": session.status.word(),
                ":scope": session.scope.map(|id| id.0), ":focus": session.focus.map(|id| id.0),
                ":holder": session.holder, ":notes": notes, ":started_at": session.started_at,
                ":ended_at": session.ended_at,
            },
        )?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: SessionId(row.get(0)?),
        name: row.get(1)?,
        status: word(row, 2)?,
        scope: row.get::<_, Option<u32>>(3)?.map(TaskId),
        focus: row.get::<_, Option<u32>>(4)?.map(TaskId),
        holder: row.get(5)?,
        notes: from_json(row, 6)?,
        started_at: row.get(7)?,
        ended_at: row.get(8)?,
    })
}

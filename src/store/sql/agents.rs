//! SQL of agents.

use super::columns::{from_json, json, read_checked_id, require_unchanged, unchanged};
use super::row::Row;
use super::{SqlTransaction, chat};
use crate::agent::Agent;
use crate::agent::builtin::is_builtin;
use crate::agent::draft::is_plain_id;
use crate::error::Result;
use crate::store::records::Agents;

pub(in crate::store) const COLUMNS: &str = unchanged!("id, record", "id, is_runtime, record");

/// Name of the counter of changes of agents.
const REVISION: &str = "agents";
/// Kind of the records of when an agent last answered.
const USE: &str = "use of agent";

impl Agents for SqlTransaction<'_> {
    fn agents(&self) -> Result<Vec<Agent>> {
        let sql = format!("SELECT {COLUMNS} FROM agents ORDER BY position");
        self.all(&sql, (), read)
    }

    fn agent(&self, id: &str) -> Result<Option<Agent>> {
        let sql = format!("SELECT {COLUMNS} FROM agents WHERE id = ?1");
        self.first(&sql, [id], read)
    }

    fn is_agent_taken(&self, id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1)";
        self.count(sql, [id]).map(|found| found > 0)
    }

    fn runtime_agents(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM agents WHERE is_runtime = 1";
        self.count(sql, ())
    }

    fn agents_revision(&self) -> Result<u64> {
        self.counter(REVISION).map(u64::from)
    }

    fn put_agent(&mut self, agent: &Agent) -> Result<()> {
        let revision = self.next_revision()?;
        let sql = "INSERT INTO agents VALUES (?1, ?2, ?3, ?4, checksum(?1, ?3, ?4))
            ON CONFLICT (id) DO UPDATE SET is_runtime = excluded.is_runtime, record = excluded.record,
                sum = excluded.sum";
        self.execute(sql, (&agent.id, revision, agent.is_runtime, json(agent)))?;
        self.backend.note_agents()
    }

    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()> {
        self.put_record((USE, "", agent), &at)
    }

    fn agent_uses(&self) -> Result<Vec<(String, String)>> {
        let sql = format!(
            "SELECT {} FROM records WHERE kind = ?1 ORDER BY records.id",
            chat::COLUMNS
        );
        self.all(&sql, [USE], |row| {
            Ok((row.get(3)?, chat::read_record(row)?))
        })
    }

    fn remove_agent(&mut self, id: &str) -> Result<bool> {
        let removed = self.execute_counting("DELETE FROM agents WHERE id = ?1", [id])?;
        if removed > 0 {
            self.next_revision()?;
        }
        Ok(removed > 0)
    }
}

impl SqlTransaction<'_> {
    /// Counts a change of an agent, and returns its number.
    fn next_revision(&self) -> Result<u32> {
        let next = self.counter(REVISION)?.wrapping_add(1);
        self.write_counter(REVISION, next).map(|()| next)
    }
}

/// Reads an agent; the columns count where the record says otherwise.
fn read(row: &Row<'_>) -> rusqlite::Result<Agent> {
    require_unchanged(row, 2)?;
    let id = read_checked_id(row, 0, is_plain_id)?;
    Ok(Agent {
        is_builtin: is_builtin(&id),
        id,
        ..from_json(row, 1)?
    })
}

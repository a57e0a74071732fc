//! SQL of agents.

use rusqlite::Row;

use crate::agent::Agent;
use crate::agent::builtin::is_builtin;
use crate::agent::draft::is_plain_id;
use crate::error::Result;
use crate::store::agency::Agents;
use crate::store::sqlite::columns::{checked_id, from_json, json};
use crate::store::sqlite::open::Open;

impl Agents for Open<'_> {
    fn agents(&self) -> Result<Vec<Agent>> {
        self.all("SELECT id, record FROM agents ORDER BY position", (), read)
    }

    fn agent(&self, id: &str) -> Result<Option<Agent>> {
        self.first("SELECT id, record FROM agents WHERE id = ?1", [id], read)
    }

    fn runtime_agents(&self) -> Result<usize> {
        let sql = "SELECT count(*) FROM agents WHERE is_runtime = 1";
        let count = self.first(sql, (), |row| row.get::<_, u32>(0))?;
        Ok(count.unwrap_or(0) as usize)
    }

    fn agents_revision(&self) -> Result<u64> {
        let sql = "SELECT revision FROM agents_revision";
        let revision = self.first(sql, (), |row| row.get::<_, i64>(0))?;
        Ok(revision.map_or(0, i64::unsigned_abs))
    }

    fn put_agent(&mut self, agent: &Agent) -> Result<()> {
        let sql = "INSERT INTO agents (id, is_runtime, record) VALUES (?1, ?2, ?3)
            ON CONFLICT (id) DO UPDATE SET is_runtime = excluded.is_runtime, record = excluded.record";
        self.execute(sql, (&agent.id, agent.is_runtime, json(agent)))?;
        self.revise()
    }

    fn remove_agent(&mut self, id: &str) -> Result<bool> {
        let removed = self.execute("DELETE FROM agents WHERE id = ?1", [id])?;
        if removed > 0 {
            self.revise()?;
        }
        Ok(removed > 0)
    }
}

impl Open<'_> {
    fn revise(&self) -> Result<()> {
        let sql = "UPDATE agents_revision SET revision = revision + 1";
        self.execute(sql, ()).map(|_| ())
    }
}

/// Reads an agent; the columns count where the record says otherwise.
fn read(row: &Row<'_>) -> rusqlite::Result<Agent> {
    let id = checked_id(row, 0, is_plain_id)?;
    Ok(Agent {
        is_builtin: is_builtin(&id),
        id,
        ..from_json(row, 1)?
    })
}

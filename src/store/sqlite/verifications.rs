//! SQL of checks of spawned tasks.

use rusqlite::Row;

use super::SqliteTransaction;
use super::tasks::{from_json, read_id};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Verification, Verifications};

const COLUMNS: &str = "task, manifest_id, at, by, skill, agent, passed, violations";

const INSERT: &str = "INSERT INTO verifications
    (task, manifest_id, at, by, skill, agent, passed, violations)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

impl Verifications for SqliteTransaction<'_> {
    fn put_verification(&mut self, verification: &Verification) -> Result<()> {
        let violations = serde_json::to_string(&verification.violations).unwrap_or_default();
        self.execute(
            INSERT,
            (
                verification.task.0,
                &verification.manifest_id,
                &verification.at,
                &verification.by,
                &verification.skill,
                &verification.agent,
                verification.passed,
                violations,
            ),
        )?;
        Ok(())
    }

    fn verifications(&self) -> Result<Vec<Verification>> {
        let sql = format!("SELECT {COLUMNS} FROM verifications ORDER BY sequence");
        self.all(&sql, (), read)
    }

    fn verifications_of(&self, task: TaskId) -> Result<Vec<Verification>> {
        let sql = format!("SELECT {COLUMNS} FROM verifications WHERE task = ?1 ORDER BY sequence");
        self.all(&sql, [task.0], read)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Verification> {
    Ok(Verification {
        task: read_id(row)?,
        manifest_id: row.get(1)?,
        at: row.get(2)?,
        by: row.get(3)?,
        skill: row.get(4)?,
        agent: row.get(5)?,
        passed: row.get(6)?,
        violations: from_json(row, 7)?,
    })
}

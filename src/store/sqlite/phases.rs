//! SQL of phases and of counts.

use std::collections::BTreeMap;

use rusqlite::{Row, named_params};

use super::SqliteTransaction;
use super::tasks::{checked_id, word};
use crate::error::Result;
use crate::phase::{Counts, Phase};
use crate::store::Phases;
use crate::task::Status;
use crate::task::rules::is_slug;

impl Phases for SqliteTransaction<'_> {
    fn phases(&self) -> Result<Vec<Phase>> {
        let sql = "SELECT slug, position, name, description, status, started_at, completed_at
                   FROM phases ORDER BY position, slug";
        self.all(sql, (), |row| {
            Ok(Phase {
                slug: checked_id(row, 0, is_slug)?,
                position: row.get(1)?,
                name: row.get(2)?,
                description: row.get(3)?,
                status: word(row, 4)?,
                started_at: row.get(5)?,
                completed_at: row.get(6)?,
            })
        })
    }

    fn put_phase(&mut self, phase: &Phase) -> Result<()> {
        let sql = "INSERT INTO phases VALUES (:slug, :position, :name, :description, :status,
                       :started_at, :completed_at)
                   ON CONFLICT (slug) DO UPDATE SET position = excluded.position,
                       name = excluded.name, description = excluded.description,
                       status = excluded.status, started_at = excluded.started_at,
                       completed_at = excluded.completed_at";
        self.execute(
            sql,
            named_params! {
                ":slug": phase.slug, ":position": phase.position, ":name": phase.name,
                ":description": phase.description, ":status": phase.status.word(),
                ":started_at": phase.started_at, ":completed_at": phase.completed_at,
            },
        )?;
        Ok(())
    }

    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>> {
        let sql = "SELECT status, count(*), phase FROM tasks WHERE phase IS NOT NULL
                   GROUP BY phase, status";
        let rows = self.all(sql, (), |row| {
            Ok((row.get::<_, String>(2)?, read_count(row)?))
        })?;
        let mut phases: BTreeMap<String, Counts> = BTreeMap::new();
        for (phase, (status, count)) in rows {
            phases.entry(phase).or_default().insert(status, count);
        }
        Ok(phases)
    }
}

fn read_count(row: &Row<'_>) -> rusqlite::Result<(Status, u64)> {
    Ok((word(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
}

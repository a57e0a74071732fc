//! SQL of phases.

use std::collections::BTreeMap;

use super::SqlTransaction;
use super::columns::{read_checked_id, require_unchanged, to_unsigned, unchanged, word};
use crate::error::Result;
use crate::phase::{Counts, Phase};
use crate::store::Phases;
use crate::task::rules::is_slug;

pub(in crate::store) const PHASE_COLUMNS: &str =
    unchanged!("slug, position, name, description, status, started_at, completed_at");

impl Phases for SqlTransaction<'_> {
    fn phases(&self) -> Result<Vec<Phase>> {
        let sql = format!("SELECT {PHASE_COLUMNS} FROM phases ORDER BY position, slug");
        self.all(&sql, (), |row| {
            require_unchanged(row, 7)?;
            Ok(Phase {
                slug: read_checked_id(row, 0, is_slug)?,
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
        let sql = "INSERT INTO phases VALUES (:slug, :position, :name, :description,
                       :status, :started_at, :completed_at, checksum(:slug, :position, :name,
                       :description, :status, :started_at, :completed_at))
                   ON CONFLICT (slug) DO UPDATE SET position = excluded.position, name = excluded.name,
                       description = excluded.description, status = excluded.status,
                       started_at = excluded.started_at, completed_at = excluded.completed_at,
                       sum = excluded.sum";
        let row = (
            &phase.slug,
            phase.position,
            &phase.name,
            &phase.description,
            phase.status.word(),
            &phase.started_at,
            &phase.completed_at,
        );
        self.execute(sql, row)
    }

    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>> {
        let sql = "SELECT status, count(*), phase FROM tasks WHERE phase IS NOT NULL
                   GROUP BY phase, status";
        let rows = self.all(sql, (), |row| {
            let count = to_unsigned(row, 1)?;
            Ok((row.get::<String>(2)?, (word(row, 0)?, count)))
        })?;
        let mut phases: BTreeMap<String, Counts> = BTreeMap::new();
        for (phase, (status, count)) in rows {
            phases.entry(phase).or_default().insert(status, count);
        }
        Ok(phases)
    }
}

//! SQL of spawns.

use std::collections::{HashMap, HashSet};

use rusqlite::Row;

use super::SqliteTransaction;
use super::tasks::{checked_id, from_json, read_id};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::store::{Log, SpawnRecord, SpawnVerdict, Spawns, log};
use crate::task::rules::inside;

const COLUMNS: &str =
    "task, manifest_id, output_file, at, receipt, verified_at, output_digest, forced";

impl Spawns for SqliteTransaction<'_> {
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM spawns WHERE task = ?1 ORDER BY sequence");
        self.all(&sql, [task.0], read)
    }

    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>> {
        let sql =
            format!("SELECT {COLUMNS} FROM spawns WHERE task = ?1 ORDER BY sequence DESC LIMIT 1");
        self.first(&sql, [task.0], read)
    }

    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnVerdict>> {
        let sql = "SELECT task, verified_at IS NOT NULL, forced IS NOT NULL FROM spawns
                   WHERE task BETWEEN ?1 AND ?2 ORDER BY sequence";
        let verdicts = self.within(sql, tasks, |row| {
            let verdict = SpawnVerdict {
                is_verified: row.get(1)?,
                is_forced: row.get(2)?,
            };
            Ok((read_id(row)?, verdict))
        })?;
        let asked_for = |(task, _): &(TaskId, _)| id::place(tasks, *task, |task| *task).is_some();
        Ok(verdicts.into_iter().filter(asked_for).collect())
    }

    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>> {
        let sql = "SELECT task FROM spawns WHERE output_file = ?1 ORDER BY sequence LIMIT 1";
        self.first(sql, [output_file], read_id)
    }

    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>> {
        let sql = "SELECT manifest_id FROM spawns WHERE task <> ?1";
        let ids = self.all(sql, [task.0], |row| row.get(0))?;
        Ok(ids.into_iter().collect())
    }

    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()> {
        let sql = format!("SELECT {COLUMNS} FROM spawns WHERE task = ?1 AND manifest_id = ?2");
        let before = self.first(&sql, (spawn.task.0, &spawn.manifest_id), read)?;
        self.write_spawn(spawn)?;
        match log::spawn(before.as_ref(), spawn) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }
}

impl SqliteTransaction<'_> {
    pub(super) fn write_spawn(&self, spawn: &SpawnRecord) -> Result<()> {
        let sql = "INSERT INTO spawns
                 (task, manifest_id, output_file, at, receipt, verified_at, output_digest, forced)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (task, manifest_id) DO UPDATE SET output_file = excluded.output_file,
                 at = excluded.at, receipt = excluded.receipt, verified_at = excluded.verified_at,
                 output_digest = excluded.output_digest, forced = excluded.forced,
                 sequence = (SELECT max(sequence) + 1 FROM spawns)";
        self.execute(
            sql,
            (
                spawn.task.0,
                &spawn.manifest_id,
                &spawn.output_file,
                &spawn.at,
                spawn.receipt.to_string(),
                &spawn.verified_at,
                &spawn.output_digest,
                &spawn.forced,
            ),
        )?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SpawnRecord> {
    Ok(SpawnRecord {
        task: read_id(row)?,
        manifest_id: row.get(1)?,
        output_file: checked_id(row, 2, |file| inside(file).is_some())?,
        at: row.get(3)?,
        receipt: from_json(row, 4)?,
        verified_at: row.get(5)?,
        output_digest: row.get(6)?,
        forced: row.get(7)?,
    })
}

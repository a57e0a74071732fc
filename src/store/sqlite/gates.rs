//! SQL of gates.

use super::SqliteTransaction;
use super::tasks::from_json;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::store::{Log, TaskGates, log};

impl TaskGates for SqliteTransaction<'_> {
    fn gates(&self, task: TaskId) -> Result<Gates> {
        let sql = "SELECT state FROM gates WHERE task = ?1";
        let gates = self.first(sql, [task.0], |row| from_json(row, 0))?;
        Ok(gates.unwrap_or_default())
    }

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()> {
        let before = self.gates(task)?;
        self.write_gates(task, gates)?;
        let told = log::gates(task, &before, gates);
        told.iter().try_for_each(|change| self.record(change))
    }
}

impl SqliteTransaction<'_> {
    pub(super) fn write_gates(&self, task: TaskId, gates: &Gates) -> Result<()> {
        let state = serde_json::to_string(gates).unwrap_or_default();
        let sql = "INSERT INTO gates VALUES (?1, ?2)
                   ON CONFLICT (task) DO UPDATE SET state = excluded.state";
        self.execute(sql, (task.0, state))?;
        Ok(())
    }
}

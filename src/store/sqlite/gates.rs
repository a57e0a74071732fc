//! SQL of gates.

use std::collections::HashMap;

use super::SqliteTransaction;
use super::tasks::{from_json, read_id, unless_damaged};
use crate::error::Result;
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::store::{Log, TaskGates, log};

impl TaskGates for SqliteTransaction<'_> {
    fn gates(&self, task: TaskId) -> Result<Gates> {
        let sql = "SELECT task, state FROM gates WHERE task = ?1";
        let gates = self.first(sql, [task.0], |row| from_json(row, 1))?;
        Ok(gates.unwrap_or_default())
    }

    fn gates_of(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Gates>> {
        let sql = "SELECT task, state FROM gates WHERE task BETWEEN ?1 AND ?2";
        let gates = self.within(sql, tasks, |row| {
            let task = read_id(row)?;
            let is_asked_for = id::place(tasks, task, |task| *task).is_some();
            is_asked_for
                .then(|| Ok((task, from_json(row, 1)?)))
                .transpose()
        })?;
        Ok(gates.into_iter().flatten().collect())
    }

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()> {
        let before = unless_damaged(self.gates(task))?;
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

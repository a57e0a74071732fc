//! The log of changes in memory.

use std::collections::BTreeSet;

use super::MemoryTransaction;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Change, Log, Operation, OperationFilter, Recorded};

impl Log for MemoryTransaction<'_> {
    fn record(&mut self, change: &Change) -> Result<()> {
        let operation = self.number();
        let Some(stamp) = self.stamp.clone() else {
            return Ok(());
        };
        self.state.log.push(Recorded {
            cursor: self.state.log.len() as u64 + 1,
            operation,
            at: stamp.at,
            by: stamp.by,
            command: stamp.command.to_string(),
            change: change.clone(),
        });
        Ok(())
    }

    fn undoing(&mut self, operation: u64) -> Result<u64> {
        let own = self.number();
        self.state.undoes.insert(own, operation);
        Ok(own)
    }

    fn changes(&self, cursor: u64, task: Option<TaskId>, limit: u32) -> Result<Vec<Recorded>> {
        let is_of = |each: &&Recorded| task.is_none() || each.change.task == task;
        let later = self.state.log.iter().filter(|each| each.cursor > cursor);
        let fitting = later.filter(is_of).take(limit as usize);
        Ok(fitting.cloned().collect())
    }

    fn changes_of(&self, operation: u64, limit: u32) -> Result<Vec<Recorded>> {
        let own = self.state.log.iter();
        let own = own.filter(|each| each.operation == operation);
        Ok(own.take(limit as usize).cloned().collect())
    }

    fn last_cursor(&self) -> Result<u64> {
        Ok(self.state.log.last().map_or(0, |last| last.cursor))
    }

    fn operations(&self, filter: &OperationFilter) -> Result<(Vec<Operation>, u64)> {
        let numbers: BTreeSet<u64> = self.state.log.iter().map(|each| each.operation).collect();
        let mut fitting = Vec::new();
        for number in numbers.into_iter().rev() {
            let changes = self.changes_of(number, u32::MAX)?;
            let is_of =
                filter.task.is_none() || changes.iter().any(|each| each.change.task == filter.task);
            let is_late = |since: &String| changes.iter().all(|each| each.at >= *since);
            let is_in_time = filter.since.as_ref().is_none_or(is_late)
                && filter.before.is_none_or(|before| number < before);
            let is_by = |by: &String| changes.iter().all(|each| each.by == *by);
            if is_of && is_in_time && filter.by.as_ref().is_none_or(is_by) {
                fitting.extend(self.operation(number)?);
            }
        }
        let total = fitting.len() as u64;
        fitting.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok((fitting, total))
    }

    fn operation(&self, number: u64) -> Result<Option<Operation>> {
        let changes = self.changes_of(number, u32::MAX)?;
        Ok(changes.first().map(|first| Operation {
            number,
            at: first.at.clone(),
            by: first.by.clone(),
            command: first.command.clone(),
            undoes: self.state.undoes.get(&number).copied(),
            undone_by: self.undone_by(number),
            changes: changes.len() as u64,
        }))
    }
}

impl MemoryTransaction<'_> {
    /// Returns the number of the operation of this transaction.
    pub(super) fn number(&self) -> u64 {
        let last = self.target.log.last();
        last.map_or(1, |last| last.operation + 1)
    }

    /// Finds the operation by which another one was taken back, if that holds still.
    pub(super) fn undone_by(&self, number: u64) -> Option<u64> {
        let undoes = self.state.undoes.iter();
        let mut undos = undoes.filter(|(_, undone)| **undone == number);
        let holds = |undo: &u64| self.undone_by(*undo).is_none();
        undos.next_back().map(|(undo, _)| *undo).filter(holds)
    }
}

//! What the store knows of tasks that come in.

use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::transfer::plan::{Known, came_from};

/// A transaction, as a plan asks it.
pub(super) struct Stored<'a> {
    transaction: &'a mut dyn Transaction,
    /// Whether there is no task yet, so that nothing has to be asked for each that comes.
    is_empty: bool,
}

impl<'a> Stored<'a> {
    pub(super) fn of(transaction: &'a mut dyn Transaction) -> Result<Stored<'a>> {
        // A damaged task is left out where tasks are read, and is there all the same.
        let is_empty = transaction.last_of_piece(TaskId(0), 1)?.is_none();
        Ok(Stored {
            transaction,
            is_empty,
        })
    }

    /// Looks for something that is only there if there are tasks.
    fn find<T: Default>(&self, look: impl FnOnce(&dyn Transaction) -> Result<T>) -> Result<T> {
        match self.is_empty {
            true => Ok(T::default()),
            false => look(self.transaction),
        }
    }
}

impl Known for Stored<'_> {
    fn by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>> {
        self.find(|tasks| tasks.task_by_origin(format, id))
    }

    fn created(&self, id: TaskId) -> Result<Option<String>> {
        // Most ids of an import are free, and that is known without reading a task.
        self.find(|tasks| match tasks.status(id)? {
            None => Ok(None),
            Some(_) => Ok(tasks.task(id)?.map(|task| task.created_at)),
        })
    }

    fn origin(&self, id: TaskId) -> Result<Option<(String, String)>> {
        let task = self.find(|tasks| tasks.task(id))?;
        Ok(task.as_ref().and_then(came_from))
    }

    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>> {
        self.find(|tasks| tasks.depends(id))
    }

    fn waits_for(&self, id: TaskId) -> Result<Vec<TaskId>> {
        self.find(|tasks| crate::ops::tasks::waits_for(tasks, id))
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        self.find(|tasks| tasks.parent(id))
    }

    fn next_id(&mut self) -> Result<TaskId> {
        self.transaction.next_id()
    }

    fn reserve(&mut self, id: TaskId) -> Result<()> {
        self.transaction.reserve_id(id)
    }
}

//! What the store knows of tasks that come in.

use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::transfer::plan::Known;

/// A transaction, as a plan asks it.
pub(super) struct Stored<'a>(pub(super) &'a mut dyn Transaction);

impl Known for Stored<'_> {
    fn by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>> {
        self.0.task_by_origin(format, id)
    }

    fn created(&self, id: TaskId) -> Result<Option<String>> {
        // Most ids of an import are free, and that is known without reading a task.
        match self.0.status(id)? {
            None => Ok(None),
            Some(_) => Ok(self.0.task(id)?.map(|task| task.created_at)),
        }
    }

    fn waits_for(&self, id: TaskId) -> Result<Vec<TaskId>> {
        crate::ops::tasks::waits_for(self.0, id)
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        self.0.parent(id)
    }

    fn next_id(&mut self) -> Result<TaskId> {
        self.0.next_id()
    }

    fn reserve(&mut self, id: TaskId) -> Result<()> {
        self.0.reserve_id(id)
    }
}

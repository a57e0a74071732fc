//! SQL of the index of words. What is new goes into it when it is asked and when a transaction
//! commits, all in one statement: the index writes its pages out at the end of each.

use super::SqliteTransaction;
use crate::error::{Code, Result};
use crate::task::Task;

impl SqliteTransaction<'_> {
    /// Remembers that the index lacks a new task.
    pub(super) fn unread(&self, task: &Task) {
        self.unread.borrow_mut().insert(task.id.0);
    }

    /// Takes a task out of the index, which knows it as it was `before`; what is left of it is read
    /// again.
    pub(super) fn forget_words(&self, before: &Task) -> Result<()> {
        if !self.unread.borrow_mut().insert(before.id.0) {
            return Ok(());
        }
        let forget = || {
            let sql = "INSERT INTO task_text (task_text, rowid, title, description)
                       VALUES ('delete', ?1, ?2, ?3)";
            self.execute(sql, (before.id.0, &before.title, &before.description))
        };
        match forget() {
            Err(error) if error.code == Code::StoreCorrupt => {
                self.read_all_words()?;
                self.unread.borrow_mut().insert(before.id.0);
                forget().map(drop)
            }
            forgotten => forgotten.map(drop),
        }
    }

    pub(super) fn read_all_words(&self) -> Result<()> {
        self.execute("INSERT INTO task_text (task_text) VALUES ('rebuild')", ())?;
        self.unread.take();
        Ok(())
    }

    pub(super) fn read_words(&self) -> Result<()> {
        let unread = self.unread.take();
        if !unread.is_empty() {
            let sql = "INSERT INTO task_text (rowid, title, description)
                       SELECT t.number, t.title, t.description
                       FROM json_each(?1) u CROSS JOIN tasks t ON t.number = u.value";
            self.execute(sql, [super::tasks::json(&unread)])?;
        }
        Ok(())
    }
}

//! SQL of links between tasks and manifest entries.

use rusqlite::Row;

use super::SqliteTransaction;
use super::tasks::read_id;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Link, Links, Log, log};

impl Links for SqliteTransaction<'_> {
    fn links(&self, task: TaskId) -> Result<Vec<Link>> {
        let sql = "SELECT task, entry, at FROM links WHERE task = ?1 ORDER BY sequence";
        self.all(sql, [task.0], read)
    }

    fn linked_to(&self, entry: &str) -> Result<Vec<Link>> {
        let sql = "SELECT task, entry, at FROM links WHERE entry = ?1 ORDER BY sequence";
        self.all(sql, [entry], read)
    }

    fn link(&mut self, link: &Link) -> Result<bool> {
        let is_new = self.write_link(link)?;
        if is_new {
            self.record(&log::link(log::LINKED, link))?;
        }
        Ok(is_new)
    }

    fn unlink(&mut self, link: &Link) -> Result<bool> {
        let sql = "DELETE FROM links WHERE task = ?1 AND entry = ?2";
        let was_there = self.execute(sql, (link.task.0, &link.entry))? > 0;
        if was_there {
            self.record(&log::link(log::UNLINKED, link))?;
        }
        Ok(was_there)
    }
}

impl SqliteTransaction<'_> {
    pub(super) fn write_link(&self, link: &Link) -> Result<bool> {
        let sql = "INSERT INTO links (task, entry, at) VALUES (?1, ?2, ?3)
                   ON CONFLICT (task, entry) DO NOTHING";
        Ok(self.execute(sql, (link.task.0, &link.entry, &link.at))? > 0)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Link> {
    Ok(Link {
        task: read_id(row)?,
        entry: row.get(1)?,
        at: row.get(2)?,
    })
}

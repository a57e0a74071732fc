//! SQL of what files looked like when they were last merged.

use super::SqliteTransaction;
use super::tasks::read_id;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::SyncBases;

impl SyncBases for SqliteTransaction<'_> {
    fn base_ids(&self, file: &str) -> Result<Vec<TaskId>> {
        let sql = "SELECT task FROM sync_bases WHERE file = ?1 ORDER BY task";
        self.all(sql, [file], read_id)
    }

    fn base(&self, file: &str, task: TaskId) -> Result<Option<String>> {
        let sql = "SELECT base FROM sync_bases WHERE file = ?1 AND task = ?2";
        self.first(sql, (file, task.0), |row| row.get(0))
    }

    fn put_base(&mut self, file: &str, task: TaskId, base: Option<&str>) -> Result<()> {
        let Some(base) = base else {
            let sql = "DELETE FROM sync_bases WHERE file = ?1 AND task = ?2";
            self.execute(sql, (file, task.0))?;
            return Ok(());
        };
        let sql = "INSERT INTO sync_bases VALUES (?1, ?2, ?3)
                   ON CONFLICT (file, task) DO UPDATE SET base = excluded.base";
        self.execute(sql, (file, task.0, base))?;
        Ok(())
    }
}

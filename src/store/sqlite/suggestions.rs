//! SQL of suggestions. Each question is answered from an index, from one word to the next, so what
//! it costs does not grow with the number of tasks.

use std::ops::RangeInclusive;

use super::SqliteTransaction;
use super::tasks::read_id;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Suggestions;

impl Suggestions for SqliteTransaction<'_> {
    fn titles(&self, ids: RangeInclusive<u32>, limit: u32) -> Result<Vec<(TaskId, String)>> {
        let sql = "SELECT number, title FROM tasks WHERE number BETWEEN ?1 AND ?2
                   ORDER BY number DESC LIMIT ?3";
        self.all(sql, (ids.start(), ids.end(), limit), |row| {
            Ok((read_id(row)?, row.get(1)?))
        })
    }

    fn label_words(&self, from: &str, limit: u32) -> Result<Vec<String>> {
        let sql = "WITH RECURSIVE names (name) AS (
                       SELECT min(normalized) FROM task_labels WHERE normalized >= ?1
                       UNION ALL
                       SELECT (SELECT min(normalized) FROM task_labels WHERE normalized > name)
                       FROM names WHERE name IS NOT NULL
                   )
                   SELECT name FROM names WHERE name IS NOT NULL LIMIT ?2";
        self.all(sql, (from, limit), |row| row.get(0))
    }
}

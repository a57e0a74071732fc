//! SQL of counts and suggestions. Suggestions walk an index from word to word, so their cost does not grow
//! with the number of tasks.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::columns::{read_id, to_unsigned, word};
use super::graph::BELOW;
use super::row::Row;
use super::{SqlTransaction, list};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Counts, Filter, Overview, Suggestions, TaskTally};
use crate::task::Status;

const OPEN_EPICS: &str = "FROM nodes WHERE is_epic = 1 AND is_open = 1";

impl Overview for SqlTransaction<'_> {
    fn missing(&self, ids: &BTreeSet<TaskId>) -> Result<BTreeSet<TaskId>> {
        let (ids, mut missing) = (Vec::from_iter(ids), BTreeSet::new());
        let sql = "SELECT number FROM tasks WHERE number BETWEEN ?1 AND ?2";
        // Most ids are consecutive.
        for run in ids.chunk_by(|one, next| one.0 + 1 == next.0) {
            let there = self.all(sql, (run[0].0, run[run.len() - 1].0), read_id)?;
            let is_missing = |id: &TaskId| there.binary_search(id).is_err();
            missing.extend(run.iter().copied().copied().filter(is_missing));
        }
        Ok(missing)
    }

    fn counts(&self, root: Option<TaskId>) -> Result<Counts> {
        self.write_nodes()?;
        let read = |row: &Row<'_>| Ok((word(row, 0)?, to_unsigned(row, 1)?));
        let Some(root) = root else {
            // Counters have the tasks that are not archived, an index has the others.
            let archived =
                "SELECT status, count(*) FROM tasks WHERE archived_at IS NOT NULL GROUP BY status";
            let mut counts: Counts = crate::build_map(self.all(archived, (), read)?);
            let counters = self.counters()?;
            for status in Status::ALL.iter().copied() {
                *counts.entry(status).or_default() += u64::from(counters[status.word()]);
            }
            counts.retain(|_, number| *number > 0);
            return Ok(counts);
        };
        let sql = format!(
            "{BELOW} SELECT n.status, count(*) FROM scope s
             JOIN nodes n ON n.number = s.number GROUP BY n.status"
        );
        self.all(&sql, [root.0], read).map(crate::build_map)
    }

    fn tally(&self, filter: &Filter, now: &str) -> Result<Vec<TaskTally>> {
        let mut tallies = list::tally(self, filter, now)?;
        tallies.sort_by_key(|tally| (tally.status, tally.priority));
        Ok(tallies)
    }

    fn recent(&self, root: Option<TaskId>, status: Status, limit: u32) -> Result<Vec<TaskId>> {
        self.write_nodes()?;
        let (scope, join) = match root {
            Some(_) => (BELOW, "JOIN scope s ON s.number = t.number"),
            None => ("", ""),
        };
        let sql = format!(
            "{scope} SELECT t.number FROM tasks t {join} WHERE t.status = ?2 AND coalesce(?1, 0) >= 0
             ORDER BY t.updated_at DESC, t.number DESC LIMIT ?3"
        );
        self.all(&sql, (root.map(|id| id.0), status.word(), limit), read_id)
    }

    fn open_epics(&self, limit: u32) -> Result<(Vec<TaskId>, u64)> {
        self.write_nodes()?;
        let sql = format!("SELECT number {OPEN_EPICS} ORDER BY number LIMIT ?1");
        let epics = self.all(&sql, [limit], read_id)?;
        let total = self.count(&format!("SELECT count(*) {OPEN_EPICS}"), ())?;
        Ok((epics, total))
    }
}

impl Suggestions for SqlTransaction<'_> {
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

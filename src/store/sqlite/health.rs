//! Checks of `doctor`: whether the database is intact and derived tables agree with the tasks.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::SqliteStore;
use super::place::create_private;
use crate::error::Result;
use crate::store::sql::faults::Faults;

const PROBLEMS_MAX: usize = 10;

/// Invariants, each with a query for the violations.
const AGREES: &[(&str, &str)] = &[
    (
        "a reference leads nowhere",
        "SELECT \"table\" || ' ' || coalesce(rowid, '') FROM pragma_foreign_key_check",
    ),
    (
        "the number of tasks with a status is kept wrongly",
        "SELECT status FROM (
             SELECT iif(archived_at IS NULL, status, 'archived') AS status, count(*) AS number
             FROM tasks GROUP BY 1
             UNION ALL SELECT name, -value FROM counters WHERE name NOT IN ('next_task', 'ready', 'agents')
         ) GROUP BY status HAVING sum(number) <> 0",
    ),
    (
        "the graph lacks a task or has one too many",
        "SELECT 'T' || number FROM tasks WHERE number NOT IN (SELECT number FROM nodes)
         UNION ALL SELECT 'T' || number FROM nodes WHERE number NOT IN (SELECT number FROM tasks)",
    ),
    (
        "the graph has another parent or status than the task",
        "SELECT 'T' || t.number FROM tasks t JOIN nodes n USING (number)
         WHERE t.parent IS NOT n.parent OR t.status <> n.status
             OR n.is_epic <> (t.type = 'epic')
             OR n.rank <> CASE t.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1
                 WHEN 'medium' THEN 2 ELSE 3 END",
    ),
    (
        "the number of ready tasks is kept wrongly",
        "SELECT value || ' are counted' FROM counters WHERE name = 'ready'
             AND value <> (SELECT count(*) FROM nodes WHERE is_ready = 1)",
    ),
    (
        "the graph counts what a task waits for wrongly",
        "SELECT 'T' || n.number FROM nodes n
         WHERE n.open_needs <> (SELECT count(*) FROM task_depends d JOIN tasks t ON t.number = d.needs
                 WHERE d.task = n.number AND t.status <> 'done')
             OR n.open_children <> (SELECT count(*) FROM tasks c
                 WHERE c.parent = n.number AND c.status NOT IN ('done', 'cancelled'))
             OR n.dropped_needs <> (SELECT count(*) FROM task_depends d
                 JOIN tasks t ON t.number = d.needs
                 WHERE d.task = n.number AND t.status = 'cancelled')
             OR n.is_open <> (n.status NOT IN ('done', 'cancelled'))
             OR n.is_ready <> (n.status = 'pending' AND n.open_needs = 0 AND n.open_children = 0
                 AND n.dangling = 0 AND n.is_epic = 0)
             OR n.is_stuck <> (n.is_open AND (n.dangling > 0 OR n.dropped_needs > 0
                 OR (n.is_epic = 1 AND n.open_children = 0)))",
    ),
];

impl SqliteStore {
    /// Checks every page and index of the file. None is right.
    pub(crate) fn broken_pages(&self) -> Result<Vec<String>> {
        let sql = format!("PRAGMA integrity_check({PROBLEMS_MAX})");
        let mut problems = match texts(&self.connection, &sql) {
            Err(fault) if fault.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                vec![fault.to_string()]
            }
            problems => problems.at(&self.path)?,
        };
        problems.retain(|problem| problem != "ok");
        Ok(problems)
    }

    /// Checks that derived tables agree with the tasks. Each problem names the check and some of the rows.
    pub(crate) fn disagreements(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for (what, sql) in AGREES {
            let sql = format!("SELECT * FROM ({sql}) LIMIT {PROBLEMS_MAX}");
            let found = texts(&self.connection, &sql).at(&self.path)?;
            if !found.is_empty() {
                problems.push(format!("{what}: {}", found.join(", ")));
            }
        }
        let words = "INSERT INTO task_text (task_text, rank) VALUES ('integrity-check', 1)";
        let checked = self.connection.execute_batch(words);
        let code = checked.err().and_then(|cause| cause.sqlite_error_code());
        if code == Some(ErrorCode::DatabaseCorrupt) {
            problems.push("the index of words differs from the tasks".to_string());
        }
        Ok(problems)
    }

    /// Copies the database, with what its log holds, into a new file, a draft for `place`.
    pub(crate) fn copy_to(&self, file: &Path, place: &Path) -> Result<()> {
        create_private(file)?;
        let name = file.to_str().ok_or_else(|| {
            error!(
                InputInvalid,
                "{} is not UTF-8, which SQLite needs",
                place.display()
            )
        })?;
        let copied = self.connection.execute("VACUUM INTO ?1", [name]);
        let code = copied
            .as_ref()
            .err()
            .and_then(rusqlite::Error::sqlite_error_code);
        let is_of_copy = matches!(
            code,
            Some(ErrorCode::DiskFull | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
        );
        copied
            .map(drop)
            .at(if is_of_copy { place } else { &self.path })
    }
}

pub(super) fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((), |row| row.get(0))?;
    rows.collect()
}

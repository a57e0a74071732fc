//! Checks of `doctor`: whether the database is intact and derived tables agree with the tasks.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::SqliteStore;
use super::place::create_private;
use crate::error::Result;
use crate::store::sql::agreement::PROBLEMS_MAX;
use crate::store::sql::faults::Faults;

/// References that lead nowhere.
const REFERENCES: &str =
    "SELECT \"table\" || ' ' || coalesce(rowid, '') FROM pragma_foreign_key_check";

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
        let sql = format!("{REFERENCES} LIMIT {PROBLEMS_MAX}");
        let lost = texts(&self.connection, &sql).at(&self.path)?;
        let lost =
            (!lost.is_empty()).then(|| format!("a reference leads nowhere: {}", lost.join(", ")));
        let mut problems = Vec::from_iter(lost);
        problems.extend(self.begin_read()?.disagreements()?);
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

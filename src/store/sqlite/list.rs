//! SQL that reads many tasks: lists and searches.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::SqliteTransaction;
use super::tasks::{COLUMNS, read_task};
use crate::error::Result;
use crate::score::normalize;
use crate::store::{Filter, Page};

/// Conditions of a query with their values.
#[derive(Default)]
struct Conditions {
    parts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn of(filter: &Filter) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.one_of(
            "t.status",
            filter.statuses.iter().map(|status| status.word()),
        );
        conditions.one_of("t.type", filter.kinds.iter().map(|kind| kind.as_str()));
        conditions.one_of(
            "t.priority",
            filter.priorities.iter().map(|word| word.word()),
        );
        if let Some(parent) = filter.parent {
            conditions.add("t.parent = ?", Value::from(parent.0));
        }
        for (column, value) in [
            ("t.phase", &filter.phase),
            ("t.assigned_agent", &filter.agent),
        ] {
            if let Some(value) = value {
                conditions.add(&format!("{column} = ?"), Value::from(value.clone()));
            }
        }
        for label in &filter.labels {
            let condition = "t.number IN (SELECT task FROM task_labels WHERE normalized = ?)";
            conditions.add(condition, Value::from(normalize(label.trim())));
        }
        conditions
    }

    fn add(&mut self, condition: &str, value: Value) {
        self.parts.push(condition.to_string());
        self.values.push(value);
    }

    fn one_of<'a>(&mut self, column: &str, words: impl Iterator<Item = &'a str>) {
        let before = self.values.len();
        let words: std::collections::BTreeSet<&str> = words.collect();
        self.values
            .extend(words.into_iter().map(|word| Value::from(word.to_string())));
        let marks = vec!["?"; self.values.len() - before];
        if !marks.is_empty() {
            self.parts
                .push(format!("{column} IN ({})", marks.join(", ")));
        }
    }

    fn sql(&self) -> String {
        if self.parts.is_empty() {
            "1".to_string()
        } else {
            self.parts.join(" AND ")
        }
    }
}

pub(super) fn list(transaction: &SqliteTransaction<'_>, filter: &Filter) -> Result<Page> {
    let conditions = Conditions::of(filter);
    let limit = filter.limit.map_or(-1, i64::from);
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks t WHERE {} ORDER BY t.number LIMIT {limit} OFFSET {}",
        conditions.sql(),
        filter.offset
    );
    let tasks = transaction.all(&sql, params_from_iter(&conditions.values), read_task)?;
    let total = match filter.limit {
        None if filter.offset == 0 => tasks.len() as u64,
        _ => count(transaction, filter, &conditions)?,
    };
    Ok(Page { tasks, total })
}

/// Counts what fits. Without conditions, and by status alone, the counters know it.
fn count(
    transaction: &SqliteTransaction<'_>,
    filter: &Filter,
    conditions: &Conditions,
) -> Result<u64> {
    let by_status = Filter {
        limit: None,
        offset: 0,
        statuses: Vec::new(),
        ..filter.clone()
    };
    let sql = if by_status == Filter::default() {
        format!(
            "SELECT coalesce(sum(t.value), 0) FROM task_counts t WHERE {}",
            conditions.sql()
        )
    } else {
        format!("SELECT count(*) FROM tasks t WHERE {}", conditions.sql())
    };
    let total = transaction.first(&sql, params_from_iter(&conditions.values), |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(total.unwrap_or(0).unsigned_abs())
}

pub(super) fn find(transaction: &SqliteTransaction<'_>, words: &str, limit: u32) -> Result<Page> {
    let query = match_expression(words);
    if query.is_empty() {
        return Ok(Page::default());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM task_text f JOIN tasks t ON t.number = f.rowid
         WHERE task_text MATCH ?1 ORDER BY bm25(task_text, 4.0, 1.0), t.number LIMIT ?2"
    );
    let tasks = transaction.all(&sql, (&query, limit), read_task)?;
    let sql = "SELECT count(*) FROM task_text WHERE task_text MATCH ?1";
    let total = transaction.first(sql, [&query], |row| row.get::<_, i64>(0))?;
    Ok(Page {
        tasks,
        total: total.unwrap_or(0).unsigned_abs(),
    })
}

/// Writes the words as an FTS5 expression in which each must occur, whole or as a beginning. Only
/// letters and digits go in, so nothing is taken for an operator.
fn match_expression(words: &str) -> String {
    let normalized = normalize(words);
    let words = crate::score::terms(&normalized).map(|term| format!("\"{}\"*", term.text));
    words.collect::<Vec<_>>().join(" ")
}

//! SQL of lists.

use std::collections::BTreeSet;

use rusqlite::types::Value;

use super::SqlTransaction;
use super::columns::{to_unsigned, word};
use super::tasks::{COLUMNS, read_task};
use crate::error::Result;
use crate::score::normalize;
use crate::store::{Archived, Filter, Page, TaskTally};
use crate::task::Status;

#[derive(Default)]
struct Conditions {
    parts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn new(filter: &Filter) -> Conditions {
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
            ("t.feature", &filter.feature),
        ] {
            if let Some(value) = value {
                conditions.add(&format!("{column} = ?"), Value::from(value.clone()));
            }
        }
        for (condition, moment) in [
            ("t.due < ?", &filter.due_before),
            ("t.due >= ?", &filter.due_after),
        ] {
            if let Some(moment) = moment {
                conditions.add(condition, Value::from(moment.clone()));
            }
        }
        for (condition, given) in [
            ("t.assigned_agent IS NOT NULL", filter.assigned),
            ("t.due IS NOT NULL", filter.dated),
            ("t.parent IS NOT NULL", filter.nested),
        ] {
            if let Some(is_there) = given {
                let not = if is_there { "" } else { "NOT " };
                conditions.parts.push(format!("{not}({condition})"));
            }
        }
        for word in normalize(&filter.words).split_whitespace() {
            let condition = "instr(normalized(t.title || ' ' || t.description), ?) > 0";
            conditions.add(condition, Value::from(word.to_string()));
        }
        if filter.claimed {
            let held = "t.number IN (SELECT task FROM claims WHERE holder IS NOT NULL)";
            conditions.parts.push(held.to_string());
        }
        if let Some(holder) = &filter.holder {
            let condition = "t.number IN (SELECT task FROM claims WHERE holder = ?)";
            conditions.add(condition, Value::from(holder.clone()));
        }
        for (sign, moment) in [("<", &filter.closed_before), (">=", &filter.closed_after)] {
            if let Some(moment) = moment {
                let condition = format!("coalesce(t.completed_at, t.cancelled_at) {sign} ?");
                conditions.add(&condition, Value::from(moment.clone()));
            }
        }
        conditions.restrict_archived(filter);
        for label in &filter.labels {
            let condition = "t.number IN (SELECT task FROM task_labels WHERE normalized = ?)";
            conditions.add(condition, Value::from(normalize(label.trim())));
        }
        conditions
    }

    /// Restricts to the first tasks of each of these statuses, so that the others need not be sorted.
    fn of_first(statuses: &[Status], count: u32) -> Conditions {
        let first = |status: &Status| {
            format!(
                "SELECT * FROM (SELECT number FROM tasks WHERE status = '{}' AND archived_at IS NULL
                 ORDER BY number LIMIT {count}) AS head",
                status.word()
            )
        };
        let statuses: BTreeSet<&Status> = statuses.iter().collect();
        let first: Vec<String> = statuses.into_iter().map(first).collect();
        let mut conditions = Conditions::default();
        let condition = match first.is_empty() {
            true => "FALSE".to_string(),
            false => format!("t.number IN ({})", first.join(" UNION ALL ")),
        };
        conditions.parts.push(condition);
        conditions
    }

    /// Restricts to archived tasks, or to others. The index of archived tasks serves lists without other conditions,
    /// and that of a status has it too; else neither must be preferred.
    fn restrict_archived(&mut self, filter: &Filter) {
        let is_narrow = filter.parent.is_some()
            || filter.phase.is_some()
            || filter.agent.is_some()
            || filter.assigned == Some(true)
            || filter.due_before.is_some()
            || filter.due_after.is_some()
            || filter.statuses.len() > 1
            || !filter.labels.is_empty();
        let column = match is_narrow {
            true => "+t.archived_at",
            false => "t.archived_at",
        };
        match filter.archived {
            Archived::Hidden => self.parts.push(format!("{column} IS NULL")),
            Archived::Only => self.parts.push(format!("{column} IS NOT NULL")),
            Archived::Shown => {}
        }
    }

    fn add(&mut self, condition: &str, value: Value) {
        self.parts.push(condition.to_string());
        self.values.push(value);
    }

    fn one_of<'a>(&mut self, column: &str, words: impl Iterator<Item = &'a str>) {
        let before = self.values.len();
        let words: BTreeSet<&str> = words.collect();
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
            "TRUE".to_string()
        } else {
            self.parts.join(" AND ")
        }
    }
}

pub(in crate::store) fn list(transaction: &SqlTransaction<'_>, filter: &Filter) -> Result<Page> {
    let mut conditions = Conditions::new(filter);
    let is_by_status = filter.is_by_status() && !filter.urgent_first;
    if let Some(limit) = filter.limit.filter(|_| is_by_status) {
        // A status that no task has would only make the query longer.
        let counters = transaction.counters()?;
        let held = |status: &Status| counters[status.word()] > 0;
        let statuses = match filter.statuses.as_slice() {
            [] => Status::ALL,
            given => given,
        };
        let statuses = Vec::from_iter(statuses.iter().copied().filter(held));
        conditions = Conditions::of_first(&statuses, limit.saturating_add(filter.offset));
    }
    let limit = filter.limit.map_or(i64::MAX, i64::from);
    let order = match filter.urgent_first {
        true => "instr('critical high medium low', t.priority), t.due NULLS LAST, t.number",
        false => "t.number",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks t WHERE {} ORDER BY {order} LIMIT {limit} OFFSET {}",
        conditions.sql(),
        filter.offset
    );
    let tasks = transaction.all(&sql, &conditions.values, read_task)?;
    let total = match filter.limit {
        None if filter.offset == 0 => tasks.len() as u64,
        _ => count_matching(transaction, filter, &conditions)?,
    };
    Ok(Page { tasks, total })
}

pub(in crate::store) fn tally(
    transaction: &SqlTransaction<'_>,
    filter: &Filter,
    now: &str,
) -> Result<Vec<TaskTally>> {
    let conditions = Conditions::new(filter);
    let sql = format!(
        "SELECT t.status, t.priority, count(*), count(*) FILTER (WHERE t.due < ? AND t.status NOT IN
             ('done', 'cancelled')) FROM tasks t WHERE {} GROUP BY t.status, t.priority",
        conditions.sql()
    );
    let mut values = vec![Value::from(now.to_string())];
    values.extend_from_slice(&conditions.values);
    transaction.all(&sql, values, |row| {
        Ok(TaskTally {
            status: word(row, 0)?,
            priority: word(row, 1)?,
            tasks: to_unsigned(row, 2)?,
            overdue: to_unsigned(row, 3)?,
        })
    })
}

/// Counts matching tasks. The counters answer this without conditions or by status alone; archived tasks have
/// one counter of their own.
fn count_matching(
    transaction: &SqlTransaction<'_>,
    filter: &Filter,
    conditions: &Conditions,
) -> Result<u64> {
    if filter.is_by_status() {
        let words = filter.statuses.iter().map(|status| status.word());
        return sum_counters(transaction, words);
    }
    let sql = format!("SELECT count(*) FROM tasks t WHERE {}", conditions.sql());
    transaction.count(&sql, &conditions.values)
}

/// Adds up the counters of these statuses; without any, of all tasks that are not archived.
fn sum_counters<'a>(
    transaction: &SqlTransaction<'_>,
    statuses: impl Iterator<Item = &'a str>,
) -> Result<u64> {
    let mut wanted: BTreeSet<&str> = statuses.collect();
    if wanted.is_empty() {
        wanted = Status::ALL.iter().map(|status| status.word()).collect();
    }
    let counters = transaction.counters()?;
    let counts = wanted.into_iter().filter_map(|name| counters.get(name));
    Ok(counts.copied().map(u64::from).sum())
}

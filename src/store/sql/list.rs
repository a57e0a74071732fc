//! SQL of lists and searches, and of the index of words. The index is updated before a search and on commit,
//! in one statement, because it writes its pages after each.

use std::collections::BTreeSet;

use rusqlite::params_from_iter;
use rusqlite::types::Value;
use unicode_normalization::UnicodeNormalization;

use super::SqlTransaction;
use super::columns::{read_id, to_unsigned, word};
use super::tasks::{COLUMNS, read_task};
use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::score::{Term, normalize, terms};
use crate::store::{Archived, Filter, Page, TaskTally, Tasks, literal};
use crate::task::{Status, Task};

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
            let condition = "instr(normalized(t.title || ' ' || t.description), ?)";
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
                 ORDER BY number LIMIT {count})",
                status.word()
            )
        };
        let statuses: BTreeSet<&Status> = statuses.iter().collect();
        let first: Vec<String> = statuses.into_iter().map(first).collect();
        let mut conditions = Conditions::default();
        let condition = format!("t.number IN ({})", first.join(" UNION ALL "));
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
            "1".to_string()
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
    let limit = filter.limit.map_or(-1, i64::from);
    let order = match filter.urgent_first {
        true => "instr('critical high medium low', t.priority), t.due NULLS LAST, t.number",
        false => "t.number",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks t WHERE {} ORDER BY {order} LIMIT {limit} OFFSET {}",
        conditions.sql(),
        filter.offset
    );
    let tasks = transaction.all(&sql, params_from_iter(&conditions.values), read_task)?;
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
        "SELECT t.status, t.priority, count(*), ifnull(sum(t.due < ? AND t.status NOT IN
             ('done', 'cancelled')), 0) FROM tasks t WHERE {} GROUP BY t.status, t.priority",
        conditions.sql()
    );
    let now = Value::from(now.to_string());
    let values = std::iter::once(&now).chain(&conditions.values);
    transaction.all(&sql, params_from_iter(values), |row| {
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
    transaction.count(&sql, params_from_iter(&conditions.values))
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

/// Finds tasks by words. A query with more than words is first searched literally; one of words finally in
/// text without word boundaries.
pub(in crate::store) fn find(
    transaction: &SqlTransaction<'_>,
    query: &str,
    archived: Archived,
    limit: u32,
) -> Result<Page> {
    let is_literal = literal::is_literal(query);
    if is_literal {
        let page = find_literally(transaction, query, archived, limit, false)?;
        if page.total > 0 {
            return Ok(page);
        }
    }
    let page = find_words(transaction, query, archived, limit)?;
    match page.total == 0 && !is_literal {
        true => find_literally(transaction, query, archived, limit, true),
        false => Ok(page),
    }
}

/// Finds tasks with each part of a query in title, description or labels, those with all parts in the title
/// first; or only within text without word boundaries. Scans all tasks.
fn find_literally(
    transaction: &SqlTransaction<'_>,
    query: &str,
    archived: Archived,
    limit: u32,
    only_amid: bool,
) -> Result<Page> {
    let parts = literal::parts(query);
    if parts.is_empty() {
        return Ok(Page::default());
    }
    let each = |condition: &str| -> String {
        let numbered = (1..=parts.len()).map(|at| condition.replace('#', &at.to_string()));
        numbered.collect::<Vec<_>>().join(" AND ")
    };
    let holds = each(
        "(t.title LIKE ?# ESCAPE '\\' OR t.description LIKE ?# ESCAPE '\\' OR t.number IN
            (SELECT task FROM task_labels WHERE label LIKE ?# ESCAPE '\\'))",
    );
    let in_title = each("t.title LIKE ?# ESCAPE '\\'");
    let sql = format!(
        "SELECT t.number, t.title, t.description FROM tasks t WHERE {holds} AND {}
         ORDER BY {in_title} DESC, t.number",
        filter_archived(archived)
    );
    let patterns = parts.iter().map(|part| {
        let escaped = part
            .replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_");
        format!("%{escaped}%")
    });
    let found = transaction.all(&sql, params_from_iter(patterns), |row| {
        let (title, description): (String, String) = (row.get(1)?, row.get(2)?);
        let text = format!("{title} {description}");
        let passes = !only_amid || literal::is_amid_unbordered(&text, &parts);
        Ok((read_id(row)?, passes))
    })?;
    let found: Vec<TaskId> = found
        .into_iter()
        .filter_map(|(id, passes)| passes.then_some(id))
        .collect();
    let first = &found[..found.len().min(limit as usize)];
    Ok(Page {
        tasks: transaction.readable(first)?,
        total: found.len() as u64,
    })
}

fn filter_archived(archived: Archived) -> &'static str {
    match archived {
        Archived::Hidden => "+t.archived_at IS NULL",
        Archived::Only => "+t.archived_at IS NOT NULL",
        Archived::Shown => "1",
    }
}

fn find_words(
    transaction: &SqlTransaction<'_>,
    words: &str,
    archived: Archived,
    limit: u32,
) -> Result<Page> {
    // Each word must occur, whole or as a beginning. Only letters and digits go in, so nothing is taken for
    // an operator of FTS5. They are composed (NFC), as texts are written: the index takes accents off, but
    // knows no parts of a syllable.
    let normalized = normalize(words);
    let composed = |term: Term<'_>| term.text.nfc().collect::<String>();
    let words = terms(&normalized).map(|term| format!("\"{}\"*", composed(term)));
    let query = words.collect::<Vec<_>>().join(" ");
    if query.is_empty() {
        return Ok(Page::default());
    }
    transaction.read_words()?;
    let shown = filter_archived(archived);
    let sql = format!(
        "SELECT {COLUMNS} FROM task_text f JOIN tasks t ON t.number = f.rowid
         WHERE task_text MATCH ?1 AND {shown} ORDER BY bm25(task_text, 4.0, 1.0), t.number LIMIT ?2"
    );
    let tasks = transaction.all(&sql, (&query, limit), read_task)?;
    // Words are counted in their index alone where nothing is archived.
    let sql = "SELECT 1 FROM tasks WHERE archived_at IS NOT NULL LIMIT 1";
    let tasks_too = match transaction.first(sql, (), |_| Ok(()))?.is_some() {
        true => "JOIN tasks t ON t.number = f.rowid",
        false if archived == Archived::Only => return Ok(Page::default()),
        false => "",
    };
    let shown = if tasks_too.is_empty() { "1" } else { shown };
    let sql = format!(
        "SELECT count(*) FROM task_text f {tasks_too} WHERE task_text MATCH ?1 AND {shown}"
    );
    let total = transaction.count(&sql, [&query])?;
    Ok(Page { tasks, total })
}

impl SqlTransaction<'_> {
    /// Removes a task from the word index, which has it as it was `before`.
    pub(in crate::store) fn forget_words(&self, before: &Task) -> Result<()> {
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

    pub(in crate::store) fn read_all_words(&self) -> Result<()> {
        self.execute("INSERT INTO task_text (task_text) VALUES ('rebuild')", ())?;
        self.unread.take();
        Ok(())
    }

    pub(in crate::store) fn read_words(&self) -> Result<()> {
        let unread = self.unread.take();
        if !unread.is_empty() {
            let sql = "INSERT INTO task_text (rowid, title, description)
                       SELECT t.number, t.title, t.description
                       FROM json_each(?1) u CROSS JOIN tasks t ON t.number = u.value";
            self.execute(sql, [super::columns::json(&unread)])?;
        }
        Ok(())
    }
}

//! SQL of searches, and of the index of words. That of SQLite is updated before a search and on commit, in one
//! statement, because it writes its pages after each; PostgreSQL keeps its own up to date.

use unicode_normalization::UnicodeNormalization;

use super::SqlTransaction;
use super::columns::read_id;
use super::tasks::{COLUMNS, read_task};
use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::score::{Term, normalize, terms};
use crate::store::{Archived, Page, Tasks, literal};
use crate::task::Task;

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
    let patterns = Vec::from_iter(patterns);
    let found = transaction.all(&sql, patterns, |row| {
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
        Archived::Shown => "TRUE",
    }
}

fn find_words(
    transaction: &SqlTransaction<'_>,
    words: &str,
    archived: Archived,
    limit: u32,
) -> Result<Page> {
    let shown = filter_archived(archived);
    let normalized = normalize(words);
    if transaction.is_postgres() {
        return find_vectors(transaction, &normalized, shown, limit);
    }
    // Each word must occur, whole or as a beginning. Only letters and digits go in, so nothing is taken for
    // an operator of FTS5. They are composed (NFC), as texts are written: the index takes accents off, but
    // knows no parts of a syllable.
    let composed = |term: Term<'_>| term.text.nfc().collect::<String>();
    let words = terms(&normalized).map(|term| format!("\"{}\"*", composed(term)));
    let query = words.collect::<Vec<_>>().join(" ");
    if query.is_empty() {
        return Ok(Page::default());
    }
    transaction.read_words()?;
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
    let shown = if tasks_too.is_empty() { "TRUE" } else { shown };
    let sql = format!(
        "SELECT count(*) FROM task_text f {tasks_too} WHERE task_text MATCH ?1 AND {shown}"
    );
    let total = transaction.count(&sql, [&query])?;
    Ok(Page { tasks, total })
}

/// Finds tasks by words in the text search vectors of PostgreSQL, which are of normalized texts.
fn find_vectors(
    transaction: &SqlTransaction<'_>,
    normalized: &str,
    shown: &str,
    limit: u32,
) -> Result<Page> {
    let words = terms(normalized).map(|term| format!("'{}':*", term.text));
    let query = words.collect::<Vec<_>>().join(" & ");
    if query.is_empty() {
        return Ok(Page::default());
    }
    let (vector, words) = ("words(t.title, t.description)", "to_tsquery('simple', ?1)");
    let found = format!("FROM tasks t WHERE {vector} @@ {words} AND {shown}");
    let sql = format!(
        "SELECT {COLUMNS} {found}
         ORDER BY ts_rank('{{0.25, 0, 0, 1}}', {vector}, {words}) DESC, t.number LIMIT ?2"
    );
    let tasks = transaction.all(&sql, (&query, limit), read_task)?;
    let total = transaction.count(&format!("SELECT count(*) {found}"), [&query])?;
    Ok(Page { tasks, total })
}

impl SqlTransaction<'_> {
    /// Removes a task from the word index, which has it as it was `before`.
    pub(in crate::store) fn forget_words(&self, before: &Task) -> Result<()> {
        if self.is_postgres() || !self.unread.borrow_mut().insert(before.id.0) {
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
                forget()
            }
            forgotten => forgotten,
        }
    }

    pub(in crate::store) fn read_all_words(&self) -> Result<()> {
        if self.is_postgres() {
            return Ok(());
        }
        self.execute("INSERT INTO task_text (task_text) VALUES ('rebuild')", ())?;
        self.unread.take();
        Ok(())
    }

    pub(in crate::store) fn read_words(&self) -> Result<()> {
        let unread = self.unread.take();
        if !unread.is_empty() && !self.is_postgres() {
            let sql = "INSERT INTO task_text (rowid, title, description)
                       SELECT t.number, t.title, t.description
                       FROM json_each(?1) u CROSS JOIN tasks t ON t.number = u.value";
            self.execute(sql, [super::columns::json(&unread)])?;
        }
        Ok(())
    }
}

//! SQL of runs and their events.

use rusqlite::types::Value;

use super::SqlTransaction;
use super::columns::{
    all_of, from_json, json, next, plain_id, read_checked_id, refuse_deep, require_unchanged,
    to_signed, to_unsigned, unchanged, word,
};
use super::row::Row;
use crate::error::Result;
use crate::id;
use crate::run::{DELEGATION, Detail, Event, Run};
use crate::score::normalize;
use crate::store::records::{Dir, Order, RunFilter, RunPage, Runs, Tally};

pub(in crate::store) const COLUMNS: &str = unchanged!(
    "id, owner, record, kind, status",
    "id, kind, status, user_id, agent, started_at, execution_time_ms, has_error, owner, record"
);

pub(in crate::store) const EVENT: &str =
    unchanged!("cursor, run, at, kind, detail", "run, at, kind, detail");

/// How many of the last runs are looked through for words, and sorted by anything but their begin.
const SEARCHED_MAX: u32 = 10_000;

const PUT: &str = concat!(
    "INSERT INTO runs VALUES (",
    next!("runs", "position"),
    ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
        checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10))
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status,
        user_id = excluded.user_id, agent = excluded.agent, started_at = excluded.started_at,
        execution_time_ms = excluded.execution_time_ms, has_error = excluded.has_error,
        owner = excluded.owner, record = excluded.record, sum = excluded.sum"
);

impl Runs for SqlTransaction<'_> {
    fn put_run(&mut self, run: &Run) -> Result<()> {
        self.execute(
            PUT,
            (
                &run.id,
                run.kind.word(),
                run.status.word(),
                &run.user,
                &run.agent,
                &run.started_at,
                run.execution_time_ms.map(to_signed),
                run.error.is_some(),
                &run.owner,
                json(run),
            ),
        )?;
        Ok(())
    }

    fn run(&self, id: &str) -> Result<Option<Run>> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.first(&sql, [id], read)
    }

    fn runs(&self, user: Option<&str>, filter: &RunFilter) -> Result<RunPage> {
        let (condition, mut values) = all_of([
            ("user_id = ?", user.map(String::from)),
            ("agent = ?", filter.agent.clone()),
            ("status = ?", filter.status.map(|one| one.word().into())),
            ("kind = ?", filter.kind.map(|one| one.word().into())),
        ]);
        let (words, order) = (normalize(filter.words.trim()), format_order(filter));
        let mut found = format!("FROM runs WHERE {condition}");
        if !words.is_empty() || !order.is_empty() {
            // Each is looked at, so only the last ones are.
            found = format!(
                "FROM (SELECT * {found} ORDER BY position DESC LIMIT {SEARCHED_MAX}) AS last WHERE
                     instr(normalized(CASE WHEN json_valid(record) THEN id || ' ' || (record ->> 'input')
                         ELSE id END), ?) > 0"
            );
            values.push(words.into());
        }
        let sql = format!("SELECT count(*) {found}");
        let total = self.count(&sql, &values)?;
        values.extend([Value::from(filter.limit), Value::from(filter.offset)]);
        let sql =
            format!("SELECT {COLUMNS} {found} ORDER BY {order}position DESC LIMIT ? OFFSET ?");
        let runs = self.all(&sql, values, read)?;
        Ok(RunPage { runs, total })
    }

    fn owners(&self) -> Result<Vec<String>> {
        // A run that somebody inserted by SQL has none.
        let sql =
            "SELECT DISTINCT owner FROM runs WHERE status IN ('pending', 'running') AND owner <> ''
            ORDER BY owner";
        self.all(sql, (), |row| {
            read_checked_id(row, 0, |owner| owner.is_empty() || id::is_plain(owner))
        })
    }

    fn is_present(&self, owner: &str) -> Result<bool> {
        if !self.is_postgres() {
            return Ok(false);
        }
        // While the server of the database was down, no process could note its presence.
        let sql = "SELECT EXISTS (SELECT 1 FROM presence WHERE owner = ?1
            AND greatest(seen, pg_postmaster_start_time()) > now() - interval '30 seconds')";
        let found = self.first(sql, [owner], |row| row.get(0))?;
        Ok(found.unwrap_or(false))
    }

    fn list_unfinished(&self, owner: &str) -> Result<Vec<Run>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE status IN ('pending', 'running') AND owner = ?1
             ORDER BY position"
        );
        self.all(&sql, [owner], read)
    }

    fn tallies(&self, user: Option<&str>) -> Result<Vec<Tally>> {
        let whose = match user {
            Some(_) => "user_id = ?1",
            None => "CAST(?1 AS TEXT) IS NULL",
        };
        let answered = "kind = 'execution' AND status = 'completed'";
        let sql = format!(
            "SELECT agent, kind, status, count(*), count(execution_time_ms),
                CAST(total(max(execution_time_ms, 0)) AS INTEGER), max(started_at),
                count(*) FILTER (WHERE {answered} AND agent IS NOT NULL AND has_error = 1)
             FROM runs WHERE {whose} GROUP BY agent, kind, status ORDER BY agent NULLS FIRST, kind, status"
        );
        let tallies = self.all(&sql, [user], |row| {
            let (Ok(kind), Ok(status)) = (word(row, 1), word(row, 2)) else {
                return Ok(None);
            };
            Ok(Some(Tally {
                agent: row.get(0)?,
                kind,
                status,
                runs: to_unsigned(row, 3)?,
                timed: to_unsigned(row, 4)?,
                time_ms: to_unsigned(row, 5)?,
                last_started: row.get(6)?,
                answered_by_fallback: to_unsigned(row, 7)?,
            }))
        })?;
        if tallies.contains(&None) {
            // A group has no id by which its damaged runs could be named.
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE {whose}");
            self.all(&sql, [user], read)?;
        }
        Ok(tallies.into_iter().flatten().collect())
    }

    fn add_event(&mut self, run: &str, at: &str, kind: &str, detail: Detail) -> Result<Event> {
        let sql = concat!(
            "INSERT INTO events VALUES (",
            next!("events", "cursor"),
            ", ?1, ?2, ?3, ?4, checksum(?1, ?2, ?3, ?4))"
        );
        let text = json(&detail);
        refuse_deep(&text)?;
        let cursor = self.insert_numbered(sql, (run, at, kind, text))?;
        Ok(Event {
            cursor: cursor.unsigned_abs(),
            run: run.to_string(),
            at: at.to_string(),
            kind: kind.to_string(),
            detail,
        })
    }

    fn events(&self, run: Option<&str>, since: u64, limit: u32) -> Result<Vec<Event>> {
        let one = if run.is_some() {
            "run = ?3"
        } else {
            "CAST(?3 AS TEXT) IS NULL"
        };
        let sql = format!(
            "SELECT {EVENT} FROM events WHERE {one} AND cursor > ?1
             ORDER BY cursor LIMIT ?2"
        );
        self.all(&sql, (to_signed(since), limit, run), read_event)
    }

    fn delegations(
        &self,
        user: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let whose = match user {
            Some(_) => "(SELECT user_id FROM runs WHERE id = run) = ?3",
            None => "CAST(?3 AS TEXT) IS NULL",
        };
        let sql = format!(
            "SELECT {EVENT} FROM events
             WHERE kind = '{DELEGATION}' AND cursor < ?1 AND {whose} ORDER BY cursor DESC LIMIT ?2"
        );
        let before = before.map_or(i64::MAX, to_signed);
        self.all(&sql, (before, limit, user), read_event)
    }

    fn last_event(&self) -> Result<u64> {
        self.count("SELECT max(cursor) FROM events", ())
    }
}

/// Returns by what runs are sorted before their place; what is not known stands last.
fn format_order(filter: &RunFilter) -> String {
    let dir = match filter.dir {
        Some(Dir::Asc) => "ASC",
        Some(Dir::Desc) | None => "DESC",
    };
    match filter.order {
        // Most ask for this, and an index has it.
        Order::Started if dir == "DESC" => String::new(),
        Order::Started => format!("started_at {dir}, "),
        Order::Status => format!("status {dir}, "),
        Order::Duration => format!("execution_time_ms {dir} NULLS LAST, "),
        Order::Cost => {
            format!(
                "CASE WHEN json_valid(record) THEN CAST(record ->> 'cost' AS DOUBLE PRECISION) END
                    {dir} NULLS LAST, "
            )
        }
    }
}

pub(in crate::store) fn read_event(row: &Row<'_>) -> rusqlite::Result<Event> {
    require_unchanged(row, 5)?;
    Ok(Event {
        cursor: to_unsigned(row, 0)?,
        run: plain_id(row, 1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        detail: from_json(row, 4)?,
    })
}

/// Reads a run; the columns count where the record says otherwise.
pub(in crate::store) fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    require_unchanged(row, 5)?;
    Ok(Run {
        id: plain_id(row, 0)?,
        owner: read_checked_id(row, 1, |owner| owner.is_empty() || id::is_plain(owner))?,
        kind: word(row, 3)?,
        status: word(row, 4)?,
        ..from_json(row, 2)?
    })
}

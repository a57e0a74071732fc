//! SQL of runs and their events.

use rusqlite::types::Value;
use rusqlite::{Row, named_params, params_from_iter};

use crate::error::Result;
use crate::id;
use crate::run::{DELEGATION, Detail, Event, Run};
use crate::store::agency::{Glimpse, RunFilter, RunPage, Runs, Tally};
use crate::store::sqlite::columns::{checked_id, from_json, plain_id, refuse_deep, word};
use crate::store::sqlite::open::Open;

pub(super) const COLUMNS: &str =
    "id, kind, status, user_id, agent, requested_agent, supervisor, input, output,
    routed_by, routing_reason, routing_score, answered_by, model, usage, cost, execution_time_ms,
    error, conversation, started_at, completed_at, owner";

pub(super) const EVENT: &str = "cursor, run, at, kind, detail";

const PUT: &str = "INSERT INTO runs VALUES (NULL, :id, :kind, :status, :user_id, :agent,
        :requested_agent, :supervisor, :input, :output, :routed_by, :routing_reason, :routing_score,
        :answered_by, :model, :usage, :cost, :execution_time_ms, :error, :conversation, :started_at,
        :completed_at, :owner)
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status,
        user_id = excluded.user_id, agent = excluded.agent,
        requested_agent = excluded.requested_agent, supervisor = excluded.supervisor,
        input = excluded.input, output = excluded.output, routed_by = excluded.routed_by,
        routing_reason = excluded.routing_reason, routing_score = excluded.routing_score,
        answered_by = excluded.answered_by, model = excluded.model, usage = excluded.usage,
        cost = excluded.cost, execution_time_ms = excluded.execution_time_ms,
        error = excluded.error, conversation = excluded.conversation,
        started_at = excluded.started_at, completed_at = excluded.completed_at,
        owner = excluded.owner";

impl Runs for Open<'_> {
    fn put_run(&mut self, run: &Run) -> Result<()> {
        let usage = run.usage.map(|usage| serde_json::json!(usage).to_string());
        self.execute(
            PUT,
            named_params! {
                ":id": run.id, ":kind": run.kind.word(), ":status": run.status.word(),
                ":user_id": run.user, ":agent": run.agent,
                ":requested_agent": run.requested_agent, ":supervisor": run.supervisor,
                ":input": run.input, ":output": run.output, ":routed_by": run.routed_by.word(),
                ":routing_reason": run.routing_reason, ":routing_score": run.routing_score,
                ":answered_by": run.answered_by.map(|by| by.word()), ":model": run.model,
                ":usage": usage, ":cost": run.cost,
                ":execution_time_ms": run.execution_time_ms.map(signed), ":error": run.error,
                ":conversation": run.conversation, ":started_at": run.started_at,
                ":completed_at": run.completed_at, ":owner": run.owner,
            },
        )?;
        Ok(())
    }

    fn run(&self, id: &str) -> Result<Option<Run>> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.first(&sql, [id], read)
    }

    fn runs(&self, filter: &RunFilter) -> Result<RunPage> {
        let (condition, mut values) = conditions(filter);
        let sql = format!("SELECT count(*) FROM runs WHERE {condition}");
        let total = self.first(&sql, params_from_iter(&values), |row| unsigned(row, 0))?;
        values.extend([Value::from(filter.limit), Value::from(filter.offset)]);
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE {condition} ORDER BY position DESC LIMIT ? OFFSET ?"
        );
        let runs = self.all(&sql, params_from_iter(values), read)?;
        Ok(RunPage {
            runs,
            total: total.unwrap_or(0),
        })
    }

    fn owners(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT owner FROM runs WHERE status IN ('pending', 'running')
            ORDER BY owner";
        self.all(sql, (), |row| {
            checked_id(row, 0, |owner| owner.is_empty() || id::is_plain(owner))
        })
    }

    fn unfinished(&self, owner: &str) -> Result<Vec<Run>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE status IN ('pending', 'running') AND owner = ?1
             ORDER BY position"
        );
        self.all(&sql, [owner], read)
    }

    fn executions_since(
        &self,
        user: Option<&str>,
        since: &str,
        limit: u32,
    ) -> Result<Vec<Glimpse>> {
        let whose = match user {
            Some(_) => "user_id = ?3",
            None => "?3 IS NULL",
        };
        // The last ones first, so that those of all times are not read for the few of this one.
        let sql = format!(
            "SELECT * FROM (SELECT agent, status, answered_by, execution_time_ms, started_at,
                    status = 'completed' AND agent IS NOT NULL AND error IS NOT NULL FROM runs
                WHERE kind = 'execution' AND {whose} ORDER BY position DESC LIMIT ?2)
             WHERE started_at >= ?1"
        );
        self.all(&sql, (since, limit, user), |row| {
            let by = row.get::<_, Option<String>>(2)?;
            Ok(Glimpse {
                agent: row.get(0)?,
                status: word(row, 1)?,
                answered_by: by.map(|_| word(row, 2)).transpose()?,
                time_ms: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
                started_at: row.get(4)?,
                stood_in: row.get(5)?,
            })
        })
    }

    fn tallies(&self, user: Option<&str>) -> Result<Vec<Tally>> {
        let whose = match user {
            Some(_) => "user_id = ?1",
            None => "?1 IS NULL",
        };
        let answered = "kind = 'execution' AND status = 'completed'";
        let sql = format!(
            "SELECT agent, kind, status, count(*), count(execution_time_ms),
                ifnull(sum(execution_time_ms), 0), max(started_at),
                sum({answered} AND agent IS NOT NULL AND error IS NOT NULL),
                sum({answered} AND agent IS NULL AND NOT answered_by IS NOT NULL)
             FROM runs WHERE {whose} GROUP BY agent, kind, status ORDER BY agent, kind, status"
        );
        self.all(&sql, [user], |row| {
            Ok(Tally {
                agent: row.get(0)?,
                kind: word(row, 1)?,
                status: word(row, 2)?,
                runs: unsigned(row, 3)?,
                timed: unsigned(row, 4)?,
                time_ms: unsigned(row, 5)?,
                last_started: row.get(6)?,
                stood_in: unsigned(row, 7)?,
                asked_back: unsigned(row, 8)?,
            })
        })
    }

    fn add_event(&mut self, run: &str, at: &str, kind: &str, detail: &Detail) -> Result<u64> {
        let sql = "INSERT INTO events VALUES (NULL, ?1, ?2, ?3, ?4)";
        let detail = serde_json::to_string(detail).unwrap_or_default();
        refuse_deep(&detail)?;
        self.execute(sql, (run, at, kind, detail))?;
        Ok(self.connection.last_insert_rowid().unsigned_abs())
    }

    fn events(&self, run: Option<&str>, since: u64, limit: u32) -> Result<Vec<Event>> {
        let one = if run.is_some() {
            "run = ?3"
        } else {
            "?3 IS NULL"
        };
        let sql = format!(
            "SELECT {EVENT} FROM events WHERE {one} AND cursor > ?1
             ORDER BY cursor LIMIT ?2"
        );
        self.all(&sql, (signed(since), limit, run), read_event)
    }

    fn delegations(
        &self,
        user: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let whose = match user {
            Some(_) => "(SELECT user_id FROM runs WHERE id = run) = ?3",
            None => "?3 IS NULL",
        };
        let sql = format!(
            "SELECT {EVENT} FROM events
             WHERE kind = '{DELEGATION}' AND cursor < ?1 AND {whose} ORDER BY cursor DESC LIMIT ?2"
        );
        let before = before.map_or(i64::MAX, signed);
        self.all(&sql, (before, limit, user), read_event)
    }

    fn last_event(&self) -> Result<u64> {
        let last = self.first("SELECT max(cursor) FROM events", (), |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        Ok(last.flatten().map_or(0, i64::unsigned_abs))
    }

    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()> {
        let sql = "INSERT INTO agent_uses VALUES (?1, ?2)
            ON CONFLICT DO UPDATE SET last_used_at = excluded.last_used_at";
        self.execute(sql, [agent, at])?;
        Ok(())
    }

    fn agent_uses(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT agent, last_used_at FROM agent_uses ORDER BY agent";
        self.all(sql, (), |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

fn conditions(filter: &RunFilter) -> (String, Vec<Value>) {
    let mut parts = vec!["1"];
    let mut values = Vec::new();
    let mut add = |part: &'static str, value: Option<String>| {
        parts.extend(value.is_some().then_some(part));
        values.extend(value.map(Value::from));
    };
    add("user_id = ?", filter.user.clone());
    add("agent = ?", filter.agent.clone());
    add("status = ?", filter.status.map(|one| one.word().into()));
    add("kind = ?", filter.kind.map(|one| one.word().into()));
    (parts.join(" AND "), values)
}

/// Numbers of the database have a sign; ours stay far below its limit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

pub(super) fn read_event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        cursor: unsigned(row, 0)?,
        run: plain_id(row, 1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        detail: from_json(row, 4)?,
    })
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let time = row.get::<_, Option<i64>>(16)?;
    let there = |column| row.get::<_, Option<String>>(column);
    Ok(Run {
        id: plain_id(row, 0)?,
        kind: word(row, 1)?,
        status: word(row, 2)?,
        user: row.get(3)?,
        agent: row.get(4)?,
        requested_agent: row.get(5)?,
        supervisor: row.get(6)?,
        input: row.get(7)?,
        output: row.get(8)?,
        routed_by: word(row, 9)?,
        routing_reason: row.get(10)?,
        routing_score: row.get(11)?,
        answered_by: there(12)?.map(|_| word(row, 12)).transpose()?,
        model: row.get(13)?,
        usage: there(14)?.map(|_| from_json(row, 14)).transpose()?,
        cost: row.get(15)?,
        execution_time_ms: time.map(i64::unsigned_abs),
        error: row.get(17)?,
        conversation: row.get(18)?,
        started_at: row.get(19)?,
        completed_at: row.get(20)?,
        owner: checked_id(row, 21, |owner| owner.is_empty() || id::is_plain(owner))?,
    })
}

//! SQL of claims, spawns, links, gates and sessions.

use std::collections::{HashMap, HashSet};

use super::SqlTransaction;
use super::columns::{
    from_json, ignore_damage, next, read_checked_id, read_id, require_unchanged, unchanged, word,
};
use super::row::Row;
use crate::claim::Claim;
use crate::error::{Code, Result};
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::{
    Claims, Link, Links, Log, Sessions, SpawnRecord, Spawns, TaskGates, log, origin,
};
use crate::task::Task;
use crate::task::rules::normalize_inside;

pub(in crate::store) const CLAIM_COLUMNS: &str = unchanged!("task, epoch, holder, since, expires");

impl Claims for SqlTransaction<'_> {
    fn claim(&self, task: TaskId) -> Result<Option<Claim>> {
        let sql = format!("SELECT {CLAIM_COLUMNS} FROM claims WHERE task = ?1");
        match self.first(&sql, [task.0], read_claim) {
            Err(error) if error.code == Code::RowDamaged => {
                // Notes the damage.
                self.all(&sql, [task.0], read_claim)?;
                self.make_ended_claim(task).map(Some)
            }
            read => read,
        }
    }

    fn last_claims(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Claim>> {
        let sql = format!("SELECT {CLAIM_COLUMNS} FROM claims WHERE task BETWEEN ?1 AND ?2");
        let read = |row: &Row<'_>| Ok((read_id(row)?, read_claim(row).ok()));
        let mut claims = HashMap::new();
        for (task, claim) in self.query_ids(&sql, tasks, read)? {
            if id::place(tasks, task, |task| *task).is_some() {
                // Of a damaged one the epoch still counts.
                let claim = claim.map_or_else(|| self.claim(task), |claim| Ok(Some(claim)))?;
                claims.extend(claim.map(|claim| (task, claim)));
            }
        }
        Ok(claims)
    }

    fn put_claim(&mut self, claim: &Claim) -> Result<()> {
        let sql = "INSERT INTO claims VALUES (?1, ?2, ?3, ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5))
                   ON CONFLICT (task) DO UPDATE SET epoch = excluded.epoch, holder = excluded.holder,
                       since = excluded.since, expires = excluded.expires, sum = excluded.sum";
        let (holder, since, expires) = (&claim.holder, &claim.since, &claim.expires);
        let row = (claim.task.0, claim.epoch, holder, since, expires);
        self.execute(sql, row)
    }

    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>> {
        let sql = format!(
            "SELECT {CLAIM_COLUMNS} FROM claims WHERE holder IS NOT NULL AND expires <= ?1
             ORDER BY expires, task"
        );
        self.all(&sql, [now], read_claim)
    }

    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>> {
        let sql = format!("SELECT {CLAIM_COLUMNS} FROM claims WHERE holder = ?1 ORDER BY task");
        self.all(&sql, [holder], read_claim)
    }

    fn running_claims(&self, now: &str, limit: u32) -> Result<Vec<Claim>> {
        let sql = format!(
            "SELECT {CLAIM_COLUMNS} FROM claims WHERE holder IS NOT NULL AND expires > ?1
             ORDER BY expires DESC, task DESC LIMIT ?2"
        );
        self.all(&sql, (now, limit), read_claim)
    }
}

impl SqlTransaction<'_> {
    /// Makes the claim that counts in place of a damaged one: it is over, and its epoch is that of the last operation, which
    /// no epoch is above, because each claim of a task is an operation of its own.
    pub(in crate::store) fn make_ended_claim(&self, task: TaskId) -> Result<Claim> {
        let epoch = self.count("SELECT coalesce(max(number), 0) FROM operations", ())?;
        let long_ago = "1970-01-01T00:00:00.000Z";
        Ok(Claim {
            task,
            // No other claim can be after it.
            epoch: u32::try_from(epoch).unwrap_or(u32::MAX),
            holder: None,
            since: long_ago.to_string(),
            expires: long_ago.to_string(),
        })
    }
}

pub(in crate::store) fn read_claim(row: &Row<'_>) -> rusqlite::Result<Claim> {
    require_unchanged(row, 5)?;
    Ok(Claim {
        task: read_id(row)?,
        epoch: row.get(1)?,
        holder: row.get(2)?,
        since: row.get(3)?,
        expires: row.get(4)?,
    })
}

pub(in crate::store) const SPAWN_COLUMNS: &str = unchanged!(
    "task, manifest_id, output_file, at, receipt, verified_at, output_digest, forced, mark"
);

impl Spawns for SqlTransaction<'_> {
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>> {
        let sql = format!("SELECT {SPAWN_COLUMNS} FROM spawns WHERE task = ?1 ORDER BY sequence");
        self.all(&sql, [task.0], read_spawn)
    }

    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>> {
        let sql = format!(
            "SELECT {SPAWN_COLUMNS} FROM spawns WHERE task = ?1 ORDER BY sequence DESC LIMIT 1"
        );
        self.first(&sql, [task.0], read_spawn)
    }

    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnRecord>> {
        let sql = "SELECT task, manifest_id, verified_at, output_digest, forced, mark FROM spawns
                   WHERE task BETWEEN ?1 AND ?2 ORDER BY sequence";
        let verdicts = self.query_ids(sql, tasks, |row| {
            let verdict = SpawnRecord {
                task: read_id(row)?,
                manifest_id: row.get(1)?,
                verified_at: row.get(2)?,
                output_digest: row.get(3)?,
                forced: row.get(4)?,
                mark: row.get(5)?,
                ..SpawnRecord::default()
            };
            Ok((verdict.task, verdict))
        })?;
        let asked_for = |(task, _): &(TaskId, _)| id::place(tasks, *task, |task| *task).is_some();
        Ok(verdicts.into_iter().filter(asked_for).collect())
    }

    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>> {
        let sql = "SELECT task FROM spawns WHERE output_file = ?1 ORDER BY sequence LIMIT 1";
        self.first(sql, [output_file], read_id)
    }

    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>> {
        let sql = "SELECT manifest_id FROM spawns WHERE task <> ?1";
        let ids = self.all(sql, [task.0], |row| row.get(0))?;
        Ok(ids.into_iter().collect())
    }

    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()> {
        let sql =
            format!("SELECT {SPAWN_COLUMNS} FROM spawns WHERE task = ?1 AND manifest_id = ?2");
        let before = self.first(&sql, (spawn.task.0, &spawn.manifest_id), read_spawn);
        let before = ignore_damage(before)?;
        self.write_spawn(spawn)?;
        match log::spawn(before.as_ref(), spawn) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn write_spawn(&self, spawn: &SpawnRecord) -> Result<()> {
        let sql = concat!("INSERT INTO spawns VALUES (", next!("spawns", "sequence"), ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                  checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))
             ON CONFLICT (task, manifest_id) DO UPDATE SET output_file = excluded.output_file,
                 at = excluded.at, receipt = excluded.receipt, verified_at = excluded.verified_at,
                 output_digest = excluded.output_digest, forced = excluded.forced, mark = excluded.mark,
                 sum = excluded.sum,
                 sequence = excluded.sequence");
        self.execute(
            sql,
            (
                spawn.task.0,
                &spawn.manifest_id,
                &spawn.output_file,
                &spawn.at,
                spawn.receipt.to_string(),
                &spawn.verified_at,
                &spawn.output_digest,
                &spawn.forced,
                &spawn.mark,
            ),
        )?;
        Ok(())
    }
}

pub(in crate::store) fn read_spawn(row: &Row<'_>) -> rusqlite::Result<SpawnRecord> {
    require_unchanged(row, 9)?;
    Ok(SpawnRecord {
        task: read_id(row)?,
        manifest_id: row.get(1)?,
        output_file: read_checked_id(row, 2, |file| normalize_inside(file).is_some())?,
        at: row.get(3)?,
        receipt: from_json(row, 4)?,
        verified_at: row.get(5)?,
        output_digest: row.get(6)?,
        forced: row.get(7)?,
        mark: row.get(8)?,
    })
}

pub(in crate::store) const LINK_COLUMNS: &str = unchanged!("task, entry, at");

impl Links for SqlTransaction<'_> {
    fn links(&self, task: TaskId) -> Result<Vec<Link>> {
        let sql = format!("SELECT {LINK_COLUMNS} FROM links WHERE task = ?1 ORDER BY at, entry");
        self.all(&sql, [task.0], read_link)
    }

    fn list_links_to(&self, entry: &str) -> Result<Vec<Link>> {
        let sql = format!("SELECT {LINK_COLUMNS} FROM links WHERE entry = ?1 ORDER BY at, task");
        self.all(&sql, [entry], read_link)
    }

    fn link(&mut self, link: &Link) -> Result<bool> {
        let is_new = self.write_link(link)?;
        if is_new {
            self.record(&log::link(log::LINKED, link))?;
        }
        Ok(is_new)
    }

    fn unlink(&mut self, link: &Link) -> Result<bool> {
        let sql = "DELETE FROM links WHERE task = ?1 AND entry = ?2";
        let was_there = self.execute_counting(sql, (link.task.0, &link.entry))? > 0;
        if was_there {
            self.record(&log::link(log::UNLINKED, link))?;
        }
        Ok(was_there)
    }
}

impl SqlTransaction<'_> {
    /// Writes where a task comes from. Of two that say the same, the first keeps it.
    pub(in crate::store) fn put_origin(&self, task: &Task) -> Result<()> {
        if let Some((format, id)) = origin(task) {
            let sql = "INSERT INTO origins VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            self.execute(sql, (format, id, task.id.0))?;
        }
        Ok(())
    }

    pub(in crate::store) fn write_link(&self, link: &Link) -> Result<bool> {
        let sql = "INSERT INTO links VALUES (?1, ?2, ?3, checksum(?1, ?2, ?3))
                   ON CONFLICT (task, entry) DO NOTHING";
        Ok(self.execute_counting(sql, (link.task.0, &link.entry, &link.at))? > 0)
    }
}

pub(in crate::store) fn read_link(row: &Row<'_>) -> rusqlite::Result<Link> {
    require_unchanged(row, 3)?;
    Ok(Link {
        task: read_id(row)?,
        entry: row.get(1)?,
        at: row.get(2)?,
    })
}

pub(in crate::store) const GATE_COLUMNS: &str = unchanged!("task, state");

pub(in crate::store) fn read_gates(row: &Row<'_>) -> rusqlite::Result<Gates> {
    require_unchanged(row, 2)?;
    from_json(row, 1)
}

impl TaskGates for SqlTransaction<'_> {
    fn gates(&self, task: TaskId) -> Result<Gates> {
        let sql = format!("SELECT {GATE_COLUMNS} FROM gates WHERE task = ?1");
        let gates = self.first(&sql, [task.0], read_gates)?;
        Ok(gates.unwrap_or_default())
    }

    fn gates_of(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Gates>> {
        let sql = format!("SELECT {GATE_COLUMNS} FROM gates WHERE task BETWEEN ?1 AND ?2");
        let gates = self.query_ids(&sql, tasks, |row| {
            let task = read_id(row)?;
            let is_asked_for = id::place(tasks, task, |task| *task).is_some();
            is_asked_for
                .then(|| Ok((task, read_gates(row)?)))
                .transpose()
        })?;
        Ok(gates.into_iter().flatten().collect())
    }

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()> {
        let before = ignore_damage(self.gates(task))?;
        self.write_gates(task, gates)?;
        let told = log::gates(task, &before, gates);
        told.iter().try_for_each(|change| self.record(change))
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn write_gates(&self, task: TaskId, gates: &Gates) -> Result<()> {
        let state = crate::document::to_json(gates).unwrap_or_default();
        let sql = "INSERT INTO gates VALUES (?1, ?2, checksum(?1, ?2))
                   ON CONFLICT (task) DO UPDATE SET state = excluded.state, sum = excluded.sum";
        self.execute(sql, (task.0, state))?;
        Ok(())
    }
}

// Deleting a task clears the focus on it.
pub(in crate::store) const SESSION_COLUMNS: &str = unchanged!(
    "number, name, status, scope, focus, holder, notes, started_at, ended_at",
    "number, name, status, scope, holder, notes, started_at, ended_at"
);

impl Sessions for SqlTransaction<'_> {
    fn session(&self, id: SessionId) -> Result<Option<Session>> {
        let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE number = ?1");
        self.first(&sql, [id.0], read_session)
    }

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>> {
        let sql = format!(
            "SELECT {SESSION_COLUMNS} FROM sessions WHERE {} ORDER BY number",
            status.map_or("CAST(?1 AS TEXT) IS NULL", |_| "status = ?1")
        );
        self.all(&sql, [status.map(SessionStatus::word)], read_session)
    }

    fn next_session(&self) -> Result<SessionId> {
        let sql = "SELECT coalesce(max(number), 0) + 1 FROM sessions";
        let next = self.first(sql, (), |row| row.get(0))?;
        Ok(SessionId(next.unwrap_or(1)))
    }

    fn put_session(&mut self, session: &Session) -> Result<()> {
        let notes = crate::document::to_json(&session.notes).unwrap_or_else(|_| "[]".to_string());
        let sql = "INSERT INTO sessions VALUES (:number, :name, :status, :scope,
                       :focus, :holder, :notes, :started_at, :ended_at, checksum(:number, :name, :status,
                       :scope, :holder, :notes, :started_at, :ended_at))
                   ON CONFLICT (number) DO UPDATE SET name = excluded.name, status = excluded.status,
                       scope = excluded.scope, focus = excluded.focus, holder = excluded.holder,
                       notes = excluded.notes, started_at = excluded.started_at,
                       ended_at = excluded.ended_at, sum = excluded.sum";
        let row = (
            session.id.0,
            &session.name,
            session.status.word(),
            session.scope.map(|id| id.0),
            session.focus.map(|id| id.0),
            &session.holder,
            notes,
            &session.started_at,
            &session.ended_at,
        );
        self.execute(sql, row)
    }
}

fn read_session(row: &Row<'_>) -> rusqlite::Result<Session> {
    require_unchanged(row, 9)?;
    Ok(Session {
        id: SessionId(row.get(0)?),
        name: row.get(1)?,
        status: word(row, 2)?,
        scope: row.get::<Option<u32>>(3)?.map(TaskId),
        focus: row.get::<Option<u32>>(4)?.map(TaskId),
        holder: row.get(5)?,
        notes: from_json(row, 6)?,
        started_at: row.get(7)?,
        ended_at: row.get(8)?,
    })
}

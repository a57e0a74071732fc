//! SQL of claims.

use rusqlite::Row;

use super::SqliteTransaction;
use super::tasks::read_id;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Claims;

const COLUMNS: &str = "task, epoch, holder, since, expires";

impl Claims for SqliteTransaction<'_> {
    fn claim(&self, task: TaskId) -> Result<Option<Claim>> {
        let sql = format!("SELECT {COLUMNS} FROM claims WHERE task = ?1");
        self.first(&sql, [task.0], read)
    }

    fn put_claim(&mut self, claim: &Claim) -> Result<()> {
        let sql = "INSERT INTO claims VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (task) DO UPDATE SET epoch = excluded.epoch,
                       holder = excluded.holder, since = excluded.since, expires = excluded.expires";
        let Claim {
            task,
            epoch,
            holder,
            since,
            expires,
        } = claim;
        self.execute(sql, (task.0, epoch, holder, since, expires))?;
        Ok(())
    }

    fn expired_claims(&self, now: &str) -> Result<Vec<Claim>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM claims WHERE holder IS NOT NULL AND expires <= ?1
             ORDER BY expires, task"
        );
        self.all(&sql, [now], read)
    }

    fn claims_of(&self, holder: &str) -> Result<Vec<Claim>> {
        let sql = format!("SELECT {COLUMNS} FROM claims WHERE holder = ?1 ORDER BY task");
        self.all(&sql, [holder], read)
    }

    fn running_claims(&self, now: &str, limit: u32) -> Result<Vec<Claim>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM claims WHERE holder IS NOT NULL AND expires > ?1
             ORDER BY expires DESC, task DESC LIMIT ?2"
        );
        self.all(&sql, (now, limit), read)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        task: read_id(row)?,
        epoch: row.get(1)?,
        holder: row.get(2)?,
        since: row.get(3)?,
        expires: row.get(4)?,
    })
}

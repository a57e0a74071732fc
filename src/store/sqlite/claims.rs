//! SQL of claims.

use rusqlite::Row;

use super::SqliteTransaction;
use super::tasks::read_id;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Claims;

const COLUMNS: &str = "task, epoch, holder, since, expires";

/// What the index `nodes_ready` holds, without what somebody holds.
const READY: &str = "n.is_ready = 1
    AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.task = n.number AND c.holder IS NOT NULL)
    ORDER BY n.rank, n.below DESC, n.number LIMIT 1";

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
        self.run(sql, (task.0, epoch, holder, since, expires))?;
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

    fn first_ready(&self, scope: Option<TaskId>) -> Result<Option<TaskId>> {
        self.settle()?;
        match scope {
            None => self.first(
                &format!("SELECT n.number FROM nodes n WHERE {READY}"),
                (),
                read_id,
            ),
            Some(scope) => {
                let sql = format!(
                    "WITH RECURSIVE scope (number) AS (
                         SELECT number FROM nodes WHERE parent = ?1
                         UNION SELECT c.number FROM nodes c JOIN scope s ON c.parent = s.number)
                     SELECT n.number FROM scope s JOIN nodes n ON n.number = s.number WHERE {READY}"
                );
                self.first(&sql, [scope.0], read_id)
            }
        }
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

//! The store in a PostgreSQL database, for several processes and machines.

pub(crate) mod address;
mod presence;
mod schema;
mod tls;

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use postgres_protocol::escape::{escape_identifier, escape_literal};

use super::sql::queries::Link;
use super::sql::session::Session;
use super::sql::{Backend, SqlTransaction};
use super::{Stamp, Store, Transaction};
use crate::error::{Code, Error, Result, quote};
pub(crate) use address::Address;
pub(crate) use presence::Presence;

/// Time limit for other writers, and for a server that cannot be reached.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two looks for commits that the server did not report.
const LOOK: Duration = Duration::from_millis(500);

const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Writers take turns, as with SQLite: numbers of rows, counters and claims need no other locks. Each statement sees what
/// was committed before it.
const TURN: &str = "BEGIN; SET LOCAL lock_timeout = '30s';
    SELECT pg_advisory_xact_lock(hashtextextended('cleo ' || current_schema(), 0));";
/// Leaves a token, by which [`PostgresStore::resolve_commit`] knows the transaction: after a crash, the server may give its
/// number to another one. Only the last tokens stay.
const LEAVE_TOKEN: &str =
    "WITH new AS (INSERT INTO commits DEFAULT VALUES RETURNING number, token),
    old AS (DELETE FROM commits USING new WHERE commits.number <= new.number - 100000)
    SELECT token FROM new";

/// Names what keeps row-level security from the users of servers.
const FIND_ROLE_PROBLEM: &str = "SELECT CASE
    WHEN to_regrole('cleo_server') IS NULL OR to_regrole('cleo_user') IS NULL THEN 'missing'
    WHEN NOT has_table_privilege('cleo_server', 'tasks', 'INSERT')
        OR NOT has_table_privilege('cleo_user', 'tasks', 'SELECT') THEN 'rights'
    WHEN NOT pg_has_role(CAST(to_regrole('cleo_server') AS oid),
        CASE WHEN CAST(current_setting('server_version_num') AS integer) < 160000 THEN 'MEMBER' ELSE 'SET' END)
        THEN 'member'
    WHEN (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user) THEN 'bypass' END";

/// Returns whether this login may act as the role that row-level security restricts to one user.
const CAN_RESTRICT: &str = "SELECT coalesce(has_table_privilege(role, 'tasks', 'INSERT') AND pg_has_role(role,
        CASE WHEN CAST(current_setting('server_version_num') AS integer) < 160000 THEN 'MEMBER' ELSE 'SET' END), false)
    FROM (SELECT CAST(to_regrole('cleo_server') AS oid) AS role) AS found";

pub(crate) struct PostgresStore {
    address: Address,
    session: Session,
    /// The token of the open write transaction.
    token: RefCell<Option<String>>,
    /// The version that [`PostgresStore::watch`] saw last, and when.
    watched: Cell<Option<(u64, Instant)>>,
    /// The only user whose rows transactions see, as far as the login can restrict itself.
    user: Option<Arc<str>>,
    can_restrict: OnceCell<bool>,
}

impl PostgresStore {
    /// Makes the schema where it is missing, and returns whether it did.
    pub(crate) fn create(address: &Address) -> Result<bool> {
        let store = PostgresStore::connect(address)?;
        let is_new = schema::read_version(&store.session)?.is_none();
        schema::migrate(&store.session)?;
        Ok(is_new)
    }

    /// Opens a database; none where cleo has made no tables in it. One of an older version is brought up to date, one of a
    /// newer version is refused.
    pub(crate) fn open_if_there(address: &Address) -> Result<Option<PostgresStore>> {
        let store = PostgresStore::connect(address)?;
        match schema::read_version(&store.session)? {
            None => Ok(None),
            Some(schema::VERSION) => Ok(Some(store)),
            Some(version) if version > schema::VERSION => {
                let message = format!(
                    "{} was written by a newer version of cleo (schema {version}); install that version",
                    address.place()
                );
                Err(Error::new(Code::StoreSchema, message))
            }
            Some(_) => schema::migrate(&store.session).map(|()| Some(store)),
        }
    }

    fn connect(address: &Address) -> Result<PostgresStore> {
        Ok(PostgresStore {
            address: address.clone(),
            session: Session::new(address.connect(PATIENCE)?, address.place()),
            token: RefCell::default(),
            watched: Cell::default(),
            user: None,
            can_restrict: OnceCell::new(),
        })
    }

    /// Checks that derived tables agree with the tasks. Each problem names the check and some of the rows.
    pub(crate) fn disagreements(&self) -> Result<Vec<String>> {
        self.begin_read()?.disagreements()
    }

    pub(super) fn begin_read(&self) -> Result<SqlTransaction<'_>> {
        self.begin(READ, None)
    }

    pub(super) fn begin_write(&self, stamp: Option<&Stamp>) -> Result<SqlTransaction<'_>> {
        self.begin(&format!("{TURN} {LEAVE_TOKEN}"), stamp)
    }

    pub(crate) fn for_user(self, user: Option<Arc<str>>) -> PostgresStore {
        PostgresStore { user, ..self }
    }

    /// Lets transactions act for a user, or for all, and returns for whom they did.
    pub(super) fn act_for(&mut self, user: Option<Arc<str>>) -> Option<Arc<str>> {
        std::mem::replace(&mut self.user, user)
    }

    /// Returns whether row-level security restricts transactions for a user.
    pub(super) fn can_restrict(&self) -> Result<bool> {
        if let Some(known) = self.can_restrict.get() {
            return Ok(*known);
        }
        let answer = self.retry(CAN_RESTRICT)?;
        Ok(*self
            .can_restrict
            .get_or_init(|| answer.as_deref() == Some("t")))
    }

    /// Returns what is wrong with the roles, and a command against it.
    pub(super) fn find_role_problem(&self) -> Result<Option<(String, String)>> {
        let (user, place) = (self.address.user(), self.address.place());
        let run = |sql: &str| format!("psql {} -c {}", quote(place), quote(sql));
        let name = escape_identifier(user);
        let grant = format!("GRANT cleo_server TO {name}");
        let problem = self.retry(FIND_ROLE_PROBLEM)?;
        Ok(problem.map(|problem| match problem.as_str() {
            "missing" => (
                "the roles cleo_server and cleo_user are missing, so only cleo itself keeps rows of users apart; an \
                 administrator makes them, then `cleo init` gives them their rights"
                    .to_string(),
                run(&format!("CREATE ROLE cleo_server; CREATE ROLE cleo_user; {grant}")),
            ),
            "rights" => (
                "the roles cleo_server and cleo_user have no rights on the tables, as when they were made later"
                    .to_string(),
                "cleo init".to_string(),
            ),
            "member" => (
                format!("{user} lacks the role cleo_server, so only cleo itself keeps rows of users apart"),
                run(&grant),
            ),
            _ => (
                format!(
                    "row-level security does not hold for {user} itself; servers need a login without these rights"
                ),
                run("\\du"),
            ),
        }))
    }

    fn begin(&self, how: &str, stamp: Option<&Stamp>) -> Result<SqlTransaction<'_>> {
        let restrict = match &self.user {
            Some(user) if self.can_restrict()? => {
                let name = escape_literal(user);
                format!("; SET LOCAL ROLE cleo_server; SET LOCAL cleo.\"user\" = {name}")
            }
            _ => String::new(),
        };
        let how = &format!("{how}{restrict}");
        let since = Instant::now();
        let token = loop {
            match self.session.run_batch(how) {
                Ok(token) => break token,
                // Nothing was done yet, so a lost connection is made anew.
                Err(error) if self.can_retry(&error, since) => self.reconnect()?,
                Err(error) => {
                    self.roll_back();
                    return Err(error);
                }
            }
        };
        self.token.replace(token);
        Ok(SqlTransaction::new(
            self,
            Link::Postgres(&self.session),
            stamp,
            None,
        ))
    }

    /// Asks outside of transactions, also after a lost connection.
    fn retry(&self, question: &str) -> Result<Option<String>> {
        let since = Instant::now();
        loop {
            match self.session.run_batch(question) {
                Err(error) if self.can_retry(&error, since) => self.reconnect()?,
                answer => return answer,
            }
        }
    }

    fn can_retry(&self, error: &Error, since: Instant) -> bool {
        error.code == Code::StoreUnavailable && since.elapsed() < PATIENCE
    }

    fn reconnect(&self) -> Result<()> {
        self.watched.take();
        thread::sleep(PAUSE);
        self.session.replace(self.address.connect(PATIENCE)?);
        Ok(())
    }

    /// Returns a number that changes soon after a commit of another process: the server tells of it, and where it does
    /// not, the next look finds it. Cheaper than [`Store::version`], which is never late.
    pub(crate) fn watch(&self) -> Result<u64> {
        // A lost connection is made anew once it is time to look.
        if let Some((version, since)) = self.watched.get()
            && since.elapsed() < LOOK
            && !self.session.has_notices()
        {
            return Ok(version);
        }
        let version = self.version()?;
        if self.watched.get().is_none() {
            self.session.run_batch("LISTEN cleo")?;
        }
        self.watched.set(Some((version, Instant::now())));
        Ok(version)
    }

    /// Asks the server whether a transaction was committed whose connection was lost meanwhile.
    fn resolve_commit(&self, error: Error) -> Result<()> {
        let Some(token) = self.token.take() else {
            return Err(error);
        };
        let since = Instant::now();
        // Once it is this one's turn, the other has ended.
        let sql = format!("{TURN} SELECT count(*) FROM commits WHERE token = '{token}'; COMMIT");
        loop {
            match self.reconnect().and_then(|()| self.session.run_batch(&sql)) {
                Ok(Some(count)) if count == "1" => return Ok(()),
                Err(again) if self.can_retry(&again, since) => {}
                _ => return Err(error),
            }
        }
    }
}

impl Store for PostgresStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_read()?))
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_write(Some(stamp))?))
    }

    fn write_records(&mut self) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_write(None)?))
    }

    /// Returns a digest of which transactions are over. Transactions of other databases change it as well.
    fn version(&self) -> Result<u64> {
        let snapshot = self.retry("SELECT pg_current_snapshot()")?;
        let mut digest = DefaultHasher::new();
        snapshot.hash(&mut digest);
        Ok(digest.finish())
    }
}

impl Backend for PostgresStore {
    fn commit(&self) -> Result<()> {
        let is_write = self.token.borrow().is_some();
        match self.session.run_batch(match is_write {
            true => "NOTIFY cleo; COMMIT",
            false => "COMMIT",
        }) {
            Err(error) if error.code == Code::StoreUnavailable => self.resolve_commit(error),
            done => done.map(drop),
        }
    }

    fn roll_back(&self) {
        self.session.forget_unsent();
        let _ = self.session.run_batch("ROLLBACK");
    }

    fn restricted_to(&self) -> Option<&str> {
        let user = self.user.as_deref();
        user.filter(|_| self.can_restrict.get() == Some(&true))
    }
}

#[cfg(test)]
pub(in crate::store) mod tests;

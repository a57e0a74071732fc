//! The schema in numbered migrations. Each is applied once, under a lock, in one transaction with its number.

use crate::error::{Code, Result};
use crate::store::sql::session::Session;
use crate::store::sql::tasks::SCHEMA;
use crate::store::sql::translate::translate_schema;

/// The version that this program reads and writes: how many migrations there are.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Returns the statements of a migration. A released one is never changed.
type Migration = fn(&str) -> String;

const MIGRATIONS: &[Migration] = &[
    |collation| {
        let functions = include_str!("functions.sql").replace("COLLATION", collation);
        format!(
            "{};\n{functions}",
            translate_schema(SCHEMA).trim_end().trim_end_matches(';')
        )
    },
    |_| AGENTS_SYSTEM.to_string(),
];

/// May be applied again.
const AGENTS_SYSTEM: &str = include_str!("migrations/20250903000001_create_agents_system.sql");

/// Creates the schema only where it is missing: where an administrator made it, the role may lack the right.
const PREPARE: &str = "BEGIN;
    SELECT pg_advisory_xact_lock(hashtextextended('cleo migrations', 0));
    DO $$ BEGIN
        IF current_schema() IS NULL THEN
            EXECUTE 'CREATE SCHEMA ' || split_part(current_setting('search_path'), ',', 1);
        END IF;
    END $$;
    CREATE TABLE IF NOT EXISTS migrations (
        version BIGINT PRIMARY KEY,
        applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
    )";

/// A collation that knows lower case of all letters, the same on every machine if there is one.
const COLLATION: &str = "SELECT quote_ident(collname) FROM pg_collation
    WHERE collname IN ('und-x-icu', 'pg_c_utf8', 'C.utf8', 'C.UTF-8', 'default') AND collencoding IN (-1, 6)
    ORDER BY array_position(ARRAY['und-x-icu', 'pg_c_utf8', 'C.utf8', 'C.UTF-8'], CAST(collname AS text))
    LIMIT 1";

/// Returns whether the roles of row-level security lack their rights, and this login can give them: an administrator may
/// make them after the tables.
const LACKS_RIGHTS: &str = "SELECT EXISTS (SELECT FROM pg_roles WHERE
        rolname = 'cleo_server' AND NOT has_table_privilege(oid, 'tasks', 'INSERT')
        OR rolname = 'cleo_user' AND NOT has_table_privilege(oid, 'tasks', 'SELECT'))
    AND pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = CAST('tasks' AS regclass)";

/// Reads the version of the schema; none where cleo has made no tables.
pub(super) fn read_version(session: &Session) -> Result<Option<i64>> {
    match session.query("SELECT max(version) FROM migrations", &[]) {
        Ok(rows) => Ok(rows.first().and_then(|row| row.get(0))),
        // The table is missing.
        Err(error) if error.code == Code::StoreSchema => Ok(None),
        Err(error) => Err(error),
    }
}

/// Applies the migrations that the database lacks, and gives roles that were made later their rights.
pub(super) fn migrate(session: &Session) -> Result<()> {
    let applied = apply_missing(session);
    session.run_batch(if applied.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    })?;
    applied
}

fn apply_missing(session: &Session) -> Result<()> {
    session.run_batch(PREPARE)?;
    let collation = session.run_batch(COLLATION)?.unwrap_or_default();
    let version = read_version(session)?.unwrap_or_default();
    for (number, migration) in (1..).zip(MIGRATIONS) {
        if number > version {
            session.run_batch(&migration(&collation))?;
            session.run_batch(&format!(
                "INSERT INTO migrations (version) VALUES ({number})"
            ))?;
        }
    }
    if version == VERSION && session.run_batch(LACKS_RIGHTS)?.as_deref() == Some("t") {
        session.run_batch(AGENTS_SYSTEM)?;
    }
    Ok(())
}

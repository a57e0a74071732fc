//! Checks that a database is whole; and numbers for tests that damage it.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::world::TestWorkspace;

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// A number that a variable gives.
pub(crate) fn number_from(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |given| given.parse().unwrap())
}

/// Derived rows of the database must match the tasks. Each query counts differences.
const KEPT: [(&str, &str); 9] = [
    ("foreign keys", "SELECT count(*) FROM pragma_foreign_key_check"),
    (
        "counts by status",
        "SELECT count(*) FROM (
             SELECT iif(archived_at IS NULL, status, 'archived') AS status, count(*) AS value
             FROM tasks GROUP BY 1
             EXCEPT SELECT name, value FROM counters)",
    ),
    (
        "the sum of all counts",
        "SELECT (SELECT count(*) FROM tasks) <> (SELECT total(value) FROM counters
             WHERE name NOT IN ('next_task', 'ready'))",
    ),
    (
        "the graph's view",
        "SELECT count(*) FROM tasks t LEFT JOIN nodes n USING (number)
         WHERE n.parent IS NOT t.parent OR n.status IS NOT t.status
             OR n.is_epic IS NOT (t.type = 'epic')",
    ),
    (
        "what is waited for",
        "SELECT count(*) FROM nodes n WHERE open_needs <> (
             SELECT count(*) FROM task_depends d JOIN tasks t ON t.number = d.needs
             WHERE d.task = n.number AND t.status <> 'done')",
    ),
    (
        "open children",
        "SELECT count(*) FROM nodes n WHERE open_children <> (
             SELECT count(*) FROM tasks t
             WHERE t.parent = n.number AND t.status NOT IN ('done', 'cancelled'))",
    ),
    (
        "the log: which tasks there are",
        "SELECT count(*) FROM (
             SELECT task FROM changes WHERE kind IN ('added', 'deleted', 'restored') GROUP BY task
             HAVING sum(iif(kind = 'deleted', -1, 1)) <> (SELECT count(*) FROM tasks WHERE number = task))",
    ),
    (
        "the log: operations without changes",
        "SELECT count(*) FROM operations o
         WHERE NOT EXISTS (SELECT 1 FROM changes WHERE operation = o.number)",
    ),
    (
        "the counter of ids",
        "SELECT coalesce((SELECT value FROM counters WHERE name = 'next_task'), 1)
             <= (SELECT coalesce(max(number), 0) FROM tasks)",
    ),
];

/// Checks that the database is whole and that everything in it agrees with the tasks.
#[track_caller]
pub(crate) fn assert_sound(workspace: &TestWorkspace) {
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    // Looking changes nothing: the log stays where it is.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep_log, true).unwrap();
    let check = "PRAGMA integrity_check";
    let sound: String = connection.query_row(check, (), |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    // The words of all tasks are in the index, and no others.
    let checked = "INSERT INTO task_text (task_text, rank) VALUES ('integrity-check', 1)";
    connection.execute(checked, ()).unwrap();
    for (what, question) in KEPT {
        let differing: i64 = connection
            .query_row(question, (), |row| row.get(0))
            .unwrap();
        assert_eq!(differing, 0, "{what}");
    }
}

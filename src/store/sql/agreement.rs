//! Checks that derived tables agree with the tasks.

use super::SqlTransaction;
use crate::error::Result;

/// Maximum number of rows that a problem names.
pub(in crate::store) const PROBLEMS_MAX: usize = 10;

/// Invariants, each with a query for the violations.
const AGREES: &[(&str, &str)] = &[
    (
        "the number of tasks with a status is kept wrongly",
        "SELECT status FROM (
             SELECT CASE WHEN archived_at IS NULL THEN status ELSE 'archived' END AS status, count(*) AS number
             FROM tasks GROUP BY 1
             UNION ALL SELECT name, -value FROM counters WHERE name NOT IN ('next_task', 'ready', 'agents')
         ) AS counted GROUP BY status HAVING sum(number) <> 0",
    ),
    (
        "the graph lacks a task or has one too many",
        "SELECT 'T' || number FROM tasks WHERE number NOT IN (SELECT number FROM nodes)
         UNION ALL SELECT 'T' || number FROM nodes WHERE number NOT IN (SELECT number FROM tasks)",
    ),
    (
        "the graph has another parent or status than the task",
        "SELECT 'T' || t.number FROM tasks t JOIN nodes n USING (number)
         WHERE t.parent IS DISTINCT FROM n.parent OR t.status <> n.status
             OR (n.is_epic = 1) <> (t.type = 'epic')
             OR n.rank <> CASE t.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1
                 WHEN 'medium' THEN 2 ELSE 3 END",
    ),
    (
        "the number of ready tasks is kept wrongly",
        "SELECT value || ' are counted' FROM counters WHERE name = 'ready'
             AND value <> (SELECT count(*) FROM nodes WHERE is_ready = 1)",
    ),
    (
        "the graph counts what a task waits for wrongly",
        "SELECT 'T' || n.number FROM nodes n
         WHERE n.open_needs <> (SELECT count(*) FROM task_depends d JOIN tasks t ON t.number = d.needs
                 WHERE d.task = n.number AND t.status <> 'done')
             OR n.open_children <> (SELECT count(*) FROM tasks c
                 WHERE c.parent = n.number AND c.status NOT IN ('done', 'cancelled'))
             OR n.dropped_needs <> (SELECT count(*) FROM task_depends d
                 JOIN tasks t ON t.number = d.needs
                 WHERE d.task = n.number AND t.status = 'cancelled')
             OR (n.is_open = 1) <> (n.status NOT IN ('done', 'cancelled'))
             OR (n.is_ready = 1) <> (n.status = 'pending' AND n.open_needs = 0 AND n.open_children = 0
                 AND n.dangling = 0 AND n.is_epic = 0)
             OR (n.is_stuck = 1) <> (n.is_open = 1 AND (n.dangling > 0 OR n.dropped_needs > 0
                 OR (n.is_epic = 1 AND n.open_children = 0)))",
    ),
];

impl SqlTransaction<'_> {
    /// Returns the invariants that are violated, each with some of the rows.
    pub(in crate::store) fn disagreements(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for (what, sql) in AGREES {
            let sql = format!("SELECT * FROM ({sql}) AS problems LIMIT {PROBLEMS_MAX}");
            let found: Vec<String> = self.all(&sql, (), |row| row.get(0))?;
            if !found.is_empty() {
                problems.push(format!("{what}: {}", found.join(", ")));
            }
        }
        Ok(problems)
    }
}

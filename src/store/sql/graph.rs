//! SQL of the graph: nodes, and what is ready.

use std::collections::{BTreeSet, HashMap};

use super::columns::{from_json, read_id, word};
use super::kept::{Kept, SELECT};
use super::row::Row;
use super::{SqlTransaction, nodes};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::store::{Availability, Graph, Outline, Outlines, ReadyPage, ReadyTask, Tasks, missing};
use crate::task::graph::{Missing, Node, by_id};
use crate::task::{Priority, Status, TaskView};

/// How far apart ids may lie, on average, to be read in one go with what lies between them.
const APART_MAX: usize = 3;

/// The tasks below `?1`, to any depth. As each has one parent, none is found twice; only a circle that leads back to `?1`,
/// in a damaged store, has to be cut.
pub(in crate::store) const BELOW: &str = "WITH RECURSIVE scope (number) AS (
     SELECT number FROM tasks WHERE parent = ?1 AND number <> ?1
     UNION ALL SELECT t.number FROM scope s CROSS JOIN tasks t ON t.parent = s.number
     WHERE t.number <> ?1)";

const NODE: &str = "n.number, n.parent, n.status, n.rank, n.is_epic, n.open_children, n.dangling";

pub(in crate::store) fn nodes(
    transaction: &SqlTransaction<'_>,
    root: Option<TaskId>,
) -> Result<Vec<Node>> {
    transaction.write_nodes()?;
    let (sql, below) = match root {
        Some(_) => (
            format!("{BELOW} SELECT {NODE} FROM scope s CROSS JOIN nodes n ON n.number = s.number"),
            root.map(|id| id.0),
        ),
        None => (
            format!("SELECT {NODE} FROM nodes n WHERE CAST(?1 AS BIGINT) IS NULL"),
            None,
        ),
    };
    let mut dangling = Vec::new();
    let mut nodes = transaction.all(&sql, [below], |row| {
        let (node, dangles) = read_node(row)?;
        dangling.extend(dangles.then_some(node.id));
        Ok(node)
    })?;
    by_id(&mut nodes);
    let ids: Vec<TaskId> = nodes.iter().map(|node| node.id).collect();
    let sql = "SELECT task, needs FROM task_depends WHERE task BETWEEN ?1 AND ?2
               ORDER BY task, position";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let edges: Vec<(u32, u32)> = transaction.query_ids(sql, &ids, read)?;
    let mut edges = edges.into_iter().peekable();
    for node in &mut nodes {
        // Edges of other tasks between the ids may have been read, too.
        while edges.next_if(|edge| edge.0 < node.id.0).is_some() {}
        while let Some((_, need)) = edges.next_if(|edge| edge.0 == node.id.0) {
            node.depends.push(TaskId(need));
        }
    }
    for id in dangling {
        if let Some(place) = id::place(&nodes, id, |node| node.id) {
            nodes[place].missing = transaction.missing(id)?;
        }
    }
    Ok(nodes)
}

fn read_node(row: &Row<'_>) -> rusqlite::Result<(Node, bool)> {
    let node = Node {
        id: read_id(row)?,
        parent: row.get::<Option<u32>>(1)?.map(TaskId),
        status: status(row, 2)?,
        priority: priority(row, 3)?,
        is_epic: row.get(4)?,
        open_children: row.get(5)?,
        depends: Vec::new(),
        missing: Vec::new(),
    };
    Ok((node, row.get::<u32>(6)? > 0))
}

pub(in crate::store) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<Status> {
    let text = row.get_ref(column)?.as_str()?;
    let known = Status::ALL.iter().find(|status| status.word() == text);
    known.copied().map_or_else(|| word(row, column), Ok)
}

pub(in crate::store) fn priority(row: &Row<'_>, column: usize) -> rusqlite::Result<Priority> {
    let rank: u32 = row.get(column)?;
    let out_of_range = rusqlite::Error::IntegralValueOutOfRange(column, i64::from(rank));
    Priority::ALL
        .get(rank as usize)
        .copied()
        .ok_or(out_of_range)
}

impl Graph for SqlTransaction<'_> {
    fn node(&self, id: TaskId) -> Result<Option<Node>> {
        self.write_nodes()?;
        let kept = self.read_kept(id.0)?;
        kept.map(|kept| self.node_of(id, kept)).transpose()
    }

    fn readable_node(&self, id: TaskId) -> Result<Option<Node>> {
        self.write_nodes()?;
        let kept = self.all(SELECT, [id.0], Kept::read)?.pop();
        kept.map(|kept| self.node_of(id, kept)).transpose()
    }

    fn ready(&self, root: Option<TaskId>, limit: Option<u32>) -> Result<ReadyPage> {
        self.settle_chains()?;
        match root {
            None => {
                // The planner of PostgreSQL would join all that are ready before it takes the first.
                let sql = match self.is_postgres() {
                    true => {
                        "SELECT n.number,
                            coalesce((SELECT title FROM tasks t WHERE t.number = n.number), ''),
                            n.status, n.rank, n.below FROM nodes n WHERE n.is_ready = 1
                        ORDER BY n.rank, n.below DESC, n.number LIMIT ?1"
                    }
                    false => {
                        "SELECT n.number, t.title, n.status, n.rank, n.below
                        FROM nodes n CROSS JOIN tasks t ON t.number = n.number
                        WHERE n.is_ready = 1
                        ORDER BY n.rank, n.below DESC, n.number LIMIT ?1"
                    }
                };
                let tasks = self.all(sql, [limit.map_or(i64::MAX, i64::from)], read_ready)?;
                let total = self.counter(nodes::READY)?.into();
                Ok(ReadyPage { tasks, total })
            }
            Some(root) => self.ready_below(root, limit),
        }
    }

    fn active_ready(&self, id: TaskId) -> Result<Option<ReadyTask>> {
        self.settle_chains()?;
        let sql = "SELECT n.number, t.title, n.status, n.rank, n.below
                   FROM nodes n CROSS JOIN tasks t ON t.number = n.number
                   WHERE n.number = ?1 AND n.status = 'active' AND n.open_needs = 0
                       AND n.open_children = 0 AND n.dangling = 0 AND n.is_epic = 0";
        self.first(sql, [id.0], read_ready)
    }

    fn is_ready(&self, id: TaskId) -> Result<bool> {
        self.write_nodes()?;
        let sql = "SELECT is_ready FROM nodes WHERE number = ?1";
        Ok(self.first(sql, [id.0], |row| row.get(0))?.unwrap_or(false))
    }

    fn list_unblocked_by(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let Some(own) = self.find_row(id.0)? else {
            return Ok(Vec::new());
        };
        // Of the needs or children of each, only the task itself may be open.
        let needs = u32::from(own.status != Status::Done);
        let dependents = self.dependents(id)?.into_iter();
        let dependents = dependents.map(|dependent| (dependent.0, needs, 0));
        let whole = own.parent.map(|whole| (whole, 0, own.is_open().into()));
        let mut unblocked = BTreeSet::new();
        for (number, needs, children) in dependents.chain(whole) {
            let kept = self.find_row(number)?;
            if kept.is_some_and(|kept| kept.is_waiting_only_for(needs, children)) {
                unblocked.insert(TaskId(number));
            }
        }
        Ok(unblocked.into_iter().collect())
    }

    fn list_hindered(&self, root: Option<TaskId>, limit: u32) -> Result<Vec<TaskId>> {
        self.write_nodes()?;
        let stuck = "SELECT number FROM nodes WHERE is_stuck = 1 LIMIT 1";
        // Mostly there is none, and to ask for this alone takes a tenth of the time.
        if self.first(stuck, (), read_id)?.is_none() {
            return Ok(Vec::new());
        }
        // An epic without open children is stuck itself, and hinders others only.
        let kinds =
            "SELECT number FROM nodes WHERE is_stuck = 1 AND (dangling > 0 OR dropped_needs > 0)
             UNION SELECT n.number FROM nodes e INDEXED BY nodes_stuck
                 CROSS JOIN task_depends d ON d.needs = e.number
                 CROSS JOIN nodes n ON n.number = d.task
                 WHERE e.is_stuck = 1 AND e.is_epic = 1 AND e.open_children = 0 AND n.is_open = 1";
        let sql = match root {
            None => format!("{kinds} ORDER BY 1 LIMIT ?2 + coalesce(?1, 0)"),
            Some(_) => format!(
                "{BELOW} SELECT number FROM ({kinds}) AS kinds WHERE number IN (SELECT number FROM scope)
                 ORDER BY 1 LIMIT ?2"
            ),
        };
        self.all(&sql, (root.map(|id| id.0), limit), read_id)
    }

    fn availability(&self, ids: &[TaskId]) -> Result<HashMap<TaskId, Availability>> {
        self.write_nodes()?;
        let sql = "SELECT n.number, n.is_ready, c.holder FROM nodes n
                   LEFT JOIN claims c ON c.task = n.number WHERE n.number BETWEEN ?1 AND ?2";
        let found = self.query_ids(sql, ids, |row| {
            let (ready, holder) = (row.get(1)?, row.get(2)?);
            Ok((read_id(row)?, Availability { ready, holder }))
        })?;
        Ok(found.into_iter().collect())
    }

    fn outlines(&self, ids: &[TaskId]) -> Result<Outlines> {
        let sql = "SELECT number, title, files, estimate FROM tasks
                   WHERE number BETWEEN ?1 AND ?2 ORDER BY number";
        let outlines = self.query_ids(sql, ids, |row| {
            let id = read_id(row)?;
            if id::place(ids, id, |id| *id).is_none() {
                return Ok(None);
            }
            let files = match row.get_ref(2)?.as_str()? {
                "[]" => Vec::new(),
                _ => from_json(row, 2)?,
            };
            let (title, estimate) = (row.get(1)?, row.get(3)?);
            let outline = Outline {
                title,
                files,
                estimate,
            };
            Ok(Some((id, outline)))
        })?;
        Ok(outlines.into_iter().flatten().collect())
    }
}

impl SqlTransaction<'_> {
    /// Runs a query on the id range `?1` to `?2` that covers all sorted `ids`: once if they are close
    /// together, else once for each. It may return others too.
    pub(in crate::store) fn query_ids<T>(
        &self,
        sql: &str,
        ids: &[TaskId],
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
            return Ok(Vec::new());
        };
        if ((last.0 - first.0) as usize) < ids.len() * APART_MAX {
            return self.all(sql, (first.0, last.0), read);
        }
        let mut found = Vec::new();
        for id in ids {
            found.extend(self.all(sql, (id.0, id.0), &mut read)?);
        }
        Ok(found)
    }

    fn node_of(&self, id: TaskId, kept: Kept) -> Result<Node> {
        let missing = match kept.dangling {
            0 => Vec::new(),
            _ => self.missing(id)?,
        };
        Ok(Node {
            id,
            parent: kept.parent.map(TaskId),
            status: kept.status,
            priority: kept.priority,
            is_epic: kept.is_epic,
            open_children: kept.open_children,
            depends: self.depends(id)?,
            missing,
        })
    }

    fn missing(&self, id: TaskId) -> Result<Vec<Missing>> {
        let task = self.task(id)?;
        Ok(task.map(|task| missing(&task)).unwrap_or_default())
    }

    fn ready_below(&self, root: TaskId, limit: Option<u32>) -> Result<ReadyPage> {
        let ready = "scope s CROSS JOIN nodes n ON n.number = s.number AND n.is_ready = 1";
        let sql = format!("{BELOW} SELECT n.rank, -n.below, n.number FROM {ready}");
        let mut all: Vec<(u32, i64, u32)> = self.all(&sql, [root.0], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        all.sort_unstable();
        let total = all.len() as u64;
        all.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let sql = "SELECT n.number, t.title, n.status, n.rank, n.below
                   FROM nodes n CROSS JOIN tasks t ON t.number = n.number WHERE n.number = ?1";
        let mut tasks = Vec::with_capacity(all.len());
        for (_, _, number) in all {
            tasks.extend(self.all(sql, [number], read_ready)?);
        }
        Ok(ReadyPage { tasks, total })
    }
}

fn read_ready(row: &Row<'_>) -> rusqlite::Result<ReadyTask> {
    Ok(ReadyTask {
        task: TaskView {
            id: read_id(row)?,
            title: row.get(1)?,
            status: word(row, 2)?,
            priority: priority(row, 3)?,
        },
        below: row.get(4)?,
    })
}

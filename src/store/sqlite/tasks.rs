//! SQL of tasks.

use rusqlite::{Row, named_params};

use super::{SqliteTransaction, graph, list};
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::score::normalize;
use crate::store::{
    Archived, Claims, Filter, Links, Log, Page, Removed, Spawns, TaskGates, Tasks, Verifications,
    log, origin, touched,
};
use crate::task::graph::Node;
use crate::task::{Status, Task};

/// The columns of a task in the order in which [`read_task`] takes them.
pub(super) const COLUMNS: &str = "t.number, t.title, t.description, t.type, t.status, t.parent,
    t.priority, t.phase, t.size, t.files, t.acceptance, t.deliverables, t.notes, t.assigned_agent,
    t.due, t.estimate, t.feature, t.key, t.extra, t.created_at, t.updated_at, t.started_at,
    t.completed_at, t.cancelled_at, t.archived_at,
    (SELECT json_group_array(needs) FROM
        (SELECT needs FROM task_depends WHERE task = t.number ORDER BY position)),
    (SELECT json_group_array(label) FROM
        (SELECT label FROM task_labels WHERE task = t.number ORDER BY position))";

const INSERT: &str = "INSERT INTO tasks VALUES (:number, :title, :description, :type, :status,
    :parent, :priority, :phase, :size, :files, :acceptance, :deliverables, :notes, :assigned_agent,
    :due, :estimate, :feature, :key, :extra, :created_at, :updated_at, :started_at, :completed_at,
    :cancelled_at, :archived_at)";

/// A statement of its own: one that inserts or updates has the triggers of both compiled.
const UPDATE: &str = "UPDATE tasks SET title = :title, description = :description, type = :type,
    status = :status, parent = :parent, priority = :priority, phase = :phase, size = :size,
    files = :files, acceptance = :acceptance, deliverables = :deliverables, notes = :notes,
    assigned_agent = :assigned_agent, due = :due, estimate = :estimate, feature = :feature,
    key = :key, extra = :extra, created_at = :created_at, updated_at = :updated_at,
    started_at = :started_at, completed_at = :completed_at, cancelled_at = :cancelled_at,
    archived_at = :archived_at WHERE number = :number";

impl Tasks for SqliteTransaction<'_> {
    fn task(&self, id: TaskId) -> Result<Option<Task>> {
        let sql = format!("SELECT {COLUMNS} FROM tasks t WHERE t.number = ?1");
        self.first(&sql, [id.0], read_task)
    }

    fn status(&self, id: TaskId) -> Result<Option<Status>> {
        self.first(
            "SELECT status FROM tasks WHERE number = ?1",
            [id.0],
            |row| word(row, 0),
        )
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        let parent = self.first(
            "SELECT parent FROM tasks WHERE number = ?1",
            [id.0],
            |row| row.get::<_, Option<u32>>(0),
        )?;
        Ok(parent.flatten().map(TaskId))
    }

    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let sql = "SELECT needs FROM task_depends WHERE task = ?1 ORDER BY position";
        self.all(sql, [id.0], read_id)
    }

    fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>> {
        self.all(
            "SELECT task FROM task_depends WHERE needs = ?1 ORDER BY task",
            [id.0],
            read_id,
        )
    }

    fn children(&self, id: TaskId) -> Result<Vec<TaskId>> {
        self.all(
            "SELECT number FROM tasks WHERE parent = ?1 ORDER BY number",
            [id.0],
            read_id,
        )
    }

    fn task_by_key(&self, key: &str) -> Result<Option<TaskId>> {
        self.first("SELECT number FROM tasks WHERE key = ?1", [key], read_id)
    }

    fn list(&self, filter: &Filter) -> Result<Page> {
        list::list(self, filter)
    }

    fn find(&self, words: &str, archived: Archived, limit: u32) -> Result<Page> {
        list::find(self, words, archived, limit)
    }

    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>> {
        graph::nodes(self, root)
    }

    fn next_id(&mut self) -> Result<TaskId> {
        let sql = "UPDATE counters SET value = value + 1 WHERE name = 'next_task'
                   RETURNING value - 1";
        let next = self.first(sql, (), read_id)?;
        next.ok_or_else(|| super::faults::corrupt(self.path, "its counter of ids is missing"))
    }

    fn task_by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>> {
        let sql = "SELECT task FROM origins WHERE format = ?1 AND id = ?2";
        self.first(sql, (format, id), read_id)
    }

    fn tasks_by_origin(&self, id: &str) -> Result<Vec<TaskId>> {
        let sql = "SELECT DISTINCT task FROM origins WHERE id = ?1 ORDER BY task";
        self.all(sql, [id], read_id)
    }

    fn tasks_after(&self, after: TaskId, limit: u32) -> Result<Vec<Task>> {
        let sql =
            format!("SELECT {COLUMNS} FROM tasks t WHERE t.number > ?1 ORDER BY t.number LIMIT ?2");
        self.all(&sql, (after.0, limit), read_task)
    }

    fn reserve_id(&mut self, id: TaskId) -> Result<()> {
        let sql = "UPDATE counters SET value = max(value, ?1) WHERE name = 'next_task'";
        self.run(sql, [i64::from(id.0) + 1])?;
        Ok(())
    }

    fn insert(&mut self, task: &Task) -> Result<()> {
        self.write(None, task)?;
        match log::put(None, task) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }

    fn put(&mut self, task: &Task) -> Result<()> {
        let before = self.task(task.id)?;
        self.write(before.as_ref(), task)?;
        match log::put(before.as_ref(), task) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }

    fn delete(&mut self, id: TaskId) -> Result<()> {
        let Some(task) = self.task(id)? else {
            return Ok(());
        };
        for dependent in self.dependents(id)? {
            if let Some(mut task) = self.task(dependent)? {
                task.depends.retain(|need| *need != id);
                self.put(&task)?;
            }
        }
        let removed = Removed {
            task,
            spawns: self.spawns(id)?,
            links: self.links(id)?,
            gates: self.gates(id)?,
            verifications: self.verifications_of(id)?,
            claim: self.claim(id)?,
        };
        self.record(&log::delete(&removed))?;
        self.forget_words(&removed.task)?;
        self.run("DELETE FROM tasks WHERE number = ?1", [id.0])?;
        self.unsettle(touched(Some(&removed.task), None));
        Ok(())
    }

    fn restore(&mut self, removed: &Removed) -> Result<()> {
        let id = removed.task.id;
        self.write(None, &removed.task)?;
        for spawn in &removed.spawns {
            self.write_spawn(spawn)?;
        }
        for link in &removed.links {
            self.write_link(link)?;
        }
        if removed.gates != Gates::default() {
            self.write_gates(id, &removed.gates)?;
        }
        for check in &removed.verifications {
            self.put_verification(check)?;
        }
        if let Some(claim) = &removed.claim {
            self.put_claim(claim)?;
        }
        self.record(&log::restore(removed))
    }
}

impl SqliteTransaction<'_> {
    /// Writes a task and the rows that belong to it; `before` is what is there. Edges come first:
    /// the node of a new task then begins with the right counts.
    fn write(&self, before: Option<&Task>, task: &Task) -> Result<()> {
        self.unsettle(touched(before, Some(task)));
        let Some(before) = before else {
            self.insert_depends(task)?;
            self.put_row(INSERT, task)?;
            self.unread(task);
            self.insert_labels(task)?;
            return self.put_origin(task);
        };
        if before.depends != task.depends {
            self.put_depends(task)?;
        }
        if (&before.title, &before.description) != (&task.title, &task.description) {
            self.forget_words(before)?;
        }
        self.put_row(UPDATE, task)?;
        if before.labels != task.labels {
            self.put_labels(task)?;
        }
        if before.extra.get("origin") != task.extra.get("origin") {
            self.run("DELETE FROM origins WHERE task = ?1", [task.id.0])?;
            self.put_origin(task)?;
        }
        Ok(())
    }

    fn put_row(&self, sql: &str, task: &Task) -> Result<()> {
        self.run(
            sql,
            named_params! {
                ":number": task.id.0, ":title": task.title, ":description": task.description,
                ":type": task.kind.as_str(), ":status": task.status.word(),
                ":parent": task.parent.map(|id| id.0), ":priority": task.priority.word(),
                ":phase": task.phase, ":size": task.size.map(|size| size.word()),
                ":files": json(&task.files), ":acceptance": json(&task.acceptance),
                ":deliverables": json(&task.deliverables), ":notes": json(&task.notes),
                ":assigned_agent": task.assigned_agent, ":due": task.due,
                ":estimate": task.estimate, ":feature": task.feature, ":key": task.key,
                ":extra": json(&task.extra), ":created_at": task.created_at,
                ":updated_at": task.updated_at, ":started_at": task.started_at,
                ":completed_at": task.completed_at, ":cancelled_at": task.cancelled_at,
                ":archived_at": task.archived_at,
            },
        )?;
        Ok(())
    }

    fn put_labels(&self, task: &Task) -> Result<()> {
        self.run("DELETE FROM task_labels WHERE task = ?1", [task.id.0])?;
        self.insert_labels(task)
    }

    fn insert_labels(&self, task: &Task) -> Result<()> {
        for (position, label) in (0_u32..).zip(&task.labels) {
            let sql = "INSERT INTO task_labels VALUES (?1, ?2, ?3, ?4)";
            self.run(sql, (task.id.0, position, label, normalize(label)))?;
        }
        Ok(())
    }

    fn put_depends(&self, task: &Task) -> Result<()> {
        self.run("DELETE FROM task_depends WHERE task = ?1", [task.id.0])?;
        self.insert_depends(task)?;
        self.count_needs(task.id)
    }

    fn insert_depends(&self, task: &Task) -> Result<()> {
        for (position, needs) in (0_u32..).zip(&task.depends) {
            let sql = "INSERT INTO task_depends VALUES (?1, ?2, ?3)";
            self.run(sql, (task.id.0, position, needs.0))?;
        }
        Ok(())
    }

    /// Writes where a task comes from. Of two that say the same, the first keeps it.
    fn put_origin(&self, task: &Task) -> Result<()> {
        if let Some((format, id)) = origin(task) {
            let sql = "INSERT INTO origins VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            self.run(sql, (format, id, task.id.0))?;
        }
        Ok(())
    }
}

/// Writes a value as the JSON of a column.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_string())
}

/// Reads an id from the first column.
pub(super) fn read_id(row: &Row<'_>) -> rusqlite::Result<TaskId> {
    row.get(0).map(TaskId)
}

/// Reads a task from [`COLUMNS`].
pub(super) fn read_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: TaskId(row.get(0)?),
        title: row.get(1)?,
        description: row.get(2)?,
        kind: word(row, 3)?,
        status: word(row, 4)?,
        parent: row.get::<_, Option<u32>>(5)?.map(TaskId),
        priority: word(row, 6)?,
        phase: row.get(7)?,
        size: row
            .get::<_, Option<String>>(8)?
            .and_then(|size| size.parse().ok()),
        files: from_json(row, 9)?,
        acceptance: from_json(row, 10)?,
        deliverables: from_json(row, 11)?,
        notes: from_json(row, 12)?,
        assigned_agent: row.get(13)?,
        due: row.get(14)?,
        estimate: row.get(15)?,
        feature: row.get(16)?,
        key: row.get(17)?,
        extra: from_json(row, 18)?,
        created_at: row.get(19)?,
        updated_at: row.get(20)?,
        started_at: row.get(21)?,
        completed_at: row.get(22)?,
        cancelled_at: row.get(23)?,
        archived_at: row.get(24)?,
        depends: from_json::<Vec<u32>>(row, 25)?
            .into_iter()
            .map(TaskId)
            .collect(),
        labels: from_json(row, 26)?,
    })
}

/// Reads a word of a closed set; a word that nobody knows is a broken database.
pub(super) fn word<T: std::str::FromStr<Err = String>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    text.parse()
        .map_err(|message: String| foreign(column, message.into()))
}

/// Reads a column that holds JSON.
pub(super) fn from_json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|cause| foreign(column, cause.into()))
}

fn foreign(column: usize, cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, cause)
}

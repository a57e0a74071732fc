//! SQL of tasks.

use rusqlite::{Row, params};

use super::columns::{
    checked_id, json, list, object, read_id, read_list, read_object, refuse_deep, unless_damaged,
    word,
};
use super::{SqliteTransaction, graph};
use crate::error::{Code, Result};
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::score::normalize;
use crate::store::{
    Archived, Claims, Filter, Links, Log, Page, Removed, Spawns, TaskGates, Tasks, log, origin,
};
use crate::task::graph::Node;
use crate::task::{Priority, Status, Task};

/// The columns of a task in the order in which [`read_task`] takes them.
pub(super) const COLUMNS: &str = "t.number, t.title, t.description, t.type, t.status, t.parent,
    t.priority, t.phase, t.size, t.files, t.acceptance, t.deliverables, t.notes, t.assigned_agent,
    t.due, t.estimate, t.feature, t.key, t.extra, t.created_at, t.updated_at, t.started_at,
    t.completed_at, t.cancelled_at, t.archived_at,
    (SELECT json_group_array(needs) FROM
        (SELECT needs FROM task_depends WHERE task = t.number ORDER BY position)),
    (SELECT json_group_array(label) FROM
        (SELECT label FROM task_labels WHERE task = t.number ORDER BY position)), t.uid";

const INSERT: &str = "INSERT INTO tasks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
    ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)";

const UPDATE: &str = "UPDATE tasks SET title = ?2, description = ?3, type = ?4, status = ?5,
    parent = ?6, priority = ?7, phase = ?8, size = ?9, files = ?10, acceptance = ?11,
    deliverables = ?12, notes = ?13, assigned_agent = ?14, due = ?15, estimate = ?16, feature = ?17,
    key = ?18, extra = ?19, created_at = ?20, updated_at = ?21, started_at = ?22,
    completed_at = ?23, cancelled_at = ?24, archived_at = ?25, uid = ?26 WHERE number = ?1";

impl Tasks for SqliteTransaction<'_> {
    fn task(&self, id: TaskId) -> Result<Option<Task>> {
        let sql = format!("SELECT {COLUMNS} FROM tasks t WHERE t.number = ?1");
        self.first(&sql, [id.0], read_task)
    }

    fn readable(&self, ids: &[TaskId]) -> Result<Vec<Task>> {
        let sql = format!("SELECT {COLUMNS} FROM tasks t WHERE t.number = ?1");
        let mut tasks = Vec::with_capacity(ids.len());
        for id in ids {
            tasks.extend(self.all(&sql, [id.0], read_task)?);
        }
        Ok(tasks)
    }

    fn salvage(&self, id: TaskId) -> Result<Option<Task>> {
        match self.task(id) {
            Err(error) if error.code == Code::RowDamaged => {
                let sql = format!("SELECT {COLUMNS} FROM tasks t WHERE t.number = ?1");
                let mut task = self.first(&sql, [id.0], salvage_task)?;
                // The graph keeps the status beside it.
                if let (Some(task), Ok(Some(kept))) = (&mut task, self.read_kept(id.0)) {
                    task.status = kept.status;
                }
                Ok(task)
            }
            read => read,
        }
    }

    fn status(&self, id: TaskId) -> Result<Option<Status>> {
        let sql = "SELECT number, status FROM tasks WHERE number = ?1";
        match self.first(sql, [id.0], |row| word(row, 1)) {
            Err(error) if error.code == Code::RowDamaged => match self.read_kept(id.0) {
                // The graph keeps the status beside it.
                Ok(Some(kept)) => Ok(Some(kept.status)),
                _ => Err(error),
            },
            read => read,
        }
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        let sql = "SELECT parent FROM tasks WHERE number = ?1";
        let parent = self.first(sql, [id.0], |row| row.get::<_, Option<u32>>(0))?;
        Ok(parent.flatten().map(TaskId))
    }

    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let sql = "SELECT needs FROM task_depends WHERE task = ?1 ORDER BY position";
        self.all(sql, [id.0], read_id)
    }

    fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let sql = "SELECT task FROM task_depends WHERE needs = ?1 ORDER BY task";
        self.all(sql, [id.0], read_id)
    }

    fn children(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let sql = "SELECT number FROM tasks WHERE parent = ?1 ORDER BY number";
        self.all(sql, [id.0], read_id)
    }

    fn task_by_uid(&self, uid: &str) -> Result<Option<TaskId>> {
        self.first("SELECT number FROM tasks WHERE uid = ?1", [uid], read_id)
    }

    fn task_by_key(&self, key: &str) -> Result<Option<TaskId>> {
        self.first("SELECT number FROM tasks WHERE key = ?1", [key], read_id)
    }

    fn list(&self, filter: &Filter) -> Result<Page> {
        super::list::list(self, filter)
    }

    fn find(&self, words: &str, archived: Archived, limit: u32) -> Result<Page> {
        super::list::find(self, words, archived, limit)
    }

    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>> {
        graph::nodes(self, root)
    }

    fn first_unused_id(&self) -> Result<TaskId> {
        self.next_number().map(TaskId)
    }

    fn next_id(&mut self) -> Result<TaskId> {
        self.hand_out(None)
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

    fn last_of_piece(&self, after: TaskId, limit: u32) -> Result<Option<TaskId>> {
        let sql = "SELECT max(number) FROM
            (SELECT number FROM tasks WHERE number > ?1 ORDER BY number LIMIT ?2)";
        let last = self.first(sql, (after.0, limit), |row| row.get::<_, Option<u32>>(0))?;
        Ok(last.flatten().map(TaskId))
    }

    fn reserve_id(&mut self, id: TaskId) -> Result<()> {
        self.hand_out(Some(id)).map(|_| ())
    }

    fn insert(&mut self, task: &Task) -> Result<()> {
        self.write(None, task)?;
        let added = log::Added::new(task);
        self.tell(log::ADDED, Some(task.id), &json(&added))
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
        let Some(task) = self.salvage(id)? else {
            return Ok(());
        };
        for dependent in self.dependents(id)? {
            let read = self.task(dependent);
            match self.read_kept(dependent.0).and(read) {
                Err(error) if error.code == Code::RowDamaged => self.release(dependent, &task)?,
                read => {
                    if let Some(mut task) = read? {
                        task.depends.retain(|need| *need != id);
                        self.put(&task)?;
                    }
                }
            }
        }
        let removed = Removed {
            task,
            spawns: self.spawns(id)?,
            links: self.links(id)?,
            gates: unless_damaged(self.gates(id))?,
            claim: unless_damaged(self.claim(id))?,
        };
        self.record(&log::delete(&removed))?;
        let is_damaged = self.task(id).is_err();
        if !is_damaged {
            self.forget_words(&removed.task)?;
        }
        self.note_gone(&removed.task)?;
        self.execute("DELETE FROM tasks WHERE number = ?1", [id.0])?;
        // Nobody can tell which words the index has of a damaged one.
        if is_damaged {
            self.read_all_words()
        } else {
            Ok(())
        }
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
        if let Some(claim) = &removed.claim {
            self.put_claim(claim)?;
        }
        self.record(&log::restore(removed))
    }
}

impl SqliteTransaction<'_> {
    /// Has a damaged task no longer depend on one that goes. What is in its row stays as it is.
    fn release(&self, dependent: TaskId, gone: &Task) -> Result<()> {
        let sql = "DELETE FROM task_depends WHERE task = ?1 AND needs = ?2";
        self.execute(sql, (dependent.0, gone.id.0))?;
        let is = |status| u32::from(gone.status == status);
        self.change_kept(dependent.0, |kept| {
            let open = kept.open_needs + is(Status::Done);
            kept.open_needs = open.saturating_sub(1);
            kept.dropped_needs = kept.dropped_needs.saturating_sub(is(Status::Cancelled));
        })
    }

    /// Writes a task and the rows that belong to it; `before` is what is there.
    fn write(&self, before: Option<&Task>, task: &Task) -> Result<()> {
        let Some(before) = before else {
            self.put_row(INSERT, task)?;
            self.unread(task);
            self.insert_depends(task)?;
            self.insert_labels(task)?;
            self.put_origin(task)?;
            return self.note_new(task);
        };
        if before.depends != task.depends {
            self.execute("DELETE FROM task_depends WHERE task = ?1", [task.id.0])?;
            self.insert_depends(task)?;
        }
        if (&before.title, &before.description) != (&task.title, &task.description) {
            self.forget_words(before)?;
        }
        self.put_row(UPDATE, task)?;
        if before.labels != task.labels {
            self.execute("DELETE FROM task_labels WHERE task = ?1", [task.id.0])?;
            self.insert_labels(task)?;
        }
        if before.extra.get("origin") != task.extra.get("origin") {
            self.execute("DELETE FROM origins WHERE task = ?1", [task.id.0])?;
            self.put_origin(task)?;
        }
        self.note_change(before, task)
    }

    fn put_row(&self, sql: &'static str, task: &Task) -> Result<()> {
        let extra = object(&task.extra);
        refuse_deep(&extra)?;
        self.execute(
            sql,
            params![
                task.id.0,
                task.title,
                task.description,
                task.kind.as_str(),
                task.status.word(),
                task.parent.map(|id| id.0),
                task.priority.word(),
                task.phase,
                task.size.map(|size| size.word()),
                list(&task.files),
                list(&task.acceptance),
                list(&task.deliverables),
                list(&task.notes),
                task.assigned_agent,
                task.due,
                task.estimate,
                task.feature,
                task.key,
                extra,
                task.created_at,
                task.updated_at,
                task.started_at,
                task.completed_at,
                task.cancelled_at,
                task.archived_at,
                task.uid,
            ],
        )?;
        Ok(())
    }

    fn insert_labels(&self, task: &Task) -> Result<()> {
        let sql = "INSERT INTO task_labels VALUES (?1, ?2, ?3, ?4)";
        let rows = (0_u32..).zip(&task.labels);
        self.execute_each(
            sql,
            rows.map(|(position, label)| (task.id.0, position, label, normalize(label))),
        )
    }

    fn insert_depends(&self, task: &Task) -> Result<()> {
        let sql = "INSERT INTO task_depends VALUES (?1, ?2, ?3)";
        let rows = (0_u32..).zip(&task.depends);
        self.execute_each(
            sql,
            rows.map(|(position, needs)| (task.id.0, position, needs.0)),
        )
    }

    /// Writes where a task comes from. Of two that say the same, the first keeps it.
    fn put_origin(&self, task: &Task) -> Result<()> {
        if let Some((format, id)) = origin(task) {
            let sql = "INSERT INTO origins VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            self.execute(sql, (format, id, task.id.0))?;
        }
        Ok(())
    }
}

pub(super) fn read_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: TaskId(row.get(0)?),
        uid: checked_id(row, 27, id::is_uid)?,
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
        files: read_list(row, 9)?,
        acceptance: read_list(row, 10)?,
        deliverables: read_list(row, 11)?,
        notes: read_list(row, 12)?,
        assigned_agent: row.get(13)?,
        due: row.get(14)?,
        estimate: row.get(15)?,
        feature: row.get(16)?,
        key: row.get(17)?,
        extra: read_object(row, 18)?,
        created_at: row.get(19)?,
        updated_at: row.get(20)?,
        started_at: row.get(21)?,
        completed_at: row.get(22)?,
        cancelled_at: row.get(23)?,
        archived_at: row.get(24)?,
        depends: read_list::<u32>(row, 25)?.into_iter().map(TaskId).collect(),
        labels: read_list(row, 26)?,
    })
}

/// Reads from [`COLUMNS`] what can be read of a damaged task.
fn salvage_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let id = read_id(row)?;
    let text = |column| row.get::<_, String>(column).unwrap_or_default();
    let optional = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
    let depends = read_list::<u32>(row, 25).unwrap_or_default();
    Ok(Task {
        uid: text(27),
        description: text(2),
        kind: word(row, 3).unwrap_or_default(),
        status: word(row, 4).unwrap_or(Status::Pending),
        parent: row.get::<_, Option<u32>>(5).unwrap_or_default().map(TaskId),
        priority: word(row, 6).unwrap_or(Priority::Medium),
        phase: optional(7),
        files: read_list(row, 9).unwrap_or_default(),
        acceptance: read_list(row, 10).unwrap_or_default(),
        deliverables: read_list(row, 11).unwrap_or_default(),
        notes: read_list(row, 12).unwrap_or_default(),
        assigned_agent: optional(13),
        key: optional(17),
        extra: read_object(row, 18).unwrap_or_default(),
        updated_at: text(20),
        started_at: optional(21),
        completed_at: optional(22),
        cancelled_at: optional(23),
        archived_at: optional(24),
        depends: depends.into_iter().map(TaskId).collect(),
        labels: read_list(row, 26).unwrap_or_default(),
        ..Task::new(id, &text(1), &text(19))
    })
}

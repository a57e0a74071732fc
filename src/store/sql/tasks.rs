//! SQL of tasks.

use rusqlite::types::ToSqlOutput;

use super::checksum::{Checksum, sum_values};
use super::columns::{Column, ignore_damage, json, read_checked_id, read_id, refuse_deep, word};
use super::row::Row;
use super::{SqlTransaction, graph};
use crate::error::{Code, Error, Result};
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::score::normalize;
use crate::store::left_out::{self, Damage};
use crate::store::{
    Archived, Claims, Filter, Links, Log, Page, Removed, Spawns, TaskGates, Tasks, log,
};
use crate::task::graph::Node;
use crate::task::{Status, Task};

/// Declares the columns of a task besides its number, its ULID and what other tables hold of it: the field, and the
/// name and the kind of the column.
macro_rules! columns {
    ($($field:ident: $name:literal $kind:literal,)+) => {
        /// The statements that make the database.
        pub(in crate::store) const SCHEMA: &str = concat!(
            "CREATE TABLE tasks (\n    number INTEGER PRIMARY KEY,\n    uid TEXT NOT NULL",
            $(",\n    ", $name, " ", $kind,)+
            ",\n    checksum INTEGER NOT NULL\n) STRICT;\n\n",
            include_str!("../schema.sql"),
        );

        /// Where the lists of other tables stand, behind the columns of this one.
        const LISTS: usize = [$($name),+].len() + 3;

        const INSERT: &str =
            concat!("INSERT INTO tasks VALUES (?1, ?2", $(", :", $name,)+ ", :checksum)");

        const UPDATE: &str = concat!(
            "UPDATE tasks SET uid = ?2", $(", ", $name, " = :", $name,)+
            ", checksum = :checksum WHERE number = ?1"
        );

        fn write_columns(task: &Task) -> impl Iterator<Item = ToSqlOutput<'_>> {
            [$(task.$field.write()),+].into_iter()
        }

        /// Reads a task, and whether it has its checksum, which PostgreSQL does not keep. `fail` decides whether an
        /// unreadable column is an error or has its default.
        fn read_columns(
            row: &Row<'_>,
            fail: impl Fn(rusqlite::Error) -> rusqlite::Result<()>,
        ) -> rusqlite::Result<(Task, bool)> {
            let mut task = Task { id: read_id(row)?, ..Task::default() };
            match read_checked_id(row, 1, id::is_uid) {
                Ok(uid) => task.uid = uid,
                Err(fault) => fail(fault)?,
            }
            match Vec::<u32>::read(row.get_ref(LISTS)?, row, LISTS) {
                Ok(depends) => task.depends = depends.into_iter().map(TaskId).collect(),
                Err(fault) => fail(fault)?,
            }
            match Column::read(row.get_ref(LISTS + 1)?, row, LISTS + 1) {
                Ok(labels) => task.labels = labels,
                Err(fault) => fail(fault)?,
            }
            let (mut checksum, mut column) = (Checksum::new(&task), 1);
            $(
                column += 1;
                let value = row.get_ref(column)?;
                checksum.add(value);
                match Column::read(value, row, column) {
                    Ok(value) => task.$field = value,
                    Err(fault) => fail(fault)?,
                }
            )+
            let sum = row.get_ref(column + 1)?.as_i64();
            let is_unchanged = matches!(row, Row::Postgres(_)) || sum == Ok(checksum.sum().into());
            Ok((task, is_unchanged))
        }
    };
}

/// The columns that [`read_columns`] reads: those of the table, and lists of others, which have the order of their keys.
pub(in crate::store) const COLUMNS: &str = "t.*,
    (SELECT json_group_array(needs) FROM task_depends WHERE task = t.number),
    (SELECT json_group_array(label) FROM task_labels WHERE task = t.number)";

columns! {
    title: "title" "TEXT NOT NULL",
    description: "description" "TEXT NOT NULL",
    kind: "type" "TEXT NOT NULL",
    status: "status" "TEXT NOT NULL",
    parent: "parent" "INTEGER REFERENCES tasks (number) DEFERRABLE INITIALLY DEFERRED",
    priority: "priority" "TEXT NOT NULL",
    phase: "phase" "TEXT",
    size: "size" "TEXT",
    files: "files" "TEXT NOT NULL",
    acceptance: "acceptance" "TEXT NOT NULL",
    deliverables: "deliverables" "TEXT NOT NULL",
    notes: "notes" "TEXT NOT NULL",
    assigned_agent: "assigned_agent" "TEXT",
    due: "due" "TEXT",
    estimate: "estimate" "REAL",
    feature: "feature" "TEXT",
    key: "key" "TEXT",
    extra: "extra" "TEXT NOT NULL",
    created_at: "created_at" "TEXT NOT NULL",
    updated_at: "updated_at" "TEXT NOT NULL",
    started_at: "started_at" "TEXT",
    completed_at: "completed_at" "TEXT",
    cancelled_at: "cancelled_at" "TEXT",
    archived_at: "archived_at" "TEXT",
}

impl Tasks for SqlTransaction<'_> {
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
                Ok(Some(kept)) => Ok(Some(kept.status)),
                _ => Err(error),
            },
            read => read,
        }
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        let sql = "SELECT parent FROM tasks WHERE number = ?1";
        let parent = self.first(sql, [id.0], |row| row.get::<Option<u32>>(0))?;
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
        super::search::find(self, words, archived, limit)
    }

    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>> {
        graph::nodes(self, root)
    }

    fn first_unused_id(&self) -> Result<TaskId> {
        self.next_number().map(TaskId)
    }

    fn next_id(&mut self) -> Result<TaskId> {
        self.next_free_id(None)
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
            (SELECT number FROM tasks WHERE number > ?1 ORDER BY number LIMIT ?2) AS piece";
        let last = self.first(sql, (after.0, limit), |row| row.get::<Option<u32>>(0))?;
        Ok(last.flatten().map(TaskId))
    }

    fn reserve_id(&mut self, id: TaskId) -> Result<()> {
        self.next_free_id(Some(id)).map(|_| ())
    }

    fn insert(&mut self, task: &Task) -> Result<()> {
        self.write(None, task)?;
        let added = log::Added::new(task);
        self.insert_change(log::ADDED, Some(task.id), &json(&added))
    }

    fn put(&mut self, task: &Task) -> Result<()> {
        let before = self.task(task.id)?;
        self.put_over(before.as_ref(), task)
    }

    fn tasks_to_change(&self, ids: &[TaskId]) -> Result<Vec<Task>> {
        self.find_rows(ids)?;
        let sql =
            format!("SELECT {COLUMNS} FROM tasks t WHERE t.number BETWEEN ?1 AND ?2 ORDER BY 1");
        let mut tasks = self.query_ids(&sql, ids, read_task)?;
        tasks.retain(|task| id::place(ids, task.id, |id| *id).is_some());
        Ok(tasks)
    }

    fn put_over(&mut self, before: Option<&Task>, after: &Task) -> Result<()> {
        self.write(before, after)?;
        match log::task_change(before, after) {
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
                Err(error) if error.code == Code::RowDamaged => {
                    self.remove_damaged_dependency(dependent, &task)?
                }
                read => {
                    if let Some(mut task) = read? {
                        task.depends.retain(|need| *need != id);
                        self.put(&task)?;
                    }
                }
            }
        }
        let (gates, is_unread) = (self.gates(id), self.task(id).is_err());
        let removed = Removed {
            task,
            is_damaged: is_unread || gates.is_err() || self.latest_spawn(id).is_err(),
            spawns: self.spawns(id)?,
            links: self.links(id)?,
            gates: ignore_damage(gates)?,
            claim: self.claim(id)?,
        };
        self.record(&log::delete(&removed))?;
        if !is_unread {
            self.forget_words(&removed.task)?;
        }
        self.note_gone(&removed.task)?;
        self.execute("DELETE FROM tasks WHERE number = ?1", [id.0])?;
        match is_unread {
            // Its words in the index are unknown.
            true => self.read_all_words(),
            false => Ok(()),
        }
    }

    fn restore(&mut self, removed: &Removed) -> Result<()> {
        let id = removed.task.id;
        if removed.is_damaged {
            let message = format!("{id} was damaged when it was deleted; import it from an export");
            return Err(Error::new(Code::RowDamaged, message));
        }
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

impl SqlTransaction<'_> {
    /// Writes a task and the rows that belong to it; `before` is what is there.
    pub(in crate::store) fn write(&self, before: Option<&Task>, task: &Task) -> Result<()> {
        refuse_deep(&json(&task.extra))?;
        if let Some(before) = before
            && (&before.title, &before.description) != (&task.title, &task.description)
        {
            self.forget_words(before)?;
        }
        let mut values = vec![task.id.0.into(), task.uid.as_str().into()];
        values.extend(write_columns(task));
        values.push(sum_values(task, &values[2..]).into());
        let sql = before.map_or(INSERT, |_| UPDATE);
        self.execute(sql, values)?;
        let Some(before) = before else {
            self.unread.borrow_mut().insert(task.id.0);
            self.insert_depends(task)?;
            self.insert_labels(task)?;
            self.put_origin(task)?;
            return self.note_new(task);
        };
        if before.depends != task.depends {
            self.execute("DELETE FROM task_depends WHERE task = ?1", [task.id.0])?;
            self.insert_depends(task)?;
        }
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
}

/// Reads a task. A row that differs from what was written and can still be read is noted: SQLite has no checksums of
/// its own.
pub(in crate::store) fn read_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let (task, is_unchanged) = read_columns(row, Err)?;
    if !is_unchanged {
        left_out::note(Damage::altered(task.id.to_string()));
    }
    Ok(task)
}

/// Reads what can be read of a damaged task.
fn salvage_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let (mut task, _) = read_columns(row, |_| Ok(()))?;
    if task.uid.is_empty() {
        task.uid = id::derive_uid("", &[&task.id.to_string()]);
    }
    Ok(task)
}

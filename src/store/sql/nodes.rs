//! Maintains the denormalized `nodes` and `counters` tables; no other module writes them. A transaction
//! collects changes and writes each row once, before the graph is read and on commit.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::SqlTransaction;
use super::columns::{require_unchanged, unchanged};
use super::kept::{Kept, is_closed};
use super::row::Row;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Tasks;
use crate::task::{Status, Task};

const NEXT_ID: &str = "next_task";
pub(in crate::store) const READY: &str = "ready";
/// Name of the counter of what is archived, whatever its status is.
const ARCHIVED: &str = "archived";

pub(in crate::store) const COUNTER: &str = unchanged!("name, value");

/// A row as the table has it, if it does, and as it is to be.
struct Held {
    stored: Option<Kept>,
    now: Kept,
}

#[derive(Default)]
pub(in crate::store) struct Unwritten {
    rows: HashMap<u32, Held, RandomState>,
    counters: BTreeMap<&'static str, i64>,
    /// The id that comes next, once it was asked for.
    next_id: Option<u32>,
    /// Tasks that are referred to and not there, or not there yet.
    awaited: HashSet<u32>,
    /// Tasks of whose needs some may have to wait longer than is known, with these if known.
    pub(in crate::store) longer: BTreeMap<u32, Option<Vec<TaskId>>>,
    /// Tasks for which a chain may have become shorter.
    pub(in crate::store) shorter: BTreeSet<u32>,
}

impl Unwritten {
    fn add_to_counter(&mut self, name: &'static str, by: i64) {
        *self.counters.entry(name).or_default() += by;
    }

    pub(in crate::store) fn find_kept(&self, number: u32) -> Option<&Kept> {
        self.rows.get(&number).map(|held| &held.now)
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn next_number(&self) -> Result<u32> {
        let known = self.unwritten.borrow().next_id;
        known.map_or_else(|| self.counter(NEXT_ID), Ok)
    }

    /// Hands out the id that comes next, or sees to it that none up to `reserved` is handed out.
    pub(in crate::store) fn next_free_id(&self, reserved: Option<TaskId>) -> Result<TaskId> {
        let next = self.next_number()?;
        let after = reserved.map_or(next, |id| id.0).saturating_add(1).max(next);
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.add_to_counter(NEXT_ID, i64::from(after - next));
        unwritten.next_id = Some(after);
        Ok(TaskId(next))
    }

    pub(in crate::store) fn counter(&self, name: &str) -> Result<u32> {
        self.find_counter(name)?
            .map_or_else(|| self.recount(name), Ok)
    }

    fn find_counter(&self, name: &str) -> Result<Option<u32>> {
        let sql = format!("SELECT {COUNTER} FROM counters WHERE name = ?1");
        let mut stored = self.all(&sql, [name], read_counter)?;
        Ok(stored.pop().map(|(_, value)| value))
    }

    /// Computes a counter from the tables.
    fn recount(&self, name: &str) -> Result<u32> {
        let tasks = "SELECT count(*) FROM tasks WHERE";
        let sql = match name {
            NEXT_ID => "SELECT max(number) + 1 FROM (
                    SELECT coalesce(max(number), 0) AS number FROM tasks
                    UNION ALL SELECT coalesce(max(task), 0) FROM changes
                        WHERE sum = checksum(operation, kind, task, detail)) AS known"
                .to_string(),
            READY => "SELECT count(*) FROM nodes WHERE is_ready = 1".to_string(),
            // Where nothing is archived, SQLite would read the index of all tasks for each list.
            ARCHIVED => "SELECT count(*) FROM tasks INDEXED BY tasks_by_archive WHERE archived_at IS NOT NULL"
                .to_string(),
            _ => format!("{tasks} status = '{name}' AND archived_at IS NULL"),
        };
        Ok(u32::try_from(self.count(&sql, ())?).unwrap_or(u32::MAX))
    }

    /// Has all counters counted anew. Ids below `next` are not given again.
    pub(in crate::store) fn reset_counters(&self, next: u32) -> Result<()> {
        let next = self.next_number()?.max(next);
        self.execute("DELETE FROM counters WHERE name <> 'agents'", ())?;
        self.write_counter(NEXT_ID, next)
    }

    pub(in crate::store) fn write_counter(&self, name: &str, value: u32) -> Result<()> {
        let sql = "INSERT INTO counters VALUES (?1, ?2, checksum(?1, ?2))
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value, sum = excluded.sum";
        self.execute(sql, (name, value))
    }

    /// Returns how many tasks there are of each status, and archived ones.
    pub(in crate::store) fn counters(&self) -> Result<BTreeMap<&'static str, u32>> {
        self.write_nodes()?;
        let sql = format!("SELECT {COUNTER} FROM counters");
        let stored: HashMap<String, u32> = self.all(&sql, (), read_counter)?.into_iter().collect();
        let names = Status::ALL.iter().map(|status| status.word());
        let counted = names.chain([ARCHIVED]).map(|name| {
            let value = stored.get(name).copied();
            Ok((name, value.map_or_else(|| self.recount(name), Ok)?))
        });
        counted.collect()
    }

    pub(in crate::store) fn note_new(&self, task: &Task) -> Result<()> {
        let number = task.id.0;
        let mut now = Kept::from_task(task);
        (now.open_needs, now.dropped_needs) = self.count_needs(&task.depends)?;
        let is_awaited = self.unwritten.borrow_mut().awaited.remove(&number);
        if is_awaited {
            for child in self.children(task.id)? {
                let child = self.find_row(child.0)?;
                now.open_children += u32::from(child.is_some_and(|child| child.is_open()));
            }
        }
        let stored = None;
        let held = Held { stored, now };
        self.unwritten.borrow_mut().rows.insert(number, held);
        if is_awaited {
            self.note_status(task.id, None, Some(task.status))?;
            self.unwritten.borrow_mut().shorter.insert(number);
        }
        self.note_child(None, Some(task))?;
        self.note_chains(None, task);
        self.unwritten.borrow_mut().add_to_counter(counter(task), 1);
        Ok(())
    }

    pub(in crate::store) fn note_change(&self, before: &Task, after: &Task) -> Result<()> {
        if self.find_row(after.id.0)?.is_none() {
            // Without its own row a task is not changed in part.
            self.read_kept(after.id.0)?;
        }
        let needs = match before.depends == after.depends {
            true => None,
            false => Some(self.count_needs(&after.depends)?),
        };
        self.change_kept(after.id.0, |kept| {
            let (open_needs, dropped_needs) =
                needs.unwrap_or((kept.open_needs, kept.dropped_needs));
            *kept = Kept {
                open_needs,
                dropped_needs,
                open_children: kept.open_children,
                below: kept.below,
                ..Kept::from_task(after)
            };
        })?;
        self.note_child(Some(before), Some(after))?;
        self.note_status(after.id, Some(before.status), Some(after.status))?;
        self.note_chains(Some(before), after);
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.add_to_counter(counter(before), -1);
        unwritten.add_to_counter(counter(after), 1);
        Ok(())
    }

    pub(in crate::store) fn note_gone(&self, task: &Task) -> Result<()> {
        let number = task.id.0;
        let was_ready = match self.find_row(number)? {
            Some(_) => false,
            // It counts as ready by its row, however damaged that is.
            None => {
                let sql = "SELECT is_ready = 1 FROM nodes WHERE number = ?1";
                self.first(sql, [number], |row| row.get(0))?
                    .unwrap_or(false)
            }
        };
        self.note_child(Some(task), None)?;
        let mut unwritten = self.unwritten.borrow_mut();
        let stored = unwritten.rows.remove(&number).and_then(|held| held.stored);
        if was_ready || stored.is_some_and(|stored| stored.is_ready()) {
            unwritten.add_to_counter(READY, -1);
        }
        unwritten.add_to_counter(counter(task), -1);
        unwritten.awaited.insert(number);
        unwritten.longer.remove(&number);
        unwritten
            .shorter
            .extend(task.depends.iter().map(|need| need.0));
        drop(unwritten);
        self.execute("DELETE FROM nodes WHERE number = ?1", [number])?;
        Ok(())
    }

    /// Removes the dependency of a damaged task on a deleted one. Its row stays unchanged.
    pub(in crate::store) fn remove_damaged_dependency(
        &self,
        dependent: TaskId,
        gone: &Task,
    ) -> Result<()> {
        let sql = "DELETE FROM task_depends WHERE task = ?1 AND needs = ?2";
        self.execute(sql, (dependent.0, gone.id.0))?;
        let is = |status| u32::from(gone.status == status);
        self.change_kept(dependent.0, |kept| {
            let open = kept.open_needs + is(Status::Done);
            kept.open_needs = open.saturating_sub(1);
            kept.dropped_needs = kept.dropped_needs.saturating_sub(is(Status::Cancelled));
        })
    }

    fn count_needs(&self, needs: &[TaskId]) -> Result<(u32, u32)> {
        let (mut open, mut dropped) = (0, 0);
        for need in needs {
            let status = self.find_or_await_row(need.0)?.map(|kept| kept.status);
            open += u32::from(status != Some(Status::Done));
            dropped += u32::from(status == Some(Status::Cancelled));
        }
        Ok((open, dropped))
    }

    fn note_child(&self, before: Option<&Task>, after: Option<&Task>) -> Result<()> {
        let open_below = |task: Option<&Task>| {
            let open = task.filter(|task| !task.is_closed());
            open.and_then(|task| task.parent)
        };
        let (from, to) = (open_below(before), open_below(after));
        if from != to {
            if let Some(from) = from {
                self.change_kept(from.0, |kept| {
                    kept.open_children = kept.open_children.saturating_sub(1);
                })?;
            }
            if let Some(to) = to {
                self.change_kept(to.0, |kept| kept.open_children += 1)?;
            }
        }
        // A closed child may be there before its parent as well.
        if let Some(parent) = after.and_then(|task| task.parent) {
            self.find_or_await_row(parent.0)?;
        }
        Ok(())
    }

    fn note_status(&self, id: TaskId, from: Option<Status>, to: Option<Status>) -> Result<()> {
        let closed = |status: Option<Status>| status.filter(|status| is_closed(*status));
        let (from, to) = (closed(from), closed(to));
        if from == to {
            return Ok(());
        }
        let is = |status: Option<Status>, word| u32::from(status == Some(word));
        for dependent in self.dependents(id)? {
            self.change_kept(dependent.0, |kept| {
                let open = kept.open_needs + is(from, Status::Done);
                kept.open_needs = open.saturating_sub(is(to, Status::Done));
                let dropped = kept.dropped_needs + is(to, Status::Cancelled);
                kept.dropped_needs = dropped.saturating_sub(is(from, Status::Cancelled));
            })?;
        }
        Ok(())
    }

    fn note_chains(&self, before: Option<&Task>, after: &Task) {
        let old = before.map_or(&[][..], |before| &before.depends);
        let new = &after.depends;
        let mut unwritten = self.unwritten.borrow_mut();
        let gone = old.iter().filter(|need| !new.contains(need));
        unwritten.shorter.extend(gone.map(|need| need.0));
        let is_longer = new.iter().any(|need| !old.contains(need));
        if is_longer || unwritten.longer.contains_key(&after.id.0) {
            unwritten.longer.insert(after.id.0, Some(new.clone()));
        }
    }

    /// Returns the row of a task that is referred to, and remembers if there is none.
    fn find_or_await_row(&self, number: u32) -> Result<Option<Kept>> {
        let kept = self.find_row(number)?;
        if kept.is_none() {
            self.unwritten.borrow_mut().awaited.insert(number);
        }
        Ok(kept)
    }

    /// Returns the row of a task as it is to be; none for a damaged one, which is noted and stays as it is.
    pub(in crate::store) fn find_row(&self, number: u32) -> Result<Option<Kept>> {
        if let Some(kept) = self.unwritten.borrow().find_kept(number) {
            return Ok(Some(*kept));
        }
        let stored = self.all(super::kept::SELECT, [number], Kept::read)?.pop();
        if let Some(now) = stored {
            let rows = &mut self.unwritten.borrow_mut().rows;
            rows.insert(number, Held { stored, now });
        }
        Ok(stored)
    }

    /// Reads the rows of tasks, whose ids are sorted, at once for [`SqlTransaction::find_row`].
    pub(in crate::store) fn find_rows(&self, ids: &[TaskId]) -> Result<()> {
        let stored = self.query_ids(super::kept::SELECT_RANGE, ids, |row| {
            Ok((row.get(0)?, Kept::read(row)?))
        })?;
        let rows = &mut self.unwritten.borrow_mut().rows;
        for (number, now) in stored {
            let stored = Some(now);
            rows.entry(number).or_insert(Held { stored, now });
        }
        Ok(())
    }

    pub(in crate::store) fn change_kept(
        &self,
        number: u32,
        change: impl FnOnce(&mut Kept),
    ) -> Result<()> {
        self.find_row(number)?;
        if let Some(held) = self.unwritten.borrow_mut().rows.get_mut(&number) {
            change(&mut held.now);
        }
        Ok(())
    }

    pub(in crate::store) fn write_nodes(&self) -> Result<()> {
        let rows = std::mem::take(&mut self.unwritten.borrow_mut().rows);
        let mut rows = Vec::from_iter(rows);
        // The table grows at its end.
        rows.sort_unstable_by_key(|(number, _)| *number);
        for (number, Held { stored, now }) in rows {
            if stored == Some(now) {
                continue;
            }
            self.write_kept(stored.is_none(), number, &now)?;
            let was_ready = stored.is_some_and(|stored| stored.is_ready());
            let by = i64::from(now.is_ready()) - i64::from(was_ready);
            self.unwritten.borrow_mut().add_to_counter(READY, by);
        }
        let counters = std::mem::take(&mut self.unwritten.borrow_mut().counters);
        for (name, by) in counters.into_iter().filter(|(_, by)| *by != 0) {
            let value = match self.find_counter(name)? {
                Some(value) => u32::try_from(i64::from(value) + by).unwrap_or_default(),
                // A recount has all that was written.
                None if name == NEXT_ID => self.recount(name)?.max(self.next_number()?),
                None => self.recount(name)?,
            };
            self.write_counter(name, value)?;
        }
        Ok(())
    }
}

pub(in crate::store) fn read_counter(row: &Row<'_>) -> rusqlite::Result<(String, u32)> {
    require_unchanged(row, 2)?;
    Ok((row.get(0)?, row.get(1)?))
}

fn counter(task: &Task) -> &'static str {
    match task.archived_at {
        Some(_) => ARCHIVED,
        None => task.status.word(),
    }
}

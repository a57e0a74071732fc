//! The merge itself: which task is which, what becomes of each, and writing that down.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::ahead::Horizon;
use super::copy::{Copy, Row};
use super::graph::mend;
use super::keys;
use super::relocate::{follow, refuse_claimed, relocate};
use super::versions::{Versions, canonical, is_marked, names, plain, united};
use super::{Changes, Ids, Renumbered};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims::{self, Caller};
use crate::ops::transfer::export::each;
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo::line;
use crate::transfer::merge::{Base, Conflict, Side, merge};
use crate::transfer::plan::NUMBER_MAX;

/// A merge, from the first look to the report.
pub(super) struct Merge {
    pub(super) copy: Copy,
    name: String,
    /// What the file holds now, by id.
    pub(super) lines: BTreeMap<TaskId, String>,
    /// Tasks that are not the same as here before; none is one that goes.
    changed: BTreeMap<TaskId, Option<Task>>,
    /// Tasks that were open here and are over now.
    over: Vec<TaskId>,
    pub(super) here: Changes,
    pub(super) in_file: Changes,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) renumbered: Vec<Renumbered>,
    pub(super) horizon: Horizon,
}

/// What tells a task from another one with the same id.
type Marks = (Box<str>, Box<str>);

impl Merge {
    /// Merges, and writes the store; the file is for the caller.
    pub(super) fn run(
        transaction: &mut dyn Transaction,
        copy: Copy,
        name: &str,
        horizon: Horizon,
        caller: &Caller,
    ) -> Result<Merge> {
        let mut merge = Merge {
            copy,
            name: name.to_string(),
            lines: BTreeMap::new(),
            changed: BTreeMap::new(),
            over: Vec::new(),
            here: Changes::default(),
            in_file: Changes::default(),
            conflicts: Vec::new(),
            renumbered: Vec::new(),
            horizon,
        };
        merge.move_renumbered(transaction)?;
        merge.number(transaction)?;
        let here = merge.merge_here(transaction)?;
        merge.merge_others(transaction, &here)?;
        mend(
            transaction,
            &mut merge.changed,
            &mut merge.lines,
            &mut merge.conflicts,
        )?;
        merge.write(transaction)?;
        for id in &merge.over {
            // Nobody holds what is over; else it could not be taken up again.
            claims::end(transaction, *id, caller)?;
        }
        Ok(merge)
    }

    fn marks(transaction: &dyn Transaction) -> Result<HashMap<TaskId, Marks>> {
        let mut marks = HashMap::new();
        each(transaction, |task| {
            marks.insert(task.id, (task.created_at.into(), task.title.into()));
            Ok(())
        })?;
        Ok(marks)
    }

    /// Another copy has met our task and a second one with its id, and has given ours a new one.
    /// The task moves there, with everything that belongs to it.
    fn move_renumbered(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        let marks = Merge::marks(transaction)?;
        let mut moves: BTreeMap<TaskId, TaskId> = BTreeMap::new();
        for row in &self.copy.rows {
            let Some(was) = row.was.filter(|was| *was != row.written) else {
                continue;
            };
            let is_ours = marks
                .get(&was)
                .is_some_and(|(created, title)| *created == row.created && *title == row.title);
            let is_free =
                !marks.contains_key(&row.written) && !moves.values().any(|to| *to == row.written);
            // If the copy still has our task under the old id, it is another one that moved.
            let stays = self.copy.rows.iter().any(|other| {
                other.written == was && marks.get(&was).is_some_and(|marks| is_same(other, marks))
            });
            if is_ours && is_free && is_usable(&row.written) && !stays {
                moves.insert(was, row.written);
            }
        }
        for (from, to) in &moves {
            refuse_claimed(transaction, *from, *to, &self.horizon.now)?;
            relocate(transaction, *from, *to)?;
            if let Some(base) = transaction.base(&self.name, *from)? {
                transaction.put_base(&self.name, *from, None)?;
                transaction.put_base(&self.name, *to, Some(&base))?;
            }
            self.renumbered.push(Renumbered {
                from: *from,
                to: *to,
                side: Side::Here,
            });
        }
        if !moves.is_empty() {
            follow(transaction, &moves)?;
        }
        Ok(())
    }

    /// Finds out which row is which task. A row whose id is another task's gets a new id.
    fn number(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        let marks = Merge::marks(transaction)?;
        let highest = self
            .copy
            .rows
            .iter()
            .map(|row| row.written)
            .filter(is_usable)
            .max();
        if let Some(highest) = highest {
            transaction.reserve_id(highest)?;
        }
        let mut owners: HashMap<TaskId, Marks> = HashMap::new();
        for at in 0..self.copy.rows.len() {
            let row = &self.copy.rows[at];
            let id = row.written;
            let versions = Versions::of(transaction, &self.name, id)?;
            let base = versions.latest_task()?;
            let known = match (marks.get(&id), &base) {
                // Merged before: the title may have changed since.
                (Some((created, _)), Some(base)) if **created == *base.created_at => {
                    row.created == *created
                }
                (Some(marks), _) => is_same(row, marks),
                (None, Some(base)) => *row.created == *base.created_at,
                (None, None) if !is_usable(&id) => false,
                (None, None) => owners.get(&id).is_none_or(|owner| is_same(row, owner)),
            };
            if known {
                owners
                    .entry(id)
                    .or_insert_with(|| (row.created.clone(), row.title.clone()));
                self.copy.places.entry(id).or_default().push(at);
                continue;
            }
            let new = transaction.next_id()?;
            self.copy.rows[at].id = new;
            self.copy.places.entry(new).or_default().push(at);
            // Who knows neither takes references for those to the first, as an import does. Who knows one
            // of them has those to it already; what is new comes from where the other one was made.
            let is_second = owners.contains_key(&id) && !marks.contains_key(&id) && base.is_none();
            if !is_second {
                self.copy.renumbered.entry(id).or_insert(new);
            }
            self.renumbered.push(Renumbered {
                from: id,
                to: new,
                side: Side::File,
            });
        }
        let shared = self
            .copy
            .renumbered
            .keys()
            .filter(|id| owners.contains_key(id));
        self.copy.shared = shared.copied().collect();
        Ok(())
    }

    /// Merges every task that is here, and returns their ids.
    fn merge_here(&mut self, transaction: &dyn Transaction) -> Result<Ids> {
        let mut ids = Ids::new();
        each(transaction, |task| {
            ids.insert(task.id);
            self.merge_one(transaction, task)
        })?;
        Ok(ids)
    }

    fn merge_one(&mut self, transaction: &dyn Transaction, here: Task) -> Result<()> {
        let id = here.id;
        let own = line(&here);
        let versions = Versions::of(transaction, &self.name, id)?;
        let rows = self.copy.places.get(&id).cloned().unwrap_or_default();
        let Some(first) = rows.first() else {
            let before = versions.latest().map(|line| plain(line).into_owned());
            return self.gone_from_file(here, own, before);
        };
        if rows.len() == 1 && self.copy.line(*first) == own {
            self.lines.insert(id, own);
            return Ok(());
        }
        let mut merged = here.clone();
        self.horizon.cap(&mut merged);
        let mut known = names(versions.latest().unwrap_or(&own));
        for at in &rows {
            let stays = |need: TaskId| here.depends.contains(&need) || here.parent == Some(need);
            let mut file = self.copy.task(*at, stays)?;
            self.horizon.cap(&mut file);
            let row = canonical(self.copy.text(*at))?;
            let base = match rows.len() == 1 && !is_marked(&row) && !versions.know(&row) {
                // Somebody has written it anew, who had the file as it was.
                true => versions.latest_task()?,
                false => versions.base(&known, &names(&row))?,
            };
            let base = match &base {
                Some(base) => Base::Known(base),
                None if versions.latest().is_some() => Base::Forgotten,
                None => Base::Nothing,
            };
            let (joined, conflicts) = merge(base, &merged, &file);
            merged = joined;
            self.conflicts.extend(conflicts);
            known = united([known, names(&row)]);
        }
        let text = line(&merged);
        let is_same = rows.len() == 1 && self.copy.line(*first) == text;
        self.in_file.changed += usize::from(!is_same);
        if merged.is_closed() && !here.is_closed() {
            self.over.push(id);
        }
        if text != own {
            self.here.changed += 1;
            self.changed.insert(id, Some(merged));
        }
        self.lines.insert(id, text);
        Ok(())
    }

    /// The file lacks a task that is here: it is new here, or was deleted there.
    fn gone_from_file(&mut self, here: Task, own: String, base: Option<String>) -> Result<()> {
        let id = here.id;
        // A row of another task in its place says nothing about this one.
        let is_displaced = self.copy.renumbered.contains_key(&id);
        match base {
            Some(base) if base == own && !is_displaced => {
                self.here.deleted += 1;
                self.changed.insert(id, None);
            }
            Some(base) => {
                if base != own && !is_displaced {
                    self.conflicts.push(Conflict {
                        id,
                        field: "task".to_string(),
                        here: json!(here),
                        file: json!(null),
                        taken: Side::Here,
                    });
                }
                self.in_file.added += 1;
                self.lines.insert(id, own);
            }
            None => {
                self.in_file.added += 1;
                self.lines.insert(id, own);
            }
        }
        Ok(())
    }

    /// Takes over the tasks that are in the file only: new there, or deleted here.
    fn merge_others(&mut self, transaction: &dyn Transaction, here: &Ids) -> Result<()> {
        let mut others: Vec<TaskId> = self.copy.places.keys().copied().collect();
        others.retain(|id| !here.contains(id));
        others.sort_unstable();
        for id in others {
            let rows = self.copy.places.get(&id).cloned().unwrap_or_default();
            let Some((first, more)) = rows.split_first() else {
                continue;
            };
            let versions = Versions::of(transaction, &self.name, id)?;
            if rows.iter().all(|at| versions.know(&self.copy.line(*at))) {
                self.in_file.deleted += 1;
                continue;
            }
            let mut task = self.copy.task(*first, |_| false)?;
            self.horizon.cap(&mut task);
            for at in more {
                let mut other = self.copy.task(*at, |_| false)?;
                self.horizon.cap(&mut other);
                let (joined, conflicts) = merge(Base::Nothing, &task, &other);
                task = joined;
                self.conflicts.extend(conflicts);
            }
            if versions.latest().is_some() {
                self.conflicts.push(Conflict {
                    id,
                    field: "task".to_string(),
                    here: json!(null),
                    file: json!(task),
                    taken: Side::File,
                });
            }
            self.here.added += 1;
            self.lines.insert(id, line(&task));
            self.changed.insert(id, Some(task));
        }
        Ok(())
    }

    /// Writes what changed, and what the file looks like now.
    fn write(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        keys::settle(
            transaction,
            &mut self.changed,
            &mut self.lines,
            &mut self.conflicts,
        )?;
        for (id, task) in &self.changed {
            if task.is_none() {
                transaction.delete(*id)?;
            }
        }
        for task in self.changed.values().flatten() {
            keys::free(transaction, task)?;
            transaction.put(task)?;
        }
        for id in transaction.base_ids(&self.name)? {
            if !self.lines.contains_key(&id) {
                transaction.put_base(&self.name, id, None)?;
            }
        }
        for id in self.lines.keys().copied().collect::<Vec<_>>() {
            self.keep(transaction, id)?;
        }
        Ok(())
    }

    /// Writes into the line of a task which versions it comes from, and keeps them.
    fn keep(&mut self, transaction: &mut dyn Transaction, id: TaskId) -> Result<()> {
        let Some(line) = self.lines.get_mut(&id) else {
            return Ok(());
        };
        let rows = self.copy.places.get(&id).map_or(&[][..], Vec::as_slice);
        let before = Versions::of(transaction, &self.name, id)?;
        let same = match rows {
            [row] if self.copy.line(*row) == *line => {
                std::str::from_utf8(self.copy.text(*row)).ok()
            }
            _ => None,
        };
        let after = match (same, before.latest()) {
            (Some(same), None) => Versions::first(same),
            (Some(same), Some(latest)) if same == latest => before.clone(),
            _ => {
                let rows = rows.iter().map(|at| canonical(self.copy.text(*at)));
                before.after(line, &rows.collect::<Result<Vec<String>>>()?)
            }
        };
        *line = after.latest().unwrap_or_default().to_string();
        if before != after {
            transaction.put_base(&self.name, id, Some(&after.text()))?;
        }
        Ok(())
    }
}

/// Says whether a task may have an id that stands in a file. One far out would use up all others.
fn is_usable(id: &TaskId) -> bool {
    id.0 <= NUMBER_MAX
}

fn is_same(row: &Row, marks: &Marks) -> bool {
    (&row.created, &row.title) == (&marks.0, &marks.1)
}

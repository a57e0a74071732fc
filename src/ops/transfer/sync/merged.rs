//! The merge itself: which task is which, what becomes of each, and writing that down.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::json;

use super::ahead::Horizon;
use super::changes::Touched;
use super::copy::Copy;
use super::graph::mend;
use super::identity::{Known, WAS, recognize};
use super::keys;
use super::numbers::Numbers;
use super::relocate::{permute, refer, refuse_claimed};
use super::versions::{Versions, canonical, is_marked, names, plain, united};
use super::{Ids, Renumbered};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims::{self, Caller};
use crate::ops::transfer::export::each;
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo::line;
use crate::transfer::merge::{Base, Conflict, Side, merge};
use crate::transfer::plan::date;

/// A merge, from the first look to the report.
pub(super) struct Merge {
    pub(super) copy: Copy,
    pub(super) name: String,
    /// What the file holds now, by id.
    pub(super) lines: BTreeMap<TaskId, String>,
    /// Tasks that are not the same as here before; none is one that goes.
    pub(super) changed: BTreeMap<TaskId, Option<Task>>,
    /// Tasks that were open here and are over now.
    over: Vec<TaskId>,
    pub(super) here: Touched,
    pub(super) in_file: Touched,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) renumbered: Vec<Renumbered>,
    pub(super) horizon: Horizon,
    /// How many new tasks had no time of creation.
    pub(super) without_created: usize,
    /// Ids that tasks had here, or when the file was last merged, and those that they have now.
    moves: HashMap<TaskId, TaskId>,
    /// Tasks in whose place the file holds another one, by the ids of now.
    displaced: HashSet<TaskId>,
    /// Tasks that had gone from the file at the last merge and are here again, by the ids of now.
    back: HashSet<TaskId>,
    /// Tasks that had gone and of which there are lines again.
    pub(super) gone: HashSet<TaskId>,
    /// The versions of tasks that go, until all of them are put aside.
    pub(super) going: Vec<String>,
}

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
            here: Touched::default(),
            in_file: Touched::default(),
            conflicts: Vec::new(),
            renumbered: Vec::new(),
            horizon,
            without_created: 0,
            moves: HashMap::new(),
            displaced: HashSet::new(),
            back: HashSet::new(),
            gone: HashSet::new(),
            going: Vec::new(),
        };
        merge.number(transaction)?;
        let here = merge.merge_here(transaction)?;
        merge.merge_others(transaction, &here)?;
        merge.tell_moved_rows();
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

    /// Finds out which row is which task, and gives each its id. Tasks that another copy has given
    /// another one move there, with everything that belongs to them.
    fn number(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        let tasks = recognize(transaction, &self.copy, &self.name)?;
        let numbers = Numbers::decide(transaction, &self.copy, &tasks)?;
        self.find_displaced(&tasks.known, &numbers.known);
        self.move_here(transaction, &tasks.known, &numbers.known)?;
        self.move_versions(transaction, &tasks.known, &numbers.known)?;
        for (one, id) in tasks.known.iter().zip(&numbers.known) {
            self.copy.place(*id, &one.rows);
        }
        for (rows, id) in tasks.fresh.iter().zip(&numbers.fresh) {
            self.copy.place(*id, rows);
        }
        self.copy.follow(&numbers.fresh);
        Ok(())
    }

    /// Notes the tasks that the file does not hold, but another one in their place.
    fn find_displaced(&mut self, known: &[Known], ids: &[TaskId]) {
        let written: HashSet<TaskId> = self.copy.rows.iter().map(|row| row.written).collect();
        let is_displaced = |one: &Known| one.rows.is_empty() && written.contains(&one.id);
        let displaced = known.iter().zip(ids).filter(|(one, _)| is_displaced(one));
        self.displaced = displaced.map(|(_, id)| *id).collect();
    }

    fn move_here(
        &mut self,
        transaction: &mut dyn Transaction,
        known: &[Known],
        ids: &[TaskId],
    ) -> Result<()> {
        let moved = known.iter().zip(ids).filter(|(one, id)| one.id != **id);
        // What is here has the last word on what an id meant here.
        let (here, others): (Vec<_>, Vec<_>) = moved.partition(|(one, _)| one.is_here);
        let moves: BTreeMap<TaskId, TaskId> = here.iter().map(|(one, id)| (one.id, **id)).collect();
        for (from, to) in &moves {
            refuse_claimed(transaction, *from, *to, &self.horizon.now)?;
            self.renumbered.push(Renumbered {
                from: *from,
                to: *to,
                side: Side::Here,
            });
        }
        permute(transaction, &moves)?;
        // Nothing refers any more to what had gone from both sides before.
        let gone = others
            .iter()
            .filter(|(one, _)| one.base.is_some_and(|base| !base.is_gone));
        self.moves = gone.map(|(one, id)| (one.id, **id)).collect();
        self.moves.extend(moves);
        Ok(())
    }

    /// Keeps the versions of each task under its id, but for those of tasks that have gone on both sides.
    fn move_versions(
        &mut self,
        transaction: &mut dyn Transaction,
        known: &[Known],
        ids: &[TaskId],
    ) -> Result<()> {
        let mut moved = Vec::new();
        for (one, id) in known.iter().zip(ids) {
            let Some(base) = one.base else {
                continue;
            };
            match (one.is_left(), base.is_gone) {
                (false, true) => {}
                (false, false) => self.going.extend(base.take(transaction, &self.name)?),
                (true, false) if base.id == *id => {}
                (true, is_gone) => {
                    moved.push((*id, base.take(transaction, &self.name)?));
                    self.note_gone(*id, is_gone, one.is_here);
                }
            }
        }
        for (id, versions) in moved {
            transaction.put_base(&self.name, id, versions.as_deref())?;
        }
        Ok(())
    }

    /// Notes on which side a task is there again that had gone.
    fn note_gone(&mut self, id: TaskId, was_gone: bool, is_here: bool) {
        match (was_gone, is_here) {
            (false, _) => false,
            (true, true) => self.back.insert(id),
            (true, false) => self.gone.insert(id),
        };
    }

    /// Reads a version of a task as it would be written with the ids of now.
    fn now(&self, mut version: Task) -> Task {
        refer(&mut version, |id| self.moves.get(&id).copied());
        version
    }

    /// Says whether a task differs from the latest of its versions in ids at most.
    pub(super) fn is_latest(&self, task: &Task, line: &str, versions: &Versions) -> Result<bool> {
        if versions
            .latest()
            .is_some_and(|latest| plain(latest) == line)
        {
            return Ok(true);
        }
        let Some(latest) = versions.latest_task()? else {
            return Ok(false);
        };
        let (mut before, mut after) = (self.now(latest), task.clone());
        before.id = after.id;
        before.extra.remove(WAS);
        after.extra.remove(WAS);
        Ok(before == after)
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
            return self.gone_from_file(here, own, &versions);
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
            let base = base.map(|base| self.now(base));
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
        if merged.is_closed() && !here.is_closed() {
            self.over.push(id);
        }
        if text != own {
            self.changed.insert(id, Some(merged));
        }
        self.lines.insert(id, text);
        Ok(())
    }

    /// The file lacks a task that is here: it is new here or here again, or was deleted there.
    fn gone_from_file(&mut self, here: Task, own: String, versions: &Versions) -> Result<()> {
        let id = here.id;
        let is_back = self.back.contains(&id);
        let is_unchanged = !is_back && self.is_latest(&here, &own, versions)?;
        // A row of another task in its place says nothing about this one.
        if is_unchanged && !self.displaced.contains(&id) {
            self.changed.insert(id, None);
            return Ok(());
        }
        if versions.latest().is_some() && !is_back {
            self.conflicts.push(Conflict {
                id,
                field: "task".to_string(),
                here: json!(here),
                file: json!(null),
                taken: Side::Here,
                why: None,
            });
        }
        self.lines.insert(id, own);
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
            if self.are_known(&rows, &versions)? {
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
            self.without_created += usize::from(task.created_at.is_empty());
            date(&mut task, &self.horizon.now);
            if versions.latest().is_some() && !self.is_brought_back(id, &rows, &versions)? {
                self.conflicts.push(Conflict {
                    id,
                    field: "task".to_string(),
                    here: json!(null),
                    file: json!(task),
                    taken: Side::File,
                    why: None,
                });
            }
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
        self.tell_here(transaction)?;
        self.tell_in_file();
        for (id, task) in &self.changed {
            if task.is_none() {
                transaction.delete(*id)?;
            }
        }
        for task in self.changed.values().flatten() {
            keys::free(transaction, task)?;
            transaction.put(task)?;
        }
        self.set_gone_aside(transaction)?;
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
        // Other copies know that it had gone: its line has to say that it comes from there.
        let known = match self.back.contains(&id) {
            true => before.back(),
            false => before.clone(),
        };
        let same = match rows {
            [row] if self.copy.line(*row) == *line => {
                std::str::from_utf8(self.copy.text(*row)).ok()
            }
            _ => None,
        };
        let after = match (same, known.latest()) {
            (Some(same), None) => Versions::first(same),
            (Some(same), Some(latest)) if same == latest => known.clone(),
            _ => {
                let rows = rows.iter().map(|at| canonical(self.copy.text(*at)));
                known.after(line, &rows.collect::<Result<Vec<String>>>()?)
            }
        };
        *line = after.latest().unwrap_or_default().to_string();
        if before != after {
            transaction.put_base(&self.name, id, Some(&after.text()))?;
        }
        Ok(())
    }
}

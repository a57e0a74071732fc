//! Which id each task has after a merge. A task that the file knows has the id that it has there, so that
//! all copies come to the same ones. What is only here gives way to it; what is new in the file gives way
//! to all others.

use std::collections::HashSet;

use super::copy::Copy;
use super::identity::{Known, Recognized};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::transfer::plan::NUMBER_MAX;

/// The ids of all tasks, in the order of [`Recognized`].
pub(super) struct Numbers {
    pub(super) known: Vec<TaskId>,
    pub(super) fresh: Vec<TaskId>,
}

impl Numbers {
    /// Decides the ids.
    pub(super) fn decide(
        transaction: &mut dyn Transaction,
        copy: &Copy,
        tasks: &Recognized,
    ) -> Result<Numbers> {
        let usable = copy.rows.iter().map(|row| row.written).filter(is_usable);
        if let Some(highest) = usable.max() {
            transaction.reserve_id(highest)?;
        }
        let mut given = Given {
            transaction,
            taken: HashSet::new(),
        };
        Ok(Numbers {
            known: given.number_known(copy, &tasks.known)?,
            fresh: given.number_fresh(copy, &tasks.fresh)?,
        })
    }
}

/// Ids that have been given away.
struct Given<'a> {
    transaction: &'a mut dyn Transaction,
    taken: HashSet<TaskId>,
}

impl Given<'_> {
    /// Gives the first of these ids that is free, else a new one.
    fn first(&mut self, wishes: &[TaskId]) -> Result<TaskId> {
        for id in wishes {
            if self.taken.insert(*id) {
                return Ok(*id);
            }
        }
        let id = self.transaction.next_id()?;
        self.taken.insert(id);
        Ok(id)
    }

    /// Who has the same id on both sides keeps it, whoever has one in the file comes next.
    fn number_known(&mut self, copy: &Copy, known: &[Known]) -> Result<Vec<TaskId>> {
        let wished: Vec<TaskId> = known.iter().map(|one| wished(one, copy)).collect();
        let mut ids: Vec<TaskId> = known.iter().map(|one| one.id).collect();
        let mut order: Vec<usize> = (0..known.len()).filter(|at| known[*at].is_left()).collect();
        order.sort_by_key(|at| (known[*at].rows.is_empty(), wished[*at] != known[*at].id));
        for at in order {
            ids[at] = self.first(&[wished[at], known[at].id])?;
        }
        Ok(ids)
    }

    fn number_fresh(&mut self, copy: &Copy, fresh: &[Vec<usize>]) -> Result<Vec<TaskId>> {
        let mut ids = Vec::with_capacity(fresh.len());
        for rows in fresh {
            let written = rows.iter().map(|at| copy.rows[*at].written);
            let wishes: Vec<TaskId> = written.filter(is_usable).collect();
            ids.push(self.first(&wishes)?);
        }
        Ok(ids)
    }
}

/// Returns the id that a task is to have: the one in the file, of several the one that it has here.
fn wished(one: &Known, copy: &Copy) -> TaskId {
    let written = one.rows.iter().map(|at| copy.rows[*at].written);
    let mut usable: Vec<TaskId> = written.filter(is_usable).collect();
    usable.sort_unstable();
    match usable.contains(&one.id) {
        true => one.id,
        false => usable.first().copied().unwrap_or(one.id),
    }
}

/// Says whether a task may have an id that stands in a file. One far out would use up all others.
fn is_usable(id: &TaskId) -> bool {
    id.0 <= NUMBER_MAX
}

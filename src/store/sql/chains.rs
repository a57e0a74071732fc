//! Maintains the length of the longest chain of tasks that depends on each task, whatever their status is. Updated on
//! commit and before ready tasks are read: from the changed edges on, or for all tasks at once.

use super::SqlTransaction;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Tasks;
use crate::task::graph::waves::{BOUND, longest_chains};

/// Maximum number of edges to follow, apart from one for each changed task, before all chains are computed at
/// once.
const STEPS_MAX: usize = if cfg!(test) { 500 } else { 20_000 };

impl SqlTransaction<'_> {
    pub(in crate::store) fn settle_chains(&self) -> Result<()> {
        let n_changed = {
            let unwritten = self.unwritten.borrow();
            unwritten.longer.len() + unwritten.shorter.len()
        };
        let mut steps = STEPS_MAX + n_changed;
        while steps > 0 && (self.recompute_shorter_chain()? || self.recompute_longer_chain()?) {
            steps -= 1;
        }
        self.write_nodes()?;
        if steps > 0 {
            return Ok(());
        }
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.longer.clear();
        unwritten.shorter.clear();
        drop(unwritten);
        self.settle_all()
    }

    /// Recomputes the chain of a task for which it may have become shorter. Younger tasks come first, because
    /// they mostly depend on older ones: so each is computed once.
    fn recompute_shorter_chain(&self) -> Result<bool> {
        let Some(number) = self.unwritten.borrow_mut().shorter.pop_last() else {
            return Ok(false);
        };
        let Some(kept) = self.find_row(number)? else {
            return Ok(true);
        };
        let below = self.measure_chain(number)?;
        if below != kept.below {
            self.change_kept(number, |kept| kept.below = below)?;
            let needs = self.depends(TaskId(number))?;
            let shorter = &mut self.unwritten.borrow_mut().shorter;
            shorter.extend(needs.iter().map(|need| need.0));
        }
        Ok(true)
    }

    fn measure_chain(&self, number: u32) -> Result<u32> {
        let sql = "SELECT d.task, n.below FROM task_depends d
                   LEFT JOIN nodes n ON n.number = d.task WHERE d.needs = ?1";
        let unwritten = self.unwritten.borrow();
        let lengths = self.all(sql, [number], |row| {
            let below = match unwritten.find_kept(row.get(0)?) {
                Some(held) => Some(held.below),
                None => row.get(1)?,
            };
            Ok(below.map_or(0, |below: u32| BOUND.min(below + 1)))
        })?;
        Ok(lengths.into_iter().max().unwrap_or(0))
    }

    /// Makes the chains longer that end in one of the tasks of which they may be.
    fn recompute_longer_chain(&self) -> Result<bool> {
        let Some((number, needs)) = self.unwritten.borrow_mut().longer.pop_last() else {
            return Ok(false);
        };
        let Some(kept) = self.find_row(number)? else {
            return Ok(true);
        };
        let below = BOUND.min(kept.below + 1);
        for need in needs.map_or_else(|| self.depends(TaskId(number)), Ok)? {
            if self
                .find_row(need.0)?
                .is_some_and(|kept| kept.below < below)
            {
                self.change_kept(need.0, |kept| kept.below = below)?;
                let longer = &mut self.unwritten.borrow_mut().longer;
                longer.entry(need.0).or_insert(None);
            }
        }
        Ok(true)
    }

    fn settle_all(&self) -> Result<()> {
        let edges = self.all("SELECT task, needs FROM task_depends", (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let lengths = longest_chains(edges);
        // A damaged length is any number.
        let mut changed: Vec<(u32, i64)> =
            self.all("SELECT number, below FROM nodes", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        changed.retain(|(number, below)| *below != i64::from(lengths.length(*number)));
        let rows = changed.into_iter();
        self.execute_each(
            "UPDATE nodes SET below = ?2 WHERE number = ?1",
            rows.map(|(number, _)| (number, lengths.length(number))),
        )
    }
}

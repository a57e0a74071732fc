//! What stays of tasks that have gone from a file: their versions. So a line that git has brought back is
//! known to say nothing new, and one that was changed since is listed. They lie under the name of the
//! file with a slash behind it, which no file has, in the order in which the tasks went. What an earlier cleo
//! has put there lies in the order of ids, before all that went later.

use super::merged::Merge;
use super::versions::{Versions, canonical, names};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;

/// Most tasks of a file of which the versions stay after they have gone: all are read at each merge.
const GONE_MAX: usize = 1_000;

/// Where the versions of a task are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The id of the task; of one that had gone, the place in the order.
    pub(super) id: TaskId,
    /// Whether the task had gone from the file when that was last merged.
    pub(super) is_gone: bool,
}

impl Kept {
    /// Returns all places where versions are kept, those of tasks that have gone last.
    pub(super) fn all(transaction: &dyn Transaction, file: &str) -> Result<Vec<Kept>> {
        let mut all = Vec::new();
        for is_gone in [false, true] {
            let ids = transaction.base_ids(&shelf(file, is_gone))?;
            all.extend(ids.into_iter().map(|id| Kept { id, is_gone }));
        }
        Ok(all)
    }

    /// Reads the versions.
    pub(super) fn versions(self, transaction: &dyn Transaction, file: &str) -> Result<Versions> {
        Versions::of(transaction, &shelf(file, self.is_gone), self.id)
    }

    /// Takes the versions away, and returns them.
    pub(super) fn take(
        self,
        transaction: &mut dyn Transaction,
        file: &str,
    ) -> Result<Option<String>> {
        let shelf = shelf(file, self.is_gone);
        let versions = transaction.base(&shelf, self.id)?;
        transaction.put_base(&shelf, self.id, None)?;
        Ok(versions)
    }
}

/// Puts the versions of tasks aside that have gone from a file, and forgets those of the tasks that went
/// first, so that there are no more than `most`. What goes at once is kept whole, until more goes: a merge
/// puts all of it aside in one call.
fn set_aside(
    transaction: &mut dyn Transaction,
    file: &str,
    going: &[String],
    most: usize,
) -> Result<()> {
    if going.is_empty() {
        return Ok(());
    }
    let shelf = shelf(file, true);
    make_room(transaction, &shelf, going.len(), most)?;
    let first = first_free(transaction, &shelf, going.len())?;
    for (versions, place) in going.iter().zip(first..) {
        transaction.put_base(&shelf, TaskId(place), Some(versions))?;
    }
    Ok(())
}

fn make_room(
    transaction: &mut dyn Transaction,
    shelf: &str,
    more: usize,
    most: usize,
) -> Result<()> {
    let kept = transaction.base_ids(shelf)?;
    let n_over = (kept.len() + more).saturating_sub(most);
    for place in kept.into_iter().take(n_over) {
        transaction.put_base(shelf, place, None)?;
    }
    Ok(())
}

/// Returns the place behind the last one that is taken. Where too few are left behind it, as after an id at
/// the end of the range, all close up first.
fn first_free(transaction: &mut dyn Transaction, shelf: &str, more: usize) -> Result<u32> {
    let kept = transaction.base_ids(shelf)?;
    let last = kept.last().map_or(0, |last| last.0);
    let are_left = u32::try_from(more).is_ok_and(|more| last < u32::MAX - more);
    match are_left {
        true => Ok(last + 1),
        false => close_up(transaction, shelf, kept),
    }
}

/// Moves all to the first places, in their order, and returns the next one.
fn close_up(transaction: &mut dyn Transaction, shelf: &str, kept: Vec<TaskId>) -> Result<u32> {
    let mut next = 0;
    for place in kept {
        let versions = transaction.base(shelf, place)?;
        transaction.put_base(shelf, place, None)?;
        transaction.put_base(shelf, TaskId(next), versions.as_deref())?;
        next += 1;
    }
    Ok(next)
}

/// Forgets all versions. A file that is made anew knows nothing of earlier merges.
pub(super) fn forget(transaction: &mut dyn Transaction, file: &str) -> Result<()> {
    for kept in Kept::all(transaction, file)? {
        kept.take(transaction, file)?;
    }
    Ok(())
}

fn shelf(file: &str, is_gone: bool) -> String {
    format!("{file}{}", if is_gone { "/" } else { "" })
}

impl Merge {
    /// Puts the versions of all tasks aside that have gone by now.
    pub(super) fn set_gone_aside(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut ids = transaction.base_ids(&self.name)?;
        ids.retain(|id| !self.lines.contains_key(id));
        for id in ids {
            let kept = Kept { id, is_gone: false };
            self.going.extend(kept.take(transaction, &self.name)?);
        }
        set_aside(transaction, &self.name, &self.going, GONE_MAX)
    }

    /// Says whether rows tell nothing that was not known when their task was deleted here.
    pub(super) fn are_known(&self, rows: &[usize], versions: &Versions) -> Result<bool> {
        if versions.latest().is_none() {
            return Ok(false);
        }
        for at in rows {
            let line = self.copy.line(*at);
            let is_known = versions.know(&line)
                || self.is_latest(&self.copy.task(*at, |_| false)?, &line, versions)?;
            if !is_known || self.comes_from_end(*at, versions)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says whether somebody brought a task back who knew that it had gone, as it had from here.
    pub(super) fn is_brought_back(
        &self,
        id: TaskId,
        rows: &[usize],
        versions: &Versions,
    ) -> Result<bool> {
        let mut is_back = false;
        for at in rows {
            is_back |= self.comes_from_end(*at, versions)?;
        }
        Ok(is_back && self.gone.contains(&id))
    }

    fn comes_from_end(&self, at: usize, versions: &Versions) -> Result<bool> {
        let names = names(&canonical(self.copy.text(at))?);
        Ok(versions.end().is_some_and(|end| names.contains(&end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::MemoryStore;
    use crate::store::{Stamp, Store};

    /// Has tasks go from a file, and returns what is known of tasks that have gone.
    fn after(transaction: &mut dyn Transaction, going: &[u32]) -> Vec<String> {
        let going: Vec<String> = going.iter().map(|id| TaskId(*id).to_string()).collect();
        set_aside(transaction, "x", &going, 3).unwrap();
        let kept = Kept::all(transaction, "x").unwrap();
        let versions = |kept: &Kept| transaction.base("x/", kept.id).unwrap().unwrap();
        kept.iter().map(versions).collect()
    }

    fn stamp() -> Stamp {
        Stamp {
            command: "sync",
            at: "2026-01-26T09:00:00.000Z".into(),
            by: "tester".into(),
        }
    }

    #[test]
    fn of_tasks_that_have_gone_those_are_known_that_went_last() {
        let mut store = MemoryStore::default();
        let mut transaction = store.write(&stamp()).unwrap();
        for (going, left) in [
            (vec![9], vec!["T9"]),
            (vec![7, 8], vec!["T9", "T7", "T8"]),
            (vec![], vec!["T9", "T7", "T8"]),
            (vec![2], vec!["T7", "T8", "T2"]),
            (vec![9], vec!["T8", "T2", "T9"]),
            (vec![1, 3, 4, 5], vec!["T1", "T3", "T4", "T5"]),
            (vec![2], vec!["T4", "T5", "T2"]),
        ] {
            assert_eq!(after(&mut *transaction, &going), left, "{going:?}");
        }
    }

    #[test]
    fn what_was_put_aside_by_its_id_went_before_all_that_goes_now() {
        let mut store = MemoryStore::default();
        let mut transaction = store.write(&stamp()).unwrap();
        for (id, versions) in [(5, "T5"), (u32::MAX, "far out")] {
            let put = transaction.put_base("x/", TaskId(id), Some(versions));
            put.unwrap();
        }
        for (going, left) in [
            (4, ["T5", "far out", "T4"]),
            (3, ["far out", "T4", "T3"]),
            (2, ["T4", "T3", "T2"]),
        ] {
            assert_eq!(after(&mut *transaction, &[going]), left);
        }
    }
}

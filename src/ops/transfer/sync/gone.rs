//! What stays of tasks that have gone from a file: their versions. So a line that git has brought back is
//! known to say nothing new, and one that was changed since is listed. They lie under the name of the
//! file with a slash behind it, which no file has, each under the first number from its own that is free.

use super::merged::Merge;
use super::versions::{Versions, canonical, names};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;

/// Most tasks of a file of which the versions stay after they have gone: all are read at each merge.
pub(super) const GONE_MAX: usize = 1_000;

/// Where the versions of a task are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
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

/// Puts the versions of a task aside that has gone from a file.
pub(super) fn set_aside(transaction: &mut dyn Transaction, file: &str, id: TaskId) -> Result<()> {
    let kept = Kept { id, is_gone: false };
    let Some(versions) = kept.take(transaction, file)? else {
        return Ok(());
    };
    let (shelf, mut place) = (shelf(file, true), id);
    while transaction.base(&shelf, place)?.is_some() {
        place = TaskId(place.0.wrapping_add(1));
    }
    transaction.put_base(&shelf, place, Some(&versions))
}

/// Makes room for the versions of some more tasks that have gone, and forgets those of the first made. What
/// goes in one merge is kept whole, until more goes.
pub(super) fn make_room(
    transaction: &mut dyn Transaction,
    file: &str,
    more: usize,
    most: usize,
) -> Result<()> {
    if more == 0 {
        return Ok(());
    }
    let shelf = shelf(file, true);
    let kept = transaction.base_ids(&shelf)?;
    let n_over = (kept.len() + more).saturating_sub(most);
    for id in kept.into_iter().take(n_over) {
        transaction.put_base(&shelf, id, None)?;
    }
    Ok(())
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

    #[test]
    fn of_tasks_that_have_gone_only_so_many_are_known() {
        let mut store = MemoryStore::default();
        let stamp = Stamp {
            command: "sync",
            at: "2026-01-26T09:00:00.000Z".into(),
            by: "tester".into(),
        };
        let mut transaction = store.write(&stamp).unwrap();
        for id in 1..=4 {
            let gone = transaction.put_base("x/", TaskId(id), Some("{}"));
            gone.unwrap();
        }
        for (more, left) in [(0, vec![1, 2, 3, 4]), (1, vec![3, 4]), (9, vec![])] {
            make_room(&mut *transaction, "x", more, 3).unwrap();
            let kept = Kept::all(&*transaction, "x").unwrap();
            let kept: Vec<u32> = kept.iter().map(|kept| kept.id.0).collect();
            assert_eq!(kept, left, "{more}");
        }
    }
}

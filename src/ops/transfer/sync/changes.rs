//! What a merge changed on either side.

use serde::Serialize;

use super::Renumbered;
use super::merged::Merge;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::transfer::formats::cleo::line;
use crate::transfer::merge::Side;

/// How many tasks came, changed and went on one side, and which.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// New there.
    pub added: usize,
    /// Changed there.
    pub changed: usize,
    /// Gone from there.
    pub deleted: usize,
    /// Which tasks these are.
    pub ids: Touched,
}

/// Which tasks came, changed and went on one side, by the ids that they have after the merge.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Touched {
    /// New there.
    pub added: Vec<TaskId>,
    /// Changed there.
    pub changed: Vec<TaskId>,
    /// Gone from there.
    pub deleted: Vec<TaskId>,
}

impl From<Touched> for Changes {
    fn from(ids: Touched) -> Changes {
        Changes {
            added: ids.added.len(),
            changed: ids.changed.len(),
            deleted: ids.deleted.len(),
            ids,
        }
    }
}

impl Merge {
    /// Tells which tasks of the file have another id here.
    pub(super) fn tell_moved_rows(&mut self) {
        let moved = self.copy.rows.iter().filter(|row| row.id != row.written);
        // Of a line that is known and goes there is nothing to tell.
        let moved = moved.filter(|row| self.lines.contains_key(&row.id));
        let mut moved: Vec<_> = moved.map(|row| (row.written, row.id)).collect();
        moved.dedup();
        self.renumbered
            .extend(moved.into_iter().map(|(from, to)| Renumbered {
                from,
                to,
                side: Side::File,
            }));
    }

    /// Tells what changes here; what comes to the same as before does not.
    pub(super) fn tell_here(&mut self, transaction: &dyn Transaction) -> Result<()> {
        for (id, after) in std::mem::take(&mut self.changed) {
            let before = transaction.task(id)?;
            match (&before, &after) {
                (None, _) => self.here.added.push(id),
                (Some(_), None) => self.here.deleted.push(id),
                (Some(before), Some(after)) if line(before) == line(after) => continue,
                (Some(_), Some(_)) => self.here.changed.push(id),
            }
            self.changed.insert(id, after);
        }
        Ok(())
    }

    /// Tells what changes in the file, before lines say where they come from.
    pub(super) fn tell_in_file(&mut self) {
        for (id, line) in &self.lines {
            match self.copy.places.get(id).map(Vec::as_slice) {
                None | Some([]) => self.in_file.added.push(*id),
                Some([row]) if self.copy.line(*row) == *line => {}
                Some(_) => self.in_file.changed.push(*id),
            }
        }
        let rows = self.copy.places.keys();
        let deleted = rows.filter(|id| !self.lines.contains_key(*id));
        self.in_file.deleted.extend(deleted);
        self.in_file.deleted.sort_unstable();
    }
}

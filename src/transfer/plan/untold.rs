//! What a task refers to here and its file cannot tell: it stays.

use std::collections::HashSet;

use super::{Edge, Known, NONE, Outline};
use crate::error::Result;
use crate::id::TaskId;
use crate::transfer::Format;

impl Outline {
    /// Gives tasks that are here already the references that their file says nothing of. Lines of our
    /// own say everything.
    pub(super) fn keep_untold(&mut self, known: &dyn Known) -> Result<()> {
        let is_known = self.entries.iter().any(|entry| entry.is_known);
        if self.format == Format::Cleo || !is_known {
            return Ok(());
        }
        let entries = self.entries.iter().filter(|entry| !entry.dropped);
        let inside: HashSet<TaskId> = entries.map(|entry| entry.target).collect();
        for at in 0..self.entries.len() {
            if self.entries[at].is_known && !self.entries[at].dropped {
                self.keep_parent(at, &inside, known)?;
                self.keep_depends(at, &inside, known)?;
            }
        }
        Ok(())
    }

    fn keep_parent(
        &mut self,
        at: usize,
        inside: &HashSet<TaskId>,
        known: &dyn Known,
    ) -> Result<()> {
        let entry = &self.entries[at];
        if entry.parent.is_some() {
            return Ok(());
        }
        let Some(parent) = known.parent(entry.target)? else {
            return Ok(());
        };
        if entry.is_parent_untold || !self.is_told(parent, inside, known)? {
            self.entries[at].parent = Some(parent);
            self.report.parents.kept += 1;
        }
        Ok(())
    }

    fn keep_depends(
        &mut self,
        at: usize,
        inside: &HashSet<TaskId>,
        known: &dyn Known,
    ) -> Result<()> {
        let stored = known.depends(self.entries[at].target)?;
        let mut kept = Vec::new();
        for need in &stored {
            let is_there = self.entries[at].needs.contains(need);
            if !is_there && !self.is_told(*need, inside, known)? {
                kept.push((*need, self.edge_to(*need)));
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        self.report.edges.kept += kept.len();
        let entry = &mut self.entries[at];
        let edges = std::mem::take(&mut entry.depends);
        let mut pairs: Vec<(TaskId, Edge)> =
            entry.needs.iter().copied().zip(edges).chain(kept).collect();
        // In the order in which they are here, so that what is the same counts as unchanged.
        let place = |need: TaskId| stored.iter().position(|other| *other == need);
        pairs.sort_by_key(|(need, _)| place(*need).unwrap_or(usize::MAX));
        entry.needs = pairs.iter().map(|(need, _)| *need).collect();
        entry.depends = pairs.into_iter().map(|(_, edge)| edge).collect();
        Ok(())
    }

    fn edge_to(&mut self, id: TaskId) -> Edge {
        let given = self.names.number(&id.to_string());
        Edge {
            given,
            readings: [given, NONE],
        }
    }

    /// Says whether the file tells of references to a task: it is in it, or was left out of it.
    fn is_told(&self, id: TaskId, inside: &HashSet<TaskId>, known: &dyn Known) -> Result<bool> {
        if inside.contains(&id) {
            return Ok(true);
        }
        let Some((format, origin)) = known.origin(id)? else {
            return Ok(false);
        };
        let number = self.names.numbers.get(origin.as_str());
        let was_left = number.is_some_and(|number| self.left.contains_key(number));
        Ok(was_left && format == self.format.word())
    }
}

//! Counts and tallies in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::MemoryTransaction;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Counts, Filter, Overview, TaskTally, Tasks};
use crate::task::{Status, Task};

impl Overview for MemoryTransaction<'_> {
    fn missing(&self, ids: &BTreeSet<TaskId>) -> Result<BTreeSet<TaskId>> {
        let missing = ids.iter().filter(|id| !self.state.tasks.contains_key(id));
        Ok(missing.copied().collect())
    }

    fn counts(&self, root: Option<TaskId>) -> Result<Counts> {
        let mut counts = Counts::new();
        for node in self.nodes(root)? {
            *counts.entry(node.status).or_default() += 1;
        }
        Ok(counts)
    }

    fn tally(&self, filter: &Filter, now: &str) -> Result<Vec<TaskTally>> {
        let mut tallies: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for task in self.list(filter)?.tasks {
            let counts = tallies.entry((task.status, task.priority)).or_default();
            let is_late = task.due.as_deref().is_some_and(|due| due < now);
            counts.0 += 1;
            counts.1 += u64::from(is_late && !task.is_closed());
        }
        let tally = |((status, priority), (tasks, overdue))| TaskTally {
            status,
            priority,
            tasks,
            overdue,
        };
        Ok(tallies.into_iter().map(tally).collect())
    }

    fn recent(&self, root: Option<TaskId>, status: Status, limit: u32) -> Result<Vec<TaskId>> {
        let nodes = self.nodes(root)?;
        let mut tasks: Vec<&Task> = nodes
            .iter()
            .filter_map(|node| self.state.tasks.get(&node.id))
            .filter(|task| task.status == status)
            .collect();
        tasks.sort_by_key(|task| std::cmp::Reverse((&task.updated_at, task.id)));
        Ok(tasks
            .iter()
            .take(limit as usize)
            .map(|task| task.id)
            .collect())
    }

    fn open_epics(&self, limit: u32) -> Result<(Vec<TaskId>, u64)> {
        let mut epics = self.ids(|task| task.kind.is_epic() && !task.is_closed());
        let total = epics.len() as u64;
        epics.truncate(limit as usize);
        Ok((epics, total))
    }
}

//! What is kept beside tasks, in memory: spawns, gates, links.

use std::collections::{HashMap, HashSet};

use super::MemoryTransaction;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::store::{Link, Links, Log, SpawnRecord, SpawnVerdict, Spawns, TaskGates, log};

impl Spawns for MemoryTransaction<'_> {
    fn spawns(&self, task: TaskId) -> Result<Vec<SpawnRecord>> {
        Ok(self
            .state
            .spawns
            .iter()
            .filter(|spawn| spawn.task == task)
            .cloned()
            .collect())
    }

    fn latest_spawn(&self, task: TaskId) -> Result<Option<SpawnRecord>> {
        Ok(self.spawns(task)?.pop())
    }

    fn spawn_verdicts(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, SpawnVerdict>> {
        let mut verdicts = HashMap::new();
        for task in tasks {
            let verdict = |spawn: SpawnRecord| SpawnVerdict {
                is_verified: spawn.verified_at.is_some(),
                is_forced: spawn.forced.is_some(),
            };
            verdicts.extend(
                self.latest_spawn(*task)?
                    .map(|spawn| (*task, verdict(spawn))),
            );
        }
        Ok(verdicts)
    }

    fn owner_of_output(&self, output_file: &str) -> Result<Option<TaskId>> {
        let owner = self
            .state
            .spawns
            .iter()
            .find(|spawn| spawn.output_file == output_file);
        Ok(owner.map(|spawn| spawn.task))
    }

    fn entries_of_others(&self, task: TaskId) -> Result<HashSet<String>> {
        let others = self.state.spawns.iter().filter(|spawn| spawn.task != task);
        Ok(others.map(|spawn| spawn.manifest_id.clone()).collect())
    }

    fn put_spawn(&mut self, spawn: &SpawnRecord) -> Result<()> {
        let same = |other: &SpawnRecord| {
            (other.task, &other.manifest_id) == (spawn.task, &spawn.manifest_id)
        };
        let before = self.state.spawns.iter().position(same);
        let before = before.map(|place| self.state.spawns.remove(place));
        self.state.spawns.push(spawn.clone());
        match log::spawn(before.as_ref(), spawn) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }
}

impl TaskGates for MemoryTransaction<'_> {
    fn gates(&self, task: TaskId) -> Result<Gates> {
        Ok(self.state.gates.get(&task).cloned().unwrap_or_default())
    }

    fn gates_of(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, Gates>> {
        let gates = tasks
            .iter()
            .map(|task| Some((*task, self.state.gates.get(task)?.clone())));
        Ok(gates.flatten().collect())
    }

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()> {
        let before = self.state.gates.insert(task, gates.clone());
        let told = log::gates(task, &before.unwrap_or_default(), gates);
        told.iter().try_for_each(|change| self.record(change))
    }
}

impl Links for MemoryTransaction<'_> {
    fn links(&self, task: TaskId) -> Result<Vec<Link>> {
        let links = self.state.links.iter();
        Ok(links.filter(|link| link.task == task).cloned().collect())
    }

    fn linked_to(&self, entry: &str) -> Result<Vec<Link>> {
        let links = self.state.links.iter();
        Ok(links.filter(|link| link.entry == entry).cloned().collect())
    }

    fn link(&mut self, link: &Link) -> Result<bool> {
        let same = |other: &Link| other.task == link.task && other.entry == link.entry;
        let is_new = !self.state.links.iter().any(same);
        if is_new {
            self.state.links.push(link.clone());
            self.record(&log::link(log::LINKED, link))?;
        }
        Ok(is_new)
    }

    fn unlink(&mut self, link: &Link) -> Result<bool> {
        let n_before = self.state.links.len();
        let same = |other: &Link| other.task == link.task && other.entry == link.entry;
        self.state.links.retain(|other| !same(other));
        let was_there = self.state.links.len() < n_before;
        if was_there {
            self.record(&log::link(log::UNLINKED, link))?;
        }
        Ok(was_there)
    }
}

//! A store in memory, for tests of rules that need a store but no file. The conformance suite
//! keeps it equal to the real one.

use std::collections::{BTreeMap, HashSet};

use super::{
    Change, Filter, Link, Links, Log, Page, Recorded, SpawnRecord, Spawns, Stamp, Store, TaskGates,
    Tasks, Transaction, Verification, Verifications, log,
};
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::score::{normalize, terms};
use crate::task::graph::Node;
use crate::task::{Status, Task};

/// Everything that is kept.
#[derive(Clone, Debug, Default)]
struct State {
    tasks: BTreeMap<TaskId, Task>,
    handed_out: u32,
    spawns: Vec<SpawnRecord>,
    links: Vec<Link>,
    gates: BTreeMap<TaskId, Gates>,
    verifications: Vec<Verification>,
    log: Vec<Recorded>,
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: State,
}

impl Store for MemoryStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        self.begin(None)
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        self.begin(Some(stamp.clone()))
    }
}

impl MemoryStore {
    fn begin(&mut self, stamp: Option<Stamp>) -> Result<Box<dyn Transaction + '_>> {
        let state = self.state.clone();
        Ok(Box::new(MemoryTransaction {
            state,
            target: &mut self.state,
            stamp,
        }))
    }
}

/// A copy of the state that replaces it when committed.
struct MemoryTransaction<'a> {
    state: State,
    target: &'a mut State,
    stamp: Option<Stamp>,
}

impl Transaction for MemoryTransaction<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        *self.target = self.state;
        Ok(())
    }
}

impl Tasks for MemoryTransaction<'_> {
    fn task(&self, id: TaskId) -> Result<Option<Task>> {
        Ok(self.state.tasks.get(&id).cloned())
    }

    fn status(&self, id: TaskId) -> Result<Option<Status>> {
        Ok(self.state.tasks.get(&id).map(|task| task.status))
    }

    fn parent(&self, id: TaskId) -> Result<Option<TaskId>> {
        Ok(self.state.tasks.get(&id).and_then(|task| task.parent))
    }

    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>> {
        Ok(self
            .state
            .tasks
            .get(&id)
            .map(|task| task.depends.clone())
            .unwrap_or_default())
    }

    fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>> {
        Ok(self.ids(|task| task.depends.contains(&id)))
    }

    fn children(&self, id: TaskId) -> Result<Vec<TaskId>> {
        Ok(self.ids(|task| task.parent == Some(id)))
    }

    fn task_by_key(&self, key: &str) -> Result<Option<TaskId>> {
        Ok(self
            .ids(|task| task.key.as_deref() == Some(key))
            .first()
            .copied())
    }

    fn list(&self, filter: &Filter) -> Result<Page> {
        let fitting: Vec<&Task> = self
            .state
            .tasks
            .values()
            .filter(|task| passes(filter, task))
            .collect();
        let total = fitting.len() as u64;
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let tasks = fitting.into_iter().skip(filter.offset as usize).take(limit);
        Ok(Page {
            tasks: tasks.cloned().collect(),
            total,
        })
    }

    fn find(&self, words: &str, limit: u32) -> Result<Page> {
        let wanted = normalize(words);
        let wanted: Vec<_> = terms(&wanted).map(|term| term.text).collect();
        let mut tasks: Vec<Task> = self.state.tasks.values().cloned().collect();
        tasks.retain(|task| {
            let text = normalize(&format!("{} {}", task.title, task.description));
            let holds = |word: &&str| terms(&text).any(|term| term.text.starts_with(*word));
            !wanted.is_empty() && wanted.iter().all(holds)
        });
        let total = tasks.len() as u64;
        tasks.truncate(limit as usize);
        Ok(Page { tasks, total })
    }

    fn nodes(&self, root: Option<TaskId>) -> Result<Vec<Node>> {
        let below = |task: &&Task| match root {
            Some(root) => self.is_below(task, root),
            None => true,
        };
        Ok(self.state.tasks.values().filter(below).map(node).collect())
    }

    fn next_id(&mut self) -> Result<TaskId> {
        self.state.handed_out += 1;
        Ok(TaskId(self.state.handed_out))
    }

    fn put(&mut self, task: &Task) -> Result<()> {
        let before = self.state.tasks.insert(task.id, task.clone());
        match log::put(before.as_ref(), task) {
            Some(change) => self.record(&change),
            None => Ok(()),
        }
    }

    fn delete(&mut self, id: TaskId) -> Result<()> {
        for dependent in self.dependents(id)? {
            if let Some(mut task) = self.task(dependent)? {
                task.depends.retain(|need| *need != id);
                self.put(&task)?;
            }
        }
        if let Some(task) = self.state.tasks.remove(&id) {
            let (spawns, links) = (self.spawns(id)?, self.links(id)?);
            self.record(&log::delete(&task, &spawns, &links, &self.gates(id)?))?;
        }
        self.state.spawns.retain(|spawn| spawn.task != id);
        self.state.links.retain(|link| link.task != id);
        self.state.gates.remove(&id);
        self.state.verifications.retain(|each| each.task != id);
        Ok(())
    }
}

impl MemoryTransaction<'_> {
    fn ids(&self, wanted: impl Fn(&Task) -> bool) -> Vec<TaskId> {
        self.state
            .tasks
            .values()
            .filter(|task| wanted(task))
            .map(|task| task.id)
            .collect()
    }

    fn is_below(&self, task: &Task, root: TaskId) -> bool {
        let mut above = task.parent;
        while let Some(id) = above {
            if id == root {
                return true;
            }
            above = self.state.tasks.get(&id).and_then(|task| task.parent);
        }
        false
    }
}

fn node(task: &Task) -> Node {
    Node {
        id: task.id,
        parent: task.parent,
        status: task.status,
        priority: task.priority,
        is_epic: task.kind.is_epic(),
        depends: task.depends.clone(),
    }
}

fn passes(filter: &Filter, task: &Task) -> bool {
    fn any<T: PartialEq>(wanted: &[T], value: &T) -> bool {
        wanted.is_empty() || wanted.contains(value)
    }
    let has_label = |wanted: &String| {
        task.labels
            .iter()
            .any(|label| normalize(label) == normalize(wanted.trim()))
    };
    any(&filter.statuses, &task.status)
        && any(&filter.kinds, &task.kind)
        && any(&filter.priorities, &task.priority)
        && filter
            .parent
            .is_none_or(|parent| task.parent == Some(parent))
        && (filter.phase.is_none() || filter.phase == task.phase)
        && (filter.agent.is_none() || filter.agent == task.assigned_agent)
        && filter.labels.iter().all(has_label)
}

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
        self.state
            .spawns
            .retain(|other| (other.task, &other.manifest_id) != (spawn.task, &spawn.manifest_id));
        self.state.spawns.push(spawn.clone());
        Ok(())
    }
}

impl Log for MemoryTransaction<'_> {
    fn record(&mut self, change: &Change) -> Result<()> {
        let last = self.target.log.last();
        let operation = last.map_or(1, |last| last.operation + 1);
        let Some(stamp) = self.stamp.clone() else {
            return Ok(());
        };
        self.state.log.push(Recorded {
            cursor: self.state.log.len() as u64 + 1,
            operation,
            at: stamp.at,
            by: stamp.by,
            command: stamp.command.to_string(),
            change: change.clone(),
        });
        Ok(())
    }

    fn changes(&self, cursor: u64, limit: u32) -> Result<Vec<Recorded>> {
        let later = self.state.log.iter().filter(|each| each.cursor > cursor);
        Ok(later.take(limit as usize).cloned().collect())
    }
}

impl TaskGates for MemoryTransaction<'_> {
    fn gates(&self, task: TaskId) -> Result<Gates> {
        Ok(self.state.gates.get(&task).cloned().unwrap_or_default())
    }

    fn put_gates(&mut self, task: TaskId, gates: &Gates) -> Result<()> {
        let before = self.state.gates.insert(task, gates.clone());
        let told = log::gates(task, &before.unwrap_or_default(), gates);
        told.iter().try_for_each(|change| self.record(change))
    }
}

impl Verifications for MemoryTransaction<'_> {
    fn put_verification(&mut self, verification: &Verification) -> Result<()> {
        self.state.verifications.push(verification.clone());
        Ok(())
    }

    fn verifications(&self) -> Result<Vec<Verification>> {
        Ok(self.state.verifications.clone())
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
        }
        Ok(is_new)
    }
}

#[cfg(test)]
super::conformance::suite!(|_folder: &std::path::Path| MemoryStore::default());

//! A store in memory, for tests of rules that need a store but no file. The conformance suite
//! keeps it equal to the real one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    Change, Filter, Graph, Link, Links, Log, Outline, Page, ReadyPage, ReadyTask, Recorded,
    SpawnRecord, Spawns, Stamp, Store, TaskGates, Tasks, Transaction, dangling, log,
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
        let below = self.state.tasks.values().filter(below);
        Ok(below.map(|task| self.node_of(task)).collect())
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

impl Graph for MemoryTransaction<'_> {
    fn node(&self, id: TaskId) -> Result<Option<Node>> {
        Ok(self.state.tasks.get(&id).map(|task| self.node_of(task)))
    }

    fn ready(&self, root: Option<TaskId>, limit: Option<u32>) -> Result<ReadyPage> {
        let below = |task: &&Task| root.is_none_or(|root| self.is_below(task, root));
        let tasks = self.state.tasks.values().filter(below);
        let mut ready: Vec<ReadyTask> = tasks
            .filter(|task| self.can_start(task, None))
            .map(|task| ReadyTask {
                id: task.id,
                title: task.title.clone(),
                status: task.status,
                priority: task.priority,
                below: self.chain(task.id),
            })
            .collect();
        ready.sort_by_key(|task| (task.priority, Reverse(task.below), task.id));
        let total = ready.len() as u64;
        ready.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let tasks = ready;
        Ok(ReadyPage { tasks, total })
    }

    fn is_ready(&self, id: TaskId) -> Result<bool> {
        let task = self.state.tasks.get(&id);
        Ok(task.is_some_and(|task| self.can_start(task, None)))
    }

    fn unblocked_by(&self, id: TaskId) -> Result<Vec<TaskId>> {
        let parent = self.parent(id)?;
        Ok(self.ids(|task| {
            let waits = task.depends.contains(&id) || parent == Some(task.id);
            waits && self.can_start(task, Some(id))
        }))
    }

    fn hindered(&self, root: Option<TaskId>, limit: u32) -> Result<Vec<TaskId>> {
        let is_in_the_way = |need: &TaskId| {
            self.state.tasks.get(need).is_some_and(|need| {
                let is_over = self.open_children(need.id).next().is_none();
                need.status == Status::Cancelled
                    || (need.kind.is_epic() && !need.is_closed() && is_over)
            })
        };
        let mut ids = self.ids(|task| {
            let is_below = root.is_none_or(|root| self.is_below(task, root));
            let is_hindered = !dangling(task).is_empty() || task.depends.iter().any(is_in_the_way);
            is_below && !task.is_closed() && is_hindered
        });
        ids.truncate(limit as usize);
        Ok(ids)
    }

    fn outlines(&self, ids: &[TaskId]) -> Result<HashMap<TaskId, Outline>> {
        let outline = |task: &Task| Outline {
            title: task.title.clone(),
            files: task.files.clone(),
            estimate: task.estimate,
        };
        let tasks = ids.iter().filter_map(|id| self.state.tasks.get(id));
        Ok(tasks.map(|task| (task.id, outline(task))).collect())
    }
}

impl MemoryTransaction<'_> {
    fn node_of(&self, task: &Task) -> Node {
        Node {
            id: task.id,
            parent: task.parent,
            status: task.status,
            priority: task.priority,
            is_epic: task.kind.is_epic(),
            open_children: self.open_children(task.id).count() as u32,
            depends: task.depends.clone(),
            missing: dangling(task),
        }
    }

    fn open_children(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        let tasks = self.state.tasks.values();
        tasks
            .filter(move |task| task.parent == Some(id) && !task.is_closed())
            .map(|task| task.id)
    }

    /// Says whether a task can start now, or once `done` is done.
    fn can_start(&self, task: &Task, done: Option<TaskId>) -> bool {
        let is_done = |need: &TaskId| {
            let status = self.state.tasks.get(need).map(|need| need.status);
            status == Some(Status::Done) || done == Some(*need)
        };
        task.status == Status::Pending
            && !task.kind.is_epic()
            && dangling(task).is_empty()
            && task.depends.iter().all(is_done)
            && self.open_children(task.id).all(|child| done == Some(child))
    }

    /// Counts the longest chain of open tasks that wait for a task.
    fn chain(&self, id: TaskId) -> u32 {
        let waiting = self.ids(|task| !task.is_closed() && task.depends.contains(&id));
        let chains = waiting.into_iter().map(|task| self.chain(task) + 1);
        chains.max().unwrap_or(0)
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
        self.state.gates.insert(task, gates.clone());
        Ok(())
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

//! A store in memory, for tests of rules that need a store but no file. The conformance suite
//! keeps it equal to the real one.

mod claims;
mod phases;
mod sessions;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::RangeInclusive;

use super::{
    Archived, Change, Claims, Counts, Filter, Graph, Link, Links, Log, Operation, OperationFilter,
    Outline, Outlines, Overview, Page, ReadyPage, ReadyTask, Recorded, Removed, SpawnRecord,
    Spawns, Stamp, Store, Suggestions, SyncBases, TaskGates, TaskTally, Tasks, Transaction,
    Verification, Verifications, dangling, log, missing, origin,
};
use crate::claim::Claim;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::phase::Phase;
use crate::score::{normalize, terms};
use crate::session::{Session, SessionId};
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
    claims: BTreeMap<TaskId, Claim>,
    sessions: BTreeMap<SessionId, Session>,
    phases: BTreeMap<String, Phase>,
    log: Vec<Recorded>,
    /// Operations that take back another, with that one.
    undoes: BTreeMap<u64, u64>,
    bases: BTreeMap<(String, TaskId), String>,
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

    fn version(&self) -> Result<u64> {
        // Nobody else has this store.
        Ok(0)
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

impl Suggestions for MemoryTransaction<'_> {
    fn titles(&self, ids: RangeInclusive<u32>, limit: u32) -> Result<Vec<(TaskId, String)>> {
        let tasks = self.state.tasks.values().rev();
        let named = tasks.filter(|task| ids.contains(&task.id.0));
        let titles = named.map(|task| (task.id, task.title.clone()));
        Ok(titles.take(limit as usize).collect())
    }

    fn label_words(&self, from: &str, limit: u32) -> Result<Vec<String>> {
        let labels = self.state.tasks.values().flat_map(|task| &task.labels);
        Ok(from_on(labels.map(|label| normalize(label)), from, limit))
    }

    fn phase_words(&self, from: &str, limit: u32) -> Result<Vec<String>> {
        let phases = self
            .state
            .tasks
            .values()
            .filter_map(|task| task.phase.clone());
        Ok(from_on(phases, from, limit))
    }
}

fn from_on(words: impl Iterator<Item = String>, from: &str, limit: u32) -> Vec<String> {
    let words: BTreeSet<String> = words.filter(|word| word.as_str() >= from).collect();
    words.into_iter().take(limit as usize).collect()
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

    fn task_by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>> {
        let ids = self.ids(|task| origin(task) == Some((format, id)));
        Ok(ids.first().copied())
    }

    fn tasks_by_origin(&self, id: &str) -> Result<Vec<TaskId>> {
        Ok(self.ids(|task| origin(task).is_some_and(|(_, other)| other == id)))
    }

    fn tasks_after(&self, after: TaskId, limit: u32) -> Result<Vec<Task>> {
        let tasks = self.state.tasks.values().filter(|task| task.id > after);
        Ok(tasks.take(limit as usize).cloned().collect())
    }

    fn list(&self, filter: &Filter) -> Result<Page> {
        let fitting: Vec<&Task> = self
            .state
            .tasks
            .values()
            .filter(|task| passes(filter, task) && self.is_held_as(filter, task.id))
            .collect();
        let total = fitting.len() as u64;
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let tasks = fitting.into_iter().skip(filter.offset as usize).take(limit);
        Ok(Page {
            tasks: tasks.cloned().collect(),
            total,
        })
    }

    fn find(&self, words: &str, archived: Archived, limit: u32) -> Result<Page> {
        let wanted = normalize(words);
        let wanted: Vec<_> = terms(&wanted).map(|term| term.text).collect();
        let mut tasks: Vec<Task> = self.state.tasks.values().cloned().collect();
        tasks.retain(|task| {
            let text = normalize(&format!("{} {}", task.title, task.description));
            let holds = |word: &&str| terms(&text).any(|term| term.text.starts_with(*word));
            !wanted.is_empty() && wanted.iter().all(holds) && is_shown(archived, task)
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

    fn reserve_id(&mut self, id: TaskId) -> Result<()> {
        self.state.handed_out = self.state.handed_out.max(id.0);
        Ok(())
    }

    fn insert(&mut self, task: &Task) -> Result<()> {
        self.put(task)
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
            let (spawns, links, gates) = (self.spawns(id)?, self.links(id)?, self.gates(id)?);
            let verifications = self.verifications_of(id)?;
            let claim = self.claim(id)?;
            self.record(&log::delete(&Removed {
                task,
                spawns,
                links,
                gates,
                verifications,
                claim,
            }))?;
        }
        self.state.spawns.retain(|spawn| spawn.task != id);
        self.state.links.retain(|link| link.task != id);
        self.state.gates.remove(&id);
        self.state.verifications.retain(|each| each.task != id);
        self.state.claims.remove(&id);
        for session in self.state.sessions.values_mut() {
            session.scope = session.scope.filter(|scope| *scope != id);
            session.focus = session.focus.filter(|focus| *focus != id);
        }
        Ok(())
    }

    fn restore(&mut self, removed: &Removed) -> Result<()> {
        let task = &removed.task;
        self.state.tasks.insert(task.id, task.clone());
        self.state.spawns.extend(removed.spawns.iter().cloned());
        self.state.links.extend(removed.links.iter().cloned());
        self.state.gates.insert(task.id, removed.gates.clone());
        let checks = removed.verifications.iter().cloned();
        self.state.verifications.extend(checks);
        let claim = removed.claim.iter().cloned();
        self.state
            .claims
            .extend(claim.map(|claim| (claim.task, claim)));
        self.record(&log::restore(removed))
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

    fn is_held_as(&self, filter: &Filter, task: TaskId) -> bool {
        let claim = self.state.claims.get(&task);
        let holder = claim.and_then(|claim| claim.holder.as_ref());
        (!filter.claimed || holder.is_some())
            && (filter.holder.is_none() || filter.holder.as_ref() == holder)
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
            .map(|task| self.ready_task(task))
            .collect();
        ready.sort_by_key(|task| (task.priority, Reverse(task.below), task.id));
        let total = ready.len() as u64;
        ready.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let tasks = ready;
        Ok(ReadyPage { tasks, total })
    }

    fn active_ready(&self, id: TaskId) -> Result<Option<ReadyTask>> {
        let task = self.state.tasks.get(&id);
        let task = task.filter(|task| task.status == Status::Active);
        let could_start = |task: &&Task| {
            let mut pending = Task::clone(task);
            pending.status = Status::Pending;
            self.can_start(&pending, None)
        };
        Ok(task.filter(could_start).map(|task| self.ready_task(task)))
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

    fn outlines(&self, ids: &[TaskId]) -> Result<Outlines> {
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
            missing: missing(task),
        }
    }

    fn open_children(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        let tasks = self.state.tasks.values();
        tasks
            .filter(move |task| task.parent == Some(id) && !task.is_closed())
            .map(|task| task.id)
    }

    fn ready_task(&self, task: &Task) -> ReadyTask {
        ReadyTask {
            id: task.id,
            title: task.title.clone(),
            status: task.status,
            priority: task.priority,
            below: self.chain(task.id),
        }
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
        && (filter.feature.is_none() || filter.feature == task.feature)
        && (filter.due_before.as_ref())
            .is_none_or(|moment| task.due.as_ref().is_some_and(|due| due < moment))
        && (filter.due_after.as_ref())
            .is_none_or(|moment| task.due.as_ref().is_some_and(|due| due >= moment))
        && filter.labels.iter().all(has_label)
        && is_shown(filter.archived, task)
        && filter.closed_before.as_ref().is_none_or(|moment| {
            let closed = task.completed_at.as_ref().or(task.cancelled_at.as_ref());
            closed.is_some_and(|closed| closed < moment)
        })
}

fn is_shown(archived: Archived, task: &Task) -> bool {
    match archived {
        Archived::Hidden => task.archived_at.is_none(),
        Archived::Only => task.archived_at.is_some(),
        Archived::Shown => true,
    }
}

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

impl Log for MemoryTransaction<'_> {
    fn record(&mut self, change: &Change) -> Result<()> {
        let operation = self.number();
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

    fn undoing(&mut self, operation: u64) -> Result<u64> {
        let own = self.number();
        self.state.undoes.insert(own, operation);
        Ok(own)
    }

    fn changes(&self, cursor: u64, task: Option<TaskId>, limit: u32) -> Result<Vec<Recorded>> {
        let is_of = |each: &&Recorded| task.is_none() || each.change.task == task;
        let later = self.state.log.iter().filter(|each| each.cursor > cursor);
        let fitting = later.filter(is_of).take(limit as usize);
        Ok(fitting.cloned().collect())
    }

    fn changes_of(&self, operation: u64, limit: u32) -> Result<Vec<Recorded>> {
        let own = self.state.log.iter();
        let own = own.filter(|each| each.operation == operation);
        Ok(own.take(limit as usize).cloned().collect())
    }

    fn last_cursor(&self) -> Result<u64> {
        Ok(self.state.log.last().map_or(0, |last| last.cursor))
    }

    fn operations(&self, filter: &OperationFilter) -> Result<(Vec<Operation>, u64)> {
        let numbers: BTreeSet<u64> = self.state.log.iter().map(|each| each.operation).collect();
        let mut fitting = Vec::new();
        for number in numbers.into_iter().rev() {
            let changes = self.changes_of(number, u32::MAX)?;
            let is_of =
                filter.task.is_none() || changes.iter().any(|each| each.change.task == filter.task);
            let is_late = |since: &String| changes.iter().all(|each| each.at >= *since);
            let is_in_time = filter.since.as_ref().is_none_or(is_late)
                && filter.before.is_none_or(|before| number < before);
            let is_by = |by: &String| changes.iter().all(|each| each.by == *by);
            if is_of && is_in_time && filter.by.as_ref().is_none_or(is_by) {
                fitting.extend(self.operation(number)?);
            }
        }
        let total = fitting.len() as u64;
        fitting.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok((fitting, total))
    }

    fn operation(&self, number: u64) -> Result<Option<Operation>> {
        let changes = self.changes_of(number, u32::MAX)?;
        Ok(changes.first().map(|first| Operation {
            number,
            at: first.at.clone(),
            by: first.by.clone(),
            command: first.command.clone(),
            undoes: self.state.undoes.get(&number).copied(),
            undone_by: self.undone_by(number),
            changes: changes.len() as u64,
        }))
    }
}

impl MemoryTransaction<'_> {
    /// Returns the number of the operation of this transaction.
    fn number(&self) -> u64 {
        let last = self.target.log.last();
        last.map_or(1, |last| last.operation + 1)
    }

    /// Finds the operation by which another one was taken back, if that holds still.
    fn undone_by(&self, number: u64) -> Option<u64> {
        let undoes = self.state.undoes.iter();
        let mut undos = undoes.filter(|(_, undone)| **undone == number);
        let holds = |undo: &u64| self.undone_by(*undo).is_none();
        undos.next_back().map(|(undo, _)| *undo).filter(holds)
    }
}

impl SyncBases for MemoryTransaction<'_> {
    fn base_ids(&self, file: &str) -> Result<Vec<TaskId>> {
        let keys = self.state.bases.keys();
        Ok(keys
            .filter(|(other, _)| other == file)
            .map(|(_, task)| *task)
            .collect())
    }

    fn base(&self, file: &str, task: TaskId) -> Result<Option<String>> {
        Ok(self.state.bases.get(&(file.to_string(), task)).cloned())
    }

    fn put_base(&mut self, file: &str, task: TaskId, base: Option<&str>) -> Result<()> {
        let key = (file.to_string(), task);
        match base {
            Some(base) => self.state.bases.insert(key, base.to_string()),
            None => self.state.bases.remove(&key),
        };
        Ok(())
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

    fn verifications_of(&self, task: TaskId) -> Result<Vec<Verification>> {
        let checks = self.state.verifications.iter();
        Ok(checks.filter(|check| check.task == task).cloned().collect())
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

#[cfg(test)]
super::conformance::suite!(crate::store::conformance, |_folder: &std::path::Path| {
    MemoryStore::default()
});

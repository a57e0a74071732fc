//! What waits for what, in memory.

use std::cmp::Reverse;

use super::MemoryTransaction;
use crate::error::Result;
use crate::id::TaskId;
use crate::store::{Graph, Outline, Outlines, ReadyPage, ReadyTask, Tasks, dangling, missing};
use crate::task::graph::Node;
use crate::task::{Status, Task};

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
    pub(super) fn node_of(&self, task: &Task) -> Node {
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

    pub(super) fn open_children(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        let tasks = self.state.tasks.values();
        tasks
            .filter(move |task| task.parent == Some(id) && !task.is_closed())
            .map(|task| task.id)
    }

    pub(super) fn ready_task(&self, task: &Task) -> ReadyTask {
        ReadyTask {
            id: task.id,
            title: task.title.clone(),
            status: task.status,
            priority: task.priority,
            below: self.chain(task.id),
        }
    }

    /// Says whether a task can start now, or once `done` is done.
    pub(super) fn can_start(&self, task: &Task, done: Option<TaskId>) -> bool {
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
    pub(super) fn chain(&self, id: TaskId) -> u32 {
        let waiting = self.ids(|task| !task.is_closed() && task.depends.contains(&id));
        let chains = waiting.into_iter().map(|task| self.chain(task) + 1);
        chains.max().unwrap_or(0)
    }
}

//! Tasks in memory.

use super::MemoryTransaction;
use super::filter::{is_shown, passes};
use crate::error::Result;
use crate::id::TaskId;
use crate::score::{normalize, terms};
use crate::store::{
    Archived, Claims, Filter, Links, Log, Page, Removed, Spawns, TaskGates, Tasks, literal, log,
    origin,
};
use crate::task::graph::Node;
use crate::task::{Status, Task};

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

    fn last_of_piece(&self, after: TaskId, limit: u32) -> Result<Option<TaskId>> {
        Ok(self.tasks_after(after, limit)?.last().map(|task| task.id))
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
        let is_literal = literal::is_literal(words);
        let shown = || {
            self.state
                .tasks
                .values()
                .filter(|task| is_shown(archived, task))
        };
        let parts = literal::parts(words);
        let literally = |only_amid: bool| -> Vec<Task> {
            let found = shown().filter(|task| holds_parts(task, &parts));
            let found = found.filter(|task| {
                let text = format!("{} {}", task.title, task.description);
                !only_amid || literal::is_amid_unbordered(&text, &parts)
            });
            found.cloned().collect()
        };
        let by_words = || -> Vec<Task> {
            let holds_all = |task: &&Task| {
                let text = normalize(&format!("{} {}", task.title, task.description));
                let holds = |word: &&str| terms(&text).any(|term| term.text.starts_with(*word));
                !wanted.is_empty() && wanted.iter().all(holds)
            };
            shown().filter(holds_all).cloned().collect()
        };
        let mut tasks = if is_literal {
            literally(false)
        } else {
            Vec::new()
        };
        if tasks.is_empty() {
            tasks = by_words();
        }
        if tasks.is_empty() && !is_literal {
            tasks = literally(true);
        }
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
            let claim = self.claim(id)?;
            self.record(&log::delete(&Removed {
                task,
                spawns,
                links,
                gates,
                claim,
            }))?;
        }
        self.state.spawns.retain(|spawn| spawn.task != id);
        self.state.links.retain(|link| link.task != id);
        self.state.gates.remove(&id);
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
        let claim = removed.claim.iter().cloned();
        self.state
            .claims
            .extend(claim.map(|claim| (claim.task, claim)));
        self.record(&log::restore(removed))
    }
}

/// Says whether a task holds each part in its title, description or labels, whatever the case of ASCII.
fn holds_parts(task: &Task, parts: &[String]) -> bool {
    let texts: Vec<String> = [&task.title, &task.description]
        .into_iter()
        .chain(&task.labels)
        .map(|text| text.to_ascii_lowercase())
        .collect();
    let holds = |part: &String| {
        let part = part.to_ascii_lowercase();
        texts.iter().any(|text| text.contains(&part))
    };
    !parts.is_empty() && parts.iter().all(holds)
}

impl MemoryTransaction<'_> {
    pub(super) fn ids(&self, wanted: impl Fn(&Task) -> bool) -> Vec<TaskId> {
        self.state
            .tasks
            .values()
            .filter(|task| wanted(task))
            .map(|task| task.id)
            .collect()
    }

    pub(super) fn is_held_as(&self, filter: &Filter, task: TaskId) -> bool {
        let claim = self.state.claims.get(&task);
        let holder = claim.and_then(|claim| claim.holder.as_ref());
        (!filter.claimed || holder.is_some())
            && (filter.holder.is_none() || filter.holder.as_ref() == holder)
    }

    pub(super) fn is_below(&self, task: &Task, root: TaskId) -> bool {
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

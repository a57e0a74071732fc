//! Adding tasks, one or many: all of them or none. Files of tasks are read in `batch`.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{DEPTH_MAX, cycle, depth, exists, no_dependency, no_parent, too_deep, waits_for};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, require};
use crate::store::{Tasks, Transaction};
use crate::task::draft::{Draft, Reference};
use crate::task::graph::circle;
use crate::task::{Note, Priority, Status, Task};

/// What `add` did with one draft.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Added {
    /// The task.
    pub task: Task,
    /// False when its key was known and the task was left as it is.
    pub created: bool,
}

/// Adds tasks. Drafts may refer to each other by `@key`, in any order. A draft whose key is known
/// adds nothing and yields the task that has it.
pub fn add(context: &mut Context, drafts: Vec<Draft>) -> Result<Vec<Added>> {
    let now = context.now();
    let by = context.surroundings.actor.clone();
    context.write(|transaction| Batch::plan(transaction, drafts)?.put(transaction, &now, &by))
}

/// Drafts with the ids that they will have.
struct Batch {
    drafts: Vec<Planned>,
    keys: HashMap<String, TaskId>,
}

struct Planned {
    id: TaskId,
    draft: Draft,
    is_new: bool,
    parent: Option<TaskId>,
    depends: Vec<TaskId>,
}

impl Batch {
    fn plan(transaction: &mut dyn Transaction, drafts: Vec<Draft>) -> Result<Batch> {
        let mut batch = Batch {
            drafts: Vec::new(),
            keys: HashMap::new(),
        };
        for draft in drafts {
            batch.take(transaction, draft.checked()?)?;
        }
        batch.resolve(transaction)?;
        batch.refuse_circles(transaction)?;
        batch.refuse_nesting(transaction)?;
        Ok(batch)
    }

    fn take(&mut self, transaction: &mut dyn Transaction, draft: Draft) -> Result<()> {
        let known = match &draft.key {
            Some(key) => match self.keys.get(key) {
                Some(_) => {
                    let message = format!("the key `{key}` stands on two lines");
                    return Err(Error::new(Code::BatchInvalid, message));
                }
                None => transaction.task_by_key(key)?,
            },
            None => None,
        };
        let id = match known {
            Some(id) => id,
            None => transaction.next_id()?,
        };
        self.keys.extend(draft.key.clone().map(|key| (key, id)));
        let is_new = known.is_none();
        self.drafts.push(Planned {
            id,
            draft,
            is_new,
            parent: None,
            depends: Vec::new(),
        });
        Ok(())
    }

    /// Turns references into ids and checks that each leads to a task.
    fn resolve(&mut self, tasks: &dyn Tasks) -> Result<()> {
        let own: HashSet<TaskId> = self.new_ids().collect();
        let find = |reference: &Reference| -> Result<Option<TaskId>> {
            match reference {
                Reference::Id(id) if own.contains(id) => Ok(Some(*id)),
                Reference::Id(id) => Ok(exists(tasks, *id)?.then_some(*id)),
                Reference::Key(key) => match self.keys.get(key) {
                    Some(id) => Ok(Some(*id)),
                    None => tasks.task_by_key(key),
                },
            }
        };
        let mut resolved = Vec::new();
        for planned in &self.drafts {
            let parent = match &planned.draft.parent {
                Some(parent) => {
                    Some(find(parent)?.ok_or_else(|| self.at(planned, no_parent(&name(parent))))?)
                }
                None => None,
            };
            let mut depends = Vec::new();
            for reference in &planned.draft.depends {
                let id = find(reference)?
                    .ok_or_else(|| self.at(planned, no_dependency(&name(reference))))?;
                if !depends.contains(&id) {
                    depends.push(id);
                }
            }
            resolved.push((parent, depends));
        }
        for (planned, (parent, depends)) in self.drafts.iter_mut().zip(resolved) {
            (planned.parent, planned.depends) = (parent, depends);
        }
        Ok(())
    }

    /// Says which task of several an error is about.
    fn at(&self, planned: &Planned, mut error: Error) -> Error {
        if self.drafts.len() > 1 {
            let name = self.names(&[planned.id]).join("");
            error.message = format!("{name}: {}", error.message);
        }
        error
    }

    fn new_ids(&self) -> impl Iterator<Item = TaskId> {
        self.drafts
            .iter()
            .filter(|planned| planned.is_new)
            .map(|planned| planned.id)
    }

    /// Looks for circles through the new tasks. An older one can only wait for a new one that is a
    /// part of it.
    fn refuse_circles(&self, tasks: &dyn Tasks) -> Result<()> {
        let mut waits: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for planned in self.drafts.iter().filter(|planned| planned.is_new) {
            waits
                .entry(planned.id)
                .or_default()
                .extend(&planned.depends);
            if let Some(parent) = planned.parent {
                waits.entry(parent).or_default().push(planned.id);
            }
        }
        let own: HashSet<TaskId> = self.new_ids().collect();
        let next = |id| {
            let mut all = if own.contains(&id) {
                Vec::new()
            } else {
                waits_for(tasks, id)?
            };
            all.extend(waits.get(&id).into_iter().flatten());
            Ok(all)
        };
        match circle(self.new_ids(), next)? {
            Some(way) => Err(cycle(&self.names(&way))),
            None => Ok(()),
        }
    }

    /// Names tasks as their author knows them: by key, else by title.
    fn names(&self, ids: &[TaskId]) -> Vec<String> {
        let named = |id: &TaskId| {
            let planned = self.drafts.iter().find(|planned| planned.id == *id)?;
            let key = planned.draft.key.as_ref().map(|key| format!("@{key}"));
            Some(key.unwrap_or_else(|| format!("“{}”", planned.draft.title)))
        };
        ids.iter()
            .map(|id| named(id).unwrap_or_else(|| id.to_string()))
            .collect()
    }

    /// Refuses what is nested too deep.
    fn refuse_nesting(&self, tasks: &dyn Tasks) -> Result<()> {
        let new = || self.drafts.iter().filter(|planned| planned.is_new);
        let parents: HashMap<TaskId, Option<TaskId>> =
            new().map(|planned| (planned.id, planned.parent)).collect();
        let above = |id| {
            parents
                .get(&id)
                .map_or_else(|| tasks.parent(id), |above| Ok(*above))
        };
        for planned in new() {
            if depth(planned.id, above)? > DEPTH_MAX {
                return Err(too_deep(&self.names(&[planned.id]).join("")));
            }
        }
        Ok(())
    }

    fn put(self, transaction: &mut dyn Transaction, now: &str, by: &str) -> Result<Vec<Added>> {
        let mut added = Vec::with_capacity(self.drafts.len());
        for planned in self.drafts {
            if !planned.is_new {
                added.push(Added {
                    task: require(transaction, planned.id)?,
                    created: false,
                });
                continue;
            }
            let task = planned.into_task(now, by);
            transaction.put(&task)?;
            added.push(Added {
                task,
                created: true,
            });
        }
        Ok(added)
    }
}

impl Planned {
    fn into_task(self, now: &str, by: &str) -> Task {
        let draft = self.draft;
        let note = |text| Note {
            at: now.to_string(),
            by: by.to_string(),
            text,
        };
        Task {
            id: self.id,
            title: draft.title,
            description: draft.description,
            kind: draft.kind.unwrap_or_default(),
            status: Status::Pending,
            parent: self.parent,
            depends: self.depends,
            labels: draft.labels,
            priority: draft.priority.unwrap_or(Priority::Medium),
            phase: draft.phase,
            size: draft.size,
            files: draft.files,
            acceptance: draft.acceptance,
            deliverables: draft.deliverables,
            notes: draft.notes.into_iter().map(note).collect(),
            assigned_agent: draft.assigned_agent,
            due: draft.due,
            estimate: draft.estimate,
            feature: draft.feature,
            key: draft.key,
            extra: serde_json::Map::new(),
            created_at: now.to_string(),
            updated_at: now.to_string(),
            started_at: None,
            completed_at: None,
            cancelled_at: None,
            archived_at: None,
        }
    }
}

fn name(reference: &Reference) -> String {
    match reference {
        Reference::Id(id) => id.to_string(),
        Reference::Key(key) => format!("@{key}"),
    }
}

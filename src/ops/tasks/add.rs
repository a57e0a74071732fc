//! Adding tasks, one or many: all of them or none. Files of tasks are read in `batch`.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::Serialize;

use super::fence::Caller;
use super::read::warn_of_new_type;
use super::run_agents::refuse_other;
use super::waits::warn_of_closed_parent;
use super::{DEPTH_MAX, cycle, depth, exists, not_found, too_deep, waits_for};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::agents::check_assignable;
use crate::ops::trust::{Item, list_untrusted_given};
use crate::ops::{Context, require};
use crate::store::{Tasks, Transaction};
use crate::task::Task;
use crate::task::draft::Reference;
use crate::task::fields::Draft;
use crate::task::graph::circle;
use crate::task::rules::refuse_blank;

/// The result of adding one draft.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Added {
    pub(crate) task: Task,
    /// False when its key was known and the task was left as it is.
    pub(crate) created: bool,
}

/// Maximum number of tasks that the reply to a batch lists.
pub(crate) const TOLD_MAX: usize = 100;

/// The result of adding many drafts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct AddedMany {
    /// How many drafts there were.
    pub(crate) total: usize,
    /// How many tasks are new. They have their ids in the order of the drafts.
    pub(crate) created: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<TaskId>,
    /// Each of them; left out when there are more than [`TOLD_MAX`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<Vec<Added>>,
}

/// Adds tasks. Drafts may refer to each other by `@key`, in any order. A draft whose key is known
/// adds nothing and yields the task that has it.
pub(crate) fn add(context: &mut Context, drafts: Vec<Draft>) -> Result<Vec<Added>> {
    let plans: Vec<Plan> = drafts
        .into_iter()
        .map(|draft| Plan::new(draft, None))
        .collect::<Result<_>>()?;
    let mut added = Vec::with_capacity(plans.len());
    add_each(context, plans, |one| added.push(one))?;
    Ok(added)
}

/// Adds one task, and trusts the commands that the caller gave as criteria.
pub(crate) fn add_one(context: &mut Context, draft: Draft) -> Result<Added> {
    refuse_blank(&[
        ("acceptance", &draft.acceptance),
        ("file", &draft.files),
        ("deliverable", &draft.deliverables),
        ("label", &draft.labels),
    ])?;
    check_assignable(context, draft.assigned_agent.as_deref())?;
    let lines = draft.acceptance.clone();
    list_untrusted_given(context, Item::criteria(TaskId(0), &lines))?;
    let added = add(context, vec![draft])?.pop();
    let added = added.ok_or_else(|| Error::new(Code::Internal, "no task was added"))?;
    let id = added.task.id;
    if added.created {
        let warnings = context.read(|tasks| {
            let closed = warn_of_closed_parent(tasks, &added.task)?;
            Ok(closed
                .into_iter()
                .chain(warn_of_new_type(tasks, &added.task)?)
                .collect::<Vec<_>>())
        })?;
        context.notes.warn(warnings);
        let commands = list_untrusted_given(context, Item::criteria(id, &lines))?;
        context.trust_given(&commands);
    } else {
        let key = added.task.key.as_deref().unwrap_or_default();
        let known = format!("{id} has the key `{key}` already; nothing was added");
        context.move_warnings(&mut vec![known]);
    }
    Ok(added)
}

/// Adds tasks as [`add`] does, and lists only a small number of them.
pub(crate) fn add_batch(context: &mut Context, plans: Vec<Plan>) -> Result<AddedMany> {
    let is_short = plans.len() <= TOLD_MAX;
    let mut many = AddedMany {
        total: plans.len(),
        created: 0,
        first: None,
        last: None,
        tasks: is_short.then(Vec::new),
    };
    add_each(context, plans, |one| many.count(one))?;
    Ok(many)
}

fn add_each(context: &mut Context, plans: Vec<Plan>, told: impl FnMut(Added)) -> Result<()> {
    let clock = context.surroundings.clock;
    let by = context.surroundings.actor.clone();
    let keys = HashMap::default();
    let caller = Caller::without_task(context);
    context.write(|transaction| {
        let mut batch = Batch { plans, keys };
        batch.assign_ids(transaction, &clock, &by)?;
        batch.resolve_references(transaction)?;
        for parent in batch.plans.iter().filter_map(|plan| plan.task.parent) {
            refuse_other(transaction, parent, &caller)?;
            caller.refuse_replaced(transaction, parent)?;
        }
        batch.refuse_circles(transaction)?;
        batch.refuse_nesting(transaction)?;
        batch.insert_all(transaction, told)
    })
}

impl AddedMany {
    fn count(&mut self, one: Added) {
        if one.created {
            self.created += 1;
            self.first = self.first.or(Some(one.task.id));
            self.last = Some(one.task.id);
        }
        if let Some(tasks) = &mut self.tasks {
            tasks.push(one);
        }
    }
}

/// Tasks that are added together.
struct Batch {
    plans: Vec<Plan>,
    keys: HashMap<String, TaskId, RandomState>,
}

/// A draft as a new task, or as the task that has its key.
pub(crate) struct Plan {
    pub(crate) task: Task,
    is_new: bool,
    parent: Option<Reference>,
    depends: Vec<Reference>,
    line: Option<usize>,
}

impl Batch {
    /// Sets the id of each task, which is that of its key or a new one, its times, and the author of its notes.
    fn assign_ids(
        &mut self,
        transaction: &mut dyn Transaction,
        clock: &Clock,
        by: &str,
    ) -> Result<()> {
        let now = clock.timestamp();
        for at in 0..self.plans.len() {
            let key = self.plans[at].task.key.clone();
            let known = match &key {
                Some(key) if self.keys.contains_key(key) => {
                    let own = self.plans.iter();
                    let own = own.filter(|plan| plan.task.key.as_ref() == Some(key));
                    let lines = own.filter_map(|plan| plan.line).collect();
                    return Err(
                        error!(BatchInvalid, "two lines have the key `{key}`").at_lines(lines)
                    );
                }
                Some(key) => transaction.task_by_key(key)?,
                None => None,
            };
            let id = match known {
                Some(id) => id,
                None => transaction.next_id()?,
            };
            self.keys.extend(key.map(|key| (key, id)));
            let Plan { task, is_new, .. } = &mut self.plans[at];
            (task.id, *is_new) = (id, known.is_none());
            task.uid = id::new_uid(clock, id, &task.title);
            (task.created_at, task.updated_at) = (now.clone(), now.clone());
            for note in &mut task.notes {
                (note.at, note.by) = (now.clone(), by.to_string());
            }
        }
        Ok(())
    }

    fn resolve_references(&mut self, tasks: &dyn Tasks) -> Result<()> {
        let own: HashSet<TaskId, RandomState> = self.new_ids().collect();
        let keys = &self.keys;
        let find = |reference: &Reference| -> Result<Option<TaskId>> {
            match reference {
                Reference::Id(id) if own.contains(id) => Ok(Some(*id)),
                Reference::Id(id) => Ok(exists(tasks, *id)?.then_some(*id)),
                Reference::Key(key) => match keys.get(key) {
                    Some(id) => Ok(Some(*id)),
                    None => tasks.task_by_key(key),
                },
            }
        };
        let is_batch = self.plans.len() > 1;
        for plan in &mut self.plans {
            plan.resolve_references(tasks, find).map_err(|mut error| {
                if is_batch {
                    error.message = format!("{}: {}", plan.name(), error.message);
                }
                error.at_lines(plan.line.into_iter().collect())
            })?;
        }
        Ok(())
    }

    fn new_ids(&self) -> impl Iterator<Item = TaskId> {
        self.new_plans().map(|plan| plan.task.id)
    }

    fn new_plans(&self) -> impl Iterator<Item = &Plan> {
        self.plans.iter().filter(|plan| plan.is_new)
    }

    /// Refuses circles through the new tasks. An older task can only wait for a new one that is a part of it.
    fn refuse_circles(&self, tasks: &dyn Tasks) -> Result<()> {
        let mut waits: HashMap<TaskId, Vec<TaskId>, RandomState> = HashMap::default();
        for plan in self.new_plans() {
            let task = &plan.task;
            waits.entry(task.id).or_default().extend(&task.depends);
            if let Some(parent) = task.parent {
                waits.entry(parent).or_default().push(task.id);
            }
        }
        let own: HashSet<TaskId, RandomState> = self.new_ids().collect();
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
            Some(way) => Err(cycle(&self.names(&way)).at_lines(self.lines(&way))),
            None => Ok(()),
        }
    }

    fn lines(&self, ids: &[TaskId]) -> Vec<usize> {
        let wanted: HashSet<&TaskId> = ids.iter().collect();
        let own = self.plans.iter();
        let own = own.filter(|plan| wanted.contains(&plan.task.id));
        own.filter_map(|plan| plan.line).collect()
    }

    /// Names tasks as their author knows them: by key, else by title.
    fn names(&self, ids: &[TaskId]) -> Vec<String> {
        let wanted: HashSet<&TaskId> = ids.iter().collect();
        let own = self.plans.iter();
        let own = own.filter(|plan| wanted.contains(&plan.task.id));
        let names: HashMap<TaskId, String> = own.map(|plan| (plan.task.id, plan.name())).collect();
        let name = |id: &TaskId| names.get(id).cloned().unwrap_or_else(|| id.to_string());
        ids.iter().map(name).collect()
    }

    fn refuse_nesting(&self, tasks: &dyn Tasks) -> Result<()> {
        let parents: HashMap<TaskId, Option<TaskId>, RandomState> = self
            .new_plans()
            .map(|plan| (plan.task.id, plan.task.parent))
            .collect();
        let above = |id| {
            parents
                .get(&id)
                .map_or_else(|| tasks.parent(id), |above| Ok(*above))
        };
        for plan in self.new_plans() {
            let id = plan.task.id;
            if depth(id, above)? > DEPTH_MAX {
                let error = too_deep(&self.names(&[id]).join(""));
                return Err(error.at_lines(self.lines(&[id])));
            }
        }
        Ok(())
    }

    fn insert_all(
        self,
        transaction: &mut dyn Transaction,
        mut told: impl FnMut(Added),
    ) -> Result<()> {
        for plan in self.plans {
            let created = plan.is_new;
            let task = if created {
                transaction.insert(&plan.task)?;
                plan.task
            } else {
                require(transaction, plan.task.id)?
            };
            told(Added { task, created });
        }
        Ok(())
    }
}

impl Plan {
    pub(super) fn new(mut draft: Draft, line: Option<usize>) -> Result<Plan> {
        Ok(Plan {
            parent: draft.parent.take(),
            depends: std::mem::take(&mut draft.depends),
            task: draft.into_task()?,
            is_new: true,
            line,
        })
    }

    fn name(&self) -> String {
        let key = self.task.key.as_ref().map(|key| format!("@{key}"));
        key.unwrap_or_else(|| format!("“{}”", self.task.title))
    }

    fn resolve_references(
        &mut self,
        tasks: &dyn Tasks,
        find: impl Fn(&Reference) -> Result<Option<TaskId>>,
    ) -> Result<()> {
        if let Some(parent) = &self.parent {
            self.task.parent = Some(
                find(parent)?
                    .ok_or_else(|| not_found(tasks, Code::ParentNotFound, &name(parent)))?,
            );
        }
        for reference in &self.depends {
            let id = find(reference)?
                .ok_or_else(|| not_found(tasks, Code::DependencyNotFound, &name(reference)))?;
            if !self.task.depends.contains(&id) {
                self.task.depends.push(id);
            }
        }
        Ok(())
    }
}

fn name(reference: &Reference) -> String {
    match reference {
        Reference::Id(id) => id.to_string(),
        Reference::Key(key) => format!("@{key}"),
    }
}

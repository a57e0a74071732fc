//! Reading tasks: one, many, by words, with their neighbors.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::graph::problems_around;
use super::request::One;
use crate::claim::Claim;
use crate::error::{Code, Error, Result, nearest};
use crate::id::TaskId;
use crate::ops::agents::find_assigned;
use crate::ops::{Context, require};
use crate::store::{Archived, Availability, Filter, Page, Transaction, missing};
use crate::task::graph::{Missing, Problem};
use crate::task::{Task, TaskType, TaskView};

/// Maximum number of labels and types in a filter.
const FILTER_MAX: usize = 100;
/// Maximum number of problems in the warnings of a reply.
const PROBLEMS_SHOWN: usize = 5;

/// The claim of a task that somebody holds.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct HeldClaim {
    #[serde(flatten)]
    pub(crate) claim: Claim,
    /// True when its lease is over, so that anybody may take the task.
    pub(crate) expired: bool,
}

impl HeldClaim {
    /// Makes the claim of a task that somebody holds.
    pub(crate) fn new(claim: Claim, now: &str) -> Option<HeldClaim> {
        let expired = claim.is_expired(now);
        let is_held = claim.holder.is_some();
        is_held.then_some(HeldClaim { claim, expired })
    }
}

/// The dependencies and dependents of a task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Dependencies {
    pub(crate) task: TaskId,
    /// True when it can start now.
    pub(crate) ready: bool,
    #[serde(flatten)]
    pub(crate) links: Links<TaskView>,
}

/// The neighbors of a task in the graph; `T` shows each.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Links<T> {
    pub(crate) depends: Vec<T>,
    /// Dependencies that lead to no task.
    pub(crate) missing: Vec<Missing>,
    pub(crate) dependents: Vec<T>,
    /// Tasks that can start once it is done, and not before.
    pub(crate) unblocks: Vec<TaskId>,
    /// Why the task, or one that it waits for, can never start.
    pub(crate) problems: Vec<Problem>,
}

impl<T> Links<T> {
    pub(in crate::ops) fn read(
        tasks: &dyn Transaction,
        task: &Task,
        show: impl Fn(&[TaskId]) -> Result<Vec<T>>,
    ) -> Result<Links<T>> {
        Ok(Links {
            depends: show(&task.depends)?,
            missing: missing(task),
            dependents: show(&tasks.dependents(task.id)?)?,
            unblocks: tasks.list_unblocked_by(task.id)?,
            problems: problems_around(tasks, task.id)?,
        })
    }
}

/// A row of the tree of tasks, in the order in which a tree is read.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct TreeRow {
    /// Levels above it.
    pub(crate) depth: usize,
    #[serde(flatten)]
    pub(crate) listed: ListedTask,
}

/// Tasks and how many there are in all.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    pub(crate) tasks: Vec<ListedTask>,
    /// How many fit, without limit and offset.
    pub(crate) total: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct ListedTask {
    #[serde(flatten)]
    pub(crate) task: Task,
    #[serde(flatten)]
    pub(crate) availability: Availability,
}

/// Adds who can have the tasks of a page, or has them.
pub(crate) fn add_availability(context: &mut Context, page: Page) -> Result<Listed> {
    let mut ids: Vec<TaskId> = page.tasks.iter().map(|task| task.id).collect();
    ids.sort_unstable();
    let mut known = context.read(|tasks| tasks.availability(&ids))?;
    let found = page.tasks.into_iter().map(|task| ListedTask {
        availability: known.remove(&task.id).unwrap_or_default(),
        task,
    });
    Ok(Listed {
        tasks: found.collect(),
        total: page.total,
    })
}

/// Lists tasks; those with certain words where a request has some.
pub(crate) fn list_or_find(context: &mut Context, mut request: Filter) -> Result<Listed> {
    let words = request.q.take().filter(|words| !words.trim().is_empty());
    let page = match words {
        Some(words) => {
            let limit = request.limit.unwrap_or(u32::MAX);
            find(context, &words, request.archived, limit)?
        }
        None => {
            request.agent = find_assigned(context, request.agent)?;
            list(context, &request)?
        }
    };
    add_availability(context, page)
}

/// Warns of problems that keep tasks from ever starting.
pub(in crate::ops) fn warn_of_problems(context: &mut Context, problems: &[Problem]) {
    let shown = problems.iter().take(PROBLEMS_SHOWN);
    let warnings = shown.map(|one| format!("{}; fix it with `{}`", one.message, one.fix));
    context.notes.warn(warnings);
    let more = problems.len().saturating_sub(PROBLEMS_SHOWN);
    if more > 0 {
        let warning = format!("{more} more problems: see `cleo orchestrator analyze`");
        context.notes.warn([warning]);
    }
}

pub(crate) fn list(context: &mut Context, filter: &Filter) -> Result<Page> {
    check_filter(filter)?;
    context.read(|tasks| {
        if let Some(parent) = filter.parent {
            require(tasks, parent)?;
        }
        let page = tasks.list(filter)?;
        if page.total == 0 {
            filter
                .kinds
                .iter()
                .try_for_each(|kind| refuse_misspelt(tasks, kind))?;
        }
        Ok(page)
    })
}

/// Refuses a type that no task has and that is nearly a usual one.
fn refuse_misspelt(tasks: &dyn Transaction, kind: &TaskType) -> Result<()> {
    match find_usual_type(tasks, kind, 0)? {
        Some(near) => Err(error!(InputInvalid, "no task has the type `{kind}`").did_you_mean(near)),
        None => Ok(()),
    }
}

/// Warns of a type that no other task has and that is nearly a usual one: types are free, and decide on the skill.
pub(super) fn warn_of_new_type(tasks: &dyn Transaction, task: &Task) -> Result<Option<String>> {
    let near = find_usual_type(tasks, &task.kind, 1)?;
    Ok(near.map(|near| {
        let (id, kind) = (task.id, &task.kind);
        format!("{id} is the first task of type `{kind}`; for a usual one: cleo update {id} --type {near}")
    }))
}

/// Returns the usual type that is nearly this one, of a type that so many tasks have.
fn find_usual_type(
    tasks: &dyn Transaction,
    kind: &TaskType,
    count: u64,
) -> Result<Option<&'static str>> {
    let near = nearest(kind.as_str(), ["epic", "task", "subtask", "research"]);
    let Some(near) = near.filter(|near| *near != kind.as_str()) else {
        return Ok(None);
    };
    let all = Filter {
        kinds: vec![kind.clone()],
        archived: Archived::Shown,
        limit: Some(1),
        ..Filter::default()
    };
    Ok((tasks.list(&all)?.total == count).then_some(near))
}

fn check_filter(filter: &Filter) -> Result<()> {
    let n_words = filter.labels.len() + filter.kinds.len();
    if n_words <= FILTER_MAX {
        return Ok(());
    }
    let message = format!("the filter has {n_words} labels and types; {FILTER_MAX} are allowed");
    Err(Error::new(Code::InputInvalid, message))
}

/// Finds tasks by words in title and description, best first, after those that were imported under this id.
pub(crate) fn find(
    context: &mut Context,
    words: &str,
    archived: Archived,
    limit: u32,
) -> Result<Page> {
    context.read(|tasks| {
        let by_origin = tasks.tasks_by_origin(words.trim())?;
        let mut found = tasks.find(words, archived, limit)?;
        for id in by_origin.iter().rev() {
            let task = match require(tasks, *id) {
                Err(error) if error.code == Code::RowDamaged => continue,
                task => task?,
            };
            let before = found.tasks.len();
            found.tasks.retain(|task| task.id != *id);
            found.total += u64::from(before == found.tasks.len());
            found.tasks.insert(0, task);
        }
        found.tasks.truncate(limit as usize);
        Ok(found)
    })
}

pub(crate) fn tree(
    context: &mut Context,
    root: Option<TaskId>,
    filter: &Filter,
) -> Result<Vec<TreeRow>> {
    check_filter(filter)?;
    let found = context.read(|tasks| {
        let mut found = tasks.list(filter)?;
        if let Some(root) = root {
            require(tasks, root)?;
            let below: HashSet<TaskId> = tasks.nodes(Some(root))?.iter().map(|n| n.id).collect();
            (found.tasks).retain(|task| task.id == root || below.contains(&task.id));
        }
        Ok(found)
    })?;
    Ok(arrange(add_availability(context, found)?.tasks))
}

/// Sorts tasks as a tree. A task whose parent is not among them is at the top.
fn arrange(tasks: Vec<ListedTask>) -> Vec<TreeRow> {
    let present: HashSet<TaskId> = tasks.iter().map(|one| one.task.id).collect();
    let mut below: HashMap<Option<TaskId>, Vec<ListedTask>> = HashMap::new();
    for one in tasks {
        let parent = one.task.parent.filter(|parent| present.contains(parent));
        below.entry(parent).or_default().push(one);
    }
    let mut rows = Vec::new();
    let mut stack: Vec<(usize, ListedTask)> = Vec::new();
    push(&mut stack, below.remove(&None), 0);
    while let Some((depth, listed)) = stack.pop() {
        push(&mut stack, below.remove(&Some(listed.task.id)), depth + 1);
        rows.push(TreeRow { depth, listed });
    }
    rows
}

fn push(stack: &mut Vec<(usize, ListedTask)>, tasks: Option<Vec<ListedTask>>, depth: usize) {
    let tasks = tasks.unwrap_or_default().into_iter().rev();
    stack.extend(tasks.map(|task| (depth, task)));
}

/// Reads the neighbors of a task, and warns of problems that keep it from ever starting.
pub(crate) fn deps(context: &mut Context, which: One) -> Result<Dependencies> {
    let id = which.task;
    let found = context.read(|tasks| {
        let task = require(tasks, id)?;
        Ok(Dependencies {
            task: id,
            ready: tasks.is_ready(id)?,
            links: Links::read(tasks, &task, |ids| neighbors(tasks, ids))?,
        })
    })?;
    warn_of_problems(context, &found.links.problems);
    Ok(found)
}

pub(super) fn neighbors(tasks: &dyn Transaction, ids: &[TaskId]) -> Result<Vec<TaskView>> {
    Ok(tasks
        .readable(ids)?
        .into_iter()
        .map(TaskView::from)
        .collect())
}

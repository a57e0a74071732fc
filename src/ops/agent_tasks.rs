//! The tasks of cleo as the multi-agent specification sees them: with its words for status and
//! priority, an assigned agent, a due date and an estimate. They are the same tasks under the same
//! rules; a task that was spawned must verify before it is done.

mod words;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::complete::{Complete, complete};
use super::tasks::{self, Cancel, ListField, Patch};
use super::{Context, Surroundings, agents, require};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::score::normalize;
use crate::store::Filter;
use crate::task::draft::Draft;
use crate::task::{Status, Task};

pub(crate) use words::{PRIORITIES, STATUSES, priority, status};
use words::{priority_word, status_word};

/// Longest title, in characters.
pub(crate) const TITLE_MAX: usize = 200;

/// A task in the words of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct AgentTask {
    /// Id of the task.
    pub(crate) id: TaskId,
    /// What is to be done, in one line.
    pub(crate) title: String,
    /// Full text.
    pub(crate) description: String,
    /// todo, doing, review, done, paused or cancelled. A blocked task is paused.
    pub(crate) status: &'static str,
    /// low, medium, high or urgent.
    pub(crate) priority: &'static str,
    /// The agent that it is assigned to.
    pub(crate) assigned_to: Option<String>,
    /// When it is due, RFC 3339 in UTC, like all times.
    pub(crate) due_date: Option<String>,
    /// Estimated hours.
    pub(crate) estimated_hours: Option<f64>,
    /// Labels.
    pub(crate) tags: Vec<String>,
    /// Feature that it belongs to.
    pub(crate) feature: Option<String>,
    /// Created.
    pub(crate) created_at: String,
    /// Last changed.
    pub(crate) updated_at: String,
    /// First moved to doing.
    pub(crate) started_at: Option<String>,
    /// Done.
    pub(crate) completed_at: Option<String>,
}

impl From<Task> for AgentTask {
    fn from(task: Task) -> AgentTask {
        AgentTask {
            id: task.id,
            title: task.title,
            description: task.description,
            status: status_word(task.status),
            priority: priority_word(task.priority),
            assigned_to: task.assigned_agent,
            due_date: task.due,
            estimated_hours: task.estimate,
            tags: task.labels,
            feature: task.feature,
            created_at: task.created_at,
            updated_at: task.updated_at,
            started_at: task.started_at,
            completed_at: task.completed_at,
        }
    }
}

/// A task after a command.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) task: AgentTask,
    /// What the caller should know.
    pub(crate) warnings: Vec<String>,
}

/// Tasks.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) tasks: Vec<AgentTask>,
    /// How many there are without the limit.
    pub(crate) total: u64,
}

/// Numbers of tasks.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    /// All that are not archived.
    pub(crate) total: u64,
    /// By status; every status is there.
    pub(crate) by_status: BTreeMap<&'static str, u64>,
    /// By priority; every priority is there.
    pub(crate) by_priority: BTreeMap<&'static str, u64>,
    /// Open and due before now.
    pub(crate) overdue: u64,
    /// Share that is done, from 0 to 1.
    pub(crate) completion_rate: f64,
}

/// Adds a task; it can be assigned to an agent that a user sees, without a user to any.
pub(crate) fn create(
    context: &mut Context,
    status: Option<Status>,
    draft: Draft,
    user: Option<&str>,
) -> Result<Kept> {
    check_title(&draft.title)?;
    if let Some(other) = status.filter(|status| *status != Status::Pending) {
        let other = status_word(other);
        let message = format!("status is {other}; a new task is todo, and is moved then");
        return Err(Error::new(Code::InputInvalid, message));
    }
    require_agent(context, draft.assigned_agent.as_deref(), user)?;
    let added = tasks::add(context, vec![draft])?.into_iter().next();
    let added = added.ok_or_else(|| Error::new(Code::Internal, "no task was added"))?;
    Ok(Kept {
        task: added.task.into(),
        warnings: Vec::new(),
    })
}

/// Changes a task and moves it, or neither; it can be assigned as a new one can.
pub(crate) fn update(
    context: &mut Context,
    id: TaskId,
    status: Option<Status>,
    patch: Patch,
    user: Option<&str>,
) -> Result<Kept> {
    patch.title.as_deref().map(check_title).transpose()?;
    require_agent(context, patch.assigned_agent.as_deref(), user)?;
    if status.is_none() && patch.is_empty() {
        let message = format!("nothing to change in {id}: no field was given");
        return Err(Error::new(Code::Usage, message));
    }
    // A move has rules of its own and may be refused, so the fields are tried before it.
    let mut task = tasks::rehearse(context, id, patch.clone())?;
    let mut warnings = Vec::new();
    if let Some(status) = status {
        (task, warnings) = moved(context, id, status)?;
    }
    if !patch.is_empty() {
        let (kept, told) = tasks::change(context, id, patch)?;
        task = kept;
        warnings.extend(told);
    }
    Ok(Kept {
        task: task.into(),
        warnings,
    })
}

pub(crate) fn release(surroundings: &Surroundings, agent: &str) -> Result<Vec<TaskId>> {
    let mut context = Context::open(surroundings.clone())?;
    let filter = Filter {
        agent: Some(agent.to_string()),
        ..Filter::default()
    };
    let tasks = tasks::list(&mut context, &filter)?.tasks;
    let tasks: Vec<TaskId> = tasks.into_iter().map(|task| task.id).collect();
    for id in &tasks {
        let clear = vec![ListField::AssignedAgent];
        let patch = Patch {
            clear,
            ..Patch::default()
        };
        tasks::change(&mut context, *id, patch)?;
    }
    Ok(tasks)
}

fn moved(context: &mut Context, id: TaskId, status: Status) -> Result<(Task, Vec<String>)> {
    let task = context.read(|tasks| require(tasks, id))?;
    let moved = match status {
        _ if task.status == status => return Ok((task, Vec::new())),
        Status::Done => complete(context, Complete::from(id))?,
        Status::Cancelled => tasks::cancel(context, Cancel::from(id))?,
        _ => {
            if task.is_closed() {
                tasks::reopen(context, id)?;
            }
            let patch = Patch {
                status: Some(status),
                ..Patch::default()
            };
            return tasks::change(context, id, patch);
        }
    };
    Ok((moved.task, std::mem::take(&mut context.notes.warnings)))
}

/// Lists tasks; among the statuses of a filter, paused means blocked too.
fn list(context: &mut Context, mut filter: Filter) -> Result<Listed> {
    if filter.statuses.contains(&Status::Paused) {
        filter.statuses.push(Status::Blocked);
    }
    let listed = tasks::list(context, &filter)?;
    Ok(Listed {
        tasks: listed.tasks.into_iter().map(AgentTask::from).collect(),
        total: listed.total,
    })
}

/// Which tasks a board shows, besides what a [`Filter`] says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Board {
    /// With all of these words in title or description, without regard to case.
    pub(crate) words: Option<String>,
    /// Without a due date.
    pub(crate) undated: bool,
    /// Assigned to an agent, or to none.
    pub(crate) assigned: Option<bool>,
}

/// Most tasks that a board puts in order; more come by id.
const ORDERED_MAX: u32 = 5_000;

/// Lists tasks as a board shows them: the most urgent first, then what is due first.
pub(crate) fn board(context: &mut Context, filter: Filter, board: &Board) -> Result<Listed> {
    let (limit, offset) = (filter.limit.unwrap_or(u32::MAX), filter.offset);
    let all = Filter {
        limit: Some(ORDERED_MAX),
        offset: 0,
        ..filter.clone()
    };
    let mut listed = list(context, all)?;
    let is_whole = listed.tasks.len() as u64 == listed.total;
    if !is_whole && *board == Board::default() {
        return list(context, filter);
    }
    if !is_whole {
        let all = Filter {
            limit: None,
            offset: 0,
            ..filter
        };
        listed = list(context, all)?;
    }
    let words = board.words.as_deref().map(normalize);
    let words: Vec<&str> = words
        .iter()
        .flat_map(|words| words.split_whitespace())
        .collect();
    listed.tasks.retain(|task| {
        let text = normalize(&format!("{} {}", task.title, task.description));
        words.iter().all(|word| text.contains(word))
            && (!board.undated || task.due_date.is_none())
            && board
                .assigned
                .is_none_or(|assigned| assigned == task.assigned_to.is_some())
    });
    listed.tasks.sort_by_key(|task| {
        let urgency = PRIORITIES.iter().position(|word| *word == task.priority);
        let due = task.due_date.clone();
        (Reverse(urgency), due.is_none(), due, task.id)
    });
    listed.total = listed.tasks.len() as u64;
    let shown = listed.tasks.into_iter().skip(offset as usize);
    listed.tasks = shown.take(limit as usize).collect();
    Ok(listed)
}

pub(crate) fn show(context: &mut Context, id: TaskId) -> Result<Kept> {
    let task = context.read(|tasks| require(tasks, id))?.into();
    Ok(Kept {
        task,
        warnings: Vec::new(),
    })
}

pub(crate) fn stats(context: &mut Context, agent: Option<String>) -> Result<Stats> {
    let now = context.now();
    let filter = Filter {
        agent,
        ..Filter::default()
    };
    let tallies = context.read(|tasks| tasks.tally(&filter, &now))?;
    let mut stats = Stats {
        by_status: crate::build_map(STATUSES.map(|word| (word, 0))),
        by_priority: crate::build_map(PRIORITIES.map(|word| (word, 0))),
        ..Stats::default()
    };
    for tally in tallies {
        stats.total += tally.tasks;
        stats.overdue += tally.overdue;
        *stats
            .by_status
            .entry(status_word(tally.status))
            .or_default() += tally.tasks;
        let urgency = priority_word(tally.priority);
        *stats.by_priority.entry(urgency).or_default() += tally.tasks;
    }
    let done = stats.by_status.get("done").copied().unwrap_or(0);
    stats.completion_rate = done as f64 / stats.total.max(1) as f64;
    Ok(stats)
}

fn check_title(title: &str) -> Result<()> {
    let length = title.trim().chars().count();
    if length <= TITLE_MAX {
        return Ok(());
    }
    let message = format!("the title has {length} characters; {TITLE_MAX} are allowed");
    Err(Error::new(Code::TextTooLong, message))
}

/// Refuses an agent that nobody knows, or that the user does not see: the specification has `assigned_to`
/// refer to an agent.
/// Refuses an agent that the caller may not see and one that is unknown in the same way, so that the two look alike.
/// A caller who sees all may name any, as on the command line.
pub(crate) fn check_seen(context: &Context, agent: Option<&str>) -> Result<()> {
    match &context.surroundings.rights.user {
        Some(user) => require_agent(context, agent, Some(user)),
        None => Ok(()),
    }
}

pub(crate) fn require_agent(
    context: &Context,
    agent: Option<&str>,
    user: Option<&str>,
) -> Result<()> {
    let Some(id) = agent else { return Ok(()) };
    let known = agents::known_in(&context.workspace)?.seen_by(user);
    known.require(id).map(|_| ())
}

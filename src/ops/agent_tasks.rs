//! Tasks in the words of the multi-agent specification. They are the same tasks under the same rules: one that was
//! spawned must verify before it is done.

use std::collections::BTreeMap;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use super::proof::{Complete, complete};
use super::tasks::{self, Cancel, One, Patch};
use super::{Context, agents, require};
use crate::agent::draft::word;
use crate::clock::{parse_moment, timestamp};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::{Filter, Transaction};
use crate::task::agent_task::{AgentTask, AgentTaskPriority, AgentTaskStatus, name_field};
use crate::task::fields::{ListField, deserialize_given};
use crate::task::rules::refuse_blank;
use crate::task::{Status, Task};

/// Longest title, in characters.
const TITLE_MAX: usize = 200;

/// A task as it is, or as a change made it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Kept {
    task: AgentTask,
}

impl Kept {
    fn read(context: &mut Context, task: Task) -> Result<Kept> {
        let task = context.read(|log| view(log, task))?;
        Ok(Kept { task })
    }
}

/// Makes the view of a task, with its author from the log.
fn view(log: &dyn Transaction, task: Task) -> Result<AgentTask> {
    let author = log.changes(0, Some(task.id), 1)?.pop().map(|it| it.by);
    Ok(AgentTask::new(task, author))
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    tasks: Vec<AgentTask>,
    /// How many there are without the limit.
    total: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Counted {
    stats: Stats,
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Stats {
    /// All that are not archived.
    total: u64,
    /// By status; every status is there.
    by_status: BTreeMap<&'static str, u64>,
    /// By priority; every priority is there.
    by_priority: BTreeMap<&'static str, u64>,
    /// Open and due before now.
    overdue: u64,
    /// Share that is done, from 0 to 1.
    completion_rate: f64,
}

/// A field that is left out, null, or given.
type Given<T> = Option<Option<T>>;

fn moment<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Given<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let read = text.map(|text| {
        let message = "a date such as 2026-12-31 or an RFC 3339 time is needed";
        parse_moment(&text).ok_or_else(|| serde::de::Error::custom(message))
    });
    read.transpose().map(Some)
}

/// Reads a word in any letter case.
fn read_word<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    from: D,
) -> std::result::Result<Given<T>, D::Error> {
    word(from).map(Some)
}

/// Fields of a task. Null empties a field of a task that is there, and is nothing of a new one.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[schemars(extend("required" = ["title"]))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Fields {
    /// The task that is changed.
    id: Option<TaskId>,
    /// The work, in one line of at most 200 characters.
    #[serde(deserialize_with = "deserialize_given")]
    #[schemars(with = "String", transform = crate::task::schema::line(TITLE_MAX))]
    title: Given<String>,
    #[serde(deserialize_with = "deserialize_given")]
    #[schemars(with = "Option<String>", transform = crate::task::schema::text)]
    description: Given<String>,
    /// A new one is todo.
    #[serde(deserialize_with = "read_word")]
    #[schemars(with = "AgentTaskStatus")]
    status: Given<AgentTaskStatus>,
    #[serde(deserialize_with = "read_word")]
    #[schemars(with = "AgentTaskPriority")]
    priority: Given<AgentTaskPriority>,
    #[serde(deserialize_with = "deserialize_given", alias = "assignedTo")]
    #[schemars(with = "Option<String>", transform = crate::task::schema::line(100))]
    assigned_to: Given<String>,
    /// A date or time, RFC 3339.
    #[serde(deserialize_with = "moment", alias = "dueDate")]
    #[schemars(with = "Option<String>", transform = crate::task::schema::moment)]
    due_date: Given<String>,
    #[serde(deserialize_with = "deserialize_given", alias = "estimatedHours")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 999.99), extend("multipleOf" = 0.01))]
    estimated_hours: Given<f64>,
    #[serde(deserialize_with = "deserialize_given")]
    #[schemars(with = "Option<Vec<String>>", transform = crate::task::schema::words)]
    tags: Given<Vec<String>>,
    #[serde(deserialize_with = "deserialize_given")]
    #[schemars(with = "Option<String>", transform = crate::task::schema::line(100))]
    feature: Given<String>,
}

/// Fields that only cleo sets.
pub(crate) const OWN: &[&str] = &[
    "id",
    "userId",
    "createdBy",
    "createdAt",
    "updatedAt",
    "startedAt",
    "completedAt",
];

impl Fields {
    /// Refuses invalid fields, and an agent that the caller does not see.
    fn check(&self, context: &Context) -> Result<()> {
        let title = self.title.iter().flatten().next();
        let length = title.map_or(0, |title| title.trim().chars().count());
        if length > TITLE_MAX {
            let message = format!("the title has {length} characters; {TITLE_MAX} are allowed");
            return Err(Error::new(Code::TextTooLong, message));
        }
        if let Some(tags) = self.tags.iter().flatten().next() {
            refuse_blank(&[("tags", tags)])?;
        }
        let is_exact = |hours: f64| (hours * 100.0 - (hours * 100.0).round()).abs() < 1e-6;
        let hours = self.estimated_hours.flatten();
        if let Some(hours) = hours.filter(|hours| !is_exact(*hours)) {
            let message = format!("estimated_hours is {hours}; it has at most two decimals");
            return Err(Error::new(Code::InputInvalid, message).in_field("estimated_hours"));
        }
        let agent = self.assigned_to.iter().flatten().next();
        agents::require_visible(context, agent.map(String::as_str))
    }

    /// Makes a change of it; a status has a way of its own.
    fn into_patch(self) -> Patch {
        let cleared = [
            (ListField::Description, self.description == Some(None)),
            (ListField::AssignedAgent, self.assigned_to == Some(None)),
            (ListField::Due, self.due_date == Some(None)),
            (ListField::Estimate, self.estimated_hours == Some(None)),
            (ListField::Labels, self.tags.is_some()),
            (ListField::Feature, self.feature == Some(None)),
        ];
        let cleared = cleared.into_iter().filter(|(_, is_cleared)| *is_cleared);
        Patch {
            title: self.title.flatten(),
            description: self.description.flatten(),
            priority: self.priority.flatten().map(Into::into),
            assigned_agent: self.assigned_to.flatten(),
            due: self.due_date.flatten(),
            estimate: self.estimated_hours.flatten(),
            labels: self.tags.flatten().unwrap_or_default(),
            feature: self.feature.flatten(),
            clear: cleared.map(|(field, _)| field).collect(),
            ..Patch::default()
        }
    }
}

/// Adds a task; it can be assigned to an agent that the caller sees.
pub(crate) fn create(context: &mut Context, fields: Fields) -> Result<Kept> {
    let other = fields.status.flatten();
    if let Some(other) = other.filter(|status| *status != AgentTaskStatus::Todo) {
        let message = format!("status is {other}; a new task is todo, and is moved then");
        return Err(Error::new(Code::InputInvalid, message));
    }
    fields.check(context)?;
    let draft = tasks::Draft::from(fields.into_patch());
    if draft.title.trim().is_empty() {
        return Err(Error::new(Code::InputInvalid, "title is required"));
    }
    let task = tasks::add_one(context, draft).map_err(name_field)?.task;
    Kept::read(context, task)
}

/// Changes a task and moves it, or neither; it can be assigned as a new one can.
pub(crate) fn update(context: &mut Context, mut fields: Fields) -> Result<Kept> {
    let id = fields.id.unwrap_or_default();
    // An agent that the caller does not see is null for it, and stays when that comes back.
    let assigned = context.read(|tasks| require(tasks, id))?.assigned_agent;
    if fields.assigned_to == Some(None)
        && agents::require_visible(context, assigned.as_deref()).is_err()
    {
        fields.assigned_to = None;
    }
    for (field, is_null) in [
        ("title", fields.title == Some(None)),
        ("status", fields.status == Some(None)),
        ("priority", fields.priority == Some(None)),
    ] {
        if is_null {
            let message = format!("{field} is null, and a task is not without one");
            return Err(Error::new(Code::InputInvalid, message).in_field(field));
        }
    }
    fields.check(context)?;
    let status = fields.status.flatten();
    let patch = fields.into_patch();
    if status.is_none() && patch.is_empty() {
        let message = format!("nothing to change in {id}: no field was given");
        return Err(Error::new(Code::Usage, message));
    }
    // A move has rules of its own and may be refused, so the fields are tried before it.
    let mut task = tasks::change(context, id, patch.clone(), false).map_err(name_field)?;
    if let Some(status) = status {
        task = move_to(context, id, status)?;
    }
    if !patch.is_empty() {
        task = tasks::change(context, id, patch, true)?;
    }
    Kept::read(context, task)
}

fn move_to(context: &mut Context, id: TaskId, status: AgentTaskStatus) -> Result<Task> {
    let task = context.read(|tasks| require(tasks, id))?;
    let moved = match status {
        _ if AgentTaskStatus::from(task.status) == status => return Ok(task),
        AgentTaskStatus::Done => complete(context, Complete::from(id))?,
        AgentTaskStatus::Cancelled => tasks::cancel(context, Cancel::from(id))?,
        _ => {
            if task.is_closed() {
                tasks::reopen(context, id)?;
            }
            let patch = Patch {
                status: Some(status.into()),
                ..Patch::default()
            };
            return tasks::change(context, id, patch, true);
        }
    };
    Ok(moved.task)
}

/// Which tasks to list.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wanted {
    /// Statuses with commas between them.
    status: Vec<AgentTaskStatus>,
    /// Priorities with commas between them.
    priority: Vec<AgentTaskPriority>,
    /// Assigned to this agent.
    agent: Option<String>,
    /// Assigned to any agent, or to none.
    assigned: Option<bool>,
    /// Of this feature.
    feature: Option<String>,
    /// Children of this task.
    parent: Option<TaskId>,
    /// Children of any task, or of none.
    nested: Option<bool>,
    /// When they are due.
    due: Option<Due>,
    /// With these words in title or description.
    q: Option<String>,
    limit: u32,
    /// Number of tasks to skip.
    offset: u32,
}

/// When tasks are due.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Due {
    /// Before now, and open.
    Overdue,
    /// Within 24 hours.
    Today,
    /// Within seven days.
    Week,
    /// Never.
    None,
}

impl Wanted {
    /// Makes the filter of the store; paused means blocked too.
    fn filter(self, context: &Context, now: DateTime<Utc>) -> Result<Filter> {
        let within = |days| {
            let (from, to) = (now, now + TimeDelta::days(days));
            (Some(timestamp(to)), Some(timestamp(from)))
        };
        let (due_before, due_after) = match self.due {
            Some(Due::Overdue) => (Some(timestamp(now)), None),
            Some(Due::Today) => within(1),
            Some(Due::Week) => within(7),
            Some(Due::None) | None => (None, None),
        };
        let mut statuses: Vec<Status> = self.status.into_iter().map(Into::into).collect();
        if self.due == Some(Due::Overdue) && statuses.is_empty() {
            statuses = vec![
                Status::Pending,
                Status::Active,
                Status::Review,
                Status::Paused,
            ];
        }
        if statuses.contains(&Status::Paused) {
            statuses.push(Status::Blocked);
        }
        Ok(Filter {
            statuses,
            priorities: self.priority.into_iter().map(Into::into).collect(),
            agent: agents::find_assigned(context, self.agent)?,
            assigned: self.assigned,
            feature: self.feature,
            parent: self.parent,
            nested: self.nested,
            due_before,
            due_after,
            dated: (self.due == Some(Due::None)).then_some(false),
            words: self.q.unwrap_or_default(),
            urgent_first: true,
            limit: Some(self.limit),
            offset: self.offset,
            ..Filter::default()
        })
    }
}

/// Lists tasks: the most urgent first, then what is due first.
pub(crate) fn list(context: &mut Context, wanted: Wanted) -> Result<Listed> {
    let filter = wanted.filter(context, context.surroundings.clock.now())?;
    let page = tasks::list(context, &filter)?;
    let tasks = page.tasks.into_iter();
    let tasks = context.read(|log| tasks.map(|task| view(log, task)).collect())?;
    Ok(Listed {
        tasks,
        total: page.total,
    })
}

pub(crate) fn show(context: &mut Context, One { task: id }: One) -> Result<Kept> {
    let task = context.read(|tasks| require(tasks, id))?;
    Kept::read(context, task)
}

/// The filter of counted tasks.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whose {
    /// Assigned to this agent.
    agent: Option<String>,
}

pub(crate) fn stats(context: &mut Context, Whose { agent }: Whose) -> Result<Counted> {
    let agent = agents::find_assigned(context, agent)?;
    let now = context.now();
    let filter = Filter {
        agent,
        ..Filter::default()
    };
    let tallies = context.read(|tasks| tasks.tally(&filter, &now))?;
    let statuses = AgentTaskStatus::ALL.iter().map(|one| (one.word(), 0));
    let priorities = AgentTaskPriority::ALL.iter().map(|one| (one.word(), 0));
    let mut stats = Stats {
        by_status: statuses.collect(),
        by_priority: priorities.collect(),
        ..Stats::default()
    };
    for tally in tallies {
        stats.total += tally.tasks;
        stats.overdue += tally.overdue;
        let status = AgentTaskStatus::from(tally.status).word();
        let priority = AgentTaskPriority::from(tally.priority).word();
        *stats.by_status.entry(status).or_default() += tally.tasks;
        *stats.by_priority.entry(priority).or_default() += tally.tasks;
    }
    let done = stats.by_status.get("done").copied().unwrap_or(0);
    stats.completion_rate = done as f64 / stats.total.max(1) as f64;
    Ok(Counted { stats })
}

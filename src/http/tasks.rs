//! Tasks in the words of the multi-agent specification: the tasks of the workspace, under the same rules.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agents::unseen;
use super::assigned;
use super::call::Call;
use super::call::at_most;
use super::extract::{Json, Query};
use super::fault::Shape;
use super::route::Route;
use crate::clock::timestamp;
use crate::error::{Code, Error, Result};
use crate::ops::agent_tasks::{self, AgentTask, Board, Stats};
use crate::ops::tasks::{ListField, Patch};
use crate::store::Filter;
use crate::task::draft::Draft;
use crate::task::{Priority, Status};

/// How many tasks are listed unless told, and at most.
const LIMIT: (u32, u32) = (100, 1_000);

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::post("/api/tasks/create", create)
            .about("Adds a task")
            .takes::<Fields>(),
        Route::get("/api/tasks/stats", stats)
            .about("Counts tasks by status and priority"),
        Route::get("/api/tasks", list)
            .about("Lists tasks, the most urgent first"),
        Route::get("/api/tasks/{id}", show)
            .about("Shows a task"),
        Route::put("/api/tasks/{id}", update)
            .about("Changes a task and moves it, or neither; null empties a field, except title, status and priority")
            .takes::<Fields>(),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("tasks").errors(Shape::Success))
        .collect()
}

/// Leaves out to whom a task is assigned where the caller does not see that agent.
fn masked(mut task: AgentTask, unseen: &impl Fn(&String) -> bool) -> AgentTask {
    task.assigned_to = task.assigned_to.filter(|agent| !unseen(agent));
    task
}

/// Fields of a task.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    /// What is to be done, in one line of at most 200 characters.
    title: Option<String>,
    description: Option<String>,
    /// todo, doing, review, done, paused or cancelled; a new one is todo.
    status: Option<String>,
    /// low, medium, high or urgent.
    priority: Option<String>,
    #[serde(alias = "assignedTo")]
    assigned_to: Option<String>,
    /// A date or time, RFC 3339.
    #[serde(alias = "dueDate")]
    due_date: Option<String>,
    #[serde(alias = "estimatedHours")]
    estimated_hours: Option<f64>,
    tags: Option<Vec<String>>,
    feature: Option<String>,
}

/// Fields that null empties, by both their names.
const EMPTIED: [(&str, &str, ListField); 6] = [
    ("description", "description", ListField::Description),
    ("assigned_to", "assignedTo", ListField::AssignedAgent),
    ("due_date", "dueDate", ListField::Due),
    ("estimated_hours", "estimatedHours", ListField::Estimate),
    ("tags", "tags", ListField::Labels),
    ("feature", "feature", ListField::Feature),
];

/// Columns that only the server says.
const OWN: [&str; 7] = [
    "id",
    "userId",
    "createdBy",
    "createdAt",
    "updatedAt",
    "startedAt",
    "completedAt",
];

impl Fields {
    fn read(call: &Call) -> Result<Fields> {
        let mut fields: Fields = call.filled(&OWN)?;
        check_hours(fields.estimated_hours)?;
        fields.due_date = fields.due_date.map(|due| moment(&due)).transpose()?;
        Ok(fields)
    }

    fn status(&self) -> Result<Option<Status>> {
        self.status.as_deref().map(agent_tasks::status).transpose()
    }

    fn priority(&self) -> Result<Option<Priority>> {
        let word = self.priority.as_deref();
        word.map(agent_tasks::priority).transpose()
    }
}

fn check_kept(call: &Call) -> Result<()> {
    let given: Map<String, Value> = call.body()?;
    let is_null = |name: &&str| given.get(*name).is_some_and(Value::is_null);
    let kept = ["title", "status", "priority"];
    match kept.into_iter().find(is_null) {
        None => Ok(()),
        Some(field) => {
            let message = format!("{field} is null, and a task is not without one");
            Err(Error::new(Code::InputInvalid, message).in_field(field))
        }
    }
}

/// Refuses hours that would not be kept as they are.
fn check_hours(hours: Option<f64>) -> Result<()> {
    let is_kept = |hours: f64| (hours * 100.0 - (hours * 100.0).round()).abs() < 1e-6;
    match hours.filter(|hours| !is_kept(*hours)) {
        None => Ok(()),
        Some(hours) => {
            let message = format!("estimated_hours is {hours}; it has at most two decimals");
            Err(Error::new(Code::InputInvalid, message).in_field("estimated_hours"))
        }
    }
}

fn moment(text: &str) -> Result<String> {
    crate::clock::parse_moment(text).ok_or_else(|| {
        let message = "due_date: a date such as 2026-12-31 or an RFC 3339 time is needed";
        Error::new(Code::InputInvalid, message)
    })
}

/// A task after a change.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Kept {
    success: bool,
    task: AgentTask,
    warnings: Vec<String>,
}

impl Kept {
    fn of(call: &Call, kept: agent_tasks::Kept) -> Result<Kept> {
        Ok(Kept {
            success: true,
            task: masked(kept.task, &unseen(call)?),
            warnings: kept.warnings,
        })
    }
}

fn create(call: &Call) -> Result<Json<Kept, 201>> {
    let fields = Fields::read(call)?;
    let (status, priority) = (fields.status()?, fields.priority()?);
    let draft = Draft {
        title: fields.title.unwrap_or_default(),
        description: fields.description.unwrap_or_default(),
        priority,
        assigned_agent: fields.assigned_to,
        due: fields.due_date,
        estimate: fields.estimated_hours,
        labels: fields.tags.unwrap_or_default(),
        feature: fields.feature,
        ..Draft::default()
    };
    if draft.title.trim().is_empty() {
        return Err(Error::new(Code::InputInvalid, "title is required"));
    }
    let mut context = call.context("agents.tasks.create")?;
    let kept = agent_tasks::create(&mut context, status, draft, call.only())?;
    Ok(Json(Kept::of(call, kept)?))
}

fn update(call: &Call) -> Result<Json<Kept>> {
    check_kept(call)?;
    let (id, fields) = (call.id("id")?, Fields::read(call)?);
    let given: Map<String, Value> = call.body()?;
    let is_null = |name: &str| given.get(name).is_some_and(Value::is_null);
    let emptied = EMPTIED
        .iter()
        .filter(|(one, other, _)| is_null(one) || is_null(other));
    let mut clear: Vec<ListField> = emptied.map(|(.., field)| *field).collect();
    if fields.tags.is_some() {
        clear.push(ListField::Labels);
    }
    let (status, priority) = (fields.status()?, fields.priority()?);
    let patch = Patch {
        title: fields.title,
        description: fields.description,
        priority,
        assigned_agent: fields.assigned_to,
        due: fields.due_date,
        estimate: fields.estimated_hours,
        add_labels: fields.tags.unwrap_or_default(),
        feature: fields.feature,
        clear,
        ..Patch::default()
    };
    let mut context = call.context("agents.tasks.update")?;
    let kept = agent_tasks::update(&mut context, id, status, patch, call.only())?;
    Ok(Json(Kept::of(call, kept)?))
}

fn show(call: &Call) -> Result<Json<Kept>> {
    let id = call.id("id")?;
    let mut context = call.context("agents.tasks.show")?;
    Ok(Json(Kept::of(call, agent_tasks::show(&mut context, id)?)?))
}

/// Which tasks to list.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    /// Statuses with commas between them.
    status: Option<String>,
    /// Priorities with commas between them.
    priority: Option<String>,
    /// Assigned to this agent.
    agent: Option<String>,
    /// Assigned to any agent, or to none.
    assigned: Option<bool>,
    /// Of this feature.
    feature: Option<String>,
    /// When they are due.
    due: Option<Due>,
    /// With these words in title or description.
    q: Option<String>,
    /// At most so many; 100 unless told, and 1000 where more are asked for.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1), with = "Option<u32>"))]
    #[serde(default, deserialize_with = "super::call::any")]
    limit: Option<u32>,
    /// Without the first so many.
    offset: Option<u32>,
}

/// When tasks are due.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
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
    fn filter(&self, call: &Call) -> Result<Filter> {
        let now = call.server.surroundings.clock.now();
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
        let mut statuses: Vec<Status> = read(self.status.as_deref(), agent_tasks::status)?;
        if self.due == Some(Due::Overdue) && statuses.is_empty() {
            statuses = ["todo", "doing", "review", "paused"]
                .into_iter()
                .map(agent_tasks::status)
                .collect::<Result<_>>()?;
        }
        Ok(Filter {
            statuses,
            priorities: read(self.priority.as_deref(), agent_tasks::priority)?,
            agent: assigned::sought(call, self.agent.clone())?,
            feature: self.feature.clone(),
            due_before,
            due_after,
            limit: Some(at_most(self.limit, LIMIT.0, LIMIT.1)?),
            offset: self.offset.unwrap_or(0),
            ..Filter::default()
        })
    }
}

fn read<T>(words: Option<&str>, one: fn(&str) -> Result<T>) -> Result<Vec<T>> {
    let words = words.into_iter().flat_map(|words| words.split(','));
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    words.map(one).collect()
}

/// Tasks.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Listed {
    success: bool,
    tasks: Vec<AgentTask>,
    total: u64,
}

fn list(call: &Call, Query(wanted): Query<Wanted>) -> Result<Json<Listed>> {
    let board = Board {
        words: wanted.q.clone().filter(|words| !words.trim().is_empty()),
        undated: wanted.due == Some(Due::None),
        assigned: wanted.assigned,
    };
    let filter = wanted.filter(call)?;
    let mut context = call.context("agents.tasks.list")?;
    let listed = agent_tasks::board(&mut context, filter, &board)?;
    let unseen = unseen(call)?;
    let tasks = listed.tasks.into_iter();
    Ok(Json(Listed {
        success: true,
        tasks: tasks.map(|task| masked(task, &unseen)).collect(),
        total: listed.total,
    }))
}

/// Whose tasks to count.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whose {
    /// Assigned to this agent.
    agent: Option<String>,
}

/// Numbers of tasks.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Counted {
    success: bool,
    stats: Stats,
}

fn stats(call: &Call, Query(Whose { agent }): Query<Whose>) -> Result<Json<Counted>> {
    let agent = assigned::sought(call, agent)?;
    let mut context = call.context("agents.tasks.stats")?;
    Ok(Json(Counted {
        success: true,
        stats: agent_tasks::stats(&mut context, agent)?,
    }))
}

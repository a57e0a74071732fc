//! Requests about tasks that no single verb owns.

use clap::Args;
use serde::Deserialize;

use crate::clock;
use crate::id::TaskId;
use crate::store::{Archived, Filter};
use crate::task::{Priority, Status, TaskType};

// Doc comments would become the help of the commands that take these.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct One {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Below {
    /// Only what is below this task, to any depth
    #[arg(long, value_name = "TASK")]
    pub(crate) epic: Option<TaskId>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Extract {
    /// Only what is below this task, to any depth
    #[arg(long, value_name = "TASK")]
    pub(crate) epic: Option<TaskId>,

    /// Maximum number of items; by default 20 of `ready`, 10 of `analyze`, all waves
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct List {
    /// Only tasks with one of these statuses
    #[arg(long, short, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<Status>,

    /// Only tasks with all of these labels
    #[arg(long, short, value_name = "LABEL", value_delimiter = ',')]
    label: Vec<String>,

    /// Only tasks of one of these types
    #[arg(long = "type", short = 't', value_name = "TYPE", value_delimiter = ',')]
    #[serde(rename = "type")]
    kind: Vec<TaskType>,

    /// Only children of this task; with --tree, all below it
    #[arg(long, value_name = "TASK")]
    pub(crate) parent: Option<TaskId>,

    /// Only tasks with one of these priorities
    #[arg(long, short, value_name = "PRIORITY", value_delimiter = ',')]
    priority: Vec<Priority>,

    /// Only tasks in this phase
    #[arg(long, value_name = "SLUG")]
    phase: Option<String>,

    /// Only tasks assigned to this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Only tasks of this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,

    /// Only tasks that are due before this date or time
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    #[serde(skip)]
    due_before: Option<String>,

    /// Only tasks that are due at this date or time, or later
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    #[serde(skip)]
    due_after: Option<String>,

    /// Only tasks that somebody has claimed
    #[arg(long)]
    claimed: bool,

    /// Only tasks that this one has claimed
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,

    /// Whether archived tasks are listed
    #[arg(skip)]
    pub(crate) archived: Archived,

    /// Words to look for in title and description
    #[arg(skip)]
    pub(crate) q: Option<String>,

    /// Maximum number of tasks
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u32,
}

impl From<List> for Filter {
    fn from(list: List) -> Filter {
        Filter {
            statuses: list.status,
            labels: list.label,
            kinds: list.kind,
            parent: list.parent,
            priorities: list.priority,
            phase: list.phase,
            agent: list.agent,
            feature: list.feature,
            due_before: list.due_before,
            due_after: list.due_after,
            claimed: list.claimed,
            holder: list.holder,
            archived: list.archived,
            limit: list.limit,
            offset: list.offset,
            ..Filter::default()
        }
    }
}

/// Reads a date or time; a bare date is its midnight.
fn parse_due(text: &str) -> Result<String, String> {
    clock::parse_moment(text)
        .ok_or_else(|| format!("`{text}` is no date like 2026-12-31 or RFC 3339 time"))
}

//! The filter of a list of tasks.

use clap::Args;
use serde::Deserialize;

use super::{Priority, Status, TaskType};
use crate::clock;
use crate::id::TaskId;

/// Whether tasks that are archived are listed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Archived {
    #[default]
    Hidden,
    Only,
    Shown,
}

// Empty parts let everything through.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Only tasks with one of these statuses
    #[arg(long = "status", short, value_name = "STATUS", value_delimiter = ',', value_parser = parse_status)]
    #[serde(rename = "status")]
    pub(crate) statuses: Vec<Status>,

    /// Only tasks with all of these labels
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    #[serde(rename = "label")]
    pub(crate) labels: Vec<String>,

    /// Only tasks of one of these types
    #[arg(long = "type", short = 't', value_name = "TYPE", value_delimiter = ',')]
    #[serde(rename = "type")]
    pub(crate) kinds: Vec<TaskType>,

    /// Only children of this task; with --tree, all below it
    #[arg(long, value_name = "TASK")]
    #[schemars(description = "Only children of this task")]
    pub(crate) parent: Option<TaskId>,

    /// Only tasks with one of these priorities
    #[arg(
        long = "priority",
        short,
        value_name = "PRIORITY",
        value_delimiter = ','
    )]
    #[serde(rename = "priority")]
    pub(crate) priorities: Vec<Priority>,

    /// Only tasks in this phase
    #[arg(long, value_name = "SLUG")]
    pub(crate) phase: Option<String>,

    /// Only tasks assigned to this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Only tasks of this feature
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,

    /// Only tasks due before this date or time
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    #[serde(skip)]
    pub(crate) due_before: Option<String>,

    /// Only tasks due at this date or time, or later
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    #[serde(skip)]
    pub(crate) due_after: Option<String>,

    /// Only claimed tasks
    #[arg(long)]
    pub(crate) claimed: bool,

    /// Only tasks claimed by this holder
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,

    /// Whether archived tasks are listed
    #[arg(skip)]
    pub(crate) archived: Archived,

    /// Only tasks with an assigned agent, or only those without
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) assigned: Option<bool>,

    /// Only tasks that are due some day, or never
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) dated: Option<bool>,

    /// Only tasks that are a part of another one, or only those that are not
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) nested: Option<bool>,

    /// Words and parts of words that all occur in title or description
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) words: String,

    /// Whether the most urgent come first, and of these what is due first; by default by id
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) urgent_first: bool,

    /// Only tasks that were done or cancelled before this moment, RFC 3339 in UTC
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) closed_before: Option<String>,

    /// Only tasks that were done or cancelled at this moment or later, RFC 3339 in UTC
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) closed_after: Option<String>,

    /// Words to look for in title and description
    #[arg(skip)]
    pub(crate) q: Option<String>,

    /// Maximum number of tasks
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,

    /// Number of tasks to skip
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) offset: u32,
}

impl Filter {
    /// Returns whether nothing but statuses restricts a list.
    pub(crate) fn is_by_status(&self) -> bool {
        let without = Filter {
            limit: None,
            offset: 0,
            statuses: Vec::new(),
            urgent_first: false,
            ..self.clone()
        };
        without == Filter::default()
    }
}

fn parse_status(text: &str) -> Result<Status, String> {
    text.parse().map_err(|message| match text {
        "ready" | "waiting" => {
            format!(
                "`{text}` tells how a pending task stands; see `cleo ready` and --status pending"
            )
        }
        _ => message,
    })
}

/// Reads a date or time; a bare date is its midnight.
fn parse_due(text: &str) -> Result<String, String> {
    clock::parse_moment(text)
        .ok_or_else(|| format!("`{text}` is not a date like 2026-12-31 or RFC 3339 time"))
}

//! What to change of a task, as a command and a request say it.

use clap::Args;
use serde::{Deserialize, Deserializer};

use crate::error::Result;
use crate::gate::Gate;
use crate::id::TaskId;
use crate::task::{Priority, Size, Status, TaskType};

/// A task, or none.
type Parent = Option<TaskId>;

// What is `None` or empty stays. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo update T3 --title 'Implement token refresh' --priority high
  cleo update T3 --depends T2 --label auth --note 'waits for the research'
  cleo update T3 --clear labels --label backend
  cleo update T3 --parent none
  cleo update T3 --require-gate implemented --require-gate testsPassed")]
pub(crate) struct Patch {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// New title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// New description
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// New type
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    #[serde(rename = "type")]
    pub(crate) kind: Option<TaskType>,

    /// New status: pending, active, review, blocked or paused
    #[arg(long, value_name = "STATUS", value_parser = parse_status)]
    pub(crate) status: Option<Status>,

    /// New parent, or `none`
    #[arg(long, value_name = "TASK", value_parser = parse_parent)]
    #[serde(deserialize_with = "deserialize_given")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<TaskId>"))]
    pub(crate) parent: Option<Parent>,

    /// Add a dependency; may be repeated or separated by commas
    #[arg(
        id = "depends",
        long = "depends",
        value_name = "TASK",
        value_delimiter = ','
    )]
    pub(crate) add_depends: Vec<TaskId>,

    /// Remove a dependency, also one that an import found no task for; may be repeated
    #[arg(long, value_name = "TASK")]
    pub(crate) remove_depends: Vec<String>,

    /// Add a label
    #[arg(
        id = "labels",
        long = "label",
        short = 'l',
        value_name = "LABEL",
        value_delimiter = ','
    )]
    pub(crate) add_labels: Vec<String>,

    /// Remove a label
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    pub(crate) remove_labels: Vec<String>,

    /// New priority
    #[arg(long, short, value_name = "PRIORITY")]
    pub(crate) priority: Option<Priority>,

    /// New phase
    #[arg(long, value_name = "SLUG")]
    pub(crate) phase: Option<String>,

    /// New size
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Size>,

    /// Add a criterion, perhaps with a command: 'tests pass :: cargo test'
    #[arg(long = "acceptance", value_name = "TEXT")]
    pub(crate) add_acceptance: Vec<String>,

    /// Add a file or glob
    #[arg(long = "file", value_name = "PATH")]
    pub(crate) add_files: Vec<String>,

    /// Remove a file or glob, as the task has it
    #[arg(long = "remove-file", value_name = "PATH")]
    pub(crate) remove_files: Vec<String>,

    /// Add a deliverable
    #[arg(long = "deliverable", value_name = "TEXT")]
    pub(crate) add_deliverables: Vec<String>,

    /// Add a note
    #[arg(long = "note", value_name = "TEXT")]
    pub(crate) notes: Vec<String>,

    /// Assign to an agent
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) assigned_agent: Option<String>,

    /// New due date
    #[arg(long, value_name = "DATE")]
    pub(crate) due: Option<String>,

    /// New estimate in hours
    #[arg(long, value_name = "HOURS")]
    pub(crate) estimate: Option<f64>,

    /// New feature
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,

    /// Name a gate that it needs, instead of the usual ones; may be repeated
    #[arg(long = "require-gate", value_name = "GATE")]
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<Gate>"))]
    pub(crate) require_gates: Vec<String>,

    /// Empty a field before the rest of the change; may be repeated
    #[arg(long, value_name = "FIELD", value_enum, value_delimiter = ',')]
    pub(crate) clear: Vec<ListField>,
}

impl Patch {
    pub(super) fn required_gates(&self) -> Result<Vec<Gate>> {
        self.require_gates.iter().map(|gate| gate.parse()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self
            == Patch {
                task: self.task,
                ..Patch::default()
            }
    }
}

/// A field that can be emptied.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ListField {
    Description,
    Parent,
    Depends,
    Labels,
    Phase,
    Size,
    Files,
    Acceptance,
    Deliverables,
    #[value(name = "agent")]
    AssignedAgent,
    Due,
    Estimate,
    Feature,
    Key,
    RequiredGates,
}

/// Reads a status: any, so that a refusal can say what to do. A text that is none is told those that can be set
/// here; how a task ends has commands of its own.
fn parse_status(text: &str) -> std::result::Result<Status, String> {
    text.parse().map_err(|_| {
        let is_open = |status: &&Status| !matches!(status, Status::Done | Status::Cancelled);
        let open = Status::ALL.iter().filter(is_open);
        let open: Vec<&str> = open.map(|status| status.word()).collect();
        format!("`{text}` is no status; use one of {}", open.join(", "))
    })
}

fn parse_parent(text: &str) -> std::result::Result<Parent, String> {
    match text {
        "none" => Ok(None),
        id => id.parse().map(Some),
    }
}

/// Takes a value that is given, null included where it can be null, apart from one that is left out.
pub(in crate::ops) fn deserialize_given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

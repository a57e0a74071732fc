//! `cleo update`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::arguments::refuse_blank;
use super::screen::Tone;
use super::show::task_line;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::{self, ListField, Patch};
use crate::ops::trust::{Item, vouch};
use crate::task::{Priority, Size, Status, Task, TaskType};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo update T3 --title 'Implement token refresh' --priority high
  cleo update T3 --depends T2 --label auth --note 'waits for the research'
  cleo update T3 --clear labels --label backend
  cleo update T3 --parent none
  cleo update T3 --require-gate implemented --require-gate testsPassed")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// New title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// New description
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,

    /// New type
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    kind: Option<TaskType>,

    /// New status: pending, active, review, blocked or paused
    #[arg(long, value_name = "STATUS", value_parser = parse_status)]
    status: Option<NewStatus>,

    /// New parent, or `none`
    #[arg(long, value_name = "TASK", value_parser = parse_parent)]
    parent: Option<Parent>,

    /// Add a dependency; may be repeated or separated by commas
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    depends: Vec<TaskId>,

    /// Remove a dependency, also one that an import found no task for; may be repeated
    #[arg(long, value_name = "TASK")]
    remove_depends: Vec<String>,

    /// Add a label
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,

    /// Remove a label
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    remove_labels: Vec<String>,

    /// New priority
    #[arg(long, short, value_name = "PRIORITY")]
    priority: Option<Priority>,

    /// New phase
    #[arg(long, value_name = "SLUG")]
    phase: Option<String>,

    /// New size
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,

    /// Add a criterion, perhaps with a command: 'tests pass :: cargo test'
    #[arg(long, value_name = "TEXT")]
    acceptance: Vec<String>,

    /// Add a file or glob
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,

    /// Remove a file or glob, as the task has it
    #[arg(long = "remove-file", value_name = "PATH")]
    remove_files: Vec<String>,

    /// Add a deliverable
    #[arg(long = "deliverable", value_name = "TEXT")]
    deliverables: Vec<String>,

    /// Add a note
    #[arg(long = "note", value_name = "TEXT")]
    notes: Vec<String>,

    /// Assign to an agent
    #[arg(long = "agent", value_name = "AGENT")]
    assigned_agent: Option<String>,

    /// New due date
    #[arg(long, value_name = "DATE")]
    due: Option<String>,

    /// New estimate in hours
    #[arg(long, value_name = "HOURS")]
    estimate: Option<f64>,

    /// New feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,

    /// Name a gate that it needs, instead of the usual ones; may be repeated
    #[arg(long = "require-gate", value_name = "GATE")]
    require_gates: Vec<String>,

    /// Empty a field before the rest of the change; may be repeated
    #[arg(long, value_name = "FIELD", value_enum, value_delimiter = ',')]
    clear: Vec<ListField>,
}

/// `--status`: any can be read, so that a refusal can say what to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewStatus(Status);

impl NewStatus {
    /// Returns the words for those that can be set here; how a task ends has commands of its own.
    fn words() -> Vec<&'static str> {
        let is_open = |status: &&Status| !matches!(status, Status::Done | Status::Cancelled);
        let open = Status::ALL.iter().filter(is_open);
        open.map(|status| status.word()).collect()
    }
}

/// Reads a status. A text that is none is told those that can be set here.
fn parse_status(text: &str) -> std::result::Result<NewStatus, String> {
    let known = NewStatus::words().join(", ");
    let parsed = text.parse::<Status>();
    parsed
        .map(NewStatus)
        .map_err(|_| format!("`{text}` is no status; use one of {known}"))
}

/// `--parent`: a task, or none.
#[derive(Clone, Copy)]
struct Parent(Option<TaskId>);

fn parse_parent(text: &str) -> std::result::Result<Parent, String> {
    if text == "none" {
        Ok(Parent(None))
    } else {
        text.parse().map(|id| Parent(Some(id)))
    }
}

/// Tells ids, which may be separated by commas, from names that only another tool knows.
fn split_names(texts: Vec<String>) -> (Vec<TaskId>, Vec<String>) {
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    for text in texts {
        match text
            .split(',')
            .map(str::parse)
            .collect::<std::result::Result<Vec<TaskId>, _>>()
        {
            Ok(own) => ids.extend(own),
            Err(_) => names.push(text),
        }
    }
    (ids, names)
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Updated {
    task: Task,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = arguments.task;
    let patch = arguments.into_patch()?;
    if patch.is_empty() {
        let message = format!("nothing to change in {id}: no field was given");
        return Err(Error::new(Code::Usage, message));
    }
    let items = Item::criteria(id, &patch.add_acceptance);
    let mut context = face.context()?;
    let (task, mut warnings) = tasks::update(&mut context, id, patch)?;
    warnings.extend(vouch(&context.surroundings, &context.workspace, &items));
    let result = Updated { task };
    face.reply(&result, &warnings, |screen| {
        screen.say(Tone::Good, "Updated ");
        task_line(screen, &result.task);
    })
}

impl Arguments {
    fn into_patch(self) -> Result<Patch> {
        for (option, items) in [
            ("acceptance", &self.acceptance),
            ("file", &self.files),
            ("deliverable", &self.deliverables),
            ("label", &self.labels),
        ] {
            refuse_blank(option, items)?;
        }
        let gates = self.require_gates.iter();
        let (remove_depends, remove_missing) = split_names(self.remove_depends);
        Ok(Patch {
            title: self.title,
            description: self.description,
            kind: self.kind,
            status: self.status.map(|status| status.0),
            parent: self.parent.map(|parent| parent.0),
            add_depends: self.depends,
            remove_depends,
            remove_missing,
            add_labels: self.labels,
            remove_labels: self.remove_labels,
            remove_files: self.remove_files,
            priority: self.priority,
            phase: self.phase,
            size: self.size,
            add_files: self.files,
            add_acceptance: self.acceptance,
            add_deliverables: self.deliverables,
            notes: self.notes,
            assigned_agent: self.assigned_agent,
            due: self.due,
            estimate: self.estimate,
            feature: self.feature,
            require_gates: gates.map(|gate| gate.parse()).collect::<Result<_>>()?,
            clear: self.clear,
        })
    }
}

//! `cleo add`

use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::refuse_blank;
use super::screen::{Screen, Tone};
use super::show::task_line;
use crate::error::Result;
use crate::file::unreadable;
use crate::id::TaskId;
use crate::ops::tasks::{self, Added};
use crate::ops::trust::{Item, vouch, warn_of};
use crate::task::draft::{Draft, Reference};
use crate::task::{Priority, Size, TaskType};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo add 'Build login' --type epic
  cleo add 'Research token refresh' --parent T1 --label research --acceptance 'sources named'
  cleo add 'Implement token refresh' --depends T2 --file 'src/auth/**' --priority high
  cleo add --batch plan.jsonl

A batch has one JSON object a line, with the fields of a task. A line may carry
\"key\":\"name\"; others refer to it with \"depends\":[\"@name\"] or \"parent\":\"@name\".
All lines are added, or none. The answer to a batch of more than 100 lines tells the number of tasks,
the first and the last id; new tasks have their ids in the order of the lines.")]
pub(super) struct Arguments {
    /// One line that leads with its verb
    #[arg(required_unless_present = "batch")]
    title: Option<String>,

    /// Full text of the task
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,

    /// Kind of work: epic, task, subtask, research, testing, documentation, …
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    kind: Option<TaskType>,

    /// Label; may be repeated or separated by commas
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,

    /// Task that must be done first (T2, or @key); may be repeated or separated by commas
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    depends: Vec<Reference>,

    /// Task that this one is a part of (T1, or @key)
    #[arg(long, value_name = "TASK")]
    parent: Option<Reference>,

    /// critical, high, medium or low
    #[arg(long, short, value_name = "PRIORITY")]
    priority: Option<Priority>,

    /// Phase that it belongs to
    #[arg(long, value_name = "SLUG")]
    phase: Option<String>,

    /// small, medium or large
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,

    /// Criterion by which the work is accepted, perhaps with a command: 'tests pass :: cargo test';
    /// may be repeated
    #[arg(long, value_name = "TEXT")]
    acceptance: Vec<String>,

    /// File or glob that the work touches; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,

    /// What the work leaves behind; may be repeated
    #[arg(long = "deliverable", value_name = "TEXT")]
    deliverables: Vec<String>,

    /// Note; may be repeated
    #[arg(long = "note", value_name = "TEXT")]
    notes: Vec<String>,

    /// Agent that it is assigned to
    #[arg(long = "agent", value_name = "AGENT")]
    assigned_agent: Option<String>,

    /// When it is due: a date or an RFC 3339 time
    #[arg(long, value_name = "DATE")]
    due: Option<String>,

    /// Estimated hours
    #[arg(long, value_name = "HOURS")]
    estimate: Option<f64>,

    /// Feature that it belongs to
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,

    /// Add the task only if no task has this key yet
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// File of tasks as JSON lines; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_ONE_TASK)]
    batch: Option<PathBuf>,
}

/// What describes one task: in a batch, each line does that for its own.
const OF_ONE_TASK: [&str; 18] = [
    "title",
    "description",
    "kind",
    "labels",
    "depends",
    "parent",
    "priority",
    "phase",
    "size",
    "acceptance",
    "files",
    "deliverables",
    "notes",
    "assigned_agent",
    "due",
    "estimate",
    "feature",
    "key",
];

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match &arguments.batch {
        Some(file) => add_batch(face, file.clone()),
        None => add_one(face, arguments),
    }
}

fn add_one(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    for (option, items) in [
        ("acceptance", &arguments.acceptance),
        ("file", &arguments.files),
        ("deliverable", &arguments.deliverables),
        ("label", &arguments.labels),
    ] {
        refuse_blank(option, items)?;
    }
    let draft = arguments.into_draft();
    let typed = draft.acceptance.clone();
    let mut context = face.context()?;
    let added = tasks::add(&mut context, vec![draft])?;
    let Some(one) = added.into_iter().next() else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut warnings = Vec::new();
    if one.created {
        let items = Item::criteria(one.task.id, &typed);
        warnings.extend(vouch(&context.surroundings, &context.workspace, &items));
    } else {
        let key = one.task.key.as_deref().unwrap_or_default();
        warnings.push(format!(
            "{} has the key `{key}` already; nothing was added",
            one.task.id
        ));
    }
    face.reply(&one, &warnings, |screen| added_line(screen, &one))
}

fn add_batch(face: &mut Face<'_>, file: PathBuf) -> Result<ExitCode> {
    let drafts = if file.as_os_str() == "-" {
        tasks::read_batch(stdin().lock(), None)?
    } else {
        let opened = File::open(&file).map_err(|cause| unreadable(&file, cause))?;
        tasks::read_batch(BufReader::new(opened), Some(&file))?
    };
    let lines = drafts.iter().flat_map(|draft| draft.acceptance.clone());
    let commands = Item::criteria(TaskId(0), &lines.collect::<Vec<String>>());
    let mut context = face.context()?;
    let result = tasks::add_batch(&mut context, drafts);
    let result = result.map_err(|error| match file.as_os_str() == "-" {
        true => error,
        false => tasks::looked_at(error, &file),
    })?;
    let warnings = warn_of(&context.surroundings, &context.workspace, &commands);
    face.reply(&result, &warnings, |screen| {
        for added in result.tasks.iter().flatten() {
            added_line(screen, added);
        }
        let ids = match (result.first, result.last) {
            (Some(first), Some(last)) if result.tasks.is_none() => format!(": {first} to {last}"),
            _ => String::new(),
        };
        let told = format!("{} of {} added{ids}", result.created, result.total);
        screen.line(Tone::Dim, told);
    })
}

fn added_line(screen: &mut Screen, added: &Added) {
    let (tone, word) = if added.created {
        (Tone::Good, "Added ")
    } else {
        (Tone::Dim, "Known ")
    };
    screen.say(tone, word);
    task_line(screen, &added.task);
}

impl Arguments {
    fn into_draft(self) -> Draft {
        Draft {
            title: self.title.unwrap_or_default(),
            description: self.description.unwrap_or_default(),
            kind: self.kind,
            parent: self.parent,
            depends: self.depends,
            labels: self.labels,
            priority: self.priority,
            phase: self.phase,
            size: self.size,
            files: self.files,
            acceptance: self.acceptance,
            deliverables: self.deliverables,
            notes: self.notes,
            assigned_agent: self.assigned_agent,
            due: self.due,
            estimate: self.estimate,
            feature: self.feature,
            key: self.key,
            line: None,
        }
    }
}

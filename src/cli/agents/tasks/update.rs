//! `cleo agents tasks update`

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::fields::Fields;
use super::line;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::agent_tasks::{self, Change};
use crate::ops::tasks::ListField;

/// Change a task or move it along; done must be earned as with `cleo complete`
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents tasks update T3 --status doing
  cleo agents tasks update T3 --agent peter-logical --priority high
  cleo agents tasks update T3 --clear agent,due")]
pub(in crate::cli) struct Arguments {
    /// The task
    task: TaskId,

    /// New title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// todo, doing, review, done, paused or cancelled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    #[command(flatten)]
    fields: Fields,

    /// Empty a field before the rest of the change; may be repeated
    #[arg(long, value_name = "FIELD", value_enum, value_delimiter = ',')]
    clear: Vec<Field>,
}

/// Fields that can be emptied.
#[derive(Clone, Copy, ValueEnum)]
enum Field {
    Description,
    Agent,
    Due,
    Estimate,
    Tags,
    Feature,
}

impl Field {
    fn field(self) -> ListField {
        match self {
            Field::Description => ListField::Description,
            Field::Agent => ListField::AssignedAgent,
            Field::Due => ListField::Due,
            Field::Estimate => ListField::Estimate,
            Field::Tags => ListField::Labels,
            Field::Feature => ListField::Feature,
        }
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let change = Change {
        status: arguments.status,
        clear: arguments.clear.into_iter().map(Field::field).collect(),
        ..arguments.fields.change(arguments.title)
    };
    let kept = agent_tasks::update(&mut face.context()?, arguments.task, change, None)?;
    face.reply(&kept, &kept.warnings, |screen| {
        screen.say(Tone::Good, "Updated ");
        line(screen, &kept.task);
    })
}

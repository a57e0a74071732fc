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
use crate::ops::tasks::{self, Patch};
use crate::ops::trust::{Item, vouch};
use crate::task::Task;

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

    #[command(flatten)]
    patch: Patch,

    /// Name a gate that it needs, instead of the usual ones; may be repeated
    #[arg(long = "require-gate", value_name = "GATE")]
    require_gates: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Updated {
    task: Task,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = arguments.task;
    let mut patch = arguments.patch;
    refuse_blank([
        ("acceptance", &patch.add_acceptance),
        ("file", &patch.add_files),
        ("deliverable", &patch.add_deliverables),
        ("label", &patch.add_labels),
    ])?;
    let gates = arguments.require_gates.iter();
    patch.require_gates = gates.map(|gate| gate.parse()).collect::<Result<_>>()?;
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

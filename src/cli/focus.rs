//! `cleo focus`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::Tone;
use super::session::SessionOption;
use super::show::task_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::sessions;
use crate::session::Session;
use crate::task::Task;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo focus\n  cleo focus T3\n  cleo focus --clear")]
pub(super) struct Arguments {
    /// The task; it must be in the scope of the session
    #[arg(conflicts_with = "clear")]
    task: Option<TaskId>,

    /// Focus on no task
    #[arg(long)]
    clear: bool,

    #[command(flatten)]
    which: SessionOption,
}

#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Focus {
    focus: Option<Task>,
    session: Session,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (mut context, id) = (face.context()?, arguments.which.session);
    let (session, focus) = match arguments.task.is_some() || arguments.clear {
        true => sessions::set_focus(&mut context, id, arguments.task)?,
        false => sessions::focus(&mut context, id)?,
    };
    let result = Focus { focus, session };
    face.reply(&result, &[], |screen| match &result.focus {
        Some(task) => task_line(screen, task),
        None => {
            screen.line(Tone::Dim, "no focus");
        }
    })
}

//! `cleo add`

use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone};
use super::show::task_line;
use crate::error::{Code, Error, Result};
use crate::file::unreadable;
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::tasks::{self, Added};
use crate::ops::trust::{Item, warn_of};
use crate::task::fields::Draft;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo add 'Build login' --type epic
  cleo add 'Research token refresh' --parent T1 --label research --acceptance 'sources named'
  cleo add 'Implement token refresh' --depends T2 --file 'src/auth/**' --priority high
  cleo add --batch plan.jsonl

A batch has one JSON object per line, with the fields of a task. A line may have \"key\":\"name\";
other lines refer to it by \"depends\":[\"@name\"] or \"parent\":\"@name\". All tasks are added,
or none. For more than 100 lines, the reply has only the number of tasks, the first and the last
id; ids follow the order of the lines.")]
pub(super) struct Arguments {
    #[command(flatten)]
    draft: Draft,

    /// Add the tasks of this JSON lines file; - reads standard input
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.batch {
        None => face.call(&api::ADD, arguments.draft, show_added),
        // The error of clap would list every option.
        Some(_) if arguments.draft != Draft::default() => Err(Error::new(
            Code::Usage,
            "`--batch` cannot be used with a field of a task; each line of the file has its own",
        )),
        Some(file) => add_batch(face, file),
    }
}

fn add_batch(face: &mut Face<'_>, file: PathBuf) -> Result<ExitCode> {
    let plans = if file.as_os_str() == "-" {
        tasks::read_batch(stdin().lock(), None)?
    } else {
        let opened = File::open(&file).map_err(|cause| unreadable(&file, cause))?;
        tasks::read_batch(BufReader::new(opened), Some(&file))?
    };
    let lines = plans.iter().flat_map(|plan| plan.task.acceptance.clone());
    let commands = Item::criteria(TaskId(0), &lines.collect::<Vec<String>>());
    let mut context = face.context()?;
    let result = tasks::add_batch(&mut context, plans);
    let result = result.map_err(|error| match file.as_os_str() == "-" {
        true => error,
        false => tasks::with_look(error, &file),
    })?;
    let warnings = warn_of(&context.surroundings, &context.workspace, &commands);
    face.reply(&result, &warnings, |screen| {
        for added in result.tasks.iter().flatten() {
            show_added(screen, added);
        }
        let ids = match (result.first, result.last) {
            (Some(first), Some(last)) if result.tasks.is_none() => format!(": {first} to {last}"),
            _ => String::new(),
        };
        let told = format!("{} of {} added{ids}", result.created, result.total);
        screen.line(Tone::Dim, told);
    })
}

fn show_added(screen: &mut Screen, added: &Added) {
    let (tone, word) = if added.created {
        (Tone::Good, "Added ")
    } else {
        (Tone::Dim, "Known ")
    };
    screen.say(tone, word);
    task_line(screen, &added.task);
}

//! `cleo plan GOAL`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{By, Picture, plan_text};
use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::{Code, Error, Result};
use crate::file::read_stdin;
use crate::ops::plans::{self, Planned};
use crate::plan::{Found, GOAL_MAX, Source};

// Options of `cleo plan GOAL`. A doc comment here would become the help of the command.
#[derive(Args)]
pub(in crate::cli) struct PlanArguments {
    /// What is to be reached; - reads standard input
    goal: Option<String>,

    /// Most passes over the plan, until its last step says that the goal is reached
    #[arg(long, value_name = "N", requires = "goal", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_loops: Option<u32>,

    /// File to write the plan into: .json, .yaml or .yml
    #[arg(long, short, value_name = "FILE", requires = "goal")]
    output: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,

    /// Also say which words chose which skill, and who offers it (JSON always does)
    #[arg(long, requires = "goal")]
    explain: bool,

    #[command(flatten)]
    by: By,

    #[command(flatten)]
    picture: Picture,
}

pub(super) fn run(face: &mut Face<'_>, arguments: PlanArguments) -> Result<ExitCode> {
    let goal = goal(arguments.goal)?;
    let surroundings = face.surroundings()?;
    let planner = arguments.by.planner(face, &surroundings)?;
    let mut planned = plans::make(&surroundings, &goal, arguments.max_loops, &*planner)?;
    if let Some(file) = &arguments.output {
        planned.write(&surroundings, file, arguments.force)?;
    }
    if let Some(drawn) = arguments.picture.draw(face, &planned.plan) {
        return Ok(drawn);
    }
    face.reply(&planned, &planned.warnings, |screen| {
        plan_text(screen, &planned.plan, &planned.assignments);
        if arguments.explain {
            reasons(screen, &planned);
        }
        if let Some(file) = &planned.file {
            screen.say(Tone::Good, "written ").line(Tone::Plain, file);
        }
    })
}

pub(super) fn goal(given: Option<String>) -> Result<String> {
    match given.as_deref() {
        Some("-") => {
            let bytes = read_stdin(GOAL_MAX as u64)?;
            let no_text = |_| Error::new(Code::InputInvalid, "standard input is not UTF-8");
            String::from_utf8(bytes).map_err(no_text)
        }
        Some(goal) => Ok(goal.to_string()),
        None => {
            let error = Error::new(
                Code::Usage,
                "`cleo plan` needs a goal, or `check` or `show`",
            );
            Err(error)
        }
    }
}

fn reasons(screen: &mut Screen, planned: &Planned) {
    let source = match planned.source {
        Source::Words => "by words of the goal",
        Source::Default => "no word of the goal asks for a skill: the usual ones",
        Source::Fallback => "nobody offers what the goal asks for: a plan and a summary",
        Source::Model => "by the model",
        Source::Command => "by the command",
        Source::File => "by who wrote it",
    };
    screen.field("skills", source);
    for found in &planned.skills {
        screen.field(found.skill, reason(found));
    }
}

fn reason(found: &Found) -> String {
    let words: Vec<String> = found.words.iter().map(|word| format!("`{word}`")).collect();
    let offered = match found.agents[..] {
        [] => format!("nobody offers {}", found.capability),
        ref agents => format!("{} is offered by {}", found.capability, agents.join(", ")),
    };
    let left_out = if found.planned { "" } else { "; left out" };
    let parts = [words.join(", "), format!("{offered}{left_out}")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// The name of a plan in an answer: its file, or standard input.
pub(super) fn named(file: &Path) -> String {
    match file.as_os_str() == "-" {
        true => "the plan on standard input".to_string(),
        false => file.to_string_lossy().into_owned(),
    }
}

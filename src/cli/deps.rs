//! `cleo deps`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::{Screen, Tone};
use super::show::headline;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::{self, Direction, Neighbor, One, Part, problem_warnings};
use crate::ops::{Context, api};
use crate::task::drawing;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo deps T3
  cleo deps T3 --tree
  cleo deps T3 --tree --up --depth 2
  cleo deps --epic T1 --svg > graph.svg
  cleo deps T3 --dot | dot -Tpng > graph.png")]
pub(super) struct Arguments {
    /// The task
    #[arg(required_unless_present_any = ["dot", "svg"])]
    task: Option<TaskId>,

    /// Show everything that the task waits for as a tree
    #[arg(long, conflicts_with_all = ["dot", "svg"])]
    tree: bool,

    /// With --tree: show everything that waits for the task instead
    #[arg(long, requires = "tree")]
    up: bool,

    /// At most so many steps from the task
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// Draw only what is below this task, to any depth
    #[arg(long, value_name = "TASK", conflicts_with = "task")]
    epic: Option<TaskId>,

    /// Write a graph for Graphviz
    #[arg(long)]
    dot: bool,

    /// Write a picture
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Dot<'a> {
    pub(super) dot: &'a str,
    pub(super) total: usize,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Svg<'a> {
    pub(super) svg: &'a str,
    pub(super) total: usize,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.dot || arguments.svg {
        return draw(face, &arguments);
    }
    let Some(task) = arguments.task else {
        let message = "`--epic` goes with `--dot` or `--svg`";
        return Err(Error::new(Code::Usage, message));
    };
    if arguments.tree {
        return tree(face, task, &arguments);
    }
    if arguments.depth.is_some() {
        let message = "`--depth` goes with `--tree`, `--dot` or `--svg`";
        return Err(Error::new(Code::Usage, message));
    }
    face.call(&api::DEPS, One { task }, |screen, result| {
        let state = if result.ready {
            (Tone::Good, "ready")
        } else {
            (Tone::Dim, "not ready")
        };
        screen
            .say(Tone::Strong, result.task)
            .say(Tone::Plain, " is ")
            .line(state.0, state.1);
        if result.depends.is_empty() && !result.missing.is_empty() {
            screen.line(Tone::Dim, "depends on:");
        }
        neighbors(screen, "depends on", &result.depends);
        for missing in &result.missing {
            screen.line(Tone::Warn, format!("  {}", missing.told()));
        }
        neighbors(screen, "unblocks", &result.dependents);
    })
}

fn tree(face: &mut Face<'_>, task: TaskId, arguments: &Arguments) -> Result<ExitCode> {
    let direction = match arguments.up {
        true => Direction::Dependents,
        false => Direction::Needs,
    };
    let context = &mut face.context()?;
    let result = tasks::neighbor_tree(context, task, direction, arguments.depth)?;
    face.reply(&result, &problem_warnings(&result.problems), |screen| {
        for row in &result.tree {
            screen.say(Tone::Plain, "  ".repeat(row.depth.min(40)));
            let again = if row.repeated { " (see above)" } else { "" };
            let title = format!("{}{again}", row.task.title);
            headline(screen, row.task.id, row.task.status, &title);
        }
        if result.truncated {
            screen.line(Tone::Dim, "and more; --depth shows less");
        }
    })
}

/// A picture goes to a file or a program as it is, unless JSON was asked for.
fn draw(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let part = match arguments.task {
        Some(task) => Part::Around(task, arguments.depth),
        None => Part::Below(arguments.epic),
    };
    let mut context = face.context()?;
    let shapes = tasks::drawing(&mut context, part)?;
    let stuck = match part {
        Part::Around(task, _) => problem_warnings(&tasks::deps(&mut context, task)?.problems),
        Part::Below(epic) => stuck_warnings(&mut context, epic)?,
    };
    let (name, total) = (face.name, shapes.len());
    Ok(if arguments.svg {
        let svg = &drawing::svg(&shapes);
        face.output.picture(name, svg, &Svg { svg, total }, &stuck)
    } else {
        let dot = &drawing::dot(&shapes);
        face.output.picture(name, dot, &Dot { dot, total }, &stuck)
    })
}

pub(super) fn neighbors(screen: &mut Screen, heading: &str, tasks: &[Neighbor]) {
    if tasks.is_empty() {
        return;
    }
    screen.line(Tone::Dim, format!("{heading}:"));
    for task in tasks {
        screen.say(Tone::Plain, "  ");
        headline(screen, task.id, task.status, &task.title);
    }
}

pub(super) fn stuck_warnings(context: &mut Context, epic: Option<TaskId>) -> Result<Vec<String>> {
    let none = Some(0);
    Ok(problem_warnings(
        &tasks::ready(context, epic, none)?.problems,
    ))
}

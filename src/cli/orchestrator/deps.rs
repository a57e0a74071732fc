//! `cleo deps`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::tasks::{self, Dependencies, One, Part};
use crate::task::TaskView;
use crate::task::drawing::{self, Picture, Shape};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo deps T3
  cleo deps --epic T1 --svg > graph.svg
  cleo deps T3 --dot | dot -Tpng > graph.png")]
pub(in crate::cli) struct Arguments {
    /// The task; a picture needs none
    #[arg(required_unless_present_any = ["dot", "svg"])]
    task: Option<TaskId>,

    /// Draw only tasks below this one, at any depth
    #[arg(long, value_name = "TASK", conflicts_with = "task")]
    epic: Option<TaskId>,

    #[command(flatten)]
    draw: Draw,
}

// Options of several commands.
#[derive(Args)]
pub(in crate::cli) struct Draw {
    /// Print a graph for Graphviz
    #[arg(long)]
    dot: bool,

    /// Print an SVG image
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
}

impl Draw {
    pub(in crate::cli) fn is_asked(&self) -> bool {
        self.dot || self.svg
    }

    /// Replies with a picture, raw unless JSON was requested.
    pub(in crate::cli) fn answer(
        &self,
        face: &Face<'_>,
        shapes: &[Shape],
        warnings: &[String],
    ) -> ExitCode {
        let picture = Picture {
            svg: self.svg.then(|| drawing::svg(shapes)),
            dot: self.dot.then(|| drawing::dot(shapes)),
            total: shapes.len(),
        };
        let text = picture.svg.as_ref().or(picture.dot.as_ref());
        let text = text.map_or("", String::as_str);
        face.output.show_page(face.name, text, &picture, warnings)
    }
}

pub(in crate::cli) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.draw.is_asked() {
        return draw(face, &arguments);
    }
    let Some(task) = arguments.task else {
        return Err(error!(Usage, "`--epic` goes with `--dot` or `--svg`"));
    };
    face.call(&api::DEPS, One { task }, render)
}

fn render(screen: &mut Screen, result: &Dependencies) {
    screen
        .say(Tone::Strong, result.task)
        .say(Tone::Plain, " is ");
    match result.ready {
        true => screen.line(Tone::Good, "ready"),
        false => screen.line(Tone::Dim, "not ready"),
    };
    if result.links.depends.is_empty() && !result.links.missing.is_empty() {
        screen.line(Tone::Dim, "depends on:");
    }
    render_tasks(screen, "depends on", &result.links.depends);
    for missing in &result.links.missing {
        screen.line(Tone::Warn, format!("  {}", missing.describe()));
    }
    render_tasks(screen, "unblocks", &result.links.dependents);
}

fn draw(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let part = match arguments.task {
        Some(task) => Part::Around(task),
        None => Part::Below(arguments.epic),
    };
    let mut context = face.context()?;
    let shapes = tasks::drawing(&mut context, part)?;
    match part {
        Part::Around(task) => drop(tasks::deps(&mut context, One { task })?),
        Part::Below(epic) => tasks::warn_of_stuck(&mut context, epic)?,
    }
    let warnings = &context.notes.warnings;
    Ok(arguments.draw.answer(face, &shapes, warnings))
}

pub(in crate::cli) fn render_tasks(screen: &mut Screen, heading: &str, tasks: &[TaskView]) {
    if tasks.is_empty() {
        return;
    }
    screen.line(Tone::Dim, format!("{heading}:"));
    for task in tasks {
        screen.say(Tone::Plain, "  ");
        screen.headline(task.id, task.status, &task.title);
    }
}

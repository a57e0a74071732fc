//! `cleo plan …`

mod check;
pub(super) mod make;
pub(super) mod run;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::deps::{Dot, Svg};
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::Surroundings;
use crate::ops::answers::trusted_model;
use crate::ops::plans::Assignment;
use crate::ops::plans::external::External;
use crate::ops::plans::model::ByModel;
use crate::plan::{ByRule, Planner};
use crate::plan::{Plan, Step};
use crate::runner::agent::Runners;
use crate::task::drawing;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  cleo plan 'Search the web for caches and report which is best'
  cleo plan 'Compare three caches' --output plan.yaml --max-loops 3
  cleo plan 'Compare three caches' --dot | dot -Tpng > plan.png
  cleo plan 'Compare three caches' --llm
  cleo plan check plan.yaml
  cleo plan show plan.yaml --svg > plan.svg
  cleo plan run plan.yaml

Words of the goal ask for skills: plan, search, extract entities, sql, classify, tool, summary. Each
becomes a step for an agent that offers the capability for it: planner, web-crawler, ie-agent,
sql-agent, classifier, orchestrator, summarizer. A skill that no active agent offers is left out.
Register one with:
  cleo agents register Planner --capability planner --prompt 'You break work into steps.'

A plan file has a goal and steps, each with id, capability (or agent), instruction and dependsOn;
title, skill, intent and maxLoops if wanted. Write your own, or edit one that cleo has made."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    make: make::PlanArguments,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Show(show::Arguments),
    Run(run::Arguments),
}

// Options of two commands. A doc comment here would become their help.
#[derive(Args)]
struct Picture {
    /// Write a graph for Graphviz
    #[arg(long)]
    dot: bool,

    /// Write a picture
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        None => face.run("plan", arguments.make, make::run),
        Some(Command::Check(arguments)) => face.run("plan.check", arguments, check::run),
        Some(Command::Show(arguments)) => face.run("plan.show", arguments, show::run),
        Some(Command::Run(arguments)) => face.run("plan.run", arguments, run::run),
    }
}

// Options of two commands. A doc comment here would become their help.
#[derive(Args, Default)]
struct By {
    /// Have the configured model plan; what it gets wrong twice, the rule does
    #[arg(long)]
    llm: bool,

    /// Have this program plan: goal and agents as JSON on its standard input, the plan on its
    /// standard output; no shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "llm")]
    planner: Option<String>,
}

impl By {
    /// Says whether somebody was named.
    fn is_said(&self) -> bool {
        self.llm || self.planner.is_some()
    }

    /// Returns who makes the plan.
    fn planner(&self, face: &Face<'_>, surroundings: &Surroundings) -> Result<Box<dyn Planner>> {
        Ok(match &self.planner {
            Some(line) => Box::new(External::new(
                line,
                surroundings.directory.clone(),
                Runners::from(face.settings)?.passed,
            )?),
            None if self.llm => Box::new(ByModel(trusted_model(face.settings, surroundings)?)),
            None => Box::new(ByRule),
        })
    }
}

impl Picture {
    /// Draws a plan if that is asked for.
    fn draw(&self, face: &Face<'_>, plan: &Plan) -> Option<ExitCode> {
        let (shapes, total) = (plan.shapes(), plan.steps.len());
        if self.svg {
            let svg = &drawing::svg(&shapes);
            return Some(face.output.page(face.name, svg, &Svg { svg, total }));
        }
        let dot = &drawing::dot(&shapes);
        self.dot
            .then(|| face.output.page(face.name, dot, &Dot { dot, total }))
    }
}

/// Writes a plan as a table of its steps.
fn plan_text(screen: &mut Screen, plan: &Plan, assignments: &[Assignment]) {
    screen.line(Tone::Strong, first_line(&plan.goal, 200));
    if plan.loops() > 1 {
        let loops = plan.loops();
        screen.line(
            Tone::Dim,
            format!("at most {loops} passes, until the goal is reached"),
        );
    }
    let rows = plan
        .steps
        .iter()
        .zip(assignments)
        .map(|(step, assignment)| {
            let agent = match &assignment.agent {
                Some(agent) => (Tone::Good, agent.clone()),
                None => (Tone::Bad, "nobody".to_string()),
            };
            vec![
                (Tone::Strong, step.id.clone()),
                (Tone::Plain, step.wanted().to_string()),
                agent,
                (Tone::Dim, step.depends_on.join(", ")),
                (Tone::Plain, about(step)),
            ]
        });
    screen.table(&["STEP", "FOR", "AGENT", "AFTER", "ABOUT"], rows.collect());
}

/// The title of a step, or else how its instruction begins.
fn about(step: &Step) -> String {
    first_line(step.title.as_deref().unwrap_or(&step.instruction), 80)
}

fn first_line(text: &str, max: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(max).collect()
}

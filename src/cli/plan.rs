//! `cleo plan …`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::orchestrator::deps::Draw;
use super::screen::{Screen, Tone, count, dim, plain, strong};
use super::{Face, plan_run};
use crate::error::{Code, Error, Result};
use crate::file::{read_input, read_stdin};
use crate::ops::answers::load_trusted_model;
use crate::ops::plans::model::ByModel;
use crate::ops::plans::{self, Assignment, GoalSent};
use crate::ops::{Notes, Surroundings};
use crate::plan::{ByRule, GOAL_MAX, PLAN_MAX, Plan, Planner};

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

Words of the goal select skills: plan, search, extract entities, sql, classify, tool, summary.
Each becomes a step for an agent with the matching capability: planner, web-crawler, ie-agent,
sql-agent, classifier, orchestrator, summarizer. Skills that no active agent offers are left out.
To register an agent:
  cleo agents register Planner --capability planner --prompt 'You break work into steps.'

A plan file has a goal and steps, each with id, agentCapability (or agent), instruction and
dependencies, and optional title, skill, intent and maxLoops. Write your own, or edit a generated one."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    make: PlanArguments,
}

commands! {
    (face, it)
    /// Check whether a plan can run, and list all problems (exit 4 or 6)
    Check(CheckArguments) => face.run("plan.check", it, check);
    /// Show a plan with the agent of each step, or draw it
    Show(ShowArguments) => face.run("plan.show", it, show);
    /// Run a plan: each step starts as soon as its dependencies are done
    Run(plan_run::Arguments) => face.run("plan.run", it, plan_run::run);
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Some(command) => dispatch(face, command),
        None => face.run("plan", arguments.make, make),
    }
}

// Options of two commands.
#[derive(Args, Default)]
pub(super) struct By {
    /// Plan with the configured model; after two invalid plans, fall back to the built-in rules
    #[arg(long)]
    llm: bool,

    /// Plan with this program, run without a shell: it reads goal and agents as JSON and prints the
    /// plan
    #[arg(long, value_name = "COMMAND", conflicts_with = "llm")]
    planner: Option<String>,
}

impl By {
    pub(super) fn is_said(&self) -> bool {
        self.llm || self.planner.is_some()
    }

    pub(super) fn planner(
        &self,
        face: &Face<'_>,
        surroundings: &Surroundings,
    ) -> Result<Box<dyn Planner>> {
        Ok(match &self.planner {
            Some(line) => Box::new(face.external(line)?),
            None if self.llm => Box::new(ByModel(load_trusted_model(surroundings)?)),
            None => Box::new(ByRule),
        })
    }
}

fn plan_text(screen: &mut Screen, plan: &Plan, assignments: &[Assignment]) {
    screen.line(Tone::Strong, first_line(&plan.goal, 200));
    if plan.clamped_max_loops() > 1 {
        let loops = plan.clamped_max_loops();
        screen.line(
            Tone::Dim,
            format!("at most {loops} passes, until the goal is reached"),
        );
    }
    let rows = plan.steps.iter().zip(assignments);
    let rows = rows.map(|(step, assignment)| {
        let about = step.title.as_deref().unwrap_or(&step.instruction);
        [
            strong(&step.id),
            plain(step.agent_or_capability()),
            match &assignment.agent {
                Some(agent) => (Tone::Good, agent.clone()),
                None => (Tone::Bad, "none".to_string()),
            },
            dim(step.dependencies.join(", ")),
            plain(first_line(about, 80)),
        ]
    });
    screen.rows(&["STEP", "FOR", "AGENT", "AFTER", "ABOUT"], rows);
}

pub(super) fn first_line(text: &str, max: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(max).collect()
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo plan check plan.yaml
  cleo plan 'Compare three caches' --json | cleo plan check -

Checks fields and their limits, ids, dependencies and cycles, and that an active agent offers the
capability and intent of each step. If only agents are missing, the exit code is 4.")]
pub(in crate::cli) struct CheckArguments {
    /// Plan file, JSON or YAML; - reads standard input
    file: PathBuf,
}

fn check(face: &mut Face<'_>, arguments: CheckArguments) -> Result<ExitCode> {
    let what = describe_source(&arguments.file);
    let mut notes = Notes::default();
    let bytes = read_input(&arguments.file, PLAN_MAX)?;
    let checked = plans::check_bytes(&face.surroundings()?, &mut notes, &what, &bytes)?;
    face.answer(&checked, notes, |screen, checked| {
        if checked.faults.is_empty() {
            let steps = count(checked.plan.steps.len(), "step", "steps");
            let waves = count(checked.waves.len(), "wave", "waves");
            let line = format!("{what}: {steps} in {waves}");
            screen.verdict("pass", 5, line);
            return;
        }
        screen.verdict("fail", 5, &what);
        for fault in &checked.faults {
            screen.pair(Tone::Dim, format!("  {}: ", fault.place), &fault.message);
        }
    })
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo plan show plan.yaml
  cleo plan show plan.yaml --dot | dot -Tpng > plan.png")]
pub(in crate::cli) struct ShowArguments {
    /// Plan file, JSON or YAML; - reads standard input
    file: PathBuf,

    #[command(flatten)]
    draw: Draw,
}

fn show(face: &mut Face<'_>, arguments: ShowArguments) -> Result<ExitCode> {
    let mut notes = Notes::default();
    let bytes = read_input(&arguments.file, PLAN_MAX)?;
    let what = describe_source(&arguments.file);
    let checked = plans::read(&face.surroundings()?, &mut notes, &what, &bytes)?;
    if arguments.draw.is_asked() {
        return Ok(arguments
            .draw
            .answer(face, &checked.plan.drawing_shapes(), &[]));
    }
    face.answer(&checked, notes, |screen, checked| {
        plan_text(screen, &checked.plan, &checked.assignments);
        for (number, wave) in checked.waves.iter().enumerate() {
            screen.pair(Tone::Dim, format!("wave {number}: "), wave.join(", "));
        }
    })
}

// Options of `cleo plan GOAL`.
#[derive(Args)]
pub(in crate::cli) struct PlanArguments {
    /// Goal of the plan; - reads standard input
    goal: Option<String>,

    /// Maximum number of passes over the plan until its last step reports success
    #[arg(long, value_name = "N", requires = "goal", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_loops: Option<u32>,

    /// Write the plan to this file: .json, .yaml or .yml
    #[arg(long, short, value_name = "FILE", requires = "goal")]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    by: By,

    #[command(flatten)]
    draw: Draw,
}

fn make(face: &mut Face<'_>, arguments: PlanArguments) -> Result<ExitCode> {
    let sent = GoalSent {
        goal: read_goal(arguments.goal)?,
        max_loops: arguments.max_loops,
    };
    let (surroundings, mut notes) = (face.surroundings()?, Notes::default());
    let planner = arguments.by.planner(face, &surroundings)?;
    let mut planned = plans::make_by(&surroundings, &mut notes, &sent, &*planner)?;
    if let Some(file) = &arguments.output {
        planned.write(&surroundings, file, arguments.force)?;
    }
    if arguments.draw.is_asked() {
        return Ok(arguments
            .draw
            .answer(face, &planned.plan.drawing_shapes(), &[]));
    }
    face.answer(&planned, notes, |screen, planned| {
        plan_text(screen, &planned.plan, &planned.assignments);
        if let Some(file) = &planned.file {
            screen.pair(Tone::Good, "written ", file);
        }
    })
}

pub(super) fn read_goal(given: Option<String>) -> Result<String> {
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

/// The name of a plan in a reply: its file, or standard input.
pub(super) fn describe_source(file: &Path) -> String {
    match file.as_os_str() == "-" {
        true => "the plan on standard input".to_string(),
        false => file.to_string_lossy().into_owned(),
    }
}

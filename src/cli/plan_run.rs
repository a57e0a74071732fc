//! `cleo plan run`

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::live::{Live, describe_answer};
use super::plan::{By, describe_source, first_line, read_goal};
use super::screen::{Cell, Screen, Tone, count, dim, plain, status, strong};
use crate::coordinator::plan::{Options, PlanReport, StepReport, resume, run_plan};
use crate::coordinator::request::PlanRequest;
use crate::error::Result;
use crate::file::read_input;
use crate::ops::{Notes, Surroundings, plans};
use crate::plan::{AsWritten, LastStepSays, PLAN_MAX, Planner, Policy};
use crate::run::{Event, Line};

#[derive(Args, Default)]
#[command(after_help = "\
Each step gets the replies of its dependencies, and all replies are combined at the end. The goal
is reached when the reply of the last step contains [done], or its worker reports it in `details`
(\"satisfied\": true). Otherwise the plan is made and run again with the previous result, while
passes remain. A failed step is retried while passes remain for it. A step that needs a model
fails if none is configured. `cleo runs show RUN` lists all events.

Examples:
  cleo plan run plan.yaml
  cleo plan run 'Search the web for caches and report which is best' --max-loops 3
  cleo plan run plan.yaml --jobs 8 --refine last-step
  cleo plan run 'Compare three caches' --llm
  cleo plan run plan.yaml --satisfied-by 'python3 judge.py' --max-loops 5
  cleo plan run --resume exec_1769418000000_1
  cleo plan run --format ndjson plan.yaml          each event as it comes, the result last")]
pub(super) struct Arguments {
    /// Plan file (.json, .yaml or .yml; - reads standard input), or a goal to plan
    #[arg(value_name = "FILE|GOAL", required_unless_present = "resume")]
    what: Option<String>,

    /// Whether it is a file, whatever its extension.
    #[arg(skip)]
    is_file: bool,

    /// Resume an interrupted or failed run; finished steps stay done
    #[arg(long, value_name = "RUN", conflicts_with_all = ["what", "refine"])]
    resume: Option<String>,

    #[command(flatten)]
    request: PlanRequest,

    /// Decide with this program whether the goal is reached: it reads the result of a pass as JSON
    /// and prints {"satisfied": true}; run without a shell
    #[arg(long, value_name = "COMMAND")]
    satisfied_by: Option<String>,

    #[command(flatten)]
    by: By,
}

impl Arguments {
    pub(super) fn for_file(file: String, jobs: Option<u16>) -> Arguments {
        Arguments {
            what: Some(file),
            is_file: true,
            request: PlanRequest {
                jobs,
                ..PlanRequest::default()
            },
            ..Arguments::default()
        }
    }

    pub(super) fn of_run(run: String) -> Arguments {
        Arguments {
            resume: Some(run),
            ..Arguments::default()
        }
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let (goal, planner) = match &arguments.what {
        Some(what) => choose_planner(face, &surroundings, what, &arguments)?,
        None => (String::new(), arguments.by.planner(face, &surroundings)?),
    };
    let policy: Box<dyn Policy> = match &arguments.satisfied_by {
        Some(line) => Box::new(face.external(line)?),
        None => Box::new(LastStepSays),
    };
    let options = Options {
        goal: &goal,
        request: &arguments.request,
        planner: &*planner,
        replans: arguments.by.is_said(),
        policy: &*policy,
    };
    let mut live = Live::new(face);
    let mut tell = |event: &Event| {
        live.show_row(&Line::from(event));
        live.show(|screen| show_step(screen, event));
    };
    let mut carried = match &arguments.resume {
        Some(run) => resume(&surroundings, run, &options, &mut tell)?,
        None => run_plan(&surroundings, &options, &mut tell)?,
    };
    let error = carried.error.take();
    live.end(&carried, error, &carried.course.warnings, |screen| {
        render(screen, &carried)
    })
}

fn choose_planner(
    face: &Face<'_>,
    surroundings: &Surroundings,
    words: &str,
    arguments: &Arguments,
) -> Result<(String, Box<dyn Planner>)> {
    let what = Path::new(words);
    let ending = what.extension().and_then(|ending| ending.to_str());
    let is_file = arguments.is_file
        || what.as_os_str() == "-"
        || matches!(ending, Some("json" | "yaml" | "yml"))
        || surroundings.directory.join(what).is_file();
    if !is_file {
        let planner = arguments.by.planner(face, surroundings)?;
        return Ok((read_goal(Some(words.to_string()))?, planner));
    }
    let (bytes, name) = (read_input(what, PLAN_MAX)?, describe_source(what));
    let checked = plans::read(surroundings, &mut Notes::default(), &name, &bytes)?;
    Ok((checked.plan.goal.clone(), Box::new(AsWritten(checked.plan))))
}

fn show_step(screen: &mut Screen, event: &Event) {
    let word = |name: &str| {
        event
            .detail
            .get(name)
            .and_then(|it| it.as_str())
            .unwrap_or("")
    };
    let step = word("stepId");
    match event.kind.as_str() {
        "agentStart" => screen
            .say(Tone::Accent, format!("▶ {step}"))
            .line(Tone::Dim, format!("  {}", word("agent"))),
        "stepCompleted" => screen.line(Tone::Good, format!("✔ {step}")),
        "error" if event.detail.contains_key("stepId") => screen.pair(
            Tone::Bad,
            format!("✘ {step}"),
            format!("  {}", first_line(word("message"), 200)),
        ),
        _ => screen,
    };
}

fn render(screen: &mut Screen, carried: &PlanReport) {
    screen.line(Tone::Strong, first_line(&carried.course.plan.goal, 200));
    let rows = carried.course.steps.iter().map(row);
    screen.rows(&["STEP", "AGENT", "", "ATTEMPTS", "SAID"], rows);
    screen.line(Tone::Plain, "");
    screen.verbatim(&carried.answer).line(Tone::Plain, "");
    screen.line(Tone::Plain, "");
    let satisfied = match carried.course.satisfied {
        true => "satisfied",
        false => "not satisfied",
    };
    let passes = count(carried.course.passes as usize, "pass", "passes");
    let (id, how) = (&carried.run.id, describe_answer(&carried.run));
    let (tone, word) = status(carried.run.status);
    screen
        .say(tone, word)
        .line(Tone::Dim, format!("  {satisfied}, {passes}  {id}  {how}"));
}

fn row(step: &StepReport) -> [Cell; 5] {
    let said = step.text.as_ref().or(step.error.as_ref());
    [
        strong(&step.step),
        plain(&step.agent),
        status(step.status),
        dim(step.tries),
        plain(first_line(said.map_or("", String::as_str), 80)),
    ]
}

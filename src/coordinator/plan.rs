//! Runs plans: each step by its agent once its dependencies are done, the replies combined, and all of it
//! again until the last step says that the goal is reached. Rules: coordinator notes, sections 3.2 and 3.3.
//! Start at [`carry_out`].

mod course;
mod pass;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::coordinator::engine::record_owner;
use crate::error::{Code, Error, Result, quote};
use crate::ops::agents::load_in;
use crate::ops::answers::Answering;
use crate::ops::runs::recording::Recording;
use crate::ops::runs::require_own;
use crate::ops::trust::{Item, Trust};
use crate::ops::{Surroundings, plans};
use crate::plan::message::max_loops;
use crate::plan::{AsWritten, LOOPS_MAX, Planner, Policy};
use crate::run::StepState;
use crate::run::{AnsweredBy, Event, PLAN_RESUMED, Run, RunKind, RunStatus, Speaker};
use crate::runner::signals;
use crate::store::Store;
use crate::words::closed;
use crate::workspace::Workspace;
pub(crate) use course::Course;
use pass::Pass;

pub(crate) const COORDINATOR: &str = "coordinator";

closed! {
    /// The part that is repeated when the goal is not reached.
    Refine, "way of refining":
    /// The whole plan, made anew.
    Plan = "plan",
    /// The last step alone, with what the others said before.
    LastStep = "last-step",
}

// How a plan is gone over. A doc comment would become the help of the command.
#[derive(Args, Clone, Copy)]
pub(crate) struct Passes {
    /// Maximum number of passes, up to 100, until the last step reports success; an invalid number
    /// means 1
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_passes)]
    pub(crate) max_loops: Option<u32>,

    /// Scope of later passes: the whole plan (plan) or only the last step (last-step)
    #[arg(long, value_name = "PART", default_value_t = Refine::Plan)]
    pub(crate) refine: Refine,

    /// Maximum number of steps at a time
    #[arg(long, value_name = "N", default_value_t = JOBS, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: u16,
}

/// Maximum number of parallel steps by default.
pub(crate) const JOBS: u16 = 4;

fn parse_passes(wish: &str) -> std::result::Result<u32, String> {
    let number: Option<f64> = wish.trim().parse().ok();
    match number {
        Some(number) if number > f64::from(LOOPS_MAX) => {
            Err(format!("there are at most {LOOPS_MAX} passes"))
        }
        _ => Ok(max_loops(Some(wish))),
    }
}

pub(crate) struct Options<'a> {
    pub(crate) goal: &'a str,
    pub(crate) passes: Passes,
    pub(crate) planner: &'a dyn Planner,
    /// Whether it also makes the plans of further passes when a run resumes; else the plan that
    /// was made stays.
    pub(crate) replans: bool,
    pub(crate) policy: &'a dyn Policy,
}

/// The result of a plan.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Carried {
    /// The record.
    pub(crate) run: Run,
    #[serde(flatten)]
    pub(crate) course: Course,
    /// The replies of all steps, in the order of the plan.
    pub(crate) answer: String,
    /// Why it failed.
    #[serde(skip)]
    pub(crate) error: Option<Error>,
}

/// The result of a step.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stepped {
    /// The step.
    pub(crate) step: String,
    /// The agent that does it.
    pub(crate) agent: String,
    /// Where it stands: waiting, done or failed.
    pub(crate) status: StepState,
    /// How often its agent was asked, in all passes.
    pub(crate) tries: u32,
    /// Its reply.
    pub(crate) text: Option<String>,
    /// The source of the answer.
    pub(crate) answered_by: Option<AnsweredBy>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// Metadata of the reply.
    #[serde(skip)]
    metadata: crate::run::Detail,
}

/// Runs a plan and records it. `tell` receives each event once it is committed. Failed steps are in the
/// result; an error is cleo's own, or comes before there is anything to record.
pub(crate) fn carry_out(
    surroundings: &Surroundings,
    options: &Options<'_>,
    tell: &mut dyn FnMut(&Event),
) -> Result<Carried> {
    let workspace = surroundings.workspace()?;
    let goal = plans::check_goal(options.goal)?;
    let answering = Answering::open(surroundings, &workspace)?;
    let run = Run {
        routing_reason: "each step goes to an agent that offers what it needs".to_string(),
        ..Run::new(String::new(), RunKind::Plan, COORDINATOR, goal.to_string())
    };
    let mut recording = Recording::begin(surroundings, &workspace, run, tell)?;
    own(surroundings, &workspace, &recording.run, &Value::Null);
    recording.note(|notes| {
        let user = notes.run.user.clone();
        notes.say(Speaker::User, &user, goal, None).map(|_| ())
    })?;
    run_passes(
        surroundings,
        options,
        &answering,
        recording,
        Course::default(),
    )
}

/// Resumes a plan whose process ended or that failed. Steps that its record shows as done stay done; goal,
/// refinement and, unless the options say otherwise, passes come from the record.
pub(crate) fn resume(
    surroundings: &Surroundings,
    run: &str,
    options: &Options<'_>,
    tell: &mut dyn FnMut(&Event),
) -> Result<Carried> {
    let workspace = surroundings.workspace()?;
    let answering = Answering::open(surroundings, &workspace)?;
    require_own_plan(surroundings, &workspace, run)?;
    let (mut recording, events, messages) =
        Recording::resume(surroundings, &workspace, run, RunKind::Plan, tell)?;
    let goal = recording.run.input.clone();
    let (course, passes) = course::read_record(&events, &messages, options.passes);
    let written = AsWritten(course.plan.clone());
    let is_written = course.passes > 0 && !options.replans;
    let options = Options {
        goal: &goal,
        passes,
        planner: if is_written {
            &written
        } else {
            options.planner
        },
        ..*options
    };
    let fields = json!({"pass": course.passes, "done": course.count_done()});
    recording.note(|notes| notes.event(PLAN_RESUMED, fields))?;
    run_passes(surroundings, &options, &answering, recording, course)
}

fn own(surroundings: &Surroundings, workspace: &Workspace, run: &Run, plan: &Value) {
    let item = Item::plan(&run.id, &run.input, plan);
    record_owner(surroundings, &Trust::new(surroundings, workspace), &item);
}

fn require_own_plan(surroundings: &Surroundings, workspace: &Workspace, id: &str) -> Result<()> {
    let Some(mut store) = workspace.store_if_there()? else {
        return Ok(());
    };
    let run = store.read()?.run(id)?;
    match run.filter(|run| run.kind == RunKind::Plan && run.status != RunStatus::Completed) {
        Some(run) => require_own(surroundings, workspace, &mut store, &run),
        None => Ok(()),
    }
}

/// Goes over a plan until its goal is reached or no pass is left, and ends the record of its run.
fn run_passes(
    surroundings: &Surroundings,
    options: &Options<'_>,
    answering: &Answering,
    mut recording: Recording<'_>,
    mut course: Course,
) -> Result<Carried> {
    let done = signals::until(recording.watch_for_cancel(), || {
        pass_until_satisfied(
            surroundings,
            options,
            answering,
            &mut recording,
            &mut course,
        )
    });
    let done = match done {
        Err(error) if error.code == Code::Interrupted && recording.is_cancelled()? => {
            Err(cancellation_error())
        }
        done => done,
    };
    let answer = course.answer();
    let status = match &done {
        Ok(()) => RunStatus::Completed,
        Err(error) if error.is_cut_short() => RunStatus::Interrupted,
        Err(error) if error.code == Code::RunCancelled => RunStatus::Cancelled,
        Err(_) => RunStatus::Failed,
    };
    let by = course.find_source();
    recording.end(status, |notes| {
        notes.run.answered_by = by;
        notes.run.output = Some(answer.clone());
        let Err(error) = &done else {
            return notes
                .say(Speaker::Agent, COORDINATOR, &answer, None)
                .map(|_| ());
        };
        let message = error.display_message().into_owned();
        notes.run.error = Some(message.clone());
        notes.event(
            "error",
            json!({"message": message, "code": error.code.name()}),
        )
    })?;
    let error = done
        .err()
        .map(|error| explain(error, &course, &recording.run));
    if error.is_none() && !course.satisfied {
        let passes = match course.passes {
            1 => "1 pass".to_string(),
            n => format!("{n} passes"),
        };
        let warning =
            format!("the last step does not say that the goal is reached, after {passes}");
        course.warnings.push(warning);
    }
    Ok(Carried {
        run: recording.run,
        course,
        answer,
        error,
    })
}

fn pass_until_satisfied(
    surroundings: &Surroundings,
    options: &Options<'_>,
    answering: &Answering,
    recording: &mut Recording<'_>,
    course: &mut Course,
) -> Result<()> {
    let workspace = surroundings.workspace()?;
    loop {
        let known = load_in(&workspace)?;
        let begun = course.begun.take();
        let is_new = begun.is_none();
        let before = || (course.passes > 0).then(|| course.answer());
        let previous = begun.unwrap_or_else(before);
        if course.passes == 0 {
            course.warnings.extend(known.warnings);
        }
        if is_new {
            course.replan(options, &known.agents, previous.as_deref())?;
            course.passes += 1;
            own(
                surroundings,
                &workspace,
                &recording.run,
                &json!(course.plan),
            );
            course.tell(recording, options, &known.agents, previous.as_deref())?;
        }
        let agents = course.assign(&known.agents)?;
        let most = course.most(options);
        let pass = Pass {
            plan: &course.plan,
            agents: &agents,
            most,
            previous: previous.as_deref(),
            answering,
            steps: &mut course.steps,
            recording: &mut *recording,
        };
        pass.run(options.passes.jobs.into())?;
        let answer = course.answer();
        recording.note(|notes| {
            notes.run.output = Some(answer.clone());
            notes.event(
                "aggregate",
                json!({"length": answer.len(), "pass": course.passes}),
            )
        })?;
        course.satisfied = course.judge(options, &answer)?;
        if course.satisfied || course.passes >= most {
            return Ok(());
        }
    }
}

fn explain(error: Error, course: &Course, run: &Run) -> Error {
    let code = match error.code {
        Code::AgentFailed if course.count_done() > 0 => Code::StepsFailed,
        code => code,
    };
    let look = format!("cleo runs show {}", quote(&run.id));
    let go_on = format!("cleo plan run --resume {}", quote(&run.id));
    if error.is_cut_short() {
        return error.fix(go_on).or("see what was done", look);
    }
    let error = Error { code, ..error }.or("resume what failed", go_on);
    match error.fix {
        None => error.fix(look),
        Some(_) => error.or("see what was done", look),
    }
}

fn cancellation_error() -> Error {
    let message = "the run was cancelled before all its steps were done";
    Error::new(Code::RunCancelled, message)
}

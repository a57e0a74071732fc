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
use crate::ops::answers::Answering;
use crate::ops::runs::recording::Recording;
use crate::ops::runs::require_own;
use crate::ops::trust::{Item, Trust};
use crate::ops::{Surroundings, plans};
use crate::plan::message::max_loops;
use crate::plan::{AsWritten, LOOPS_MAX, Planner, Policy};
use crate::run::StepState;
use crate::run::{AnsweredBy, Event, PLAN_RESUMED, Run, RunKind, RunStatus, Speaker};
use crate::store::Store;
use crate::words::closed;
use crate::workspace::Workspace;
pub(crate) use course::Course;
use pass::PlanRun;

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
    let course = Course::default();
    PlanRun::new(surroundings, options, &answering, recording, course).finish()
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
    PlanRun::new(surroundings, &options, &answering, recording, course).finish()
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

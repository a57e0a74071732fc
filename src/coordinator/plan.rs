//! Runs plans: each step by its agent once its dependencies are done, the replies combined, and all of it
//! again until the last step says that the goal is reached. Rules: coordinator notes, sections 3.2 and 3.3.
//! Start at [`run_plan`].

mod course;
mod pass;

use serde::Serialize;
use serde_json::{Value, json};

use crate::coordinator::engine::record_owner;
use crate::coordinator::request::PlanRequest;
use crate::error::{Code, Error, Result, quote};
use crate::ops::answers::Answering;
use crate::ops::runs::recording::Recording;
use crate::ops::trust::{Item, Trust};
use crate::ops::{Surroundings, plans};
use crate::plan::{AsWritten, Planner, Policy};
use crate::run::{AnsweredBy, Event, PLAN_RESUMED, Run, RunKind, Speaker, StepState};
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

/// Maximum number of parallel steps by default.
const JOBS: u16 = 4;

pub(crate) struct Options<'a> {
    pub(crate) goal: &'a str,
    pub(crate) request: &'a PlanRequest,
    pub(crate) planner: &'a dyn Planner,
    /// Whether it also makes the plans of further passes when a run resumes; else the plan that
    /// was made stays.
    pub(crate) replans: bool,
    pub(crate) policy: &'a dyn Policy,
}

/// The result of a plan.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanReport {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepReport {
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
pub(crate) fn run_plan(
    surroundings: &Surroundings,
    options: &Options<'_>,
    tell: &mut dyn FnMut(&Event),
) -> Result<PlanReport> {
    let workspace = surroundings.workspace()?;
    let goal = plans::check_goal(options.goal)?;
    let answering = Answering::open(surroundings, &workspace)?;
    let run = Run {
        routing_reason: "each step goes to an agent that offers what it needs".to_string(),
        ..Run::new(String::new(), RunKind::Plan, COORDINATOR, goal.to_string())
    };
    let mut recording = Recording::begin(surroundings, &workspace, run, tell)?;
    record_plan_owner(surroundings, &workspace, &recording.run, &Value::Null);
    recording.commit(|notes| {
        let user = notes.run.user.clone();
        notes
            .add_message(Speaker::User, &user, goal, None)
            .map(|_| ())
    })?;
    let course = Course::default();
    PlanRun::finish(surroundings, options, &answering, recording, course)
}

/// Resumes a plan whose process ended or that failed. Steps that its record shows as done stay done; goal,
/// refinement and, unless the options say otherwise, passes come from the record.
pub(crate) fn resume(
    surroundings: &Surroundings,
    run: &str,
    options: &Options<'_>,
    tell: &mut dyn FnMut(&Event),
) -> Result<PlanReport> {
    let workspace = surroundings.workspace()?;
    let answering = Answering::open(surroundings, &workspace)?;
    let (mut recording, events, messages) =
        Recording::resume(surroundings, &workspace, run, RunKind::Plan, tell)?;
    let goal = recording.run.input.clone();
    let (course, request) = course::read_record(&events, &messages, options.request);
    let written = AsWritten(course.plan.clone());
    let is_written = course.passes > 0 && !options.replans;
    let options = Options {
        goal: &goal,
        request: &request,
        planner: if is_written {
            &written
        } else {
            options.planner
        },
        ..*options
    };
    let fields = json!({"pass": course.passes, "done": course.count_done()});
    recording.commit(|notes| notes.add_event(PLAN_RESUMED, fields))?;
    PlanRun::finish(surroundings, &options, &answering, recording, course)
}

fn record_plan_owner(surroundings: &Surroundings, workspace: &Workspace, run: &Run, plan: &Value) {
    let item = Item::plan(&run.id, &run.input, plan);
    record_owner(surroundings, &Trust::new(surroundings, workspace), &item);
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

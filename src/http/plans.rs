//! Plans: made of a goal, checked, drawn. Nothing is kept, and only agents that the caller sees count.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use super::work::{Warned, judged};
use crate::error::{Code, Error, Result};
use crate::ops::agents::{self, Known};
use crate::ops::plans::{self, Checked, Planned};
use crate::ops::tokens::Scope;
use crate::plan::LOOPS_MAX;
use crate::plan::planner::ByRule;
use crate::task::drawing;

/// What a plan is called in errors.
const NAME: &str = "the plan";

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::post("/api/plans", make)
            .about("Makes a plan of a goal by rule, with who would get each step")
            .takes::<GoalSent>()
            .answers::<Warned<Planned>>(200),
        Route::post("/api/plans/check", check)
            .about("Says whether a plan can be carried out, and everything that keeps it from that")
            .takes::<PlanSent>()
            .answers::<Warned<Checked>>(200),
        Route::post("/api/plans/draw", draw)
            .about("Draws a plan, for pages and for Graphviz")
            .takes::<PlanSent>()
            .answers::<PlanDrawn>(200),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("plans").scope(Scope::Read))
        .collect()
}

/// What is to be reached.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GoalSent {
    /// The goal, in words.
    goal: String,
    /// Most passes over the plan, until its last step says that the goal is reached.
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    max_loops: Option<u32>,
}

/// A plan that somebody has written.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanSent {
    /// Its text, JSON or YAML.
    text: String,
}

/// A plan in two languages for pictures.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct PlanDrawn {
    /// A picture.
    svg: String,
    /// A graph for Graphviz.
    dot: String,
    /// How many steps there are.
    total: usize,
}

fn seen(call: &Call, command: &'static str) -> Result<Known> {
    Ok(agents::known(&call.surroundings(command))?.seen_by(call.only()))
}

fn checked(call: &Call, command: &'static str) -> Result<Checked> {
    let sent: PlanSent = call.body()?;
    let (surroundings, known) = (call.surroundings(command), seen(call, command)?);
    Ok(plans::judge(
        &surroundings,
        sent.text.as_bytes(),
        known,
        None,
    ))
}

fn make(call: &Call) -> Result<Answer> {
    let wanted: GoalSent = call.body()?;
    if let Some(passes) = wanted.max_loops.filter(|n| !(1..=LOOPS_MAX).contains(n)) {
        let message = format!("maxLoops is {passes}; it can be 1 to {LOOPS_MAX}");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let (surroundings, known) = (call.surroundings("plan"), seen(call, "plan")?);
    let made = plans::make_among(
        &surroundings,
        known,
        &wanted.goal,
        wanted.max_loops,
        &ByRule,
    );
    let mut result = made?;
    let warnings = std::mem::take(&mut result.warnings);
    Answer::ok(&Warned { result, warnings })
}

fn check(call: &Call) -> Result<Answer> {
    let mut result = checked(call, "plan.check")?;
    let warnings = std::mem::take(&mut result.warnings);
    let error = result.error(NAME);
    judged(&Warned { result, warnings }, error)
}

fn draw(call: &Call) -> Result<Answer> {
    let plan = checked(call, "plan.show")?.readable(NAME)?.plan;
    let shapes = plan.shapes();
    Answer::ok(&PlanDrawn {
        svg: drawing::svg(&shapes),
        dot: drawing::dot(&shapes),
        total: plan.steps.len(),
    })
}

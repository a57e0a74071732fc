//! Plans: made of a goal, checked, drawn, of which nothing is kept; and carried out. Only agents that the
//! caller sees count.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::extract::{Json, Reply, StrictJson, Verdict};
use super::route::Route;
use super::runs::{self, Started};
use super::work::Warned;
use crate::coordinator::detached::{self, PlanWish};
use crate::error::{Code, Error, Result};
use crate::ops::agents::{self, Known};
use crate::ops::plans::{self, Checked, Planned};
use crate::ops::tokens::Scope;
use crate::plan::ByRule;
use crate::plan::LOOPS_MAX;
use crate::task::drawing;

/// What a plan is called in errors.
const NAME: &str = "the plan";

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::post("/api/plans", make)
            .about("Makes a plan of a goal by rule, with who would get each step"),
        Route::post("/api/plans/check", check).about(
            "Says whether a plan can be carried out, and everything that keeps it from that",
        ),
        Route::post("/api/plans/draw", draw).about("Draws a plan, for pages and for Graphviz"),
    ];
    let looking = routes.into_iter().map(|route| route.scope(Scope::Read));
    let run = Route::post("/api/plans/run", run)
        .about("Has a plan carried out by agents, in a process of its own")
        .scope(Scope::Admin)
        .answers::<Started>(202);
    let all = looking.chain([run]);
    all.map(|route| route.tag("plans")).collect()
}

/// What is to be reached.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GoalSent {
    /// The goal, in words.
    goal: String,
    /// Most passes over the plan, until its last step says that the goal is reached.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 100)))]
    max_loops: Option<u32>,
}

/// A plan that somebody has written.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanSent {
    /// Its text, JSON or YAML.
    text: String,
}

/// A plan in two languages for pictures.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

fn checked(call: &Call, command: &'static str, text: &str) -> Result<Checked> {
    Ok(plans::judge(text.as_bytes(), seen(call, command)?))
}

fn made(call: &Call, command: &'static str, goal: &str, max_loops: Option<u32>) -> Result<Planned> {
    let known = seen(call, command)?;
    plans::make_among(known, goal, max_loops, &ByRule)
}

fn check_passes(max_loops: Option<u32>) -> Result<()> {
    match max_loops.filter(|passes| !(1..=LOOPS_MAX).contains(passes)) {
        None => Ok(()),
        Some(passes) => {
            let message = format!("maxLoops is {passes}; it can be 1 to {LOOPS_MAX}");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

fn make(call: &Call, StrictJson(wanted): StrictJson<GoalSent>) -> Result<Json<Warned<Planned>>> {
    check_passes(wanted.max_loops)?;
    let mut result = made(call, "plan", &wanted.goal, wanted.max_loops)?;
    let warnings = std::mem::take(&mut result.warnings);
    Ok(Json(Warned { result, warnings }))
}

fn check(call: &Call, StrictJson(sent): StrictJson<PlanSent>) -> Result<Verdict<Warned<Checked>>> {
    Ok(verdict(checked(call, "plan.check", &sent.text)?))
}

fn verdict(mut result: Checked) -> Verdict<Warned<Checked>> {
    let warnings = std::mem::take(&mut result.warnings);
    let error = result.error(NAME);
    Verdict(Warned { result, warnings }, error)
}

fn draw(call: &Call, StrictJson(sent): StrictJson<PlanSent>) -> Result<Json<PlanDrawn>> {
    let plan = checked(call, "plan.show", &sent.text)?.readable(NAME)?.plan;
    let shapes = plan.shapes();
    Ok(Json(PlanDrawn {
        svg: drawing::svg(&shapes),
        dot: drawing::dot(&shapes),
        total: plan.steps.len(),
    }))
}

fn run(call: &Call, StrictJson(wish): StrictJson<PlanWish>) -> Result<Answer> {
    check_passes(wish.max_loops)?;
    let found = checked(call, "plan.run", &wished(call, &wish)?)?;
    if !found.faults.is_empty() {
        return verdict(found).answer();
    }
    let begun = detached::carry_out(&call.surroundings("plan.run"), &found.plan, &wish)?;
    runs::started(call, begun)?.answer()
}

/// Returns the text of the plan that is wished for: as it was sent, or made of a goal.
fn wished(call: &Call, wish: &PlanWish) -> Result<String> {
    match (&wish.text, &wish.goal) {
        (Some(text), None) => Ok(text.clone()),
        (None, Some(goal)) => {
            let made = made(call, "plan.run", goal, wish.max_loops)?;
            Ok(json!(made.plan).to_string())
        }
        _ => {
            let message = "the body must hold a plan (`text`) or a goal (`goal`), and not both";
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

//! Runs of plans. Only agents that the caller sees are used.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::fault;
use super::route::Route;
use super::runs::{self, Started};
use super::work::Warned;
use crate::coordinator::detached;
use crate::coordinator::request::PlanRequest;
use crate::error::{Code, Error, Result};
use crate::ops::Notes;
use crate::ops::plans::{self, GoalSent, PlanSent};
use crate::ops::tokens::Scope;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/plans/run", run)
            .about("Runs a plan in its own process")
            .scope(Scope::Admin)
            .takes::<PlanRequest>()
            .answers::<Started>(202)
            .tag("plans"),
    ]
}

fn run(call: &Call) -> Result<Answer> {
    let request: PlanRequest = call.body()?;
    plans::check_passes(request.max_loops)?;
    let (around, mut notes) = (call.surroundings("plan.run"), Notes::default());
    // The text of the plan, as sent or made from a goal.
    let text = match (&request.text, &request.goal) {
        (Some(text), None) => text.clone(),
        (None, Some(goal)) => {
            let (goal, max_loops) = (goal.clone(), request.max_loops);
            let made = plans::make(&around, &mut notes, GoalSent { goal, max_loops })?;
            json!(made.plan).to_string()
        }
        _ => {
            let message = "the body needs either a plan (`text`) or a goal (`goal`)";
            return Err(Error::new(Code::InputInvalid, message));
        }
    };
    let result = plans::check(&around, &mut notes, PlanSent { text })?;
    if let Some(error) = notes.failure {
        let warnings = notes.warnings;
        return fault::verdict(&Warned { result, warnings }, &error);
    }
    let (words, text) = (request.words()?, json!(result.plan).to_string());
    let run = detached::begin(&around, &words, Some(text))?;
    runs::answer_started(call, &run, request.format_command(&words))
}

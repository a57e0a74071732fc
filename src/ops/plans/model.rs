//! Plans by the configured model: asked once, asked once more to fix the faults, and then the rule
//! decides.

use crate::agent::Agent;
use crate::error::{Code, Error, Result};
use crate::llm::client::Client;
use crate::llm::{Message, Model, Request};
use crate::plan::check::Fault;
use crate::plan::{ByRule, Decomposed, Plan, Planner, Source, Wish, message};

/// The model that is asked where the settings name none.
const MODEL: &str = "gpt-4o-mini";

#[derive(Clone, Debug)]
pub(crate) struct ByModel(pub(crate) Option<Model>);

impl Planner for ByModel {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed> {
        let why = match &self.0 {
            None => "no model is configured".to_string(),
            Some(model) => match plan_with(model, wish) {
                Ok(plan) => return Ok(Decomposed::new(plan, Source::Model)),
                Err(error) if error.is_cut_short() => {
                    return Err(error);
                }
                Err(error) => error.display_message().into_owned(),
            },
        };
        let mut plan = ByRule.plan(wish)?;
        let warning = format!("the model made no plan, so the rule did: {why}");
        plan.warnings.push(warning);
        Ok(plan)
    }
}

fn plan_with(model: &Model, wish: &Wish<'_>) -> Result<Plan> {
    let client = Client::open(model)?;
    let told = message::write_message(wish.goal, wish.agents, wish.previous);
    let mut request = Request {
        schema: Some(message::schema()),
        temperature: Some(0.0),
        ..Request::single(MODEL, message::SYSTEM, &told.to_string())
    };
    let first = match client.ask(&request, &mut |_| {}) {
        // Not every server knows schemas.
        Err(error) if error.code == Code::ModelRefused => {
            request.schema = None;
            request.system += &format!("\nThe JSON Schema of the answer:\n{}", message::schema());
            client.ask(&request, &mut |_| {})?.text
        }
        reply => reply?.text,
    };
    let faults = match judge_plan(&first, wish) {
        Ok(plan) => return Ok(plan),
        Err(faults) => faults,
    };
    request.messages.push(Message::assistant(&first));
    request
        .messages
        .push(Message::user(&message::ask_for_correction(&faults)));
    let second = client.ask(&request, &mut |_| {})?.text;
    judge_plan(&second, wish).map_err(|faults| {
        let first = faults
            .first()
            .map(|fault| format!("{}: {}", fault.place, fault.message));
        Error::new(Code::ModelAnswer, first.unwrap_or_default())
    })
}

/// Takes a plan that can be carried out by who is there.
fn judge_plan(text: &str, wish: &Wish<'_>) -> std::result::Result<Plan, Vec<Fault>> {
    let (plan, mut faults) = message::read_answer(text, wish.goal);
    let agents: &[Agent] = wish.agents;
    if faults.is_empty() {
        faults = super::find_unassignable(&plan, agents);
    }
    match faults.is_empty() {
        true => Ok(plan),
        false => Err(faults),
    }
}

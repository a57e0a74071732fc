//! One pass over a plan.

use std::collections::HashMap;

use serde_json::json;

use super::{COORDINATOR, Stepped, cancellation_error};
use crate::agent::Agent;
use crate::coordinator::messages::{self, Messages};
use crate::coordinator::scheduler::Event;
use crate::error::{Code, Error, Result};
use crate::ops::answers::{Answer, Answering, Question};
use crate::ops::runs::recording::Recording;
use crate::plan::message::{Reply, message};
use crate::plan::{Plan, Step};
use crate::run::StepState;
use crate::run::{AnsweredBy, Outcome, Run, Speaker};
use crate::runner::signals;

pub(super) struct Pass<'a, 'r> {
    pub(super) plan: &'a Plan,
    pub(super) agents: &'a [Agent],
    pub(super) most: u32,
    /// The answer of the pass before.
    pub(super) previous: Option<&'a str>,
    pub(super) answering: &'a Answering,
    pub(super) steps: &'a mut [Stepped],
    pub(super) recording: &'a mut Recording<'r>,
}

pub(super) struct Job {
    agent: Agent,
    intent: Option<String>,
    message: String,
    is_cancelled: Box<dyn FnMut() -> bool + Send>,
}

impl Pass<'_, '_> {
    pub(super) fn run(mut self, jobs: usize) -> Result<()> {
        // The cost of the other steps would be lost if one of them cannot be answered.
        for (step, agent) in self.plan.steps.iter().zip(self.agents) {
            if agent.is_worker() {
                self.answering.workers.may_call(agent)?;
            } else if !self.answering.can_answer(agent) {
                return Err(nobody(step, agent));
            }
        }
        let mut scheduler = messages::schedule(needs(self.plan), jobs);
        for (at, step) in self.steps.iter().enumerate() {
            if step.status == StepState::Done {
                scheduler.note_done(at);
            }
        }
        let answering = self.answering.clone();
        let Run { user, id: run, .. } = self.recording.run.clone();
        messages::send(scheduler, &mut self, |job: Job| {
            let question = Question {
                intent: job.intent.as_deref(),
                user: Some(&user),
                conversation: Some(&run),
                ..Question::new(&job.agent, &job.message, &run)
            };
            signals::until(job.is_cancelled, || answering.ask(&question, &mut |_| {}))
        })
    }

    fn fail(&mut self, at: usize, error: Error) -> Result<Event> {
        let (id, agent) = (self.plan.steps[at].id.clone(), &self.agents[at].id);
        let useless = matches!(
            error.code,
            Code::Untrusted | Code::Interrupted | Code::Terminated | Code::ConfigInvalid
        );
        // Once for each remaining pass.
        let again = !useless && self.steps[at].tries < self.most;
        let why = error.display_message().into_owned();
        let fields = json!({
            "stepId": id, "agent": agent, "message": why, "code": error.code.name(), "retried": again,
        });
        self.recording.note(|notes| notes.event("error", fields))?;
        if again {
            return Ok(Event::Lacking(at, Outcome::AgentError, why));
        }
        (self.steps[at].status, self.steps[at].error) = (StepState::Failed, Some(why));
        Err(Error {
            message: format!("step `{id}`: {}", error.message),
            ..error
        })
    }

    fn keep(&mut self, at: usize, answer: Answer) -> Result<()> {
        let (id, agent) = (&self.plan.steps[at].id, &self.agents[at].id);
        self.recording.note(|notes| {
            let message = notes.say(Speaker::Agent, agent, &answer.text, Some(id))?;
            let length = answer.text.len();
            notes.event(
                "agentComplete",
                json!({
                    "agent": agent, "stepId": id, "responseMessageId": message, "length": length,
                    "answeredBy": answer.by, "metadata": answer.details,
                }),
            )?;
            notes.record_answer(agent, answer.usage, answer.cost)?;
            if answer.model.is_some() {
                notes.run.model.clone_from(&answer.model);
            }
            notes.event("stepCompleted", json!({"stepId": id}))
        })?;
        let step = &mut self.steps[at];
        step.status = StepState::Done;
        (step.text, step.error) = (Some(answer.text), None);
        (step.answered_by, step.metadata) = (Some(answer.by), answer.details);
        Ok(())
    }
}

impl Messages for Pass<'_, '_> {
    type Job = Job;
    type Answer = Result<Answer>;

    fn begin(&mut self, at: usize) -> Result<Job> {
        if self.recording.is_cancelled()? {
            return Err(cancellation_error());
        }
        let (step, agent) = (&self.plan.steps[at], &self.agents[at]);
        let told = write_message(step, self.previous, self.steps);
        let refinement = self.previous.is_some();
        self.recording.note(|notes| {
            let message = notes.say(Speaker::System, COORDINATOR, &told, Some(&step.id))?;
            notes.event(
                "dispatch",
                json!({"stepId": step.id, "capability": step.agent_or_capability(), "messageId": message}),
            )?;
            notes.event(
                "agentStart",
                json!({"agent": agent.id, "stepId": step.id, "messageId": message, "refinement": refinement}),
            )
        })?;
        self.steps[at].tries += 1;
        Ok(Job {
            agent: agent.clone(),
            intent: step.intent.clone(),
            message: told,
            is_cancelled: self.recording.watch_for_cancel(),
        })
    }

    fn end(&mut self, at: usize, answer: Result<Answer>) -> Result<Event> {
        match answer {
            Ok(answer) if answer.by == AnsweredBy::Offline => {
                let error = nobody(&self.plan.steps[at], &self.agents[at]);
                self.fail(at, error)
            }
            Ok(answer) => self.keep(at, answer).map(|()| Event::Completed(at)),
            Err(error) => self.fail(at, error),
        }
    }
}

fn write_message(step: &Step, previous: Option<&str>, steps: &[Stepped]) -> String {
    let reply = |need: &String| {
        let done = steps.iter().find(|done| done.step == *need)?;
        Some(Reply {
            step: &done.step,
            agent: &done.agent,
            text: done.text.as_deref()?,
        })
    };
    let context: Vec<Reply<'_>> = step.depends_on.iter().filter_map(reply).collect();
    message(&step.instruction, previous, &context)
}

fn needs(plan: &Plan) -> Vec<Vec<usize>> {
    let places = plan.steps.iter().enumerate();
    let places: HashMap<&str, usize> = places.map(|(at, step)| (step.id.as_str(), at)).collect();
    let needs = |step: &Step| {
        let needs = step.depends_on.iter();
        needs
            .filter_map(|need| places.get(need.as_str()).copied())
            .collect()
    };
    plan.steps.iter().map(needs).collect()
}

/// Returns the error of a step that needs a model when none is configured: the offline answer is not a result.
fn nobody(step: &Step, agent: &Agent) -> Error {
    let message = format!(
        "step `{}`: no model is configured that could answer for `{}`, and an offline reply is not a result",
        step.id, agent.id
    );
    Error::new(Code::ConfigInvalid, message).fix("cleo doctor")
}

//! The passes over a plan.

use serde_json::json;

use super::{
    COORDINATOR, Course, JOBS, Options, PlanReport, Refine, StepReport, explain, record_plan_owner,
};
use crate::agent::Agent;
use crate::coordinator::messages::{self, Messages};
use crate::coordinator::scheduler::Event;
use crate::error::{Code, Error, Result};
use crate::ops::agents::load_in;
use crate::ops::answers::{Answer, Answering, Question};
use crate::ops::runs::recording::Recording;
use crate::ops::{Surroundings, plans};
use crate::plan::message::{Reply, message};
use crate::plan::{Outcome, Plan, Step, Wish};
use crate::run::{self, AnsweredBy, Run, RunStatus, Speaker, StepState};
use crate::runner::signals;

/// A run of a plan, from its first pass to its last.
pub(super) struct PlanRun<'a, 'r> {
    surroundings: &'a Surroundings,
    options: &'a Options<'a>,
    answering: &'a Answering,
    recording: Recording<'r>,
    course: Course,
    agents: Vec<Agent>,
    /// The answer of the pass before.
    previous: Option<String>,
}

pub(super) struct Job {
    agent: Agent,
    intent: Option<String>,
    message: String,
    is_cancelled: Box<dyn FnMut() -> bool + Send>,
}

impl<'a, 'r> PlanRun<'a, 'r> {
    /// Goes over a plan until its goal is reached or no pass is left, and ends the record of its run.
    pub(super) fn finish(
        surroundings: &'a Surroundings,
        options: &'a Options<'a>,
        answering: &'a Answering,
        recording: Recording<'r>,
        course: Course,
    ) -> Result<PlanReport> {
        let mut run = PlanRun {
            surroundings,
            options,
            answering,
            recording,
            course,
            agents: Vec::new(),
            previous: None,
        };
        let watch = run.recording.watch_for_cancel();
        let done = match signals::run_until(watch, || run.pass_until_satisfied()) {
            Err(error) if error.code == Code::Interrupted && run.recording.is_cancelled()? => {
                Err(cancellation_error())
            }
            done => done,
        };
        let (mut course, mut recording) = (run.course, run.recording);
        let answer = course.answer();
        let status = match &done {
            Ok(()) => RunStatus::Completed,
            Err(error) if error.is_cut_short() => RunStatus::Interrupted,
            Err(error) if error.code == Code::RunCancelled => RunStatus::Cancelled,
            Err(_) => RunStatus::Failed,
        };
        recording.end(status, |notes| {
            notes.run.answered_by = course.find_source();
            notes.run.output = Some(answer.clone());
            let Err(error) = &done else {
                let said = notes.add_message(Speaker::Agent, COORDINATOR, &answer, None);
                return said.map(|_| ());
            };
            let message = error.display_message().into_owned();
            let fields = json!({"message": message, "code": error.code.name()});
            notes.run.error = Some(message);
            notes.add_event("error", fields)
        })?;
        if done.is_ok() && !course.satisfied {
            let passes = match course.passes {
                1 => "1 pass".to_string(),
                n => format!("{n} passes"),
            };
            let warning =
                format!("the last step does not say that the goal is reached, after {passes}");
            course.warnings.push(warning);
        }
        let error = done.err();
        Ok(PlanReport {
            error: error.map(|error| explain(error, &course, &recording.run)),
            run: recording.run,
            course,
            answer,
        })
    }

    fn pass_until_satisfied(&mut self) -> Result<()> {
        let workspace = self.surroundings.workspace()?;
        loop {
            let known = load_in(&workspace)?;
            if self.course.passes == 0 {
                self.course.warnings.extend(known.warnings);
            }
            match self.course.begun.take() {
                Some(previous) => self.previous = previous,
                None => {
                    self.previous = (self.course.passes > 0).then(|| self.course.answer());
                    self.replan(&known.agents)?;
                    self.course.passes += 1;
                    let plan = json!(self.course.plan);
                    record_plan_owner(self.surroundings, &workspace, &self.recording.run, &plan);
                    self.tell_plan(&known.agents)?;
                }
            }
            self.agents = plans::assign_agents(&self.course.plan, &known.agents)?;
            for (step, agent) in self.course.steps.iter_mut().zip(&self.agents) {
                if step.status != StepState::Done {
                    step.agent.clone_from(&agent.id);
                }
            }
            self.send()?;
            let (answer, passes) = (self.course.answer(), self.course.passes);
            self.recording.commit(|notes| {
                notes.run.output = Some(answer.clone());
                let fields = json!({"length": answer.len(), "pass": passes});
                notes.add_event("aggregate", fields)
            })?;
            self.course.satisfied = self.judge(&answer)?;
            if self.course.satisfied || passes >= self.most() {
                return Ok(());
            }
        }
    }

    /// Has the last step, or all steps of a new plan, done in the pass that begins.
    fn replan(&mut self, agents: &[Agent]) -> Result<()> {
        let (options, course) = (self.options, &mut self.course);
        if self.previous.is_some() && options.request.refine == Some(Refine::LastStep) {
            let last = course.steps.last_mut();
            last.into_iter()
                .for_each(|last| last.status = StepState::Waiting);
            return Ok(());
        }
        let made = options.planner.plan(&Wish {
            goal: options.goal.trim(),
            agents,
            previous: self.previous.as_deref(),
        })?;
        course.warnings.extend(made.warnings);
        course.warnings.dedup();
        plans::refuse_faulty(&made.plan)?;
        course.plan = made.plan;
        let steps = course.plan.steps.iter();
        course.steps = steps
            .map(|step| StepReport::for_waiting_step(&step.id, &course.steps))
            .collect();
        Ok(())
    }

    fn most(&self) -> u32 {
        let asked_for = self.options.request.max_loops;
        asked_for.unwrap_or(self.course.plan.clamped_max_loops())
    }

    fn tell_plan(&mut self, agents: &[Agent]) -> Result<()> {
        let plan = &self.course.plan;
        let assignments = plans::assignments(plan, agents);
        let steps = plan.steps.iter().zip(assignments).map(|(step, who)| {
            json!({
                "id": step.id, "capability": step.agent_capability, "agent": who.agent,
                "dependencies": step.dependencies,
            })
        });
        let steps: Vec<_> = steps.collect();
        let fields = json!({
            "pass": self.course.passes, "steps": steps, "plan": plan, "maxLoops": self.most(),
            "refine": self.options.request.refine.unwrap_or(Refine::Plan), "previous": self.previous,
        });
        self.recording
            .commit(|notes| notes.add_event("plan", fields))
    }

    fn judge(&self, answer: &str) -> Result<bool> {
        let Some(last) = self.course.steps.last() else {
            return Ok(false);
        };
        self.options.policy.is_satisfied(&Outcome {
            goal: self.options.goal.trim(),
            pass: self.course.passes,
            step: &last.step,
            agent: &last.agent,
            reply: last.text.as_deref().unwrap_or_default(),
            metadata: &last.metadata,
            aggregate: answer,
        })
    }

    fn send(&mut self) -> Result<()> {
        let (plan, answering) = (&self.course.plan, self.answering);
        // The cost of the other steps would be lost if one of them cannot be answered.
        for (step, agent) in plan.steps.iter().zip(&self.agents) {
            if agent.is_worker() {
                answering.workers.may_call(agent)?;
            } else if !answering.has_model() {
                return Err(no_model_error(step, agent));
            }
        }
        let jobs = self.options.request.jobs.unwrap_or(JOBS);
        let mut scheduler = messages::schedule(needs(plan), jobs.into());
        for (at, step) in self.course.steps.iter().enumerate() {
            if step.status == StepState::Done {
                scheduler.note_done(at);
            }
        }
        let Run { user, id: run, .. } = self.recording.run.clone();
        messages::send(scheduler, self, |job: Job| {
            let question = Question {
                intent: job.intent.as_deref(),
                user: Some(&user),
                conversation: Some(&run),
                ..Question::new(&job.agent, &job.message, &run)
            };
            signals::run_until(job.is_cancelled, || answering.ask(&question, &mut |_| {}))
        })
    }

    fn fail(&mut self, at: usize, error: Error) -> Result<Event> {
        let (id, agent) = (self.course.plan.steps[at].id.clone(), &self.agents[at].id);
        let useless = matches!(
            error.code,
            Code::Untrusted | Code::Interrupted | Code::Terminated | Code::ConfigInvalid
        );
        // Once for each remaining pass.
        let again = !useless && self.course.steps[at].tries < self.most();
        let why = error.display_message().into_owned();
        let fields = json!({
            "stepId": id, "agent": agent, "message": why, "code": error.code.name(), "retried": again,
        });
        self.recording
            .commit(|notes| notes.add_event("error", fields))?;
        if again {
            return Ok(Event::Lacking(at, run::Outcome::AgentError, why));
        }
        (self.course.steps[at].status, self.course.steps[at].error) =
            (StepState::Failed, Some(why));
        Err(Error {
            message: format!("step `{id}`: {}", error.message),
            ..error
        })
    }

    fn record_answer(&mut self, at: usize, answer: Answer) -> Result<()> {
        let (id, agent) = (&self.course.plan.steps[at].id, &self.agents[at].id);
        self.recording.commit(|notes| {
            let message = notes.add_message(Speaker::Agent, agent, &answer.text, Some(id))?;
            let length = answer.text.len();
            notes.add_event(
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
            notes.add_event("stepCompleted", json!({"stepId": id}))
        })?;
        let step = &mut self.course.steps[at];
        step.status = StepState::Done;
        (step.text, step.error) = (Some(answer.text), None);
        (step.answered_by, step.metadata) = (Some(answer.by), answer.details);
        Ok(())
    }
}

impl Messages for PlanRun<'_, '_> {
    type Job = Job;
    type Answer = Result<Answer>;

    fn begin(&mut self, at: usize) -> Result<Job> {
        if self.recording.is_cancelled()? {
            return Err(cancellation_error());
        }
        let (step, agent) = (&self.course.plan.steps[at], &self.agents[at]);
        let told = write_message(step, self.previous.as_deref(), &self.course.steps);
        let refinement = self.previous.is_some();
        self.recording.commit(|notes| {
            let message = notes.add_message(Speaker::System, COORDINATOR, &told, Some(&step.id))?;
            notes.add_event(
                "dispatch",
                json!({"stepId": step.id, "capability": step.agent_or_capability(), "messageId": message}),
            )?;
            notes.add_event(
                "agentStart",
                json!({"agent": agent.id, "stepId": step.id, "messageId": message, "refinement": refinement}),
            )
        })?;
        self.course.steps[at].tries += 1;
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
                let error = no_model_error(&self.course.plan.steps[at], &self.agents[at]);
                self.fail(at, error)
            }
            Ok(answer) => self
                .record_answer(at, answer)
                .map(|()| Event::Completed(at)),
            Err(error) => self.fail(at, error),
        }
    }
}

fn write_message(step: &Step, previous: Option<&str>, steps: &[StepReport]) -> String {
    let reply = |need: &String| {
        let done = steps.iter().find(|done| done.step == *need)?;
        Some(Reply {
            step: &done.step,
            agent: &done.agent,
            text: done.text.as_deref()?,
        })
    };
    let context: Vec<Reply<'_>> = step.dependencies.iter().filter_map(reply).collect();
    message(&step.instruction, previous, &context)
}

fn needs(plan: &Plan) -> Vec<Vec<usize>> {
    let place = |need: &String| plan.steps.iter().position(|step| step.id == *need);
    let needs = |step: &Step| step.dependencies.iter().filter_map(place).collect();
    plan.steps.iter().map(needs).collect()
}

/// Returns the error of a step that needs a model when none is configured: the offline answer is not a result.
fn no_model_error(step: &Step, agent: &Agent) -> Error {
    let message = format!(
        "step `{}`: no model is configured that could answer for `{}`, and an offline reply is not a result",
        step.id, agent.id
    );
    Error::new(Code::ConfigInvalid, message).fix("cleo doctor")
}

fn cancellation_error() -> Error {
    let message = "the run was cancelled before all its steps were done";
    Error::new(Code::RunCancelled, message)
}

//! The steps of a query: each worker runs as soon as its input exists, in parallel with others.

use serde_json::json;

use super::QueryRun;
use crate::agent::Agent;
use crate::coordinator::messages::{self, Messages};
use crate::coordinator::scheduler::{Event, Scheduler};
use crate::error::{Code, Error, Result};
use crate::llm;
use crate::query::{self, Step};
use crate::run::Speaker;
use crate::worker::response::{Fault, FaultKind, WorkerReply};
use crate::worker::{Context, request_id};

pub(super) struct Job<'a> {
    agent: &'a Agent,
    intent: String,
    text: String,
}

impl QueryRun<'_, '_> {
    /// Carries out the steps. A failed step stops only the steps that need its result.
    pub(super) fn execute(&mut self) -> Result<()> {
        let (steps, answering) = (&self.steps, self.answering);
        let place = |id: u64| steps.iter().position(|step| step.id == id);
        let needs = |step: &Step| step.input.and_then(place).into_iter().collect();
        let mut scheduler =
            messages::schedule(steps.iter().map(needs).collect(), self.options.jobs);
        let workers = &self.workers;
        let find = |step: &Step| workers.iter().find(|agent| agent.id == step.agent).copied();
        let agents = steps.iter().map(find).collect::<Option<_>>();
        self.agents = agents.ok_or_else(|| Error::new(Code::Internal, "a step has no worker"))?;
        self.refuse_orphans(&mut scheduler)?;
        let run = Some(self.recording.run.id.clone());
        let context = Context {
            user_id: self.query.user_id.clone(),
            conversation_id: self.query.conversation.clone().or(run.clone()),
            run,
            ..Context::default()
        };
        messages::send(scheduler, self, |job: Job<'_>| {
            let (workers, context) = (&answering.workers, context.clone());
            match workers.call(job.agent, &job.intent, &job.text, context) {
                Err(error) if error.code == Code::Untrusted => {
                    let fix = error.fix.as_deref().unwrap_or_default();
                    let message = format!("{}; {fix}", error.message);
                    let fault = Fault::new(FaultKind::ConfigError, message);
                    Ok(WorkerReply::failure(request_id()?, job.agent, fault))
                }
                called => called,
            }
        })
    }

    fn refuse_orphans(&mut self, scheduler: &mut Scheduler) -> Result<()> {
        for at in 0..self.steps.len() {
            let is_left_out = |need: &u64| self.steps.iter().all(|step| step.id != *need);
            if let Some(need) = self.steps[at].input.filter(is_left_out) {
                self.fail_without_input(at, need)?;
                for later in scheduler.note_failed(at) {
                    self.skip(later)?;
                }
            }
        }
        Ok(())
    }

    fn fail_without_input(&mut self, at: usize, need: u64) -> Result<()> {
        let message = format!("step {need}, whose result it needs, has none");
        let fault = Fault::new(FaultKind::DependencyError, message);
        let reply = WorkerReply::failure(request_id()?, self.agents[at], fault);
        self.record(at, reply)
    }

    fn record(&mut self, at: usize, reply: WorkerReply) -> Result<()> {
        let (id, agent) = (self.steps[at].id, self.agents[at]);
        let step = id.to_string();
        self.recording.commit(|notes| {
            if let Some(fault) = &reply.error {
                let fields = json!({
                    "stepId": step, "agent": agent.id, "type": fault.kind, "message": fault.message,
                    "requestId": reply.request_id,
                });
                return notes.add_event("error", fields);
            }
            let text = reply.output.as_ref().map(|output| output.text()).unwrap_or_default();
            let message = notes.add_message(Speaker::Agent, &agent.id, &text, Some(&step))?;
            let fields = json!({
                "agent": agent.id, "stepId": step, "responseMessageId": message, "length": text.len(),
                "requestId": reply.request_id,
            });
            notes.add_event("agentComplete", fields)?;
            notes.record_answer(&agent.id, None, None)?;
            notes.add_event("stepCompleted", json!({"stepId": step}))
        })?;
        self.replies.insert(id, reply);
        Ok(())
    }
}

impl<'a> Messages for QueryRun<'a, '_> {
    type Job = Job<'a>;
    type Answer = Result<WorkerReply>;

    fn begin(&mut self, at: usize) -> Result<Job<'a>> {
        let step = &self.steps[at];
        let input = step
            .input
            .and_then(|need| self.replies.get(&need)?.output.as_ref());
        let text = input.map_or_else(|| self.query.query.clone(), |output| output.text());
        let agent = self.agents[at];
        let fields = json!({
            "stepId": step.id.to_string(), "agent": agent.id, "intent": step.intent,
            "input_source": step.describe_input(),
        });
        self.recording
            .commit(|notes| notes.add_event("dispatch", fields))?;
        Ok(Job {
            agent,
            intent: step.intent.clone(),
            text,
        })
    }

    fn end(&mut self, at: usize, answer: Result<WorkerReply>) -> Result<Event> {
        let reply = answer?;
        let counts = match reply.output {
            Some(_) => Event::Completed(at),
            None => Event::Refused(at, String::new()),
        };
        self.record(at, reply).map(|()| counts)
    }

    fn skip(&mut self, at: usize) -> Result<()> {
        let need = self.steps[at].input.unwrap_or_default();
        self.fail_without_input(at, need)
    }
}

/// The model if the settings name none.
pub(super) const MODEL: &str = "gpt-4o-mini";

impl QueryRun<'_, '_> {
    /// Has the planner choose the steps, or asks one worker.
    pub(super) fn plan(&mut self) -> Result<()> {
        let planned = match self.workers[..] {
            [] => None,
            _ => self.ask_planner()?,
        };
        let read = |text: String| query::read(&text, &self.workers);
        let by = match planned.map(|text| text.and_then(read)) {
            Some(Ok((steps, left_out))) => {
                self.warnings.extend(left_out);
                self.steps = steps;
                "planner"
            }
            other => {
                if let Some(Err(why)) = other {
                    self.warnings.push(format!(
                        "the plan cannot be used, so one worker is asked: {why}"
                    ));
                }
                let step = query::fallback_step(&self.query.query, &self.workers);
                self.steps = step.into_iter().collect();
                "fallback"
            }
        };
        let steps = self.steps.iter().map(|step| {
            json!({
                "step_id": step.id, "agent": step.agent, "intent": step.intent,
                "input_source": step.describe_input(),
            })
        });
        let steps = Vec::from_iter(steps);
        let fields = json!({"by": by, "steps": steps, "notes": self.warnings});
        self.recording
            .commit(|notes| notes.add_event("plan", fields))
    }

    /// Asks the planner; `None` without one. The inner error says why there is no plan.
    fn ask_planner(&self) -> Result<Option<std::result::Result<String, String>>> {
        let brief = query::planner_input(&self.query.query, &self.workers);
        let answer = match &self.options.planner {
            Some(program) => program
                .ask(&brief)
                .map(|bytes| String::from_utf8_lossy(&bytes).into()),
            None => {
                let request = llm::Request {
                    temperature: Some(0.0),
                    schema: Some(query::schema()),
                    ..llm::Request::single(MODEL, query::PLANNER, &brief.to_string())
                };
                match self.answering.ask_model(&request, &mut |_| {}) {
                    None => return Ok(None),
                    Some(answer) => answer.map(|reply| reply.text),
                }
            }
        };
        match answer {
            Err(error) if error.is_cut_short() => Err(error),
            answer => Ok(Some(
                answer.map_err(|error| error.display_message().into_owned()),
            )),
        }
    }
}

//! The steps of a query: each worker runs as soon as its input exists, in parallel with others.

use serde_json::json;

use super::{Options, Query, Replies, describe_step};
use crate::agent::Agent;
use crate::coordinator::messages::{self, Messages};
use crate::coordinator::scheduler::{Event, Scheduler};
use crate::error::{Code, Error, Result};
use crate::llm;
use crate::ops::answers::Answering;
use crate::ops::runs::recording::Recording;
use crate::query::{self, Step};
use crate::run::Speaker;
use crate::worker::response::{Fault, FaultKind, WorkerReply};
use crate::worker::{Context, request_id};

struct QueryRun<'a, 'r> {
    query: &'a Query,
    steps: &'a [Step],
    agents: Vec<&'a Agent>,
    /// By number of the step.
    replies: Replies,
    recording: &'a mut Recording<'r>,
}

struct Job<'a> {
    agent: &'a Agent,
    intent: &'a str,
    text: String,
}

/// Carries out the steps and returns the reply to each. A failed step stops only the steps that need its
/// result.
pub(super) fn execute(
    query: &Query,
    jobs: usize,
    steps: &[Step],
    answering: &Answering,
    workers: &[&Agent],
    recording: &mut Recording<'_>,
) -> Result<Replies> {
    let place = |id: u64| steps.iter().position(|step| step.id == id);
    let needs = |step: &Step| step.input.and_then(place).into_iter().collect();
    let mut scheduler = messages::schedule(steps.iter().map(needs).collect(), jobs);
    let find = |step: &Step| workers.iter().find(|agent| agent.id == step.agent).copied();
    let agents: Option<Vec<&Agent>> = steps.iter().map(find).collect();
    let mut run = QueryRun {
        query,
        steps,
        agents: agents.ok_or_else(|| Error::new(Code::Internal, "a step has no worker"))?,
        replies: Replies::new(),
        recording,
    };
    run.refuse_orphans(&mut scheduler)?;
    let conversation = query.conversation.clone();
    let context = Context {
        user_id: query.user_id.clone(),
        conversation_id: conversation.or(Some(run.recording.run.id.clone())),
        run: Some(run.recording.run.id.clone()),
        ..Context::default()
    };
    messages::send(scheduler, &mut run, |job: Job<'_>| {
        let (workers, context) = (&answering.workers, context.clone());
        match workers.call(job.agent, job.intent, &job.text, context) {
            Err(error) if error.code == Code::Untrusted => {
                let fix = error.fix.as_deref().unwrap_or_default();
                let message = format!("{}; {fix}", error.message);
                let fault = Fault::new(FaultKind::ConfigError, message);
                Ok(WorkerReply::failure(request_id()?, job.agent, fault))
            }
            called => called,
        }
    })?;
    Ok(run.replies)
}

impl QueryRun<'_, '_> {
    fn refuse_orphans(&mut self, scheduler: &mut Scheduler) -> Result<()> {
        let steps = self.steps;
        for (at, step) in steps.iter().enumerate() {
            let is_left_out = |need: &u64| steps.iter().all(|step| step.id != *need);
            if let Some(need) = step.input.filter(is_left_out) {
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
        self.recording.note(|notes| {
            if let Some(fault) = &reply.error {
                let fields = json!({
                    "stepId": step, "agent": agent.id, "type": fault.kind, "message": fault.message,
                    "requestId": reply.request_id,
                });
                return notes.event("error", fields);
            }
            let text = reply.output.as_ref().map(|output| output.text()).unwrap_or_default();
            let message = notes.say(Speaker::Agent, &agent.id, &text, Some(&step))?;
            let fields = json!({
                "agent": agent.id, "stepId": step, "responseMessageId": message, "length": text.len(),
                "requestId": reply.request_id,
            });
            notes.event("agentComplete", fields)?;
            notes.record_answer(&agent.id, None, None)?;
            notes.event("stepCompleted", json!({"stepId": step}))
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
            "input_source": step.source(),
        });
        self.recording
            .note(|notes| notes.event("dispatch", fields))?;
        Ok(Job {
            agent,
            intent: &step.intent,
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

pub(super) fn plan(
    query: &Query,
    options: &Options,
    answering: &Answering,
    workers: &[&Agent],
    recording: &mut Recording<'_>,
) -> Result<(Vec<Step>, Vec<String>)> {
    let mut warnings = Vec::new();
    let planned = match workers {
        [] => None,
        _ => ask_planner(query, options, answering, workers)?,
    };
    let (steps, by) = match planned.map(|text| text.and_then(|text| query::read(&text, workers))) {
        Some(Ok((steps, left_out))) => {
            warnings.extend(left_out);
            (steps, "planner")
        }
        other => {
            if let Some(Err(why)) = other {
                warnings.push(format!(
                    "the plan cannot be used, so one worker is asked: {why}"
                ));
            }
            let steps = query::fallback(&query.query, workers);
            (steps.into_iter().collect(), "fallback")
        }
    };
    let all: Vec<_> = steps.iter().map(describe_step).collect();
    recording
        .note(|notes| notes.event("plan", json!({"by": by, "steps": all, "notes": warnings})))?;
    Ok((steps, warnings))
}

/// Asks the planner; `None` without one. The inner error says why there is no plan.
fn ask_planner(
    query: &Query,
    options: &Options,
    answering: &Answering,
    workers: &[&Agent],
) -> Result<Option<std::result::Result<String, String>>> {
    let brief = query::brief(&query.query, workers);
    let answer = match &options.planner {
        Some(program) => program
            .ask(&brief)
            .map(|bytes| String::from_utf8_lossy(&bytes).into()),
        None => {
            let request = llm::Request {
                temperature: Some(0.0),
                schema: Some(query::schema()),
                ..llm::Request::single(MODEL, query::PLANNER, &brief.to_string())
            };
            match answering.ask_model(&request, &mut |_| {}) {
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

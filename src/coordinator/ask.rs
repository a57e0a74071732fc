//! Queries: plan, workers, answer. Rules: supervisor-web-app notes. Start at [`ask`], which every face calls.

mod execute;

use std::cell::RefCell;
use std::collections::BTreeMap;

use clap::Args;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent::{Agent, MESSAGE_MAX, SUPERVISOR};
use crate::error::{Code, Error, Result, quote};
use crate::llm;
use crate::ops::Surroundings;
use crate::ops::agents::load_in;
use crate::ops::answers::Answering;
use crate::ops::executions::{Piece, Progress};
use crate::ops::plans::external::External;
use crate::ops::runs::recording::Recording;
use crate::query::{self, Step};
use crate::run::{AnsweredBy, Event, Run, RunKind, RunStatus, Speaker};
use crate::worker::response::{Fault, FaultKind, Status, WorkerReply};

/// Most characters of a worker's result that the model gets.
const RESULT_MAX: usize = 20_000;

// A doc comment would become the help of the command.
#[derive(Args, Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
pub(crate) struct Query {
    /// The query
    #[schemars(regex(pattern = crate::task::schema::SEEN))]
    pub(crate) query: String,

    /// User id passed to workers
    #[arg(long = "user", value_name = "ID")]
    pub(crate) user_id: Option<String>,

    /// Conversation id passed to workers [default: the id of the run]
    #[arg(long, value_name = "ID")]
    #[serde(rename = "conversation_id")]
    pub(crate) conversation: Option<String>,

    /// How it is shown; they change nothing of the answer
    #[arg(skip)]
    #[serde(rename = "options")]
    pub(crate) _options: Option<Shown>,
}

#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    #[serde(default, rename = "debug")]
    _debug: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// A program that plans in the place of the model.
    pub(crate) planner: Option<External>,
    pub(crate) jobs: usize,
}

/// The answer to a query, in the form of the specification.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct QueryReply {
    pub(crate) answer: String,
    /// The workers that were asked, in order.
    pub(crate) used_agents: Vec<UsedAgent>,
    /// The reply to each step, under `step_` and its number.
    pub(crate) intermediate_results: IndexMap<String, WorkerReply>,
    /// Why there is no answer; null when at least one worker has answered.
    pub(crate) error: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct UsedAgent {
    pub(crate) name: String,
    pub(crate) intent: String,
    pub(crate) status: Status,
}

/// The replies to steps, by their numbers, which are ascending.
type Replies = BTreeMap<u64, WorkerReply>;

#[derive(Debug)]
pub(crate) struct QueryReport {
    pub(crate) reply: QueryReply,
    pub(crate) run: Run,
    pub(crate) warnings: Vec<String>,
}

impl QueryReport {
    pub(crate) fn error(&self) -> Option<Error> {
        let fault = self.reply.error.as_ref()?;
        let message = format!("{}: {}", fault.kind, fault.message);
        if fault.kind == FaultKind::NoAgents.word() {
            let fix = "cleo agents list --kind http --kind cli";
            let error = Error::new(Code::AgentNotFound, message).fix(fix);
            return Some(error.or("register one", "cleo agents register --help"));
        }
        let look = format!("cleo runs show {}", quote(&self.run.id));
        Some(Error::new(Code::AgentFailed, message).fix(look))
    }
}

/// Answers a query and records it. `tell` gets each event once it is committed, and each piece of a model's answer.
///
/// Errors: `E_INPUT_INVALID` for a blank query, and cleo's own. Failures of workers are in the reply.
pub(crate) fn ask(
    surroundings: &Surroundings,
    query: &Query,
    options: &Options,
    tell: &mut dyn FnMut(Progress<'_>),
) -> Result<QueryReport> {
    let text = check_query(&query.query)?;
    let workspace = surroundings.workspace()?;
    let known = load_in(&workspace)?.keep_visible(surroundings.visible_user());
    let answering = Answering::open(surroundings, &workspace)?;
    let text = answering.redact_key(text);
    let run = Run {
        routing_reason: "the plan says which workers are asked".to_string(),
        ..Run::new(String::new(), RunKind::Query, SUPERVISOR, text.clone())
    };
    let tell = RefCell::new(tell);
    let mut events = |event: &Event| (tell.borrow_mut())(Progress::Event(event));
    let mut recording = Recording::begin(surroundings, &workspace, run, &mut events)?;
    let user = recording.run.user.clone();
    recording.commit(|notes| notes.add_message(Speaker::User, &user, &text, None))?;
    let mut pieces = |run: &str, piece: &str| {
        let agent = SUPERVISOR;
        (tell.borrow_mut())(Progress::Piece(Piece { run, agent, piece }));
    };
    // Trusted workers come first, so that one that anybody registered over HTTP does not displace them.
    let (mut workers, others): (Vec<_>, Vec<_>) = query::workers(&known.agents)
        .into_iter()
        .partition(|agent| answering.workers.may_call(agent).is_ok());
    workers.extend(others);
    let mut run = QueryRun {
        query,
        options,
        answering: &answering,
        workers,
        recording,
        steps: Vec::new(),
        agents: Vec::new(),
        replies: Replies::new(),
        warnings: Vec::new(),
    };
    match run.answer(&mut pieces) {
        Ok(reply) => {
            run.warnings.extend(known.warnings);
            Ok(QueryReport {
                reply,
                run: run.recording.run,
                warnings: run.warnings,
            })
        }
        Err(error) => {
            let status = match error.is_cut_short() {
                true => RunStatus::Cancelled,
                false => RunStatus::Failed,
            };
            run.recording.end(status, |notes| {
                notes.run.error = Some(error.display_message().into_owned());
                Ok(())
            })?;
            Err(error)
        }
    }
}

fn check_query(query: &str) -> Result<&str> {
    let length = query.trim().len();
    let message = match length {
        0 => "Query cannot be empty".to_string(),
        1..=MESSAGE_MAX => return Ok(query),
        _ => format!("the query has {length} bytes; {MESSAGE_MAX} are allowed"),
    };
    Err(Error::new(Code::InputInvalid, message))
}

struct QueryRun<'a, 'r> {
    query: &'a Query,
    options: &'a Options,
    answering: &'a Answering,
    workers: Vec<&'a Agent>,
    recording: Recording<'r>,
    steps: Vec<Step>,
    /// The workers of the steps.
    agents: Vec<&'a Agent>,
    replies: Replies,
    warnings: Vec<String>,
}

impl QueryRun<'_, '_> {
    fn answer(&mut self, pieces: &mut dyn FnMut(&str, &str)) -> Result<QueryReply> {
        self.plan()?;
        if !self.steps.is_empty() {
            self.execute()?;
        }
        let replies = self.replies.values();
        let fault = match self.replies.is_empty() {
            true => Some(Fault::new(
                FaultKind::NoAgents,
                "no worker is registered and active",
            )),
            false => replies.clone().find_map(|reply| reply.error.clone()),
        };
        let has_output = replies.clone().any(|reply| reply.output.is_some());
        let used = self.steps.iter().zip(replies);
        let used = used.map(|(step, reply)| UsedAgent {
            name: reply.agent_name.clone(),
            intent: step.intent.clone(),
            status: reply.status,
        });
        let used_agents = used.collect();
        let error = fault.filter(|_| !has_output);
        let (answer, by) = match has_output {
            true => self.compose_answer(pieces)?,
            false if self.replies.is_empty() => (query::NO_WORKERS.to_string(), None),
            false => (query::NOTHING.to_string(), None),
        };
        self.end_run(&answer, error.as_ref(), by)?;
        Ok(QueryReply {
            answer,
            used_agents,
            intermediate_results: std::mem::take(&mut self.replies)
                .into_iter()
                .map(|(id, reply)| (format!("step_{id}"), reply))
                .collect(),
            error,
        })
    }

    /// Makes the answer from the replies of workers: by the model, else by joining them.
    fn compose_answer(
        &mut self,
        pieces: &mut dyn FnMut(&str, &str),
    ) -> Result<(String, Option<AnsweredBy>)> {
        let run = self.recording.run.id.clone();
        let request = llm::Request {
            temperature: Some(0.2),
            ..llm::Request::single(execute::MODEL, query::COMPOSER, &self.format_outputs())
        };
        let asked = self
            .answering
            .ask_model(&request, &mut |text| pieces(&run, text));
        match asked {
            Some(Ok(reply)) => {
                let (cost, usage) = self.answering.price(&reply.usage);
                self.recording.commit(|notes| {
                    notes.run.model = Some(reply.model.clone());
                    notes.add_usage(usage, cost);
                    Ok(())
                })?;
                return Ok((reply.text, Some(AnsweredBy::Model)));
            }
            Some(Err(error)) if error.is_cut_short() => {
                return Err(error);
            }
            Some(Err(error)) => self.warnings.push(format!(
                "the model gave no answer, so the results are joined: {}",
                error.display_message()
            )),
            None => {}
        }
        let texts = self.replies.values();
        let texts = texts.filter_map(|reply| reply.output.as_ref());
        let texts: Vec<String> = texts.map(|output| output.text()).collect();
        let answer = query::join_results(texts.iter().map(String::as_str));
        Ok((answer, Some(AnsweredBy::Worker)))
    }

    fn format_outputs(&self) -> String {
        let outputs = self.replies.values().map(|reply| {
            let output = reply.output.as_ref();
            let result = output.map(|output| output.text().chars().take(RESULT_MAX).collect::<String>());
            let details = output.and_then(|output| output.details.clone());
            let details = details.filter(|details| details.to_string().len() <= RESULT_MAX);
            json!({"agent": reply.agent_name, "status": reply.status, "result": result, "details": details})
        });
        let outputs: Vec<Value> = outputs.collect();
        json!({"user_query": self.query.query, "tool_outputs": outputs}).to_string()
    }

    fn end_run(
        &mut self,
        answer: &str,
        error: Option<&Fault>,
        by: Option<AnsweredBy>,
    ) -> Result<()> {
        let status = match error {
            None => RunStatus::Completed,
            Some(_) => RunStatus::Failed,
        };
        let only = match &self.steps[..] {
            [only] => Some(only.agent.clone()),
            _ => None,
        };
        self.recording.end(status, |notes| {
            notes.run.agent = only;
            notes.run.answered_by = by;
            notes.run.output = Some(answer.to_string());
            notes.run.error = error.map(|fault| format!("{}: {}", fault.kind, fault.message));
            notes.add_message(Speaker::Agent, SUPERVISOR, answer, None)?;
            notes.add_event("aggregate", json!({"length": answer.len()}))
        })
    }
}

//! The end of an execution: the agent answers, or the supervisor in its place, or the execution fails.

use std::sync::Arc;

use serde_json::json;

use super::record::{Record, find_cancelled, watch};
use super::{
    Executor, NO_MODEL, Piece, Progress, RETRYABLE, Services, StartedExecution, UNTRUSTED,
};
use crate::agent::{Agent, SUPERVISOR};
use crate::error::{Code, Error, Result, quote, shorten};
use crate::ops::answers::{Answer, INCOMPLETE, Question};
use crate::run::{Action, AnsweredBy, Run, RunStatus, Speaker};
use crate::runner::signals;
use crate::store::{Store, Transaction};

/// Error word of a run whose agent did not answer.
const UNREACHED: &str = "agent_invoke_failed";
/// Most characters of the reason that a conversation repeats.
const REASON_MAX: usize = 400;

pub(super) enum Outcome {
    /// Also of the offline answer.
    Answered(Answer),
    Unanswered {
        /// Whether the same message may be answered later.
        is_retryable: bool,
    },
    /// cleo was asked to end.
    Stopped(Error),
}

impl Executor {
    pub(crate) fn finish(
        &mut self,
        mut begun: StartedExecution,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<StartedExecution> {
        let told = begun.record.events.len();
        if let Some(ended) = begun.ended {
            report_events(&ended.record, told, tell);
            return Ok(*ended);
        }
        let watch = watch(&self.services.workspace, &begun.record.run.id);
        let outcome = match signals::run_until(watch, || self.find_answer(&mut begun, tell)) {
            Err(error) if error.is_cut_short() => Outcome::Stopped(error),
            outcome => outcome?,
        };
        let told = report_events(&begun.record, told, tell);
        let mut transaction = self.store.write_records()?;
        let services = &self.services;
        let is_cancelled = !services.record_end(&mut *transaction, &mut begun, &outcome)?;
        transaction.commit()?;
        match outcome {
            Outcome::Stopped(error) if !is_cancelled => Err(error),
            _ => {
                report_events(&begun.record, told, tell);
                Ok(begun)
            }
        }
    }

    fn find_answer(
        &mut self,
        begun: &mut StartedExecution,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Outcome> {
        if begun.record.run.agent.is_none() {
            return self.ask_supervisor(begun, None, tell);
        }
        let (agent, input) = (Arc::clone(&begun.agent), begun.record.run.input.clone());
        let error = match self.ask(begun, &agent, &input, tell) {
            Ok(answer) => return Ok(Outcome::Answered(answer)),
            Err(error) if error.is_cut_short() => return Err(error),
            Err(error) => error,
        };
        self.record_failure(begun, &error)?;
        match error.code {
            // The user decides who may be called, so no other agent replaces an untrusted one.
            Code::Untrusted => Ok(Outcome::Unanswered {
                is_retryable: false,
            }),
            Code::ModelTimeout | Code::ModelUnreachable => {
                let why = "the supervisor would ask the same server";
                record_no_response(&mut begun.record.run, why);
                let is_retryable = error.is_retryable();
                Ok(Outcome::Unanswered { is_retryable })
            }
            _ => self.ask_supervisor(begun, Some(&error), tell),
        }
    }

    fn ask(
        &self,
        begun: &mut StartedExecution,
        agent: &Agent,
        message: &str,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Answer> {
        let run = &begun.record.run;
        let question = Question {
            user: Some(&run.user),
            conversation: run.conversation.as_deref(),
            history: &begun.history,
            ..Question::new(agent, message, &run.id)
        };
        let mut seen = |text: &str| {
            tell(Progress::Piece(Piece {
                run: &run.id,
                agent: &agent.id,
                piece: text,
            }));
        };
        let answerers = &self.services.answerers;
        answerers.ask_counting(&question, &mut begun.counted, &mut seen)
    }

    /// Asks the supervisor if no agent fits, or in the place of an agent that failed.
    fn ask_supervisor(
        &mut self,
        begun: &mut StartedExecution,
        failed: Option<&Error>,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Outcome> {
        if !self.services.answerers.has_model() {
            let is_retryable = failed.is_some_and(Error::is_retryable);
            return Ok(Outcome::Unanswered { is_retryable });
        }
        let mut message = begun.record.run.input.clone();
        if failed.is_some() {
            message += &format!(
                "\n\n(The agent {} could not be reached. Answer yourself, and say so.)",
                begun.agent.id
            );
        }
        let supervisor = Arc::clone(&begun.supervisor);
        match self.ask(begun, &supervisor, &message, tell) {
            Ok(answer) => Ok(Outcome::Answered(answer)),
            Err(error) if error.is_cut_short() => Err(error),
            Err(error) => {
                record_no_response(&mut begun.record.run, &error.message);
                let is_retryable = error.is_retryable();
                Ok(Outcome::Unanswered { is_retryable })
            }
        }
    }

    fn record_failure(&mut self, begun: &mut StartedExecution, error: &Error) -> Result<()> {
        let (agent, record) = (&begun.agent.id, &mut begun.record);
        let text = format!("{agent} could not answer: {}", error.display_message());
        let word = match error.code {
            Code::Untrusted => UNTRUSTED,
            _ => UNREACHED,
        };
        record.run.error = Some(format!("{word}: {text}"));
        let mut transaction = self.store.write_records()?;
        if find_cancelled(&*transaction, &record.run.id)?.is_some() {
            return Ok(());
        }
        transaction.put_run(&record.run)?;
        let metadata = json!({"sender": agent, "error": word, "code": error.code.name()});
        record.say(&mut *transaction, Speaker::Agent, &text, metadata, false)?;
        let fields = json!({"agent": agent, "error": word});
        record.add_event(&mut *transaction, "error", fields)?;
        transaction.commit().map(drop)
    }
}

impl Services {
    /// Returns the offline answer if neither a model nor a worker can answer.
    pub(super) fn find_offline_answer(&self, begun: &StartedExecution) -> Option<Answer> {
        let has_agent = begun.record.run.agent.is_some();
        if has_agent && begun.agent.is_worker() || self.answerers.has_model() {
            return None;
        }
        let agent = has_agent.then_some(&*begun.agent);
        Some(self.answerers.answer_offline(agent))
    }

    /// Records the end of an execution. Returns false if it was cancelled meanwhile: then only its cost is added.
    pub(super) fn record_end(
        &self,
        transaction: &mut dyn Transaction,
        begun: &mut StartedExecution,
        outcome: &Outcome,
    ) -> Result<bool> {
        let record = &mut begun.record;
        // Failed and unwanted answers cost as well.
        let (cost, usage) = self.answerers.price(&begun.counted);
        if let Some(run) = find_cancelled(transaction, &record.run.id)? {
            record.run = Run { cost, usage, ..run };
            transaction.put_run(&record.run)?;
            return Ok(false);
        }
        let run = &mut record.run;
        (run.cost, run.usage) = (cost, usage);
        let mut metadata = json!({});
        let (speaker, text) = match outcome {
            Outcome::Answered(answer) => {
                run.status = match answer.by {
                    AnsweredBy::Offline => RunStatus::Unanswered,
                    AnsweredBy::Model | AnsweredBy::Worker => RunStatus::Completed,
                };
                run.answered_by = Some(answer.by);
                run.model.clone_from(&answer.model);
                let details = answer.details.get(INCOMPLETE);
                if let Some(why) = details.filter(|_| answer.by == AnsweredBy::Model) {
                    metadata[INCOMPLETE] = why.clone();
                }
                (Speaker::Agent, answer.text.clone())
            }
            Outcome::Unanswered { is_retryable } => {
                run.status = RunStatus::Failed;
                if *is_retryable {
                    metadata[RETRYABLE] = true.into();
                }
                (Speaker::System, describe_unanswered(run))
            }
            Outcome::Stopped(error) => {
                run.status = RunStatus::Cancelled;
                run.error = Some(error.message.clone());
                let text = "The execution was ended before an answer came.";
                (Speaker::System, text.to_string())
            }
        };
        let agent = run.agent.clone().filter(|_| run.error.is_none());
        metadata["sender"] = agent.as_deref().unwrap_or(SUPERVISOR).into();
        metadata["answeredBy"] = json!(run.answered_by);
        record.say(transaction, speaker, &text, metadata, true)?;
        add_last_steps(record, transaction, agent.as_deref())?;
        let now = self.clock.timestamp();
        record.run.output = Some(text);
        record.run.completed_at = Some(now.clone());
        record.run.execution_time_ms = Some(self.clock.elapsed_ms(begun.since));
        transaction.put_run(&record.run)?;
        if let Some(agent) = agent {
            transaction.use_agent(&agent, &now)?;
        }
        record.touch_conversation(transaction)?;
        let ended = json!({"status": record.run.status});
        record.add_event(transaction, "execution_end", ended)?;
        Ok(true)
    }
}

/// Adds the steps after the answer; `agent` is the one whose answer is passed on.
fn add_last_steps(
    record: &mut Record,
    transaction: &mut dyn Transaction,
    agent: Option<&str>,
) -> Result<()> {
    let by = |agent, percent| (agent, Action::Completing, percent);
    if let Some(agent) = agent {
        let said = match record.run.status {
            RunStatus::Unanswered => "No model is configured that could answer",
            _ => "Answered",
        };
        record.add_step(transaction, by(agent, 80), said, json!({}))?;
    }
    let how = match (agent, record.run.status) {
        (_, RunStatus::Unanswered | RunStatus::Failed | RunStatus::Cancelled) => {
            "No agent answered"
        }
        (Some(_), _) => "Passing the answer on unchanged",
        (None, _) => "Answering in the place of an agent",
    };
    record.add_step(transaction, by(SUPERVISOR, 95), how, json!({}))?;
    record.add_step(transaction, by(SUPERVISOR, 100), "Done", json!({}))
}

/// Describes an unanswered execution for its conversation: the reason, and the command that shows it.
fn describe_unanswered(run: &Run) -> String {
    let why = run.error.as_deref().unwrap_or("no reason is known");
    // These words are for programs.
    let words = [UNTRUSTED, UNREACHED, NO_MODEL].map(|word| format!("{word}: "));
    let why = words
        .iter()
        .fold(why.to_string(), |why, word| why.replace(word, ""));
    let short = shorten(&why, REASON_MAX);
    let look = format!("cleo runs show {}", quote(&run.id));
    format!("No agent could answer this message: {short}; see: {look}")
}

fn record_no_response(run: &mut Run, why: &str) {
    let what = format!("{NO_MODEL}: {why}");
    run.error = Some(match run.error.take() {
        Some(error) => format!("{error}; {what}"),
        None => what,
    });
}

/// Reports the events from one on; returns how many there are in all.
fn report_events(record: &Record, from: usize, tell: &mut dyn FnMut(Progress<'_>)) -> usize {
    let events = record.events[from..].iter();
    events.for_each(|event| tell(Progress::Event(event)));
    record.events.len()
}

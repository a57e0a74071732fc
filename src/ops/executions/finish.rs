//! The end of an execution: the agent answers, or the supervisor in its place, or nobody.

use std::sync::Arc;

use serde_json::json;

use super::cancel::given_up;
use super::record::{Progress, Record};
use super::{Begun, Executor, Ground, NO_MODEL, Piece, Told, UNTRUSTED};
use crate::agent::{Agent, SUPERVISOR};
use crate::error::{Code, Error, Result};
use crate::ops::answers::{Answer, INCOMPLETE, Question, absent, offline};
use crate::run::{Action, AnsweredBy, RunStatus, Speaker};
use crate::store::agency::{Agency, AgencyTransaction};

/// How an execution ends.
pub(super) enum Ending {
    /// Somebody answered, or it is said that nobody can.
    Answered(Answer),
    /// The router asks back.
    AskedBack(String),
    /// Nobody answered.
    Failed,
    /// cleo was asked to end.
    GivenUp(Error),
}

impl Executor {
    /// Has an execution that has begun answered, keeps how it ended, and returns it so.
    pub fn finish(&mut self, mut begun: Begun, tell: &mut dyn FnMut(Told<'_>)) -> Result<Begun> {
        let told = begun.record.events.len();
        let ending = match self.ending(&mut begun, tell) {
            Err(error) if is_end(&error) => Ending::GivenUp(error),
            ending => ending?,
        };
        let told = tell_from(&begun.record, told, tell);
        let mut transaction = self.agency.write()?;
        let given_up = self.ground.close(&mut *transaction, &mut begun, ending)?;
        transaction.commit()?;
        if let Some(error) = given_up {
            return Err(error);
        }
        tell_from(&begun.record, told, tell);
        Ok(begun)
    }

    fn ending(&mut self, begun: &mut Begun, tell: &mut dyn FnMut(Told<'_>)) -> Result<Ending> {
        if let Some(ending) = self.ground.ending_alone(begun) {
            return Ok(ending);
        }
        if begun.record.run.agent.is_none() {
            return self.synthesized(begun, None, tell);
        }
        let (agent, input) = (Arc::clone(&begun.agent), begun.record.run.input.clone());
        match self.ask(begun, &agent, &input, tell) {
            Ok(answer) => Ok(Ending::Answered(answer)),
            Err(error) if is_end(&error) => Err(error),
            Err(error) => {
                self.note_failure(begun, &error)?;
                // Who may not be called is for the user to say, and nobody answers in his place.
                if error.code == Code::AgentUntrusted {
                    return Ok(Ending::Failed);
                }
                self.synthesized(begun, Some(&error), tell)
            }
        }
    }

    fn ask(
        &self,
        begun: &mut Begun,
        agent: &Agent,
        message: &str,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Answer> {
        let run = &begun.record.run;
        let question = Question {
            user: Some(&run.user),
            conversation: run.conversation.as_deref(),
            history: &begun.history,
            ..Question::new(agent, message)
        };
        let mut seen = |text: &str| {
            tell(Told::Piece(Piece {
                run: &run.id,
                agent: &agent.id,
                piece: text,
            }));
        };
        let answerers = &self.ground.answerers;
        answerers.ask_counting(&question, &mut begun.counted, &mut seen)
    }

    /// Has the supervisor answer in the place of an agent that none fits, or that failed.
    fn synthesized(
        &mut self,
        begun: &mut Begun,
        failed: Option<&Error>,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Ending> {
        if !self.ground.answerers.has_model() {
            return Ok(Ending::Failed);
        }
        let input = &begun.record.run.input;
        let message = match failed {
            Some(_) => format!(
                "{input}\n\n(The agent {} could not be reached. Answer yourself, and say so.)",
                begun.agent.id
            ),
            None => input.clone(),
        };
        let supervisor = Arc::clone(&begun.supervisor);
        match self.ask(begun, &supervisor, &message, tell) {
            Ok(answer) => Ok(Ending::Answered(answer)),
            Err(error) if is_end(&error) => Err(error),
            Err(error) => {
                let what = format!("{NO_MODEL}: {}", error.message);
                let before = begun.record.run.error.take();
                let all = before.into_iter().chain([what]).collect::<Vec<_>>();
                begun.record.run.error = Some(all.join("; "));
                Ok(Ending::Failed)
            }
        }
    }

    /// Notes that the agent failed, before anything else is tried.
    fn note_failure(&mut self, begun: &mut Begun, error: &Error) -> Result<()> {
        let (agent, record) = (&begun.agent.id, &mut begun.record);
        let text = format!("{agent} could not answer: {}", error.shown());
        let word = match error.code {
            Code::AgentUntrusted => UNTRUSTED,
            _ => "agent_invoke_failed",
        };
        record.run.error = Some(format!("{word}: {text}"));
        let mut transaction = self.agency.write()?;
        if given_up(&*transaction, &record.run.id)?.is_some() {
            return Ok(());
        }
        transaction.put_run(&record.run)?;
        let metadata = json!({
            "sender": agent, "error": word, "code": error.code.name(),
        });
        record.say(&mut *transaction, Speaker::Agent, &text, metadata, false)?;
        let fields = json!({"agent": agent, "error": word});
        record.event(&mut *transaction, "error", fields)?;
        transaction.commit()
    }
}

impl Ground {
    /// Says how an execution ends that nobody has to be asked for: the router asks back, or nobody
    /// is there who could answer.
    pub(super) fn ending_alone(&self, begun: &mut Begun) -> Option<Ending> {
        if !self.ends_alone(begun) {
            return None;
        }
        Some(match (begun.question.take(), &begun.record.run.agent) {
            (Some(question), _) => Ending::AskedBack(question),
            (None, None) => Ending::Answered(offline("No agent fits the message.")),
            (None, Some(_)) => Ending::Answered(absent(&begun.agent)),
        })
    }

    /// Says whether nobody has to be asked for the end of an execution.
    pub(super) fn ends_alone(&self, begun: &Begun) -> bool {
        let has_worker = begun.record.run.agent.is_some() && begun.agent.is_worker();
        begun.question.is_some() || !(has_worker || self.answerers.has_model())
    }

    /// Keeps how it ended; returns the error of an end that somebody asked for.
    pub(super) fn close(
        &self,
        transaction: &mut dyn AgencyTransaction,
        begun: &mut Begun,
        ending: Ending,
    ) -> Result<Option<Error>> {
        if let Some(run) = given_up(transaction, &begun.record.run.id)? {
            begun.record.run = run;
            return Ok(None);
        }
        // What failed was paid for as well.
        (begun.record.run.cost, begun.record.run.usage) = self.answerers.took(&begun.counted);
        let (mut given_up, mut lack) = (None, None);
        let failed = begun.record.run.error.is_some();
        let (text, speaker) = match ending {
            Ending::Answered(answer) => {
                let run = &mut begun.record.run;
                run.status = RunStatus::Completed;
                run.answered_by = Some(answer.by);
                let is_model = answer.by == AnsweredBy::Model;
                lack = answer.details.get(INCOMPLETE).filter(|_| is_model).cloned();
                run.model = answer.model;
                (answer.text, Speaker::Agent)
            }
            Ending::AskedBack(question) => {
                begun.record.run.status = RunStatus::Completed;
                (question, Speaker::Agent)
            }
            Ending::Failed => {
                begun.record.run.status = RunStatus::Failed;
                let id = &begun.record.run.id;
                let text = format!("Nobody could answer this message; see: cleo runs show {id}");
                (text, Speaker::System)
            }
            Ending::GivenUp(error) => {
                let run = &mut begun.record.run;
                run.status = RunStatus::Cancelled;
                run.error = Some(error.message.clone());
                given_up = Some(error);
                let text = "The execution was ended before an answer came.";
                (text.to_string(), Speaker::System)
            }
        };
        let failed = failed || given_up.is_some();
        let passes = begun.record.run.agent.is_some() && !failed;
        let sender = match passes {
            true => begun.agent.id.clone(),
            false => SUPERVISOR.to_string(),
        };
        let by = begun.record.run.answered_by.map(AnsweredBy::word);
        let mut metadata = json!({"sender": sender, "answeredBy": by});
        if let Some(lack) = lack {
            metadata[INCOMPLETE] = lack;
        }
        let record = &mut begun.record;
        record.say(transaction, speaker, &text, metadata, true)?;
        last_steps(record, transaction, passes.then_some(sender.as_str()))?;
        let now = self.clock.timestamp();
        record.run.output = Some(text);
        record.run.completed_at = Some(now.clone());
        record.run.execution_time_ms = Some(self.clock.elapsed_ms(begun.since));
        transaction.put_run(&record.run)?;
        if let Some(agent) = record.run.agent.as_deref().filter(|_| !failed) {
            transaction.use_agent(agent, &now)?;
        }
        let conversation = record.run.conversation.as_deref();
        let conversation = conversation.map(|id| transaction.conversation(id));
        if let Some(mut conversation) = conversation.transpose()?.flatten() {
            (conversation.updated_at, conversation.last_message_at) = (now.clone(), now);
            transaction.put_conversation(&conversation)?;
        }
        let ended = json!({"status": record.run.status});
        record.event(transaction, "execution_end", ended)?;
        Ok(given_up)
    }
}

/// Notes the steps after the answer; `agent` is the one whose answer is passed on.
fn last_steps(
    record: &mut Record,
    transaction: &mut dyn AgencyTransaction,
    agent: Option<&str>,
) -> Result<()> {
    let by = |agent, percent| Progress {
        agent,
        action: Action::Completing,
        percent,
    };
    if let Some(agent) = agent {
        record.step(transaction, by(agent, 80), "Answered", json!({}))?;
    }
    let how = match (agent, record.run.status) {
        (Some(_), _) => "Passing the answer on unchanged",
        (None, RunStatus::Failed | RunStatus::Cancelled) => "Nobody answered",
        (None, _) => "Answering in the place of an agent",
    };
    record.step(transaction, by(SUPERVISOR, 95), how, json!({}))?;
    record.step(transaction, by(SUPERVISOR, 100), "Done", json!({}))
}

/// Says whether somebody asked cleo to end.
fn is_end(error: &Error) -> bool {
    matches!(error.code, Code::Interrupted | Code::Terminated)
}

/// Tells the events from one on; returns how many were told in all.
fn tell_from(record: &Record, from: usize, tell: &mut dyn FnMut(Told<'_>)) -> usize {
    let events = record.events[from..].iter();
    events.for_each(|event| tell(Told::Event(event)));
    record.events.len()
}

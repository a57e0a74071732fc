//! The end of an execution: the agent answers, or the supervisor in its place, or nobody.

use std::sync::Arc;

use serde_json::json;

use super::record::{Record, find_cancelled, watch};
use super::{Begun, Executor, Ground, NO_MODEL, Piece, RETRYABLE, Told, UNTRUSTED};
use crate::agent::{Agent, SUPERVISOR};
use crate::error::{Code, Error, Result, quote};
use crate::ops::answers::{Answer, INCOMPLETE, Question};
use crate::run::{Action, AnsweredBy, Run, RunStatus, Speaker};
use crate::runner::signals;
use crate::store::{Store, Transaction};

/// What the error of a run says whose agent did not answer.
const UNREACHED: &str = "agent_invoke_failed";
/// Most characters of the reason why nobody answered that a conversation tells.
const REASON_MAX: usize = 400;

pub(super) enum Ending {
    /// Somebody answered, or it is said that nobody can.
    Answered(Answer),
    /// Nobody answered.
    Failed {
        /// Whether the same message may be answered later.
        is_passing: bool,
    },
    /// cleo was asked to end.
    GivenUp(Error),
}

impl Executor {
    pub(crate) fn finish(
        &mut self,
        mut begun: Begun,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Begun> {
        let told = begun.record.events.len();
        if let Some(ended) = begun.ended {
            tell_from(&ended.record, told, tell);
            return Ok(*ended);
        }
        let watch = watch(&self.ground.workspace, &begun.record.run.id);
        let ending = match signals::until(watch, || self.ending(&mut begun, tell)) {
            Err(error) if is_end(&error) => Ending::GivenUp(error),
            ending => ending?,
        };
        let told = tell_from(&begun.record, told, tell);
        let mut transaction = self.store.write_records()?;
        let given_up = self.ground.close(&mut *transaction, &mut begun, ending)?;
        transaction.commit()?;
        if let Some(error) = given_up {
            return Err(error);
        }
        tell_from(&begun.record, told, tell);
        Ok(begun)
    }

    fn ending(&mut self, begun: &mut Begun, tell: &mut dyn FnMut(Told<'_>)) -> Result<Ending> {
        if begun.record.run.agent.is_none() {
            return self.synthesize(begun, None, tell);
        }
        let (agent, input) = (Arc::clone(&begun.agent), begun.record.run.input.clone());
        match self.ask(begun, &agent, &input, tell) {
            Ok(answer) => Ok(Ending::Answered(answer)),
            Err(error) if is_end(&error) => Err(error),
            Err(error) => {
                self.note_failure(begun, &error)?;
                // Who may not be called is for the user to say, and nobody answers in his place.
                if error.code == Code::Untrusted {
                    return Ok(Ending::Failed { is_passing: false });
                }
                if matches!(error.code, Code::ModelTimeout | Code::ModelUnreachable) {
                    let why = "the supervisor would ask the same server";
                    note_silence(&mut begun.record.run, why);
                    let is_passing = error.is_retryable();
                    return Ok(Ending::Failed { is_passing });
                }
                self.synthesize(begun, Some(&error), tell)
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
    fn synthesize(
        &mut self,
        begun: &mut Begun,
        failed: Option<&Error>,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Ending> {
        if !self.ground.answerers.has_model() {
            let is_passing = failed.is_some_and(Error::is_retryable);
            return Ok(Ending::Failed { is_passing });
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
                note_silence(&mut begun.record.run, &error.message);
                let is_passing = error.is_retryable();
                Ok(Ending::Failed { is_passing })
            }
        }
    }

    fn note_failure(&mut self, begun: &mut Begun, error: &Error) -> Result<()> {
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
        let metadata = json!({
            "sender": agent, "error": word, "code": error.code.name(),
        });
        record.say(&mut *transaction, Speaker::Agent, &text, metadata, false)?;
        let fields = json!({"agent": agent, "error": word});
        record.event(&mut *transaction, "error", fields)?;
        transaction.commit().map(drop)
    }
}

impl Ground {
    /// Returns how an execution ends where nobody is there who could answer.
    pub(super) fn find_ending(&self, begun: &Begun) -> Option<Ending> {
        let has_agent = begun.record.run.agent.is_some();
        let has_worker = has_agent && begun.agent.is_worker();
        if has_worker || self.answerers.has_model() {
            return None;
        }
        Some(Ending::Answered(match has_agent {
            true => self.answerers.absent(&begun.agent),
            false => self.answerers.offline("No agent fits the message."),
        }))
    }

    pub(super) fn close(
        &self,
        transaction: &mut dyn Transaction,
        begun: &mut Begun,
        ending: Ending,
    ) -> Result<Option<Error>> {
        // What failed was paid for as well, and so was what came after nobody wanted it any more.
        let (cost, usage) = self.answerers.took(&begun.counted);
        if let Some(run) = find_cancelled(transaction, &begun.record.run.id)? {
            begun.record.run = Run { cost, usage, ..run };
            transaction.put_run(&begun.record.run)?;
            return Ok(None);
        }
        (begun.record.run.cost, begun.record.run.usage) = (cost, usage);
        let (mut given_up, mut lack, mut may_retry) = (None, None, false);
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
            Ending::Failed { is_passing } => {
                may_retry = is_passing;
                begun.record.run.status = RunStatus::Failed;
                (describe_unanswered(&begun.record.run), Speaker::System)
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
        if may_retry {
            metadata[RETRYABLE] = true.into();
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
    transaction: &mut dyn Transaction,
    agent: Option<&str>,
) -> Result<()> {
    let by = |agent, percent| (agent, Action::Completing, percent);
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

/// Says that nobody answered, why, and where more stands.
fn describe_unanswered(run: &Run) -> String {
    let why = run.error.as_deref().unwrap_or("no reason is known");
    // These words are for programs.
    let words = [UNTRUSTED, UNREACHED, NO_MODEL].map(|word| format!("{word}: "));
    let why = words
        .iter()
        .fold(why.to_string(), |why, word| why.replace(word, ""));
    let (mut short, id) = (why.chars().take(REASON_MAX).collect::<String>(), &run.id);
    if short.len() < why.len() {
        short.push('…');
    }
    format!(
        "Nobody could answer this message: {short}; see: cleo runs show {}",
        quote(id)
    )
}

fn note_silence(run: &mut Run, why: &str) {
    let what = format!("{NO_MODEL}: {why}");
    let all: Vec<String> = run.error.take().into_iter().chain([what]).collect();
    run.error = Some(all.join("; "));
}

fn is_end(error: &Error) -> bool {
    matches!(error.code, Code::Interrupted | Code::Terminated)
}

/// Tells the events from one on; returns how many were told in all.
fn tell_from(record: &Record, from: usize, tell: &mut dyn FnMut(Told<'_>)) -> usize {
    let events = record.events[from..].iter();
    events.for_each(|event| tell(Told::Event(event)));
    record.events.len()
}

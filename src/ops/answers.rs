//! Answers of workers and of the configured model, and the offline answer, which says that there is no model.

use serde_json::Value;

use super::Surroundings;
use super::trust::{Item, Trust};
use super::workers::Workers;
use crate::agent::Agent;
use crate::config::{Settings, WORKERS_ALLOW_PRIVATE};
use crate::error::Result;
use crate::llm::client::{Client, redact_key};
use crate::llm::{self, Model};
use crate::run::{AnsweredBy, Detail, Message, Speaker, Usage};
use crate::worker;
use crate::workspace::Workspace;

/// Intent of workers that name none.
const INTENT: &str = "message.answer";

/// Detail of an answer: why it is incomplete.
pub(crate) const INCOMPLETE: &str = "incomplete";

#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) agent: &'a Agent,
    /// By default the first intent of a worker.
    pub(crate) intent: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) user: Option<&'a str>,
    /// The conversation or run that it belongs to.
    pub(crate) conversation: Option<&'a str>,
    pub(crate) run: &'a str,
    /// Earlier messages, oldest first.
    pub(crate) history: &'a [Message],
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) by: AnsweredBy,
    /// Details of a worker; of a model, [`INCOMPLETE`] if it is.
    pub(crate) details: Detail,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// In US dollars.
    pub(crate) cost: Option<f64>,
}

/// The workers and the model of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Answering {
    pub(crate) workers: Workers,
    model: Option<Model>,
    /// Whether a server answers for others, with the settings of its start.
    is_served: bool,
}

impl<'a> Question<'a> {
    /// Asks an agent, without user and history.
    pub(crate) fn new(agent: &'a Agent, message: &'a str, run: &'a str) -> Question<'a> {
        Question {
            agent,
            run,
            intent: None,
            message,
            user: None,
            conversation: None,
            history: &[],
        }
    }

    pub(crate) fn intent(&self) -> &'a str {
        let first = self.agent.intents.first().map(String::as_str);
        self.intent.or(first).unwrap_or(INTENT)
    }
}

/// Makes the model that the settings describe. A model of the project's file, which may come from others, is refused
/// until the user trusts it.
pub(crate) fn load_trusted_model(surroundings: &Surroundings) -> Result<Option<Model>> {
    let settings = surroundings.settings()?;
    let model = Model::from(settings)?;
    let items = Item::model(settings);
    if model.is_some() && !items.is_empty() {
        let workspace = surroundings.workspace()?;
        Trust::new(surroundings, &workspace).require(&items)?;
    }
    Ok(model)
}

/// Returns whether workers of others may have private addresses. The project's file, which may come from others, cannot
/// allow it.
pub(crate) fn allows_private(settings: &Settings) -> bool {
    settings.is_on(WORKERS_ALLOW_PRIVATE) && !settings.is_from_project(WORKERS_ALLOW_PRIVATE)
}

impl Answering {
    /// Reads the settings. Refuses a model that the project's file names and that is not trusted.
    pub(crate) fn open(surroundings: &Surroundings, workspace: &Workspace) -> Result<Answering> {
        let allow_private = surroundings.defaults.allow_private;
        Ok(Answering {
            workers: Workers::new(surroundings, workspace, allow_private),
            model: load_trusted_model(surroundings)?,
            is_served: surroundings.assignment.is_foreign,
        })
    }

    pub(crate) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    pub(crate) fn ask(
        &self,
        question: &Question<'_>,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Answer> {
        self.ask_counting(question, &mut Usage::default(), seen)
    }

    /// Asks an agent. Adds the tokens of a model to `counted`, also of an invalid answer.
    pub(crate) fn ask_counting(
        &self,
        question: &Question<'_>,
        counted: &mut Usage,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Answer> {
        match &self.model {
            _ if question.agent.is_worker() => from_worker(question, &self.workers),
            Some(model) => from_model(question, model, counted, seen),
            None => Ok(self.answer_offline(Some(question.agent))),
        }
    }

    pub(crate) fn redact_key(&self, message: &str) -> String {
        let model = self.model.as_ref();
        model.map_or_else(|| message.to_string(), |model| redact_key(model, message))
    }

    /// Returns the cost of an answer of the model in US dollars, and its tokens.
    pub(crate) fn price(&self, counted: &Usage) -> (Option<f64>, Option<Usage>) {
        let cost = self.model.as_ref().and_then(|model| model.cost(counted));
        (cost, usage(counted))
    }

    /// Asks the model itself; `None` without one.
    pub(crate) fn ask_model(
        &self,
        request: &llm::Request,
        seen: &mut dyn FnMut(&str),
    ) -> Option<Result<llm::Reply>> {
        let model = self.model.as_ref()?;
        Some(Client::open(model).and_then(|client| client.ask(request, seen)))
    }

    /// Makes the answer that there is no model; `agent` is the one that would answer.
    pub(in crate::ops) fn answer_offline(&self, agent: Option<&Agent>) -> Answer {
        let what = match agent {
            Some(agent) => format!("`{}` would answer this message.", agent.id),
            None => "No agent fits the message.".to_string(),
        };
        let again = match self.is_served {
            true => ", and start the server again",
            false => "",
        };
        let text = format!(
            "[offline] no model is configured, so there is no answer. {what} To have messages \
             answered, set OPENAI_API_KEY, or another llm.provider{again}"
        );
        Answer::new(text, AnsweredBy::Offline)
    }
}

impl Answer {
    fn new(text: String, by: AnsweredBy) -> Answer {
        Answer {
            text,
            by,
            details: Detail::new(),
            model: None,
            usage: None,
            cost: None,
        }
    }
}

fn from_worker(question: &Question<'_>, workers: &Workers) -> Result<Answer> {
    let context = worker::Context {
        user_id: question.user.map(String::from),
        conversation_id: question.conversation.map(String::from),
        run: Some(question.run.to_string()),
        ..worker::Context::default()
    };
    let (agent, intent) = (question.agent, question.intent());
    let reply = workers.call(agent, intent, question.message, context)?;
    if let Some(fault) = reply.error {
        return Err(error!(AgentFailed, "{}: {}", fault.kind, fault.message));
    }
    let Some(output) = reply.output else {
        return Ok(Answer::new(String::new(), AnsweredBy::Worker));
    };
    Ok(Answer {
        details: match output.details {
            Some(Value::Object(ref details)) => details.clone(),
            _ => Detail::new(),
        },
        ..Answer::new(output.text(), AnsweredBy::Worker)
    })
}

fn from_model(
    question: &Question<'_>,
    model: &Model,
    counted: &mut Usage,
    seen: &mut dyn FnMut(&str),
) -> Result<Answer> {
    let agent = question.agent;
    let said = |message: &Message| match message.speaker {
        Speaker::Agent => llm::Message::assistant(&message.content),
        _ => llm::Message::user(&message.content),
    };
    let mut messages: Vec<_> = question.history.iter().map(said).collect();
    messages.push(llm::Message::user(question.message));
    let request = llm::Request {
        system: agent.prompt.clone(),
        messages,
        model: agent.model.clone(),
        temperature: Some(agent.temperature),
        max_tokens: agent.max_tokens,
        schema: None,
    };
    let reply = Client::open(model)?.ask_counting(&request, counted, seen)?;
    let lack = reply.finish.explain_incomplete();
    Ok(Answer {
        cost: model.cost(counted),
        usage: usage(counted),
        details: crate::build_map(lack.map(|lack| (INCOMPLETE.to_string(), lack.into()))),
        model: Some(reply.model),
        ..Answer::new(reply.text, AnsweredBy::Model)
    })
}

/// Adds the total to what a server counted; `None` if it counted nothing.
fn usage(counted: &Usage) -> Option<Usage> {
    let (input, output) = (counted.input_tokens, counted.output_tokens);
    input.or(output).map(|_| Usage {
        total_tokens: input
            .zip(output)
            .map(|(input, output)| input.saturating_add(output)),
        ..*counted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncounted_tokens_are_unknown() {
        let counted = |input_tokens, output_tokens| {
            usage(&Usage {
                input_tokens,
                output_tokens,
                total_tokens: None,
            })
        };
        assert_eq!(counted(None, None), None);
        let known = counted(Some(3), Some(4)).unwrap();
        assert_eq!(known.total_tokens, Some(7));
        let half = counted(Some(3), None).unwrap();
        assert_eq!((half.input_tokens, half.total_tokens), (Some(3), None));
    }
}

//! Who answers: a worker, the configured model, or nobody, which is said and never made to look like
//! an answer.

use serde_json::Value;

use super::Surroundings;
use super::trust::{Item, Trust};
use super::workers::Workers;
use crate::agent::Agent;
use crate::config::{Settings, WORKERS_ALLOW_PRIVATE};
use crate::error::{Code, Error, Result};
use crate::llm::client::{Client, without_key};
use crate::llm::{self, Model};
use crate::run::{AnsweredBy, Detail, Message, Speaker, Usage};
use crate::worker;
use crate::workspace::Workspace;

/// What a worker is asked for that names no intent.
const INTENT: &str = "message.answer";

/// Says, among the details of an answer, why it is not all that would have been said.
pub(crate) const INCOMPLETE: &str = "incomplete";

#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) agent: &'a Agent,
    /// What for; the first intent of a worker by default.
    pub(crate) intent: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) user: Option<&'a str>,
    /// The conversation or run that it belongs to.
    pub(crate) conversation: Option<&'a str>,
    /// What was said before, oldest first.
    pub(crate) history: &'a [Message],
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) by: AnsweredBy,
    /// What a worker says of it; of a model, [`INCOMPLETE`] when it is.
    pub(crate) details: Detail,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// What it cost, in US dollars.
    pub(crate) cost: Option<f64>,
}

/// Who can answer in a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Answering {
    pub(crate) workers: Workers,
    model: Option<Model>,
    /// Whether who asks is another than who started this process, which keeps the settings of its start.
    is_served: bool,
}

impl<'a> Question<'a> {
    /// Asks an agent something, by nobody and without anything before.
    pub(crate) fn new(agent: &'a Agent, message: &'a str) -> Question<'a> {
        Question {
            agent,
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

/// Makes the model that the settings describe. Where words are sent may be said by the project's file, which
/// came with the project: such a model is refused before the user trusts it.
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

/// Returns whether workers of others may be on this machine or around it. A file of the project, which
/// may come from one of those others, does not say so.
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

    pub(crate) fn can_answer(&self, agent: &Agent) -> bool {
        agent.is_worker() || self.has_model()
    }

    pub(crate) fn ask(
        &self,
        question: &Question<'_>,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Answer> {
        self.ask_counting(question, &mut llm::Usage::default(), seen)
    }

    /// Asks an agent. `counted` grows by what a model takes, also when its answer cannot be used.
    pub(crate) fn ask_counting(
        &self,
        question: &Question<'_>,
        counted: &mut llm::Usage,
        seen: &mut dyn FnMut(&str),
    ) -> Result<Answer> {
        match &self.model {
            _ if question.agent.is_worker() => from_worker(question, &self.workers),
            Some(model) => from_model(question, model, counted, seen),
            None => Ok(self.absent(question.agent)),
        }
    }

    /// Takes the key of the model out of a message, which is kept and told.
    pub(crate) fn without_key(&self, message: &str) -> String {
        let model = self.model.as_ref();
        model.map_or_else(|| message.to_string(), |model| without_key(model, message))
    }

    /// Says what an answer of the model took: tokens, and money in US dollars.
    pub(crate) fn took(&self, counted: &llm::Usage) -> (Option<f64>, Option<Usage>) {
        let cost = self.model.as_ref().and_then(|model| model.cost(counted));
        (cost, usage(counted))
    }

    /// Asks the model itself; none when there is none.
    pub(crate) fn ask_model(
        &self,
        request: &llm::Request,
        seen: &mut dyn FnMut(&str),
    ) -> Option<Result<llm::Reply>> {
        let model = self.model.as_ref()?;
        Some(Client::open(model).and_then(|client| client.ask(request, seen)))
    }

    /// Says that an agent would answer, if there were a model.
    pub(in crate::ops) fn absent(&self, agent: &Agent) -> Answer {
        self.offline(&format!("`{}` would answer this message.", agent.id))
    }

    /// Says that nobody answered.
    pub(in crate::ops) fn offline(&self, what: &str) -> Answer {
        let again = match self.is_served {
            true => ", and start the server again",
            false => "",
        };
        Answer {
            text: format!(
                "[offline] no model is configured, so this is no answer. {what} To have messages \
                 answered, set llm.provider: cleo config set llm.provider openai-chat{again}"
            ),
            by: AnsweredBy::Offline,
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
        ..worker::Context::default()
    };
    let (agent, intent) = (question.agent, question.intent());
    let reply = workers.call(agent, intent, question.message, context)?;
    if let Some(fault) = reply.error {
        let message = format!("{}: {}", fault.kind, fault.message);
        return Err(Error::new(Code::AgentFailed, message));
    }
    let output = reply.output;
    let text = output.as_ref().map(|output| output.text());
    Ok(Answer {
        text: text.unwrap_or_default(),
        by: AnsweredBy::Worker,
        details: match output.and_then(|output| output.details) {
            Some(Value::Object(details)) => details,
            _ => Detail::new(),
        },
        model: None,
        usage: None,
        cost: None,
    })
}

fn from_model(
    question: &Question<'_>,
    model: &Model,
    counted: &mut llm::Usage,
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
    let lack = reply.finish.lack();
    Ok(Answer {
        cost: model.cost(counted),
        usage: usage(counted),
        text: reply.text,
        by: AnsweredBy::Model,
        details: crate::build_map(lack.map(|lack| (INCOMPLETE.to_string(), lack.into()))),
        model: Some(reply.model),
    })
}

/// Takes over what a server counted; nothing when it counted nothing.
fn usage(counted: &llm::Usage) -> Option<Usage> {
    let both = counted.input.zip(counted.output);
    let any = counted.input.or(counted.output);
    any.map(|_| Usage {
        input_tokens: counted.input,
        output_tokens: counted.output,
        total_tokens: both.map(|(input, output)| input.saturating_add(output)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_nobody_counted_are_unknown() {
        let counted = |input, output| {
            usage(&llm::Usage {
                input,
                output,
                cached: None,
            })
        };
        assert_eq!(counted(None, None), None);
        let known = counted(Some(3), Some(4)).unwrap();
        assert_eq!(known.total_tokens, Some(7));
        let half = counted(Some(3), None).unwrap();
        assert_eq!((half.input_tokens, half.total_tokens), (Some(3), None));
    }
}

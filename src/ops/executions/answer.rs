//! Who answers: a worker, the configured model, or nobody, which is said and never made to look like
//! an answer.

use crate::agent::Agent;
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::llm::client::Client;
use crate::llm::{self, Model};
use crate::run::{AnsweredBy, Message, Run, Speaker, Usage};
use crate::worker::{self, Context, Reach};
use crate::workspace::Workspace;

/// What a worker is asked for that names no intent.
const INTENT: &str = "message.answer";

/// What an agent is asked.
pub(super) struct Question<'a> {
    /// Who is asked.
    pub(super) agent: &'a Agent,
    /// In which run.
    pub(super) run: &'a Run,
    /// The message.
    pub(super) message: &'a str,
    /// What was said before, oldest first.
    pub(super) history: &'a [Message],
}

/// What was answered, and what it took as far as that is known.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) by: AnsweredBy,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) cost: Option<f64>,
}

/// Who can answer here besides workers.
#[derive(Clone, Debug, Default)]
pub struct Answerers {
    /// The configured model.
    pub model: Option<Model>,
}

impl Answerers {
    /// Asks an agent.
    pub(super) fn ask(
        &self,
        question: &Question<'_>,
        workspace: &Workspace,
        clock: &Clock,
    ) -> Result<Answer> {
        match &self.model {
            _ if question.agent.is_worker() => from_worker(question, workspace, clock),
            Some(model) => from_model(question, model),
            None => Ok(offline(&format!(
                "`{}` would answer this message.",
                question.agent.id
            ))),
        }
    }
}

fn from_worker(question: &Question<'_>, workspace: &Workspace, clock: &Clock) -> Result<Answer> {
    let agent = question.agent;
    let context = Context {
        user_id: Some(question.run.user.clone()),
        conversation_id: question.run.conversation.clone(),
        timestamp: clock.timestamp(),
    };
    let intent = agent.intents.first().map_or(INTENT, String::as_str);
    let id = worker::request_id()?;
    let request = worker::Request::new(id, agent, intent, question.message, context);
    let reply = worker::call(agent, &request, &Reach::from(workspace.root.clone()))?;
    if let Some(fault) = reply.error {
        let message = format!("{}: {}", fault.kind, fault.message);
        return Err(Error::new(Code::AgentFailed, message));
    }
    Ok(Answer {
        text: reply.output.map(|output| output.text()).unwrap_or_default(),
        by: AnsweredBy::Worker,
        model: None,
        usage: None,
        cost: None,
    })
}

fn from_model(question: &Question<'_>, model: &Model) -> Result<Answer> {
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
    };
    let reply = Client::open(model)?.ask(&request, &mut |_| {})?;
    Ok(Answer {
        cost: model.cost(&reply.usage),
        usage: usage(&reply.usage),
        text: reply.text,
        by: AnsweredBy::Model,
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

/// Says that nobody answered.
pub(super) fn offline(what: &str) -> Answer {
    Answer {
        text: format!(
            "[offline] no model is configured, so this is no answer. {what} To have messages \
             answered, set llm.provider: cleo config set llm.provider openai-chat"
        ),
        by: AnsweredBy::Offline,
        model: None,
        usage: None,
        cost: None,
    }
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

//! Who answers: a worker, the configured model, or nobody, which is said and never made to look like
//! an answer.

use crate::agent::Agent;
use crate::error::{Code, Error, Result};
use crate::run::{AnsweredBy, Message, Usage};

/// What an agent is asked.
pub(super) struct Question<'a> {
    /// Who is asked.
    pub(super) agent: &'a Agent,
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

/// Who can answer here.
#[derive(Clone, Debug, Default)]
pub struct Answerers {}

impl Answerers {
    /// Says whether a model is configured.
    pub(super) fn has_model(&self) -> bool {
        false
    }

    /// Asks an agent.
    pub(super) fn ask(&self, question: &Question<'_>) -> Result<Answer> {
        let agent = question.agent;
        if agent.is_worker() {
            let message = format!("the worker `{}` cannot be reached", agent.id);
            return Err(Error::new(Code::AgentFailed, message));
        }
        let _ = (question.message, question.history);
        Ok(offline(&format!(
            "`{}` would answer this message.",
            agent.id
        )))
    }
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

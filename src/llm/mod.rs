//! Language models: requests and answers in two wire formats, OpenAI's Chat Completions and Anthropic's
//! Messages ([`formats`], pure). [`client`] talks to servers. Start at [`Model`], which comes from the settings, and at
//! [`client::Client::ask`].

mod answer;
pub(crate) mod client;
pub(crate) mod formats;
pub(crate) mod reply;
pub(crate) mod settings;

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::words::closed;

#[cfg(test)]
mod tests;

pub(crate) use crate::run::Usage;
pub(crate) use reply::{Delta, Finish, Reply};

closed! {
    /// The server of the model. All but Anthropic speak Chat Completions.
    Provider, "provider of models":
    /// OpenAI, and other servers with its Chat Completions.
    OpenAiChat = "openai-chat",
    Anthropic = "anthropic",
    Ollama = "ollama",
    Gemini = "gemini",
}

/// The configured model: which server answers, and how long cleo waits for it. Holds no key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) provider: Provider,
    /// The model for all agents; none uses each agent's own.
    pub(crate) name: Option<String>,
    /// Address of the server, without a slash at its end.
    pub(crate) base_url: String,
    /// Variable that may hold the key; none for servers that get none.
    pub(crate) key_variable: Option<String>,
    pub(crate) needs_key: bool,
    /// Whether the project's file names the server, which gets no key then.
    pub(crate) is_of_project: bool,
    pub(crate) timeout: Duration,
    /// How often a request that failed is sent again.
    pub(crate) retries: u32,
    pub(crate) stream: bool,
    /// Price of a million tokens read and of a million written, where both are known.
    pub(crate) prices: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) content: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// The system prompt; may be empty.
    pub(crate) system: String,
    /// The messages so far; the last is the one to answer.
    pub(crate) messages: Vec<Message>,
    /// The model, unless the configuration names one.
    pub(crate) model: String,
    /// How freely it answers, from 0 to 2; none leaves it to the server.
    pub(crate) temperature: Option<f64>,
    /// Most tokens of the answer.
    pub(crate) max_tokens: u32,
    /// JSON Schema of the answer, for servers that hold their models to one.
    pub(crate) schema: Option<Value>,
}

impl Request {
    pub(crate) fn single(model: &str, system: &str, message: &str) -> Request {
        Request {
            system: system.to_string(),
            messages: vec![Message::user(message)],
            model: model.to_string(),
            temperature: None,
            max_tokens: 4_000,
            schema: None,
        }
    }
}

impl Message {
    pub(crate) fn user(content: &str) -> Message {
        Message {
            role: Role::User,
            content: content.to_string(),
        }
    }

    pub(crate) fn assistant(content: &str) -> Message {
        Message {
            role: Role::Assistant,
            content: content.to_string(),
        }
    }
}

/// A request in the form of a server. The key is not in it: the client adds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProviderRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Value,
}

impl Model {
    pub(crate) fn name_for<'a>(&'a self, request: &'a Request) -> &'a str {
        self.name.as_deref().unwrap_or(&request.model)
    }

    /// Returns the cost of an answer, or `None` without prices or token counts. Cached tokens count in full,
    /// so it is never too low.
    pub(crate) fn cost(&self, usage: &Usage) -> Option<f64> {
        let (read, written) = self.prices?;
        let (input, output) = (usage.input_tokens? as f64, usage.output_tokens? as f64);
        Some((input * read + output * written) / 1_000_000.0)
    }
}

impl Provider {
    pub(crate) fn make_request(
        self,
        model: &Model,
        request: &Request,
        stream: bool,
    ) -> ProviderRequest {
        match self {
            Provider::Anthropic => formats::draft_anthropic(model, request, stream),
            _ => formats::draft_openai_chat(model, request, stream),
        }
    }

    /// Reads a whole answer: a delta that is everything.
    pub(crate) fn parse_reply(self, body: &Value) -> Delta {
        match self {
            Provider::Anthropic => formats::parse_anthropic_message(body),
            _ => formats::read_openai_chat(body, "/choices/0/message"),
        }
    }

    pub(crate) fn parse_delta(self, event: &Value) -> Delta {
        match self {
            Provider::Anthropic => formats::delta_anthropic(event),
            _ => formats::read_openai_chat(event, "/choices/0/delta"),
        }
    }

    pub(crate) fn key_header(self, key: &settings::Key) -> (String, String) {
        match self {
            Provider::Anthropic => ("x-api-key".to_string(), key.reveal().to_string()),
            _ => (
                "authorization".to_string(),
                format!("Bearer {}", key.reveal()),
            ),
        }
    }
}

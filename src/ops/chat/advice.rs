//! What a configured model makes of a message. It is asked only where no form of the grammar fits and the
//! message answers nothing that waits, and no transaction is open meanwhile.

use crate::chat::Sentence;
use crate::chat::answer::{Heard, hear};
use crate::chat::model::{self, Advice};
use crate::clock::timestamp;
use crate::error::Result;
use crate::llm::client::Client;
use crate::llm::{Model, Request};
use crate::ops::Surroundings;

/// Most tokens of the answer.
const TOKENS_MAX: u32 = 1_000;

/// Asks a model. Without an answer that can be used there is no advice, but a warning.
pub(crate) fn advise(
    surroundings: &Surroundings,
    conversation: &str,
    message: &str,
    model: &Model,
) -> Result<(Option<Advice>, Vec<String>)> {
    let workspace = surroundings.workspace()?;
    let chat = crate::ops::agents::write(&workspace, |transaction| transaction.chat(conversation))?;
    let now = timestamp(surroundings.clock.now());
    if !matches!(hear(&chat, message, &now, None), Heard::Unknown(_)) {
        return Ok((None, Vec::new()));
    }
    let sentence = Sentence::read(message);
    let client = sentence.client().or(chat.client.as_deref());
    let mut request = Request::once("gpt-4o-mini", &model::prompt(client), message);
    (request.temperature, request.max_tokens, request.schema) =
        (Some(0.0), TOKENS_MAX, Some(model::schema()));
    let reply = Client::open(model).and_then(|client| client.ask(&request, &mut |_| {}));
    let advice = reply
        .map_err(|error| error.message)
        .and_then(|reply| model::read(&reply.text, message, chat.client.as_deref()));
    let warn = |why| vec![format!("the model gave no answer that can be used: {why}")];
    Ok(advice.map_or_else(|why| (None, warn(why)), |advice| (Some(advice), Vec::new())))
}

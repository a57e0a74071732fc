//! What a text costs a model, estimated. There is one estimate, and whoever shows it names it.

use serde::Serialize;

/// How it is estimated.
pub const METHOD: &str = "characters / 4";

/// How many characters count as one token.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Estimates how many tokens a text has for a model.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(CHARACTERS_PER_TOKEN)
}

/// Estimates how many tokens an answer has as JSON.
pub fn tokens_of(answer: &impl Serialize) -> usize {
    tokens(&serde_json::to_string(answer).unwrap_or_default())
}

//! What a text costs a model, estimated. There is one estimate, and whoever shows it names it.

use serde::Serialize;

use crate::error::steers;

/// How it is estimated.
pub const METHOD: &str = "characters / 4";

/// How many characters count as one token.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Estimates how many tokens a text has for a model.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(CHARACTERS_PER_TOKEN)
}

/// Makes one line of a text, of at most `max` characters. What steers a screen goes.
pub fn one_line(text: &str, max: usize) -> String {
    let plain = text.chars().map(|c| if steers(c) { ' ' } else { c });
    let mut short: String = plain.clone().take(max).collect();
    if plain.clone().nth(max).is_some() {
        short = short.chars().take(max.saturating_sub(1)).collect();
        short.push('…');
    }
    short
}

/// Estimates how many tokens an answer has as JSON.
pub fn tokens_of(answer: &impl Serialize) -> usize {
    tokens(&serde_json::to_string(answer).unwrap_or_default())
}

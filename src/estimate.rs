//! Estimates how many tokens a text has. There is one estimate, and its name is shown with it.

use serde::Serialize;

use crate::error::is_control_character;

pub(crate) const METHOD: &str = "characters / 4, wide ones 1";

/// How many characters count as one token, other than wide ones.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Wide characters begin with this byte or a greater one, so other characters need not be decoded: prompts are long.
const WIDE_BYTE: u8 = 0xe1;

pub(crate) fn tokens(text: &str) -> usize {
    let is_wide_at = |at: usize| text[at..].starts_with(is_wide);
    let bytes = text.bytes().enumerate();
    let n_wide = bytes
        .filter(|(at, byte)| *byte >= WIDE_BYTE && is_wide_at(*at))
        .count();
    n_wide + (text.chars().count() - n_wide).div_ceil(CHARACTERS_PER_TOKEN)
}

/// Returns whether a character is a word or a syllable by itself, and a token for a model: those of
/// Chinese, Japanese and Korean, their wide forms, and pictures.
fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
            | '\u{ff00}'..='\u{ffef}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// Makes one line of a text, of at most `max` characters, without control characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let plain = text
        .chars()
        .map(|c| if is_control_character(c) { ' ' } else { c });
    let mut short: String = plain.clone().take(max).collect();
    if plain.clone().nth(max).is_some() {
        short = short.chars().take(max.saturating_sub(1)).collect();
        short.push('…');
    }
    short
}

/// Estimates how many tokens an answer has as JSON.
pub(crate) fn tokens_of(answer: &impl Serialize) -> usize {
    tokens(&crate::document::to_json(answer).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_chars_are_token_and_so_is_wide_one() {
        for (text, expected) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("größe…", 2),
            ("日本語", 3),
            ("한국어", 3),
            ("登録 login", 4),
            ("🚀", 1),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }
}

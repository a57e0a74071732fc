//! Literal search for what the word index cannot answer: names with signs (`c++`, `a/b.rs`), emoji, and
//! scripts without spaces between words.

use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

const UNBORDERED: [RangeInclusive<char>; 14] = [
    '\u{590}'..='\u{8ff}',
    '\u{e00}'..='\u{109f}',
    '\u{1100}'..='\u{11ff}',
    '\u{1780}'..='\u{17ff}',
    '\u{1950}'..='\u{1aaf}',
    '\u{2e80}'..='\u{312f}',
    '\u{3130}'..='\u{a4cf}',
    '\u{a960}'..='\u{a97f}',
    '\u{a9e0}'..='\u{aa7f}',
    '\u{ac00}'..='\u{d7ff}',
    '\u{f900}'..='\u{fdff}',
    '\u{fe70}'..='\u{feff}',
    '\u{ff66}'..='\u{ffdc}',
    '\u{20000}'..='\u{3ffff}',
];
/// Most parts of a query, and the length of each in bytes, that are looked for as they are written.
const PARTS_MAX: usize = 32;
const PART_MAX: usize = 1_000;

/// Returns true if a text has each part within a run of a script without word boundaries, ignoring ASCII
/// case.
pub(super) fn is_amid_unbordered(text: &str, parts: &[String]) -> bool {
    let is_border = |c: char| !c.is_alphanumeric() && !is_combining_mark(c);
    let runs: Vec<String> = text
        .split(is_border)
        .filter(|run| run.chars().any(is_unbordered))
        .map(str::to_ascii_lowercase)
        .collect();
    let holds = |part: &String| {
        runs.iter()
            .any(|run| run.contains(&part.to_ascii_lowercase()))
    };
    parts.iter().all(holds)
}

fn is_unbordered(c: char) -> bool {
    UNBORDERED.iter().any(|range| range.contains(&c))
}

pub(super) fn is_literal(query: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c) || c.is_whitespace();
    query.chars().any(|c| !is_word(c) || is_unbordered(c))
}

/// Splits a query at its blanks, as texts are written (NFC); nothing of one that is too long.
pub(super) fn parts(query: &str) -> Vec<String> {
    let parts: Vec<String> = query
        .split_whitespace()
        .map(|part| part.nfc().collect())
        .collect();
    let fits = parts.len() <= PARTS_MAX && parts.iter().all(|part| part.len() <= PART_MAX);
    if fits { parts } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_scripts_without_borders_are_literal() {
        for query in [
            "c++",
            "C#",
            "--flag",
            "a/b.rs",
            "调度",
            "スケ",
            "การ",
            "جدول",
            "🚀",
            "x 调",
        ] {
            assert!(is_literal(query), "{query}");
        }
        for query in [
            "token refresh",
            "обновление",
            "café",
            "cafe\u{301}",
            "लड़की",
            "T12",
        ] {
            assert!(!is_literal(query), "{query}");
        }
    }
}

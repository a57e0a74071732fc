//! Completions of a partial word, for shells: few, and safe on a command line.

use std::ops::RangeInclusive;

use super::{Context, Surroundings};
use crate::error::{Result, quote};

/// Maximum number of suggestions: about one screen.
const LIMIT: u32 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Task,
    Label,
}

/// Suggests words that begin with `start`; tasks with their titles, which may contain untrusted text. Leaves out
/// words that a shell would change.
pub(crate) fn suggest(
    surroundings: Surroundings,
    kind: Kind,
    start: &str,
) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    Context::open(surroundings)?.read(|store| {
        if kind == Kind::Label {
            let words = store.label_words(start, LIMIT)?.into_iter();
            found.extend(words.map(|word| (word, String::new())));
            return Ok(());
        }
        // Keeps the letter case of the input.
        let letter = start.get(..1).unwrap_or("T");
        for ids in id_ranges(start) {
            let room = LIMIT.saturating_sub(u32::try_from(found.len()).unwrap_or(LIMIT));
            let tasks = store.titles(ids, room)?.into_iter();
            found.extend(tasks.map(|(id, title)| (format!("{letter}{}", id.0), title)));
        }
        Ok(())
    })?;
    found.retain(|(word, _)| word.starts_with(start) && quote(word) == *word);
    Ok(found)
}

/// Returns the ids that begin with a partial one: for `T12` 12, 120 to 129, 1200 to 1299 and so on.
fn id_ranges(start: &str) -> Vec<RangeInclusive<u32>> {
    let digits = start.strip_prefix(['T', 't']).unwrap_or(start);
    if digits.is_empty() {
        return vec![1..=u32::MAX];
    }
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let first = digits
        .parse::<u64>()
        .ok()
        .filter(|first| is_number && *first > 0);
    let (Some(mut first), false) = (first, digits.starts_with('0')) else {
        return Vec::new();
    };
    let mut ranges = Vec::new();
    let mut last = first;
    while let Ok(from) = u32::try_from(first) {
        ranges.push(from..=u32::try_from(last).unwrap_or(u32::MAX));
        (first, last) = (first * 10, last * 10 + 9);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::id_ranges;

    #[test]
    fn partial_id_becomes_ids_that_begin_with_it() {
        assert_eq!(id_ranges("T12")[..3], [12..=12, 120..=129, 1200..=1299]);
        assert_eq!(id_ranges("t4294967295"), [4_294_967_295..=u32::MAX]);
        assert_eq!(id_ranges("T").len(), 1);
        for none in ["T0", "Tx", "T-1", "T+1", "T99999999999999999999", "x"] {
            assert_eq!(id_ranges(none), [], "{none}");
        }
    }
}

//! Keys in every spelling that programs write them in, and what is no key.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::reader::Reader;
use crate::chat::value::brief;
use crate::chat::vocabulary::{ELEMENTS, component_type};

/// What ends a statement in a key; no name of a field holds it.
const ENDS: [&str; 5] = ["';", "\";", "`;", ";--", "'--"];

/// The parts of a design by their keys, and by their columns and fields, in small letters without signs.
static KEYS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let keys = ELEMENTS.iter().flat_map(|element| {
        let (column, field) = element.path;
        [bare(element.key), bare(&format!("{column}{field}"))].map(|key| (key, element.key))
    });
    keys.collect()
});

/// Takes the keys of a design among words apart: `socialIconStyle` is `social icon style`.
pub(super) fn spread<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut spread = Vec::new();
    for word in words {
        match KEYS.get(&bare(word)) {
            Some(key) => spread.extend(key.split('_').map(String::from)),
            None => spread.push(word.to_string()),
        }
    }
    spread
}

fn bare(key: &str) -> String {
    key.to_lowercase().replace(['_', '-', '.'], "")
}

impl Reader<'_> {
    /// Says that what stands in front of a value is no name of a field. To take a part of it for one
    /// would change what was not named.
    pub(super) fn broken_key(&self) -> Option<String> {
        let (end, _) = self.value?;
        let plain = &self.message.plain[..end];
        // "The cards'; title to X" only ends a possessive.
        let is_owner = |at: &usize| {
            let word = plain[..*at].rsplit(char::is_whitespace).next();
            let owner = word.filter(|word| word.ends_with('s'));
            owner.is_some_and(|word| word == "components" || component_type(word).is_some())
        };
        let places = ENDS.iter().flat_map(|sign| plain.match_indices(sign));
        let places = places.map(|(at, _)| at).filter(|at| !is_owner(at));
        let at = places.min()?;
        let start = plain[..at]
            .rfind(char::is_whitespace)
            .map_or(0, |space| space + 1);
        let written = brief(self.message.body.get(start..end)?.trim());
        Some(format!(
            "\"{written}\" is no field. Nothing was changed. Please name what to change by its name \
             alone, for example: title to Welcome"
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::chat::request::Request;

    #[test]
    fn a_key_that_ends_a_statement_is_refused_whole() {
        for (message, is_broken) in [
            (
                "update component 101 title'; DROP TABLE components;-- to X",
                true,
            ),
            ("change button_radius'; DROP TABLE designs;-- to full", true),
            ("change title\"; DROP TABLE designs to full", true),
            ("update component 101's title to X", false),
            ("update the cards'; title to X", false),
            (
                "update component 101 title to '); DROP TABLE components;--",
                false,
            ),
            ("update component 101; title to X", false),
        ] {
            let fault = Request::read(message, None).fault;
            let is_said = fault.is_some_and(|fault| fault.contains("is no field"));
            assert_eq!(is_said, is_broken, "{message}");
        }
    }
}

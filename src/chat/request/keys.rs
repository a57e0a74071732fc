//! Keys of a design in every spelling that programs write them in.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::chat::vocabulary::ELEMENTS;

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

//! The status that components must have to be meant: "secured cards", "components that are not blurred".

use std::collections::HashSet;

use super::reader::Reader;
use crate::chat::vocabulary::{STATUS, Verb};

/// Words that turn the status behind them round.
const NOT: [&str; 5] = ["not", "no", "un", "non", "t"];
/// Words that may stand between them and the status.
const BETWEEN: [&str; 4] = ["been", "yet", "currently", "really"];
/// Words that negate or except; which status they leave is not told.
const BUT: [&str; 20] = [
    "but",
    "unless",
    "except",
    "excepting",
    "excluding",
    "exclude",
    "without",
    "neither",
    "nor",
    "never",
    "none",
    "nothing",
    "cannot",
    "besides",
    "barring",
    "apart",
    "other",
    "hardly",
    "minus",
    "instead",
];
/// Words before a status that is only asked about.
const ASKED: [&str; 5] = ["whether", "if", "their", "its", "when"];
/// Words for something of a status, right behind it.
const OF: [&str; 12] = [
    "status", "state", "start", "starts", "end", "ends", "date", "dates", "time", "times",
    "content", "contents",
];

impl Reader<'_> {
    /// Finds the columns that a status names and what they must be. One that is to be both is none.
    pub(super) fn states(&self) -> Vec<(&'static str, bool)> {
        let all = self.all_states();
        match self.is_either(&all) {
            true => Vec::new(),
            false => all
                .into_iter()
                .map(|(_, column, value)| (column, value))
                .collect(),
        }
    }

    /// Returns the words for a status that cannot be taken, because either of several will do or
    /// what is negated is not told.
    pub(super) fn untaken_states(&self) -> Vec<String> {
        let all = self.all_states();
        let is_either = self.is_either(&all);
        let words = all.iter().filter(|_| is_either);
        words
            .map(|(index, ..)| self.at(*index).to_string())
            .collect()
    }

    fn is_either(&self, all: &[(usize, &'static str, bool)]) -> bool {
        let clash = |one: &(usize, &str, bool)| {
            let first = all.iter().find(|other| other.1 == one.1);
            first.is_some_and(|first| first.2 != one.2)
        };
        let has_or = (0..self.words.len()).any(|index| self.at(index) == "or");
        all.iter().any(clash) || has_or && all.len() > 1 || self.is_negated(all)
    }

    /// Says whether a word negates or excepts that stands directly before no status.
    fn is_negated(&self, all: &[(usize, &'static str, bool)]) -> bool {
        if all.is_empty() {
            return false;
        }
        let states = (0..self.words.len()).filter(|index| self.state(*index).is_some());
        let direct: HashSet<usize> = states.filter_map(|index| self.negation(index)).collect();
        let is_other = |index: usize| {
            let word = self.at(index);
            let is_not = NOT.contains(&word) && !direct.contains(&index);
            is_not || BUT.contains(&word)
        };
        let end = self.head_end();
        let words = (0..self.words.len()).filter(|index| self.words[*index].start < end);
        words.into_iter().any(is_other)
    }

    /// Finds the word right before a status that turns it round.
    pub(super) fn negation(&self, index: usize) -> Option<usize> {
        let mut before = (0..index).rev();
        let before = before.find(|before| !BETWEEN.contains(&self.at(*before)))?;
        NOT.contains(&self.at(before)).then_some(before)
    }

    /// Finds the words for a status of what is listed or deleted, and for that of what is changed where
    /// they stand beside it: "my blurred card".
    fn all_states(&self) -> Vec<(usize, &'static str, bool)> {
        let is_listed = matches!(self.verb, Some(Verb::Read | Verb::Delete));
        // "Is my card blurred?" asks for it.
        let is_asked = ["is", "are", "was", "were"].contains(&self.at(0));
        let is_some = self.component.is_none() && self.part.is_none() && !is_asked;
        let is_meant = |index: &usize| {
            let is_before = self.words[*index].start < self.head_end();
            let is_behind = *index >= self.from;
            is_listed || self.is_change() && is_before && is_behind && self.is_beside(*index)
        };
        let asked = (0..self.words.len()).find(|index| ASKED.contains(&self.at(*index)));
        let end = self.with.unwrap_or(self.words.len());
        let end = end.min(asked.unwrap_or(end));
        let places = (0..if is_some { end } else { 0 }).filter(is_meant);
        let found = places.filter_map(|index| {
            let (column, value) = self.state(index)?;
            Some((index, column, value))
        });
        found.collect()
    }

    fn state(&self, index: usize) -> Option<(&'static str, bool)> {
        let word = self.at(index);
        let bare = word.strip_prefix("non-").unwrap_or(word);
        let named = match bare {
            "secure" => "secured",
            "unsecure" => "unsecured",
            word => word,
        };
        let (_, column, value) = STATUS.iter().find(|status| status.0 == named)?;
        let is_not = (bare != word) != self.negation(index).is_some();
        let is_asked = OF.contains(&self.at(index + 1));
        (!is_asked).then_some((*column, *value != is_not))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::chat::request::Request;

    #[test]
    fn a_status_restricts_what_is_listed_or_deleted() {
        for (message, criteria) in [
            ("list secured components", json!({"is_secured": true})),
            (
                "show components that are not blurred",
                json!({"is_blur": false}),
            ),
            ("list unsecured components", json!({"is_secured": false})),
            ("list non-secured components", json!({"is_secured": false})),
            ("which components are secured?", json!({"is_secured": true})),
            (
                "list components which aren't secured",
                json!({"is_secured": false}),
            ),
            (
                "which cards are secured and blurred",
                json!({"component_type": "cards", "is_blur": true, "is_secured": true}),
            ),
            (
                "delete my secured card",
                json!({"component_type": "cards", "is_secured": true}),
            ),
            ("list secured or blurred components", json!({})),
            ("list secured and unsecured components", json!({})),
            ("show the secured status of my components", json!({})),
            (
                "list components that have not been secured",
                json!({"is_secured": false}),
            ),
            (
                "which cards aren't yet secured?",
                json!({"component_type": "cards", "is_secured": false}),
            ),
            (
                "list components that are not really secured",
                json!({"is_secured": false}),
            ),
            (
                "list components that aren't currently secured",
                json!({"is_secured": false}),
            ),
            ("list all non blurred components", json!({"is_blur": false})),
            ("list all but secured components", json!({})),
            (
                "list my cards unless secured",
                json!({"component_type": "cards"}),
            ),
            (
                "list components that are neither secured nor blurred",
                json!({}),
            ),
            ("list components that are no longer secured", json!({})),
            ("list components that were never secured", json!({})),
            ("list all components except secured ones", json!({})),
            ("list components that can't be secured", json!({})),
            (
                "show me my card components and whether they are secured",
                json!({"component_type": "cards"}),
            ),
            (
                "show me if the cards are secured",
                json!({"component_type": "cards"}),
            ),
            (
                "show my cards and their scheduled dates",
                json!({"component_type": "cards"}),
            ),
            (
                "show the scheduled start of my cards",
                json!({"component_type": "cards"}),
            ),
            (
                "make my card component not blurred",
                json!({"component_type": "cards"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.criteria), criteria, "{message}");
        }
    }
}

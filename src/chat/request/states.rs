//! The status that components must have to be meant: "secured cards", "components that are not blurred".

use super::reader::Reader;
use crate::chat::vocabulary::{STATUS, Verb};

/// Words that turn the status behind them round.
const NOT: [&str; 5] = ["not", "no", "un", "non", "t"];

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

    /// Returns the words for a status that cannot be taken, because either of several will do.
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
            all.iter().any(|other| other.1 == one.1 && other.2 != one.2)
        };
        let has_or = (0..self.words.len()).any(|index| self.at(index) == "or");
        all.iter().any(clash) || has_or && all.len() > 1
    }

    /// Finds the words for a status of what is listed or deleted.
    fn all_states(&self) -> Vec<(usize, &'static str, bool)> {
        let is_listed = matches!(self.verb, Some(Verb::Read | Verb::Delete));
        let is_open = self.component.is_none() && self.part.is_none() && is_listed;
        let end = self.with.unwrap_or(self.words.len());
        let places = 0..if is_open { end } else { 0 };
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
        let is_not = bare != word || index > 0 && NOT.contains(&self.at(index - 1));
        let is_asked = ["status", "state"].contains(&self.at(index + 1));
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
                "make my card component not blurred",
                json!({"component_type": "cards"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.criteria), criteria, "{message}");
        }
    }
}

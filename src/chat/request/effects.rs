//! Effects that are to be added to a part of the page, which is neither a component nor a security
//! group: "add hover animation to buttons".

use super::reader::Reader;
use crate::chat::vocabulary::{NEVER, POLITE, Verb, component_type};

/// Words for effects beside those that are never offered.
const EFFECTS: &[&str] = &["effect", "effects", "glow", "shadow", "shadows"];
/// Words between an effect and what it is added to.
const TO: &[&str] = &["to", "on", "into", "in"];

impl Reader<'_> {
    /// Finds the effect that is to be added.
    pub(super) fn effect(&self) -> Option<String> {
        let is_group = |index: usize| {
            let word = self.at(index);
            word.starts_with("security") || word.starts_with("group")
        };
        let is_new = self.verb == Some(Verb::Create) && self.component.is_none();
        let mut words = self.from..self.words.len();
        let none = !is_new || words.clone().any(is_group);
        let found = words.find(|index| self.is_effect(*index) && self.is_added_so(*index));
        let found = found.filter(|_| !none)?;
        Some(self.at(found).to_string())
    }

    fn is_effect(&self, index: usize) -> bool {
        let word = self.at(index);
        (NEVER.contains(&word) || EFFECTS.contains(&word)) && self.field(index).is_none()
    }

    /// Says whether an effect stands before what it is added to, or right behind it.
    fn is_added_so(&self, index: usize) -> bool {
        let is_kind = |index: usize| component_type(self.at(index)).is_some();
        if (self.from..index).any(|before| self.phrase(before).is_some()) {
            return false;
        }
        // In "add a button Hover to win" the kind names a value.
        let mut rest = index..self.words.len();
        let is_last = rest.all(|index| self.is_effect(index) || POLITE.contains(&self.at(index)));
        let is_behind =
            index > self.from && (is_last && is_kind(index - 1) || self.at(index - 1) == "with");
        let to = (index..self.words.len()).find(|index| TO.contains(&self.at(*index)));
        is_behind || to.is_some_and(|to| !(self.from..to).any(is_kind))
    }
}

#[cfg(test)]
mod tests {
    use crate::chat::request::Request;

    #[test]
    fn effects_are_told_from_components_and_groups() {
        for (message, effect) in [
            ("add hover animation to buttons", Some("hover")),
            ("add a shadow to my cards", Some("shadow")),
            ("add a hover effect to my buttons", Some("hover")),
            ("add buttons with hover animation", Some("hover")),
            ("add a button animation", Some("animation")),
            ("add shadow security group to my card", None),
            ("add a full size banner", None),
            ("add a card with title Hover here", None),
            ("add spacing 3 to my card component", None),
            ("add hover to component 101", None),
            ("add premium to my cards", None),
            ("add title Glow in the dark to my card component", None),
            ("add caption Hover here to my button", None),
            ("add caption Shadow to my login button", None),
            ("add a header Hover to win", None),
            ("add a button Hover to win", None),
        ] {
            let request = Request::read(message, Some("6"));
            assert_eq!(request.effect.as_deref(), effect, "{message}");
        }
    }
}

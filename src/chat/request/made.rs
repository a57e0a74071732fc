//! What is said of a component that is to be made: where its fields begin, and its id.

use super::Request;
use super::owner::Placed;
use super::reader::{Reader, WITH};
use crate::chat::record::{ID_MAX, canonical};
use crate::chat::vocabulary::{PROTECTED, Verb, component_type};

/// Words before what is to be made.
const NEW: [&str; 4] = ["a", "an", "another", "new"];

impl Reader<'_> {
    /// Finds where the fields of something new begin. A number behind that is part of a value.
    pub(super) fn new_fields(&self) -> Option<usize> {
        let is_noun = |index: &usize| {
            let word = self.at(*index);
            component_type(word).is_some() || word.starts_with("component")
        };
        let mut words = self.from..self.words.len();
        let is_new = self.verb == Some(Verb::Create);
        let noun = words.clone().find(is_noun).filter(|_| is_new)?;
        let with = (noun + 1..words.end).find(|index| WITH.contains(&self.at(*index)));
        // In "a link to component 101" it can be a field of what is there.
        let is_made = noun > 0 && NEW.contains(&self.at(noun - 1)) && self.phrase(noun).is_none();
        words.start = with.or(is_made.then_some(noun + 1))?;
        let field = words.find(|index| self.is_open_field(*index))?;
        Some(self.words[field].start)
    }

    /// Finds the fields of something new with the places of their values.
    pub(super) fn made(&self) -> Vec<Placed> {
        let kind = (self.from..self.words.len()).find(|index| self.is_kind(*index));
        let from = self.with.or(kind.map(|index| index + 1));
        let end = self.message.plain.len();
        from.map_or_else(Vec::new, |from| self.placed(from, end, true))
    }

    fn is_open_field(&self, index: usize) -> bool {
        let phrase = || self.phrase(index).map(|(path, _)| path);
        let path = self.raw_key(index).or_else(phrase);
        path.is_some_and(|path| !PROTECTED.contains(&path.as_str()))
    }
}

/// Takes the id that something new is to have from among its fields.
pub(super) fn take_id(request: &mut Request) {
    let id = request.updates.get("componentId");
    let id = id.and_then(|id| id.as_str()).map(canonical);
    let is_id =
        |id: &String| (1..=ID_MAX).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_digit());
    if let Some(id) = id.filter(is_id).filter(|_| request.component.is_none()) {
        request.updates.remove("componentId");
        request.component = Some(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_something_new_stands_outside_of_its_values() {
        for (message, component) in [
            ("add a card with title Delete component 101", None),
            ("add a card titled See component 500", None),
            ("add a banner title See component -5", None),
            ("create a new card: title See component 500", None),
            ("add a card component 500 with title X", Some("500")),
            ("add a card with id 500 and title X", Some("500")),
            (
                "add a card component with id 500 and title See card 7",
                Some("500"),
            ),
            ("add a card with title X and component id 500", Some("500")),
            ("add title Foo to component 101", Some("101")),
            ("add a link to component 101", Some("101")),
            ("add a link url x to component 101", Some("101")),
        ] {
            let request = Request::read(message, None);
            assert_eq!(request.component.as_deref(), component, "{message}");
            assert_eq!(request.fault, None, "{message}");
        }
    }
}

//! Keys for servers: read when they are needed, never written anywhere.

use serde_json::Value;

use crate::error::{Code, Error, Result};

/// What stands where a key was.
const HIDDEN: &str = "[key]";
/// Bytes of the shortest key that is taken out of texts. What is shorter is no secret but a word that servers
/// on one's own machine are given because they want any, such as `ollama` or `test`, and stands in messages too.
const SHORTEST_SECRET: usize = 8;

/// A key. It has no form for people.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Takes the value of a variable. A key is visible ASCII, or no header could carry it.
    pub fn new(variable: &str, value: &str) -> Result<Key> {
        let value = value.trim();
        if !value.is_empty() && value.len() <= 4_096 && value.bytes().all(|b| b.is_ascii_graphic())
        {
            return Ok(Key(value.to_string()));
        }
        let message = format!("{variable} holds something that can be no key");
        Err(Error::new(Code::ConfigInvalid, message).fix(ask_for(variable)))
    }

    /// Returns the key, for the request only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text, unless it is too short to be a secret.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET {
            return text.to_string();
        }
        text.replace(&self.0, HIDDEN)
    }

    /// Takes the key out of every text in a value, names of fields among them.
    pub fn redact_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_all(item)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    self.redact_all(&mut field);
                    fields.insert(self.redact(&name), field);
                }
            }
            _ => {}
        }
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(HIDDEN)
    }
}

/// The command that sets a variable without showing its value or leaving it in a history.
pub fn ask_for(variable: &str) -> String {
    format!("read -rs {variable} && export {variable}")
}

/// Takes a key out of text that arrives in pieces.
pub struct Redactor<'a> {
    key: Option<&'a Key>,
    held: String,
}

impl<'a> Redactor<'a> {
    /// Begins; without a key everything stays as it is.
    pub fn new(key: Option<&'a Key>) -> Redactor<'a> {
        Redactor {
            key,
            held: String::new(),
        }
    }

    /// Takes more text and returns what can be shown: what may be the beginning of the key waits.
    pub fn push(&mut self, text: &str) -> String {
        let Some(key) = self.key else {
            return text.to_string();
        };
        self.held += text;
        let mut shown = key.redact(&std::mem::take(&mut self.held));
        let most = key.0.len().saturating_sub(1).min(shown.len());
        // Keys are ASCII, so what matches begins at a character.
        let waits = (1..=most)
            .rev()
            .find(|length| shown.ends_with(&key.0[..*length]));
        self.held = shown.split_off(shown.len() - waits.unwrap_or(0));
        shown
    }

    /// Returns what still waits, which was no key.
    pub fn finish(self) -> String {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_however_it_arrives() {
        let key = Key::new("K", "aab-key1").unwrap();
        let text = "aaaab-key1aab-key1é aab-ke aab-key1 aa";
        for size in 1..12 {
            let letters: Vec<char> = text.chars().collect();
            let mut redactor = Redactor::new(Some(&key));
            let pieces = letters
                .chunks(size)
                .map(|piece| piece.iter().collect::<String>());
            let mut shown: String = pieces.map(|piece| redactor.push(&piece)).collect();
            shown += &redactor.finish();
            assert_eq!(shown, "aa[key][key]é aab-ke [key] aa", "by {size}");
        }
    }

    #[test]
    fn a_word_that_stands_for_a_key_stays_in_messages() {
        for word in ["x", "test", "ollama", "7-bytes"] {
            let key = Key::new("K", word).unwrap();
            let text = format!("Install {word} for the {word}ing box");
            assert_eq!(key.redact(&text), text);
            let mut redactor = Redactor::new(Some(&key));
            let shown: String = text
                .split_inclusive(' ')
                .map(|piece| redactor.push(piece))
                .collect();
            assert_eq!(shown + &redactor.finish(), text);
        }
    }

    #[test]
    fn a_key_has_no_picture_and_what_can_be_none_is_refused_without_repeating_it() {
        assert_eq!(
            format!("{:?}", Key::new("K", " secret\n").unwrap()),
            "[key]"
        );
        for value in ["", "  ", "two words", "a\nb", "schlüssel"] {
            let refused = Key::new("MY_KEY", value).unwrap_err();
            assert_eq!(refused.code, Code::ConfigInvalid);
            assert_eq!(refused.message, "MY_KEY holds something that can be no key");
        }
    }
}

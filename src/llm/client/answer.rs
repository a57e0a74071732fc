//! An answer of a model, read as it comes.

use serde_json::Value;

use crate::exchange::wire::Head;
use crate::llm::key::{Key, Redactor};
use crate::llm::stream::{Framing, Reader};
use crate::llm::{Delta, Model};

/// How much of a refusal is read, in bytes.
const REFUSAL_MAX: usize = 64 << 10;

/// An answer as it comes.
pub(super) struct Answer<'a> {
    model: &'a Model,
    key: Option<&'a Key>,
    /// Takes the key out of the text, over whose pieces it may be spread.
    redactor: Redactor<'a>,
    seen: &'a mut dyn FnMut(&str),
    /// The body, unless it comes piece by piece.
    pub(super) whole: String,
    /// What reads the pieces, once the answer has begun.
    reader: Option<Reader>,
    /// What was found in it.
    pub(super) found: Delta,
    fault: Option<String>,
}

impl<'a> Answer<'a> {
    /// Begins one; `seen` gets its text.
    pub(super) fn new(
        model: &'a Model,
        key: Option<&'a Key>,
        seen: &'a mut dyn FnMut(&str),
    ) -> Answer<'a> {
        Answer {
            model,
            key,
            redactor: Redactor::new(key),
            seen,
            whole: String::new(),
            reader: None,
            found: Delta::default(),
            fault: None,
        }
    }

    /// Takes in more of it.
    pub(super) fn push(&mut self, head: &Head, text: &str) {
        if head.status != 200 {
            if self.whole.len() < REFUSAL_MAX {
                self.whole += text;
            }
        } else if self.comes_in_pieces(head) {
            self.pieces(text);
        } else {
            self.whole += text;
        }
    }

    /// Says whether the answer comes piece by piece: some servers send it whole all the same.
    fn comes_in_pieces(&self, head: &Head) -> bool {
        let kind = head
            .content_type
            .as_deref()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_whole = kind.starts_with("application/json");
        self.model.stream && !(is_whole && self.model.provider.framing() == Framing::Events)
    }

    fn pieces(&mut self, text: &str) {
        let framing = self.model.provider.framing();
        let reader = self.reader.get_or_insert_with(|| Reader::new(framing));
        match reader.push(text) {
            Ok(events) => events.iter().for_each(|event| self.event(event)),
            Err(_) => {
                self.fault = self
                    .fault
                    .take()
                    .or(Some("an event is too long".to_string()))
            }
        }
    }

    fn event(&mut self, event: &str) {
        if self.fault.is_some() || event.trim() == "[DONE]" || event.trim().is_empty() {
            return;
        }
        let Ok(event) = json(event, self.key) else {
            self.fault = Some("an event is no JSON".to_string());
            return;
        };
        let mut delta = self.model.provider.delta(&event);
        delta.text = self.redactor.push(&delta.text);
        self.add(delta);
    }

    fn add(&mut self, delta: Delta) {
        if !delta.text.is_empty() {
            (self.seen)(&delta.text);
        }
        self.found.add(delta);
    }

    /// Takes in what has not been read yet; the error says why it is no answer.
    pub(super) fn end(&mut self) -> std::result::Result<(), String> {
        match self.reader.as_mut().map(Reader::finish) {
            Some(Some(last)) => self.event(&last),
            Some(None) => {}
            None => self.take_whole()?,
        }
        let text = std::mem::replace(&mut self.redactor, Redactor::new(None)).finish();
        self.add(Delta {
            text,
            ..Delta::default()
        });
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match self.found.error.take() {
            Some(error) => Err(format!("the server says: {error}")),
            None => Ok(()),
        }
    }

    fn take_whole(&mut self) -> std::result::Result<(), String> {
        let body = json(&self.whole, self.key).map_err(|_| "it is no JSON".to_string())?;
        let mut whole = self.model.provider.whole(&body);
        whole.text = match whole.error {
            None => self.redactor.push(&whole.text),
            Some(_) => String::new(),
        };
        self.add(whole);
        Ok(())
    }
}

/// Reads JSON without the key: in its text a key may be written in many ways, but read it is the key.
pub(super) fn json(text: &str, key: Option<&Key>) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    if let Some(key) = key {
        key.redact_all(&mut value);
    }
    Ok(value)
}

//! What is wrong with an entry.

use std::fmt;

use serde::Serialize;

use super::syntax;

/// One thing that is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fault {
    /// The field.
    pub field: String,
    /// What is wrong with it, to be read after the field's name.
    pub message: String,
}

impl Fault {
    /// Makes a fault.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Fault {
        let (field, message) = (field.into(), message.into());
        Fault { field, message }
    }

    /// The fault of a text that is no JSON object.
    pub fn syntax(text: &str, cause: &serde_json::Error) -> Fault {
        syntax::fault(text, cause)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.field, self.message)
    }
}

//! What is wrong with an entry.

use std::fmt;

use serde::Serialize;
use serde_json::error::Category;

use super::text::shown;

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

    /// Makes the fault of a text that is no JSON object, so that whoever wrote it can mend it.
    pub fn syntax(text: &str, cause: &serde_json::Error) -> Fault {
        Fault::new("entry", no_object(text, cause))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.field, self.message)
    }
}

fn no_object(text: &str, cause: &serde_json::Error) -> String {
    if text.trim().is_empty() {
        return "is empty; one JSON object is due".to_string();
    }
    let place = match text.trim_end().contains('\n') {
        true => format!("line {} column {}", cause.line(), cause.column()),
        false => format!("column {}", cause.column()),
    };
    if let Some(word) = placeholder(text, cause) {
        let word = shown(&word);
        return format!("holds {word} at {place}, which is still to be replaced");
    }
    match cause.classify() {
        Category::Data => "is JSON but no object".to_string(),
        Category::Eof => format!("ends in the middle, at {place}"),
        _ => {
            let why = cause.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            format!("is no JSON object: {why} at {place}{}", hint(why))
        }
    }
}

/// A quote that was not escaped ends its text early: the commonest slip of agents.
fn hint(why: &str) -> &'static str {
    match why.starts_with("expected `,`") {
        true => "; a quote inside of a text is written `\\\"`",
        false => "",
    }
}

/// Returns the `<true|false>` of the protocol's line, if that is where the parser stopped.
fn placeholder(text: &str, cause: &serde_json::Error) -> Option<String> {
    let line = text.lines().nth(cause.line().checked_sub(1)?)?;
    let rest = line.get(cause.column().checked_sub(1)?..)?;
    let ends = |c: &char| ",}\n".contains(*c);
    let word = rest.chars().take_while(|c| !ends(c)).collect();
    rest.starts_with('<').then_some(word)
}

//! What to say of a text that is no JSON object, so that whoever wrote it can mend it.

use serde_json::error::Category;

use super::entry::Fault;
use super::text::shown;

/// The fault of a text that is no JSON object.
pub(super) fn fault(text: &str, cause: &serde_json::Error) -> Fault {
    Fault::new("entry", message(text, cause))
}

fn message(text: &str, cause: &serde_json::Error) -> String {
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

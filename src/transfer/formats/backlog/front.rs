//! Front matter of a file of Backlog.md.

use serde_json::{Map, Value};

use super::FRONT_MAX;
use crate::transfer::Read;
use crate::transfer::fields::Fields;

/// Splits a file into front matter and body.
pub(super) fn parts(text: &str) -> Read<(&str, &str)> {
    let mut place = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let is_mark = line.trim_end() == "---";
        match start {
            None if is_mark => start = Some(place + line.len()),
            None => return Err("the file does not begin with front matter (---)".to_string()),
            Some(from) if is_mark => return Ok((&text[from..place], &text[place + line.len()..])),
            Some(from) if place - from > FRONT_MAX => break,
            Some(_) => {}
        }
        place += line.len();
    }
    match start {
        None => Err("the file is empty".to_string()),
        Some(_) => Err("the front matter has no end (---)".to_string()),
    }
}

/// Reads the fields of front matter; the error says on which line of the file it is none.
pub(super) fn front_matter(text: &str) -> Read<Fields, (usize, String)> {
    let quoted = names_quoted(text);
    let map: Read<Map<String, Value>, _> = crate::yaml::from_str(&quoted);
    map.map(Fields::new).map_err(|cause| {
        let line = cause.location().map_or(0, |place| place.line() + 1);
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        (line, format!("the front matter is no YAML: {what}"))
    })
}

/// Puts quotes around names such as `@dana`, which the tool itself writes without.
fn names_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let holds_names = ["assignee:", "reporter:", "- @"]
            .iter()
            .any(|head| start.starts_with(head));
        if !holds_names {
            quoted.push_str(line);
            continue;
        }
        let mut before = ' ';
        let mut open = false;
        for c in line.chars() {
            if c == '@' && matches!(before, ' ' | '[' | ',' | '\t') {
                quoted.push('\'');
                open = true;
            } else if open && matches!(c, ',' | ']' | ' ' | '\r' | '\n' | '\'' | '#') {
                quoted.push('\'');
                open = false;
            }
            quoted.push(c);
            before = c;
        }
        if open {
            quoted.push('\'');
        }
    }
    quoted
}

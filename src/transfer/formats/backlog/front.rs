//! Front matter of a file of Backlog.md.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value};

use super::FRONT_MAX;
use crate::transfer::fields::Fields;

/// Splits a file into front matter and body.
pub(super) fn split(text: &str) -> Result<(&str, &str), String> {
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
pub(super) fn read_front(text: &str) -> Result<Fields, (usize, String)> {
    let quoted = names_quoted(text);
    let read = || -> Result<Map<String, Value>, serde_yaml::Error> {
        let Plain(mut map) = crate::yaml::from_str(&quoted)?;
        // Of a number its text counts, which only who asks for texts gets.
        let written = crate::yaml::from_str::<Written>(&quoted);
        if let Some(labels) = written.ok().and_then(|written| written.labels) {
            map.insert("labels".to_string(), labels.into());
        }
        Ok(map)
    };
    read().map(Fields::new).map_err(|cause| {
        let line = cause.location().map_or(0, |place| place.line() + 1);
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        (line, format!("the front matter is no YAML: {what}"))
    })
}

/// Lists whose items are texts, however they look.
#[derive(Deserialize)]
struct Written {
    labels: Option<Vec<String>>,
}

/// Fields without numbers that JSON cannot hold.
struct Plain(Map<String, Value>);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Plain, D::Error> {
        let document = serde_yaml::Value::deserialize(from)?;
        refuse_infinite(&document).map_err(D::Error::custom)?;
        let map = Map::deserialize(document).map_err(D::Error::custom)?;
        Ok(Plain(map))
    }
}

fn refuse_infinite(value: &serde_yaml::Value) -> Result<(), String> {
    match value {
        serde_yaml::Value::Number(number) if number.as_f64().is_some_and(|it| !it.is_finite()) => {
            Err(format!(
                "{number} is no number that can be kept; write it as a text, in quotes"
            ))
        }
        serde_yaml::Value::Sequence(items) => items.iter().try_for_each(refuse_infinite),
        serde_yaml::Value::Mapping(fields) => {
            let mut values = fields.values();
            values.try_for_each(refuse_infinite)
        }
        _ => Ok(()),
    }
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

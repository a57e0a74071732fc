//! Front matter of a Markdown file: fields in YAML between two lines of dashes.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::transfer::fields::Fields;

/// Largest front matter, in bytes.
pub(super) const SIZE_MAX: usize = 256 << 10;

/// Reads the front matter of a file; returns its fields and the body. An error comes with its line.
pub(super) fn read(text: &str) -> Parsed<(Fields, &str)> {
    let (front, body) = split(text)?;
    Ok((read_front(front)?, body))
}

type Parsed<T> = Result<T, (usize, String)>;

fn split(text: &str) -> Parsed<(&str, &str)> {
    let mut place = 0;
    let mut dashes = text.split_inclusive('\n').filter_map(|line| {
        let start = place;
        place += line.len();
        (line.trim_end() == "---").then_some((start, place))
    });
    match (dashes.next(), dashes.next()) {
        (Some((0, start)), Some((end, after))) if end - start <= SIZE_MAX => {
            Ok((&text[start..end], &text[after..]))
        }
        (Some((0, _)), _) => Err((1, "the front matter has no end (---)".to_string())),
        _ => {
            let what = "the file does not begin with front matter (---)";
            Err((1, what.to_string()))
        }
    }
}

/// Lists whose items are texts, however they look.
#[derive(Deserialize)]
struct Written {
    labels: Option<Vec<String>>,
}

fn read_front(text: &str) -> Parsed<Fields> {
    let quoted = quote_names(text);
    let read = || -> Result<Map<String, Value>, serde_yaml::Error> {
        let mut map: Map<String, Value> = crate::yaml::from_str(&quoted)?;
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
        (line, format!("the front matter is not YAML: {what}"))
    })
}

/// Puts quotes around names such as `@dana`, which the tool itself writes without.
fn quote_names(text: &str) -> String {
    let quote = |word: &str| {
        if !word.starts_with('@') {
            return word.to_string();
        }
        let end = word.find([',', ']', ' ', '\t', '\r', '\n', '\'', '#']);
        let (name, rest) = word.split_at(end.unwrap_or(word.len()));
        format!("'{name}'{rest}")
    };
    let lines = text.split_inclusive('\n').map(|line| {
        let heads = ["assignee:", "reporter:", "- @"];
        match heads.iter().any(|head| line.trim_start().starts_with(head)) {
            true => line
                .split_inclusive([' ', '[', ',', '\t'])
                .map(quote)
                .collect(),
            false => line.to_string(),
        }
    });
    lines.collect()
}

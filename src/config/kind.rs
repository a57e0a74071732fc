//! The types of settings and how their values are parsed.

use std::fmt;

use serde::Serialize;

use crate::clock::duration;
use crate::error::is_control_character;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Choice(&'static [&'static str]),
    /// One line of text with a maximum number of characters.
    Text(usize),
    Variable,
    Number(u64, u64),
    /// A time within bounds, in seconds; written `90`, `90s`, `10m` or `1h`.
    Duration(u64, u64),
    /// An amount of money, from nothing up to this; written `3` or `0.15`, kept as it is written.
    Price(u32),
    /// `true` or `false`.
    Flag,
    Folders,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(crate) enum Value {
    /// A word or a line of text.
    Text(String),
    /// A number; of a time, its seconds.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    Folders(Vec<String>),
}

impl Kind {
    /// Reads a value; the error is what it can be.
    pub(super) fn read(self, text: &str, separator: char) -> std::result::Result<Value, String> {
        let word = || text.to_lowercase();
        let value = match self {
            Kind::Choice(words) => Some(word())
                .filter(|word| words.contains(&word.as_str()))
                .map(Value::Text),
            Kind::Text(max) => Some(text.to_string())
                .filter(|text| {
                    !text.is_empty()
                        && text.chars().count() <= max
                        && !text.contains(is_control_character)
                })
                .map(Value::Text),
            Kind::Variable => Some(text.to_string())
                .filter(|text| is_variable(text))
                .map(Value::Text),
            Kind::Number(least, most) => parse_whole_number(text)
                .filter(|number| (least..=most).contains(number))
                .map(Value::Number),
            Kind::Duration(least, most) => parse_seconds(text)
                .filter(|time| (least..=most).contains(time))
                .map(Value::Number),
            Kind::Price(most) => parse_price(text)
                .filter(|price| *price <= f64::from(most))
                .map(|_| Value::Text(text.to_string())),
            Kind::Flag => word().parse().ok().map(Value::Flag),
            Kind::Folders => folders(text, separator).map(Value::Folders),
        };
        value.ok_or_else(|| self.to_string())
    }
}

fn is_variable(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_short = text.len() <= 16 || text.contains('_');
    (1..=100).contains(&text.len())
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(is_part)
        && is_short
}

fn parse_whole_number(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

/// Reads a time such as `90`, `90s`, `10m` or `1h`, in seconds.
pub(crate) fn parse_seconds(text: &str) -> Option<u64> {
    parse_whole_number(text).or_else(|| duration(text))
}

/// Reads an amount that is written with digits and at most one point.
pub(super) fn parse_price(text: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let is_plain = text.len() <= 20 && text.chars().all(is_plain);
    text.parse().ok().filter(|_| is_plain)
}

fn folders(text: &str, separator: char) -> Option<Vec<String>> {
    let folders = text.split(separator).map(str::trim);
    let folders: Vec<String> = folders
        .filter(|folder| !folder.is_empty())
        .map(String::from)
        .collect();
    let are_paths = folders
        .iter()
        .all(|folder| !folder.contains(is_control_character) && folder.len() < 4_096);
    (!folders.is_empty() && folders.len() <= 64 && are_paths).then_some(folders)
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Choice(words) => write!(formatter, "one of {}", words.join(", ")),
            Kind::Text(max) => write!(formatter, "one line of at most {max} visible characters"),
            Kind::Variable => formatter
                .write_str("the name of a variable in capital letters such as OPENAI_API_KEY, never the key itself"),
            Kind::Number(least, most) => write!(formatter, "a whole number from {least} to {most}"),
            Kind::Duration(_, most) => {
                write!(formatter, "a time such as 90s, 10m or 1h, at most {most} s")
            }
            Kind::Price(most) => write!(formatter, "an amount such as 3 or 0.15, at most {most}"),
            Kind::Flag => formatter.write_str("true or false"),
            Kind::Folders => formatter.write_str("folders, separated by commas"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, such as `list.limit`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its default value; none if the default is not a single value.
    pub(crate) default: Option<&'static str>,
    pub(crate) meaning: &'static str,
    pub(crate) variable: &'static str,
}

impl Key {
    /// Parses a value of a file or the command line; the error describes the values that are allowed.
    pub(crate) fn read(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ',')
    }

    pub(crate) fn read_variable(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ':')
    }

    pub(crate) fn quote(&self, text: &str) -> String {
        match self.kind {
            Kind::Variable => "that".to_string(),
            _ => format!("`{text}`"),
        }
    }
}

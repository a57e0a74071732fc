//! A new task as JSON: how one is read, and how it refers to other tasks.

use serde::Deserialize;
use serde_json::error::Category;

use super::fields::Draft;
use crate::document::Parts;
use crate::error::{Code, Error, Result, nearest};
use crate::id::TaskId;
use crate::strict;
use crate::words::deserialize_word;

/// Points to another task: by id, or with `@` by the key of a task.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(with = "String", inline)]
#[schemars(extend("pattern" = r"^([Tt]0*[1-9][0-9]{0,8}|@(\S|\S.*\S))$"))]
pub(crate) enum Reference {
    /// `T12`
    Id(TaskId),
    /// `@name`
    Key(String),
}

impl std::str::FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Reference, String> {
        match text.trim().strip_prefix('@') {
            Some(key) if !key.is_empty() => Ok(Reference::Key(key.to_string())),
            _ => text.parse().map(Reference::Id),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Reference, D::Error> {
        deserialize_word(deserializer)
    }
}

impl Draft {
    /// Reads a draft from the text of a JSON object. An unknown field is refused with the nearest
    /// known one, a wrong value with the name of its field.
    pub(crate) fn from_json(text: &[u8]) -> Result<Draft> {
        // A list would be read as well, by the order of the fields.
        if text.trim_ascii_start().starts_with(b"{")
            && let Ok(draft) = serde_json::from_slice(text)
        {
            return Ok(draft);
        }
        // Read once more, to find the fault.
        let Parts(_) = serde_json::from_slice(text).map_err(|cause| {
            let what = strip_place(&cause);
            match cause.classify() {
                Category::Data if what.starts_with("duplicate field") => {
                    Error::new(Code::TaskInvalid, what)
                }
                Category::Data => Error::new(
                    Code::TaskInvalid,
                    "a task is written as one JSON object on one line",
                ),
                _ => {
                    error!(BatchInvalid, "no JSON at column {}: {what}", cause.column())
                }
            }
        })?;
        let invalid = |fault: String| Error::new(Code::TaskInvalid, fault);
        let value = serde_json::from_slice(text).map_err(|cause| invalid(cause.to_string()))?;
        strict::read(value).map_err(|fault| match &fault.unknown {
            Some((name, known)) => refuse_unknown_field(name, known),
            None => invalid(fault.to_string()),
        })
    }
}

/// Returns the message of a parser without the place, which it only knows within its own line.
fn strip_place(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    what.split(" at line ")
        .next()
        .unwrap_or_default()
        .to_string()
}

fn refuse_unknown_field(name: &str, known: &[&str]) -> Error {
    let hint = match (name, nearest(name, known.iter().copied())) {
        ("id", _) => "ids are handed out; to refer to a line give it a `key`".to_string(),
        ("status", _) => "a new task is pending; `cleo start` and its like move it".to_string(),
        (_, Some(near)) => format!("did you mean `{near}`?"),
        _ => format!("known are {}", known.join(", ")),
    };
    error!(FieldUnknown, "a task has no field `{name}`: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_read_by_the_name_of_its_option() {
        for name in ["agent", "assignedAgent"] {
            let line = format!(r#"{{"title": "x", "{name}": "ana"}}"#);
            let task = Draft::from_json(line.as_bytes()).unwrap().into_task();
            assert_eq!(task.unwrap().assigned_agent.as_deref(), Some("ana"));
        }
    }

    #[test]
    fn unknown_field_is_refused_with_nearest_known_one() {
        let error = Draft::from_json(br#"{"titel": "x"}"#).unwrap_err();
        assert_eq!(error.code, Code::FieldUnknown);
        assert_eq!(
            error.message,
            "a task has no field `titel`: did you mean `title`?"
        );
    }

    #[test]
    fn wrong_kind_of_value_is_refused() {
        for (text, message) in [
            (
                r#"{"title": 1}"#,
                "title: invalid type: integer `1`, expected a string",
            ),
            (
                r#"["x"]"#,
                "a task is written as one JSON object on one line",
            ),
            (
                r#"{"title": "x", "depends": ["x"]}"#,
                "depends[0]: `x` is not a task id; ids look like T12",
            ),
            (r#"{"title": "a", "title": "b"}"#, "duplicate field `title`"),
        ] {
            let error = Draft::from_json(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.code, error.message.as_str()),
                (Code::TaskInvalid, message)
            );
        }
    }

    #[test]
    fn references_are_ids_or_keys() {
        assert_eq!("T3".parse(), Ok(Reference::Id(TaskId(3))));
        assert_eq!("@auth".parse(), Ok(Reference::Key("auth".into())));
        assert!("auth".parse::<Reference>().is_err());
        assert!("@".parse::<Reference>().is_err());
    }
}

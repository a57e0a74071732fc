//! Checking what an agent was given and what it left behind. Its words and its exit code prove
//! nothing: only the entry and the file count.

mod file;
mod manifest;
mod merged;
mod message;
mod output;
mod prompt;

pub(crate) use manifest::{ManifestVerdict, entry, manifest};
pub(super) use merged::Unmerged;
pub(crate) use message::{MessageVerdict, message};
pub(crate) use output::{OutputVerdict, found, output};
pub(super) use output::{check_found, check_named, check_output, required_sections};
pub(crate) use prompt::prompt;

use serde::Serialize;

use crate::error::{Code, Error};

/// What a check found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Verdict {
    /// `pass` or `fail`.
    pub(crate) verdict: &'static str,
    /// Everything that is wrong; the first decides the exit code.
    pub(crate) violations: Vec<Violation>,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Violation {
    /// The kind of failure.
    #[serde(serialize_with = "code_name")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub(crate) code: Code,
    /// The rule that is broken: `OUT-001`, `MARKER`, …
    pub(crate) rule: String,
    /// What is wrong.
    pub(crate) message: String,
}

fn code_name<S: serde::Serializer>(
    code: &Code,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

impl Violation {
    /// Makes the violation that an error tells of.
    pub(super) fn of(error: &Error, rule: &str) -> Violation {
        Violation::new(error.code, rule, error.message.clone())
    }

    /// Makes the violation of a rule.
    pub(super) fn new(code: Code, rule: &str, message: impl Into<String>) -> Violation {
        Violation {
            code,
            rule: rule.to_string(),
            message: message.into(),
        }
    }
}

impl Verdict {
    /// Makes the verdict of what was found.
    pub(crate) fn of(violations: Vec<Violation>) -> Verdict {
        let verdict = if violations.is_empty() {
            "pass"
        } else {
            "fail"
        };
        Verdict {
            verdict,
            violations,
            warnings: Vec::new(),
        }
    }

    /// Returns the error that a failed verdict ends with; `what` is what was checked.
    pub(crate) fn error(&self, what: &str) -> Option<Error> {
        let first = self.violations.first()?;
        let faults: Vec<&str> = self
            .violations
            .iter()
            .map(|found| found.message.as_str())
            .collect();
        Some(Error::new(
            first.code,
            format!("{what} does not verify: {}", faults.join("; ")),
        ))
    }
}

fn violation(code: Code, rule: &str, message: impl Into<String>) -> Violation {
    Violation::new(code, rule, message)
}

//! The one envelope in which every face answers. Shape: `cleo/v1`, see ARCHITECTURE.md.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Alternative, Error};

/// Name and version of the envelope.
pub(crate) const SCHEMA: &str = "cleo/v1";

/// One answer: a result, an error, or (for a verdict) both.
#[derive(Serialize)]
pub(crate) struct Envelope<'a, T: Serialize> {
    schema: &'static str,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure<'a>>,
    warnings: &'a [String],
}

/// An error in an answer.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failure<'a> {
    code: &'static str,
    exit_code: u8,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a str>,
    alternatives: &'a [Alternative],
    retryable: bool,
    /// The fault of each invalid field of a task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: &'a BTreeMap<String, String>,
}

impl<'a, T: Serialize> Envelope<'a, T> {
    /// Makes the envelope of `command`. `success` is true exactly when there is no error.
    pub(crate) fn new(
        command: &'a str,
        result: Option<&'a T>,
        error: Option<&'a Error>,
        warnings: &'a [String],
    ) -> Self {
        let error = error.map(Failure::from_error);
        Envelope {
            schema: SCHEMA,
            command,
            success: error.is_none(),
            result,
            error,
            warnings,
        }
    }
}

impl<'a> Failure<'a> {
    pub(crate) fn from_error(error: &'a Error) -> Failure<'a> {
        Failure {
            code: error.code.name(),
            exit_code: error.code.exit_code(),
            message: error.display_message(),
            fix: error.fix.as_deref(),
            alternatives: &error.alternatives,
            retryable: error.is_retryable(),
            fields: &error.fields,
        }
    }
}

//! Reads a JSON or YAML text into a value.

use serde_json::Value;

use crate::document;
use crate::plan::PLAN_MAX;
use crate::plan::check::{Fault, FaultKind};

/// Most bytes that a value may be made of.
const SIZE_MAX: usize = 2 * PLAN_MAX as usize;

/// Reads a text: JSON when it begins like it, else YAML.
pub(super) fn read(bytes: &[u8]) -> Result<Value, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let before = &bytes[..fault.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count()
            + 1;
        syntax(Some((line, column)), "it is not written in UTF-8")
    })?;
    match text.trim_start().starts_with(['{', '[']) {
        true => document::json(text, SIZE_MAX).map_err(|fault| {
            let place = Some((fault.line(), fault.column()));
            syntax(place, &format!("no JSON: {fault}"))
        }),
        false => document::yaml(text, SIZE_MAX).map_err(|fault| {
            let place = fault.location().map(|place| (place.line(), place.column()));
            syntax(place, &format!("no YAML: {fault}"))
        }),
    }
}

fn syntax(place: Option<(usize, usize)>, message: &str) -> Fault {
    let place = match place {
        Some((line, column)) => format!("line {line}, column {column}"),
        None => "plan".to_string(),
    };
    // The place that a reader adds is the same once more; what it quotes may be long.
    let message = message.split(" at line ").next().unwrap_or_default();
    let message: String = message.chars().take(200).collect();
    Fault::new(FaultKind::Syntax, place, message)
}

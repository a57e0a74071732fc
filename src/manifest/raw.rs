//! A JSON value as somebody wrote it, on one line.

use serde::Serialize;
use serde_json::value::RawValue;

/// A value that is handed on and never read, so that it keeps every digit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(with = "serde_json::Value"))]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Keeps a value; blanks and line ends between its parts go.
    pub(in crate::manifest) fn of(raw: &RawValue) -> Raw {
        let there = raw.get();
        if !there.contains(['\n', '\r']) {
            return Raw(raw.to_owned());
        }
        // What was one value without its blanks still is.
        let line = RawValue::from_string(on_one_line(there));
        Raw(line.unwrap_or_else(|_| raw.to_owned()))
    }

    /// Returns the value as JSON.
    pub fn json(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.json() == other.json()
    }
}

fn on_one_line(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let mut keep = |c: char| {
        let keeps = in_text || !c.is_ascii_whitespace();
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_text,
            '"' => in_text = !in_text,
            _ => {}
        }
        keeps
    };
    json.chars().filter(|c| keep(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_digits_and_loses_its_line_ends() {
        for (there, line) in [
            ("18446744073709551617", "18446744073709551617"),
            ("[1.10,  1E5]", "[1.10,  1E5]"),
            ("[1.10,\n  2]", "[1.10,2]"),
            (
                "{\"a b\": \"c\\\" d\\n\",\r\n\"e\" : \"\\\\\" }",
                "{\"a b\":\"c\\\" d\\n\",\"e\":\"\\\\\"}",
            ),
        ] {
            let raw: &RawValue = serde_json::from_str(there).unwrap();
            assert_eq!(Raw::of(raw).json(), line);
        }
    }
}

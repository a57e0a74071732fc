//! A file that holds an answer of `cleo export`.

use serde::Deserialize;

/// An answer of `cleo export`, which holds the lines as a text.
#[derive(Deserialize)]
struct Answer {
    command: String,
    result: Exported,
}

#[derive(Deserialize)]
struct Exported {
    text: String,
}

/// Returns the lines that `cleo export > FILE` has put into its answer; none when it is no such file.
pub(super) fn answered(bytes: &[u8]) -> Option<Vec<u8>> {
    let answer: Answer = serde_json::from_slice(bytes).ok()?;
    (answer.command == "export").then(|| answer.result.text.into_bytes())
}
